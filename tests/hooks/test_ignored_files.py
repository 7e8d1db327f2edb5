"""What an ignore file refuses is refused at every door."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from tests.hooks.hooking import Host, refusal

from sightline.filesystem import disk


@pytest.fixture
def host():
    made = Host()
    made.put("key.txt", "secret\n")
    made.put("a.py", "1\n")
    made.folder("project/sub", marked=False)
    made.put("sub/inner.txt", "secret\n")
    made.put("sub/.sightlineignore", "inner.txt\n")
    made.put(".sightlineignore", "key.txt\n")
    made.put(".rooignore", "roo.txt\n")
    made.put("roo.txt", "secret\n")
    yield made
    made.close()


def before(host, tool, **given):
    call: dict[str, Any] = {"tool_name": tool, "tool_use_id": "t1", "tool_input": given}
    return refusal(host.ask(host.payload("PreToolUse", **call)))


@pytest.mark.parametrize("name", ["key.txt", "sub/inner.txt"])
def test_a_hosts_read_of_an_ignored_file_is_refused(host, name):
    assert "refused by .sightlineignore" in before(host, "Read", file_path=str(host.root / name))
    assert before(host, "Read", file_path=str(host.root / "a.py")) == ""


@pytest.mark.parametrize(
    "command", ["cat key.txt", "cd sub && head -n 1 inner.txt", "make; tail key.txt | grep x"]
)
def test_a_shell_read_of_an_ignored_file_is_refused(host, command):
    assert "refused by .sightlineignore" in before(host, "Bash", command=command)


@pytest.mark.parametrize("command", ["cat a.py", "cat .git/HEAD", "cat roo.txt", "ls"])
def test_other_commands_go_on(host, command):
    assert before(host, "Bash", command=command) == ""


def test_the_ignore_files_of_agents_refuse_where_the_settings_say_so(host):
    path = str(host.root / "roo.txt")
    assert before(host, "Read", file_path=path) == ""
    host.put("sightline.toml", 'ignore_files = "refuse"\n')
    assert "refused by .rooignore" in before(host, "Read", file_path=path)
    assert "refused by .rooignore" in before(host, "Bash", command="cat roo.txt")
    assert "refused by .rooignore" in refusal(host.ask(host.write(path, "x")))


def test_no_door_of_the_library_shows_or_advises_an_ignored_file(place):
    place.put("sub/.sightlineignore", "inner.txt\n")
    place.put("sub/inner.txt", "secret\n")
    place.put(".rooignore", "roo.txt\n")
    place.put("roo.txt", "secret\n")
    s = place.session(ignore_files="refuse")
    for name in ("sub/inner.txt", "roo.txt"):
        found = s.find(name)
        assert (found.matches, found.candidates) == ((), ())
        assert "secret" not in s.briefing(f"look at @{name}").text
        assert s._context.workspace.refused([name]) == {name}


SEARCHES = {
    "grep -rn secret .": "--exclude=key.txt --exclude=inner.txt",
    "grep -r secret": "--exclude=key.txt --exclude=inner.txt",
    "grep -R secret sub": "--exclude=inner.txt",
    "cd sub && grep -r secret ..": "--exclude=key.txt --exclude=inner.txt",
    "egrep --directories=recurse secret ./sub/": "--exclude=inner.txt",
    "make; rg secret": "-g '!key.txt' -g '!inner.txt'",
    "rg -n secret sub | head": "-g '!inner.txt'",
    "bash -c 'rg secret'": "-g '!key.txt' -g '!inner.txt'",
    "ag secret sub": "--ignore inner.txt",
    "ack secret sub": "--ignore-file=is:inner.txt",
    "grep -r --include='*.txt' secret sub": "--exclude=inner.txt",
    "rg -g '*.{py,txt}' secret sub": "-g '!inner.txt'",
    "rg -tjson secret sub": "-g '!inner.txt'",
}


@pytest.mark.parametrize("command", SEARCHES)
def test_a_search_of_a_folder_with_an_ignored_file_is_refused(host, command):
    told = before(host, "Bash", command=command)
    assert "refused by .sightlineignore" in told
    assert f"Search again with {SEARCHES[command]}, or" in told


@pytest.mark.parametrize(
    "command",
    [
        *(f"{name} secret {options}" for name, options in [("grep", "a.py"), ("grep -i", "")]),
        "make | grep secret",
        "make | rg secret",
        "rg --files",
        "grep -r --include='*.py' secret .",
        "grep -r --exclude=key.txt --exclude=inner.txt secret .",
        "grep -r --exclude='*.txt' secret .",
        "grep -r --exclude=key.txt --exclude-dir sub secret",
        "rg -g '!key.txt' -g '!inner.txt' secret",
        "rg --glob '!*.txt' secret",
        "rg -g '*.py' secret",
        "rg -tpy secret",
        "ag --ignore key.txt --ignore sub secret",
        "ack --ignore-file=is:key.txt --ignore-dir=sub secret",
        "grep -r secret /nowhere",
    ],
)
def test_a_search_that_reads_no_ignored_file_goes_on(host, command):
    assert before(host, "Bash", command=command) == ""


@pytest.mark.parametrize(
    "command",
    [
        *(
            "cat *",
            "head -n 3 *.txt",
            "cat s*/*.txt",
            "cd sub && cat ../*.txt",
            "tail {a.py,*.txt}",
        ),
        "find . -type f -exec cat {} +",
        "find sub -name '*.txt' | xargs -n 1 head -n 2",
    ],
)
def test_a_command_whose_files_the_shell_or_find_names_is_refused(host, command):
    told = before(host, "Bash", command=command)
    assert "refused by .sightlineignore" in told
    assert "Search again with -not -name" in told or "Name the files to read." in told


@pytest.mark.parametrize(
    "command",
    [
        *("cat *.py", "ls *", "wc -l *.md", "cat sub/*.py", "cat */key.txt", "grep secret a*"),
        "find . -name '*.py' -exec cat {} +",
        "find . -type f | head",
        "find . -type f -not -name key.txt -not -path './sub/*' | xargs cat",
    ],
)
def test_a_command_whose_pattern_names_no_ignored_file_goes_on(host, command):
    assert before(host, "Bash", command=command) == ""


def test_the_hosts_own_search_is_refused_alike(host):
    told = before(host, "Grep", pattern="secret")
    assert "key.txt" in told
    assert 'the glob "!key.txt" the glob "!inner.txt"' in told
    assert "inner.txt" in before(host, "Grep", pattern="secret", path="sub", glob="*.{txt,md}")
    assert "refused by" in before(host, "Grep", pattern="x", path=str(host.root / "key.txt"))
    for given in ({"glob": "!key.txt !inner.txt"}, {"glob": "*.py"}, {"type": "py"}):
        assert before(host, "Grep", pattern="secret", **given) == ""
    assert before(host, "Grep", pattern="secret", path="a.py") == ""


def test_a_search_passes_over_what_its_program_passes_over(host):
    for name in (".env", "build/out.txt"):
        (host.root / name).parent.mkdir(exist_ok=True)
        host.put(name, "secret\n")
    (host.root / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], cwd=host.root, check=True)
    host.put(".gitignore", "build/\n")
    host.put("sub/.sightlineignore", "")
    host.put(".sightlineignore", ".env\nbuild/\n")
    assert before(host, "Bash", command="rg secret") == ""
    assert before(host, "Bash", command="git grep secret") == ""
    for command in ("rg --hidden secret", "rg -uu secret", "rg -g '*env' secret"):
        assert ".env" in before(host, "Bash", command=command)
    for command in ("rg --no-ignore secret", "rg secret build", "grep -r secret", "rg -u x"):
        assert "build/" in before(host, "Bash", command=command)
    assert ".env" in before(host, "Grep", pattern="secret")
    assert "build/" not in before(host, "Grep", pattern="secret")
    subprocess.run(["git", "add", "-f", ".env"], cwd=host.root, check=True)
    assert ":(exclude,glob)**/.env" in before(host, "Bash", command="git grep secret")
    for spared in ("git grep secret -- a.py", "git grep secret -- ':(exclude,glob)**/.env'"):
        assert before(host, "Bash", command=spared) == ""


def test_no_folder_is_listed_for_a_search_where_nothing_refuses(host, monkeypatch):
    for name in (".sightlineignore", "sub/.sightlineignore"):
        (host.root / name).unlink()
    host.ask(host.payload("UserPromptSubmit", prompt="go on"))
    with host.session() as session:
        monkeypatch.setattr(disk, "look", None)
        assert refused_below(session) == []


def test_a_tree_too_large_to_be_looked_through_is_judged_by_what_is_remembered(host):
    host.ask(host.payload("UserPromptSubmit", prompt="go on"))
    with host.session() as session:
        session.checkpoint()
        host.put("sub/new.txt", "secret\n")
        host.put("sub/.sightlineignore", "*.txt\n")
        assert [file.path for file in refused_below(session, until=0)] == [
            "key.txt",
            "sub/inner.txt",
        ]


def refused_below(session, until=float("inf")):
    return list(session._context.workspace.refused_below("", until=until))
