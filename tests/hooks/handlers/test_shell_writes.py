"""Commands that write a known file, with a change of the user's between: refused once, or told to agent
and person."""

import shutil
import subprocess

import pytest
from tests.hooks.handlers.shell import facts, run
from tests.support.commands import command as named

from sightline.hooks.dispatch import attend
from sightline.model.events import Changed
from sightline.model.hook_events import Answered, CommandBegan

TEN = "".join(f"line {n}\n" for n in range(1, 11))
USERS = TEN.replace("line 9\n", "line 9\nby the user\n")
ABOVE = "by the user\n" + TEN


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    """A repository in which a.py and b.py are committed."""
    top = tmp_path_factory.mktemp("committed")
    (top / "a.py").write_text(TEN)
    (top / "b.py").write_text("other\n")
    for words in (["init", "-qb", "main", "--template="], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=top, check=True)
    return top


@pytest.fixture
def known(place, s, committed):
    """A session in that repository that was shown a.py, before the user added a line."""
    shutil.copytree(committed, place.root, dirs_exist_ok=True)
    subprocess.run(["git", "update-index", "--refresh"], cwd=place.root, check=True)
    s.read("a.py")
    place.put("a.py", USERS)
    return s


def ask(place, session, command):
    call = f"c{len(facts(session))}"
    return attend(session, CommandBegan(command, call, str(place.root))).refuse


WHOLE = r"""
cat > a.py <<'EOF'
line 1
EOF
---
cat a.py; cat > a.py <<'EOF'
line 1
EOF
---
printf 'line 1\nline 2\n' > a.py
---
printf '%s\n' one two > a.py
---
tee a.py > /dev/null <<'EOF'
line 1
EOF
---
cat <<EOF | tee a.py
line 1
EOF
---
: > a.py
---
> a.py
---
echo new >| a.py
---
{ echo one; echo two; } > a.py
---
bash -c 'echo new > a.py'
---
sh <<'EOF'
echo new > a.py
EOF
---
eval "echo new > a.py"
---
echo new > "$PWD/a.py"
---
f=a.py; echo new > $f
---
export F=$(pwd)/a.py; echo new > "$F"
---
base64 -d <<< bmV3Cg== > a.py
---
cat b.py > a.py
---
install -m 644 b.py a.py
---
ln -sf b.py a.py
---
rsync -a b.py a.py
---
dd if=b.py of=a.py
---
truncate -s 0 a.py
---
curl -so a.py https://example.org/a.py
---
wget -qO a.py https://example.org/a.py
---
python3 - <<'EOF'
open('a.py', 'w').write("new\n")
EOF
---
python3 - <<'EOF'
from pathlib import Path
Path("a.py").write_text('''new
text
''')
EOF
---
uv run python - <<'EOF'
content = "new\n"
with open("a.py", mode="w") as file:
    file.write(content)
EOF
---
python3 -c "import json; json.dump({}, open('a.py', 'w'))"
---
python3 -c "import shutil; shutil.copy('b.py', 'a.py')"
---
node -e "require('fs').writeFileSync('a.py', 'new\n')"
---
node -e "const p = 'a.py'; require('fs').writeFileSync(p, text)"
---
perl -e 'open F, ">a.py"; print F "new\n"'
---
ruby -e 'File.write("a.py", "new\n")'
---
git checkout a.py
---
git checkout -- a.py
---
git checkout HEAD -- a.py
---
git checkout HEAD a.py
---
git -C . checkout .
---
git restore a.py
---
git restore .
---
git restore --source=HEAD --staged --worktree a.py
---
git restore -s HEAD a.py
---
git reset --hard
---
git reset --hard HEAD
---
git checkout -f
---
git switch --discard-changes main
---
awk 'NR<=5' a.py > t && mv t a.py
---
rm a.py
---
git checkout -f main
---
git stash
---
rm -rf .
---
rm -f -- *.py
---
unlink a.py
---
bash -c "rm a.py"
---
python3 -c "import os; os.remove('a.py')"
---
node -e "fs.unlinkSync('a.py')"
---
git rm -f a.py
---
git stash push a.py
---
git stash -- a.py
---
git stash -m wip -- a.py
---
git stash save before
---
git stash -k
---
git stash -u && git stash drop
---
git restore '*.py'
---
env LANG=C cp b.py a.py
---
timeout -k 1 5 cp b.py a.py
---
nice -n 5 tee a.py < b.py
---
for f in a.py; do echo x > "$f"; done
---
for f in b.py a.py; do cp /dev/null $f; done
---
echo b.py | xargs -I{} cp {} a.py
---
xargs -I{} cp {} a.py <<< b.py
---
exec 3> a.py; echo x >&3
---
make 2> a.py
---
sort -o a.py b.py
---
test -f a.py && cp b.py a.py
---
cmp -s b.py a.py || cp b.py a.py
---
cat a.py; make-it > a.py
---
echo 'cp b.py a.py' | sh
---
echo 'open("a.py", "w").write("x")' | python3
---
echo "new" | tee a.py
""".strip().split("\n---\n")


@pytest.mark.parametrize("commands", [WHOLE[1::6], pytest.param(WHOLE, marks=pytest.mark.wide)])
def test_a_command_that_writes_over_a_file_changed_unseen_is_refused_with_the_diff(
    place, known, commands
):
    refused = [ask(place, known, command) or "" for command in commands]
    assert "+by the user" in refused[0]
    assert [c for c, why in zip(commands, refused, strict=True) if "was not run" not in why] == []
    assert ask(place, known, commands[0]) is None, "it is sent again"


def test_a_script_that_edits_by_the_numbers_of_moved_lines_is_refused(place, known):
    place.put("a.py", ABOVE)
    script = "lines = open('a.py').read().splitlines(True)\n{}\nopen('a.py', 'w').writelines(lines)"
    for edit in ("lines[4] = 'x\\n'", "del lines[4]", "lines.insert(4, 'x\\n')", "lines[4:5] = []"):
        command = f"python3 - <<'EOF'\n{script.format(edit)}\nEOF"
        assert "by line number" in (ask(place, known, command) or ""), edit


KEEPING = r"""
python3 - <<'EOF'
text = open('a.py').read()
open('a.py', 'w').write(text.replace('line 5', 'LINE 5'))
EOF
---
node -e "const fs = require('fs'); fs.writeFileSync('a.py', fs.readFileSync('a.py', 'utf8') + 'x')"
---
python3 -c "print(open('a.py').read())"
---
python3 -c "open('c.py', 'w').write('new')"
---
python3 -c "open('a.py', 'a').write('more\n')"
---
git checkout b.py
---
git checkout -b other
---
git checkout -p a.py
---
git restore --staged a.py
---
git reset HEAD a.py
---
git stash list
---
git stash; make; git stash pop
---
git stash push b.py
---
git stash --staged
---
git stash drop
---
rm b.py
---
rm -rf src *.pyc
---
git rm --cached a.py
---
git clean -fdx
---
git checkout '*.js'
---
echo "$(sed s/line/LINE/ a.py)" > a.py
---
cp a.py b.py
---
ln -s b.py c.py
---
truncate -s 0 b.py
---
curl -o c.py https://example.org
---
for f in b.py; do echo x > "$f"; done
---
x=$(cat a.py); echo "$x" > a.py
---
sort -o a.py a.py
---
make 2> b.py
""".strip().split("\n---\n")


def test_a_command_that_keeps_the_users_change_is_not_refused(place, known):
    assert [command for command in KEEPING if ask(place, known, command)] == []


def test_what_git_would_put_back_is_compared_with_the_users_change(place, known):
    subprocess.run(["git", "commit", "-qam", "the user's"], cwd=place.root, check=True)
    for command in ("git checkout a.py", "git reset --hard", "git restore ."):
        assert ask(place, known, command) is None, "it has the user's line"
    assert "+by the user" in ask(place, known, "git checkout HEAD~1 -- a.py")


def test_one_refusal_names_all_files_whose_changes_a_command_takes_away(place, known):
    known.read("b.py")
    place.put("b.py", "by the user, too\n")
    for command in ("git reset --hard", "git stash", "rm a.py b.py", "git checkout ."):
        refused = ask(place, known, command)
        assert "1 more file with changes that you were not shown: b.py" in refused, command
        assert ask(place, known, command) is None, "it is sent again"
    place.put("b.py", "once more\n")
    assert "+once more" in ask(place, known, "git stash"), "what changed since was not named"


def test_git_clean_is_refused_where_it_removes_a_file_changed_unseen(place, known):
    place.put("new.py", TEN)
    place.put(".env", "A=1\n")
    place.put(".gitignore", ".env\n")
    known.read("new.py")
    known.read(".env")
    place.put("new.py", USERS)
    assert "removes the file" in ask(place, known, "git clean -fd")
    assert ask(place, known, "git clean -f src") is None
    assert ask(place, known, "git clean -fX") is None
    place.put(".env", "A=2\n")
    assert "removes the file" in ask(place, known, "git clean -fX")
    assert ask(place, known, "git clean -nd") is None


def test_a_removal_that_is_sent_again_is_the_commands(place, known):
    assert "removes the file" in ask(place, known, "rm a.py")
    attend(known, Answered())
    told = run(place, known, "rm a.py")
    assert told.tell == ""
    *_, last = (fact for fact in facts(known, Changed) if fact.path == "a.py")
    assert last.cause.command == named("rm a.py")


TAKING = """
sed -i '/user/d' a.py
grep -v user a.py > t && mv t a.py
find . -name a.py -delete
find . -name b.py | xargs -I{} cp {} a.py
python3 fix.py a.py
./fix.sh a.py
""".strip().splitlines()

FIRST = TAKING[:1]


@pytest.mark.parametrize(
    "command",
    [*FIRST, *(pytest.param(each, marks=pytest.mark.wide) for each in TAKING if each not in FIRST)],
)
def test_a_change_that_a_command_took_away_is_told_to_agent_and_person(place, known, command):
    place.put("fix.py", f"open('a.py', 'w').write({TEN!r})")
    place.put("fix.sh", "#!/bin/sh\ncp b.py a.py\n").chmod(0o755)
    told = run(place, known, command)
    assert "+by the user" in told.context
    assert f"the agent's command `{command}` removed lines of a.py" in told.tell
    position = int(told.tell.split("sightline rewind ")[1].split()[0])
    known.rewind(position, force_paths="a.py")
    assert place.text("a.py") == USERS, "the way back that the person was told"


IN_PART = """
echo more >> a.py
printf x >> a.py
sed -i 's/line 5/LINE 5/' a.py
sed -i '5s/line/LINE/' a.py
perl -pi -e 's/line 5/LINE 5/' a.py
python3 -c "s = open('a.py').read(); open('a.py', 'w').write(s.replace('line 5', 'LINE 5'))"
python3 -c "open('a.py', 'a').write('more')"
""".strip().splitlines()


@pytest.mark.parametrize(
    "command",
    [IN_PART[0], *(pytest.param(each, marks=pytest.mark.wide) for each in IN_PART[1:])],
)
def test_a_change_beside_which_a_command_wrote_is_told_to_agent_and_person(place, known, command):
    told = run(place, known, command)
    assert "by the user\n" in place.text("a.py")
    assert "+by the user" in told.context
    assert "they are all kept" in told.tell


def test_a_stash_that_came_back_took_nothing_away(place, known):
    told = run(place, known, "git stash -q; git stash pop -q")
    assert "by the user" in told.context, "it is news all the same"
    assert told.tell == ""


def test_who_was_told_may_take_the_change_away(place, known):
    assert "+by the user" in attend(known, Answered()).context
    assert ask(place, known, "git checkout a.py") is None
    told = run(place, known, "git checkout -q a.py")
    assert "took away" not in told.context + told.tell


@pytest.mark.parametrize(
    "command",
    [
        "sh fix.sh a.py",
        *(
            pytest.param(each, marks=pytest.mark.wide)
            for each in (
                "python3 - <<'EOF'\nopen('a.py', 'w').write('new\\n')\nEOF",
                "python3 fix.py a.py",
                "python3 -c \"import pathlib; pathlib.Path('a.py').write_text('x' * 3)\"",
                "python3 -c \"s = open('a.py').read(); open('a.py', 'w').write(s.upper())\"",
                "./fix.sh a.py",
                "cd . && python3 ./fix.py ./a.py",
            )
        ),
    ],
)
def test_a_script_that_names_the_one_changed_file_is_its_author(place, ten, command):
    place.put("fix.py", "import sys; open(sys.argv[1], 'w').write('fixed\\n')")
    place.put("fix.sh", '#!/bin/sh\necho fixed > "$1"\n').chmod(0o755)
    ten.turn()
    run(place, ten, command)
    assert place.text("a.py") != TEN
    assert [fact.cause.confidence for fact in facts(ten, Changed)] == ["certain"]
    ten.undo()
    assert place.text("a.py") == TEN


@pytest.mark.parametrize("command", ["sh both.sh a.py", "sh fix.sh"])
def test_a_change_that_is_only_probably_a_scripts_is_taken_back_by_undo_commands(
    place, ten, command
):
    place.put("b.py", "one\n")
    ten.read("b.py")
    place.put("fix.sh", "echo fixed > a.py")
    place.put("both.sh", "for each in a.py b.py; do echo fixed > $each; done")
    ten.turn()
    run(place, ten, command)
    assert {fact.cause.confidence for fact in facts(ten, Changed)} == {"likely"}
    assert [each.path for each in ten.undo(dry_run=True).left_alone][:1] == ["a.py"]
    ten.undo(commands=True)
    assert place.text("a.py") == TEN


def test_the_script_that_was_run_is_not_its_own_author(place, ten):
    """Somebody saved it while it ran."""
    place.put("run.sh", "true\n")
    ten.read("run.sh")
    run(place, ten, "sh run.sh", during=lambda: place.put("run.sh", "true # saved\n"))
    assert [fact.cause.confidence for fact in facts(ten, Changed)] == ["likely"]
