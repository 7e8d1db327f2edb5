"""Which files a search below a folder reads: compared with the programs themselves."""

import os
import shutil
import subprocess

import pytest

from sightline.filesystem.file_state import HiddenByGit
from sightline.shell_parsing.folder_search import folder_searches

FILES = [
    *("a.py", "b.txt", ".env", "sub/c.py", "sub/b.txt", "sub/deep/d.md", ".dot/e.txt"),
    *("out/f.txt", "out/g.py", "[x].txt", "untracked.txt"),
]

GREPS = [
    "grep -rl '' .",
    "grep -rl ''",
    "grep -Rl '' sub .dot",
    "rgrep -l ''",
    "grep --recursive -l -e '' sub",
    "grep -l --directories=recurse '' sub",
    "grep -ld recurse '' sub",
    "grep -rl --include='*.py' '' .",
    "grep -rl --include '*.py' '' .",
    "grep -rl --include='*.py' --include='*.md' ''",
    "grep -rl --exclude=b.txt ''",
    "grep -rl --exclude=sub/b.txt ''",
    "grep -rl --exclude='*.txt' --include=b.txt ''",
    "grep -rl --include=b.txt --exclude='*.txt' ''",
    "grep -rl --exclude='*.txt' --include='*.py' ''",
    "grep -rl --exclude-dir=sub ''",
    "grep -rl --exclude-dir sub --exclude-dir='.d*' ''",
    "grep -rl --exclude-dir=deep/ '' .",
    "grep -rlA 3 '' sub",
    "cd sub && grep -rl ''",
    "cd sub && grep -rl '' ..",
    "grep -rl --include=*.py '' .",
    "grep -l '' *.txt",
    "grep -l --exclude=b.txt '' *.txt */*",
    "grep -rl '' *",
    "grep -rl --include='*.py' '' s*",
    "grep -rl '' sub .d*",
    "grep -l '' {a.py,sub/*.py}",
    "grep -l '' sub/../*.txt",
    "grep -l '' */*/*.md",
    "cd sub && grep -l '' ../*.py",
    "find . -name '*.txt' -exec grep -l '' {} +",
    "find sub .dot -type f -exec grep -l '' {} \\;",
    "find . -maxdepth 1 -type f -exec grep -l '' {} +",
    "find . -name '*.py' -o -name '*.md' | xargs grep -l ''",
    "find . -type f -not -name '*.txt' -not -path './.git/*' | xargs grep -l ''",
    "find . -path ./sub -prune -o -name '*.txt' -print | xargs grep -l ''",
    "find . -type f ! -path '*/sub/*' -print0 | xargs -0 -n 5 grep -l ''",
    "find -type f | xargs -I{} grep -l '' {}",
    "grep '' a.py",
]
GITS = [
    "git grep -l ''",
    "git grep -l '' sub",
    "git grep -l '' -- sub out",
    "git grep -l '' -- '*.py'",
    "git grep -l '' -- ':!sub'",
    "git grep -l '' -- . ':(exclude)*.txt' ':^a.py'",
    "git grep -l -e '' -- sub",
    "git grep -l --untracked ''",
    "git grep -l --no-index ''",
    "git grep -l --untracked '' -- '*.txt'",
    "git grep -l '' HEAD",
    "git -C sub grep -l ''",
    "cd sub && git grep -l ''",
    "git --no-pager -c color.ui=never grep -l '' sub",
    "git grep -l '' -- 'su*'",
    "git grep -l '' *.py",
    "git grep -l --max-depth 0 ''",
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("tree")
    for name in FILES:
        (top / name).parent.mkdir(exist_ok=True, parents=True)
        (top / name).write_text("x\n")
    (top / ".gitignore").write_text("out/\n!out/g.py\n*.md\n")
    git(top, "init", "-q")
    git(top, "add", "-f", *(set(FILES) - {"untracked.txt", "out/f.txt", "sub/deep/d.md"}))
    git(top, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    return top


def git(top, *words):
    return subprocess.run(["git", *words], cwd=top, check=True, capture_output=True).stdout.decode()


def read_by(top, command):
    """Ask the program itself."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(top), "LC_ALL": "C"}
    run = subprocess.run(
        ["bash", "-c", command.replace("rgrep", "grep -r")],
        cwd=top,
        env=environ,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    base = top / "sub" if "cd sub" in command or "-C sub" in command else top
    named = [row.removeprefix("HEAD:") for row in run.stdout.decode().splitlines()]
    found = {os.path.relpath(os.path.normpath(base / each), top) for each in named}
    return found.intersection(FILES)


def judged(top, command):
    """Ask us."""
    tracked = set(git(top, "-c", "core.quotePath=off", "ls-files").splitlines())
    hidden: dict[str, HiddenByGit]
    hidden = {"out/f.txt": "folder", "out/g.py": "folder", "sub/deep/d.md": "file"}
    return {
        path
        for search in folder_searches(command, str(top))
        for folder in search.folders
        for path in FILES
        if f"{top}/{path}".startswith(f"{folder}/") and (search.untracked or path in tracked)
        if search.reads(folder, f"{top}/{path}", hidden.get(path, ""))
    }


IN_DOUBT = ("-maxdepth", "--max-depth", "-g '*.txt'")
"""Words of searches that count as reading more than they read: nobody counts folders."""


def check(command, judged_files, read_files):
    assert judged_files >= read_files
    if not any(words in command for words in IN_DOUBT):
        assert judged_files == read_files


@pytest.mark.parametrize("command", [*GREPS, *GITS])
def test_a_search_reads_what_the_program_reads(tree, command):
    expected = set() if command == "grep '' a.py" else read_by(tree, command)
    check(command, judged(tree, command), expected)


@pytest.mark.parametrize("command", [each for each in [*GREPS[:-1], *GITS] if "find" not in each])
def test_the_option_of_a_refusal_leaves_the_entry_out(tree, command):
    for entry in ("b.txt", "sub/deep/", "sub/b.txt", "[x].txt"):
        for search in folder_searches(command, str(tree)):
            option = search.option(entry)
            if not option:
                assert search.patterns
                continue
            joint = "" if "--" in command.split() or "git" not in command else " --"
            told = f"{command}{joint} {option}" if "git" in command else f"{command} {option}"
            assert not [each for each in read_by(tree, told) if each.startswith(entry)]
            assert not [each for each in judged(tree, told) if each.startswith(entry)]


RG = {
    "rg -l ''": {"a.py", "b.txt", "sub/c.py", "sub/b.txt", "[x].txt", "untracked.txt"},
    "rg -l '' sub": {"sub/c.py", "sub/b.txt"},
    "rg -l --hidden '' sub .dot": {"sub/c.py", "sub/b.txt", ".dot/e.txt"},
    "rg -l '' .dot": {".dot/e.txt"},
    "rg -l -tpy ''": {"a.py", "sub/c.py"},
    "rg -l -g '*.{py,md}' ''": {"a.py", "sub/c.py", "sub/deep/d.md"},
    "rg -l -g '*.txt' -g '!b.txt' ''": {"[x].txt", "untracked.txt"},
    "rg -l -g '!/b.txt' '' sub .": {"a.py", "sub/c.py", "sub/b.txt", "[x].txt", "untracked.txt"},
    "rg -l -g '!sub/' --no-ignore -tpy ''": {"a.py", "out/g.py"},
    "rg -l -g '!sub' -Tpy ''": {"b.txt", "[x].txt", "untracked.txt"},
    "rg -l -g '.env' ''": {".env"},
    "rg -lu -g '!*.txt' ''": {"a.py", "sub/c.py", "sub/deep/d.md", "out/g.py"},
    "cd sub && rg -l -g 'deep/*' ''": {"sub/deep/d.md"},
    "cd sub && rg -l -g '!c.py' ''": {"sub/b.txt"},
    "rg -l '' s* .e*": {"sub/c.py", "sub/b.txt", ".env"},
    "rg -l --max-depth 1 -g *.py ''": {"a.py"},
}


@pytest.mark.parametrize("command", RG)
def test_rg_reads_what_its_manual_says(tree, command):
    """Where the program is installed, it is asked."""
    check(command, judged(tree, command), RG[command])
    if shutil.which("rg"):
        assert read_by(tree, command) == RG[command]


@pytest.mark.parametrize(
    "command", ["rg --files", "rg -h", "ag -g x", "ack -f", "make | rg x", "git log -S x", "$x y"]
)
def test_other_commands_search_no_folder(command):
    assert folder_searches(command, "/w") == ()
