"""A tree that an agent works in, and the user beside it with an editor, git and our command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.disasters.inventory import inventory
from tests.support.command_line import Shell

import sightline
from sightline.checkpoints.rewind import apply
from sightline.model.events import WriteIntended


class Tree:
    """A workspace with one agent in it. Whatever the user asks of us is asked by the command, in
    the name of the agent's session; git's own files are looked at around each of these."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "project"
        self.root.mkdir()
        self.shell = Shell(self.root, home / "state")
        self.gits: list[Path] = [self.root]
        self.sessions: list[sightline.Session] = []

    def session(self, id: str = "agent") -> sightline.Session:
        made = sightline.open_session(self.root, id=id)
        self.sessions.append(made)
        return made

    def put(self, path: str, content: str | bytes) -> Path:
        return self.shell.put(path, content)

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def git(self, *args: str, at: str | Path = "") -> str:
        """As the user runs it; its output."""
        command = ["git", "-c", "protocol.file.allow=always", *args]
        done = subprocess.run(
            command, cwd=self.root / at, check=True, capture_output=True, text=True
        )
        return done.stdout

    def user(self, *args: str, code: int = 0, session: str = "agent"):
        """Run a command that the user types, and return the answer. The files of git stay as they were."""
        before = self.kept_by_git()
        answer = self.shell("--session", session, *args)
        assert self.kept_by_git() == before, args
        assert answer.code == code, answer.err + answer.out
        return answer

    def kept_by_git(self):
        """The inventory of all that git keeps of this tree."""
        return [inventory(each) for each in self.gits]

    def checkpoint(self, *label: str) -> str:
        """Its id."""
        return str(self.user("checkpoint", *label, "--json").json["checkpoint"]["id"])

    def rewind(self, to: str, *args: str, code: int = 0):
        """Return what it says that it did."""
        return self.user("rewind", to, "--yes", "--json", *args, code=code).json


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "state"))
    made = Tree(tmp_path)
    monkeypatch.chdir(made.root)
    yield made
    for session in made.sessions:
        session.close()
    with sightline.open_session(made.root, id="last") as last:
        assert last._context.store.verify() == []
        left = [each.fact for each in last._context.store.pending()]
        assert not any(isinstance(fact, WriteIntended) for fact in left)


@pytest.fixture
def repository(tree):
    """A git repository with a commit, a change that is staged and one that is not."""
    tree.git("init", "-q", "-b", "main")
    tree.put("a.py", "one\ntwo\nthree\n")
    tree.put("b.py", "b\n")
    tree.git("add", ".")
    tree.git("commit", "-q", "-m", "first")
    tree.put("b.py", "b, staged\n")
    tree.git("add", "b.py")
    tree.put("b.py", "b, staged and more\n")
    return tree


@pytest.fixture
def agent(repository):
    """The agent, which was shown both files."""
    made = repository.session()
    made.read("a.py")
    made.read("b.py")
    return made


@pytest.fixture(autouse=True)
def own_git_config(tmp_path, monkeypatch):
    """What the machine's git is told of elsewhere is no part of these tests."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


@pytest.fixture
def many(tree, monkeypatch):
    """More files than go back in one step, each changed by one command; the checkpoint before."""
    monkeypatch.setattr(apply, "BATCH_FILES", 10)
    names = [f"{n}.txt" for n in range(15)]
    agent = tree.session()
    for name in names:
        tree.put(name, "then\n")
    then = tree.checkpoint()
    with agent.ran(f"sed -i s/then/now/ {' '.join(names)}"):
        for name in names:
            tree.put(name, "now\n")
    return names, then
