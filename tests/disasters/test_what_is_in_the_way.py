"""What a rewind cannot put back is left alone and said; the rest goes back.

Threads: google-gemini/gemini-cli (a read error in /rewind drops all files after it, in silence),
cline/cline#3309 and Kilo-Org/kilocode#2382 (a restore that does nothing, and does not say so).
"""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager

import pytest
from tests.filesystem.doubles import as_nobody, open_way_to
from tests.support.told import linux_only, root_only

LONG = "ä" * 120 + ".py"
DEEP = "/".join(["d" * 200] * 12) + "/f.py"
ODD = "new\nline \x1b[31m.py"


def of_lines(tree, path):
    tree.put(path, "one\ntwo\nthree\n")


@contextmanager
def folder_there(file):
    file.unlink()
    file.mkdir()
    (file / "user.txt").write_text("the user's\n")
    yield
    assert (file / "user.txt").read_text() == "the user's\n"


@contextmanager
def fifo_there(file):
    file.unlink()
    os.mkfifo(file)
    yield
    assert file.is_fifo()


@contextmanager
def link_there(file):
    """To a file of the user's, outside."""
    other = file.parent.parent / "outside.txt"
    other.write_text("the user's\n")
    file.unlink()
    file.symlink_to(other)
    yield
    assert (file.is_symlink(), other.read_text()) == (True, "the user's\n")


@contextmanager
def immutable(file):
    if subprocess.run(["chattr", "+i", file], capture_output=True, check=False).returncode:
        pytest.skip("no file can be made immutable here")
    try:
        yield
        assert file.read_text() == "one\n2\nthree\n"
    finally:
        subprocess.run(["chattr", "-i", file], check=True)


@pytest.mark.parametrize(
    "stands",
    [
        folder_there,
        fifo_there,
        link_there,
        pytest.param(immutable, marks=[root_only, linux_only]),
    ],
)
def test_it_is_said_and_the_rest_goes_back(repository, agent, stands):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    agent.edit("b.py", "more", "less")
    with stands(repository.root / "a.py"):
        said = repository.user("rewind", then, "--yes", code=1).out
    assert "Left alone:\n  a.py: " in said
    assert repository.text("b.py") == "b, staged and more\n"


def test_what_was_made_read_only_is_left_alone(tree, monkeypatch):
    """As for every other write: it was made so on purpose."""
    open_way_to(tree.home)
    tree.home.chmod(0o1777)  # nobody renames what is another's
    tree.root.chmod(0o777)

    def act():
        agent = tree.session()
        for path in ("a.py", "b.py"):
            of_lines(tree, path)
            agent.read(path)
        then = agent.checkpoint()
        agent.edit("a.py", "two", "2")
        agent.edit("b.py", "two", "2")
        (tree.root / "a.py").chmod(0o444)
        report = agent.rewind(then)
        assert report.restored == ("b.py",)
        [left] = report.left_alone
        assert left.path == "a.py"
        assert "Permission denied" in left.reason
        assert tree.text("a.py") == "one\n2\nthree\n"

    with monkeypatch.context() as patched:
        patched.setenv("HOME", str(tree.home))
        patched.setenv("SIGHTLINE_HOME", str(tree.home / "own"))
        as_nobody(act)


@pytest.mark.parametrize("path", [LONG, DEEP, ODD], ids=["long", "deep", "odd"])
def test_names_as_long_and_odd_as_the_system_has_them_go_back(tree, path):
    folder = tree.root
    for part in path.split("/")[:-1]:
        folder /= part
        folder.mkdir()
    made = folder / path.split("/")[-1]
    made.write_text("one\ntwo\nthree\n")
    agent = tree.session()
    agent.read(path)
    then = tree.checkpoint()
    agent.edit(path, "two", "2")
    assert tree.rewind(then)["restored"] == [path]
    assert made.read_text() == "one\ntwo\nthree\n"
    assert "\x1b" not in tree.user("checkpoint", "list").out


@pytest.mark.wide
def test_two_agents_taken_back_at_once_each_lose_their_own(tree):
    """One by the library, one by the command: in each file a line of both."""
    names = [f"{n}.py" for n in range(30)]
    one, two = tree.session("one"), tree.session("two")
    for name in names:
        of_lines(tree, name)
        one.read(name)
        two.read(name)
    then, other = one.checkpoint(), two.checkpoint()
    for name in names:
        one.edit(name, "one", "1")
        two.edit(name, "three", "3")
    with tree.shell.spawn("--session", "two", "rewind", other.id, "--yes") as process:
        report = one.rewind(then)
        process.communicate()
    assert (process.returncode, report.left_alone) == (0, ())
    assert {tree.text(name) for name in names} == {"one\ntwo\nthree\n"}


def test_what_cannot_be_forced_is_listed_once(repository, agent):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    with folder_there(repository.root / "a.py"):
        told = repository.rewind(then, "--force-path", "a.py", code=1)
    assert [each["path"] for each in told["left_alone"]] == ["a.py"]


def test_what_was_forced_back_already_is_not_left_alone(repository, agent):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    (repository.root / "a.py").rename(repository.root / "A.txt")
    repository.rewind(then, "--force-path", "a.py")
    assert repository.text("a.py") == "one\ntwo\nthree\n"
    assert repository.rewind(then)["left_alone"] == []


def test_a_file_stands_where_its_folder_was(tree):
    agent = tree.session()
    agent.create("data/a.py", "one\n")
    then = tree.checkpoint()
    agent.delete("data/a.py")
    (tree.root / "data").rmdir()
    tree.put("data", "the user's\n")
    [left] = agent.rewind(then).left_alone
    assert "Not a directory" not in left.reason
    assert "data, which was its folder then, is a file now" in left.reason
    assert tree.text("data") == "the user's\n"
