"""Files that a shell prints, in every way: a real shell runs, and its output alone decides."""

import shutil
import subprocess

import pytest
from tests.hooks.handlers.shell import run, seen
from tests.support.examples import widely

from sightline.hooks.dispatch import attend
from sightline.model.hook_events import CommandEnded

ONE = "".join(f"first {n} of d/one.txt\n" for n in range(1, 9))
TWO = "def two():\n    return 2\n\n\ndef three():\n    return 3\n"
BOTH = ("d/one.txt", "d/two.txt")
TEXTS = dict(zip(BOTH, (ONE, TWO), strict=True))

WAYS = """
cat d/one.txt d/two.txt
cat d/*.txt
cat d/*
cat */*.txt
cat d/???.txt
cat d/[ot]*.txt
cat d/{one,two}.txt
cat {d/one,d/two}.txt
cd d && cat {one,two}.txt
cd d; cat *
(cd d; cat one.txt two.txt)
cat < d/one.txt; cat < d/two.txt
for x in d/one.txt d/two.txt; do cat "$x"; done
for x in d/*.txt; do cat "$x"; done
for x in one two; do cat "d/$x.txt"; done
for x in one two; do cat d/${x}.txt; done
for x in d/*; do echo "== $x"; cat "$x"; done
for x in $(ls d); do cat d/$x; done
for x in `ls d`; do cat d/$x; done
ls d/* | while read x; do cat "$x"; done
while read x; do cat "$x"; done < <(ls d/*)
find d -type f -exec cat {} +
find d -type f -exec cat {} ';'
find . -name '*.txt' -exec cat {} +
find . -name '*.txt' | xargs cat
find d -name '*.txt' -print0 | xargs -0 cat
find d -type f | sort | xargs -n 1 cat
ls d/* | xargs cat
ls d | sed 's,^,d/,' | xargs cat
echo d/one.txt d/two.txt | xargs cat
printf '%s\\n' d/one.txt d/two.txt | xargs -I{} cat {}
cat $(ls d/*)
cat $(find d -type f)
cat `echo d/one.txt d/two.txt`
echo "$(cat d/one.txt)"; echo "$(<d/two.txt)"
x=$(cat d/one.txt); echo "$x"; cat d/two.txt
x=d; cat "$x"/one.txt "$x"/two.txt
cat $PWD/d/one.txt "$PWD/d/two.txt"
cat "$(pwd)/d/one.txt" ./d/two.txt
git show HEAD:d/one.txt; git show HEAD:d/two.txt
git -C d show HEAD:./one.txt HEAD:./two.txt
git cat-file -p HEAD:d/one.txt; git cat-file blob HEAD:d/two.txt
git ls-files | xargs cat
git log -p -- d
git show
cat $(git ls-files d)
timeout 5 cat d/one.txt d/two.txt
nice cat d/one.txt && env LC_ALL=C cat d/two.txt
stdbuf -oL cat d/one.txt d/two.txt
python3 -c "print(open('d/one.txt').read()); print(open('d/two.txt').read())"
python3 -c 'import glob; [print(open(x).read()) for x in glob.glob("d/*")]'
python3 - <<'EOF'; import pathlib; [print(p.read_text()) for p in pathlib.Path("d").iterdir()]; EOF
perl -pe '' d/one.txt d/two.txt
awk 1 d/one.txt d/two.txt
sed '' d/one.txt d/two.txt
sed -n p d/one.txt d/two.txt
head -n 100 d/one.txt d/two.txt
tail -n +1 d/*
grep -h '' d/one.txt d/two.txt
paste d/one.txt; paste d/two.txt
dd if=d/one.txt status=none; dd if=d/two.txt status=none
bash -c 'cat d/*.txt'
eval cat d/one.txt d/two.txt
cp d/one.txt /dev/stdout; cp d/two.txt /dev/stdout
diff d/one.txt d/two.txt; cat d/one.txt | tee /dev/null; tac d/two.txt | tac
p() { cat "$1"; }; p d/one.txt; p d/two.txt
cat -n d/one.txt; cat -n d/two.txt
for x in d/*; do cat -n "$x"; done
""".strip().split("\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A repository whose files are committed."""
    root = tmp_path_factory.mktemp("made")
    (root / "d").mkdir()
    for path, text in TEXTS.items():
        (root / path).write_text(text)
    git = ("git", "-c", "user.name=u", "-c", "user.email=u@example.org")
    for args in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*git, *args], cwd=root, check=True)
    return root


@pytest.fixture
def tree(place, made):
    shutil.copytree(made, place.root, dirs_exist_ok=True)
    return place


@pytest.mark.parametrize(
    "command", [*WAYS[::3], *widely(*(way for n, way in enumerate(WAYS) if n % 3))]
)
def test_a_file_that_was_printed_whole_is_known_whole(tree, command):
    session = tree.session()
    run(tree, session, command.replace("; EOF", "\nEOF").replace("<<'EOF'; ", "<<'EOF'\n"))
    known = {path: seen(session, path) for path in BOTH}
    assert known == {path: ((1, text.count("\n")),) for path, text in TEXTS.items()}


@pytest.mark.parametrize(
    "command",
    [
        "ls d",
        "ls d/* | xargs wc -l",
        "grep -c '' d/*.txt",
        "cat d/*.txt | sort -r",
        "cat d/*.txt > /dev/null",
        "cat d/*.txt | sed 's/^/> /'",
        'for x in d/*; do head -c 5 "$x"; done',
        'for x in d/*; do head -n 2 "$x"; done',
        "git diff HEAD; git log --stat -- d",
        "find . -name '*.md' -exec cat {} +",
    ],
)
def test_a_file_that_was_not_printed_stays_unknown(tree, command):
    session = tree.session()
    run(tree, session, command)
    assert [seen(session, path) for path in BOTH] == [(), ()]


def ended(place, session, command, output):
    """A command that printed this, whatever it would print here."""
    attend(session, CommandEnded(command, "c", str(place.root), output, 0))


def test_of_a_cut_output_only_what_stands_there_counts(tree):
    session = tree.session()
    cut = ONE[: ONE.index("first 7")] + "... [2 lines truncated] ...\n" + TWO
    ended(tree, session, "cat $(ls d/*)", cut)
    assert seen(session, "d/one.txt") == ((1, 6),)
    assert seen(session, "d/two.txt") == ((1, 6),)


def test_a_text_of_two_files_that_was_printed_once_shows_none_of_them(tree):
    tree.put("copy.txt", ONE)
    session = tree.session()
    run(tree, session, "cat $(ls -d d)/one.txt")
    assert seen(session, "copy.txt") == ()


def test_a_short_text_does_not_count_by_chance(tree):
    tree.put("VERSION", "1\n")
    session = tree.session()
    run(tree, session, 'test -f VERSION && x=$(echo 1); echo "$x"; echo done')
    assert seen(session, "VERSION") == ()


def test_short_files_that_are_all_that_was_printed_count(tree):
    tree.put("a", "1\n")
    tree.put("b", "2\n")
    session = tree.session()
    run(tree, session, 'for x in a b; do cat "$x"; done')
    assert [seen(session, path) for path in ("a", "b")] == [((1, 1),), ((1, 1),)]


def test_an_ignored_file_is_not_known_by_its_text(tree):
    tree.put(".sightlineignore", "d/one.txt\n")
    session = tree.session()
    ended(tree, session, "cat $(ls d/*)", ONE + TWO)
    assert [file.path for file in session.files()] == ["d/two.txt"]
