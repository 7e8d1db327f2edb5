"""A workspace of real files and a store of real SQLite, and sessions over them."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

import sightline
from sightline.config.settings import Settings, Source
from sightline.store.opening import open_store


class Place:
    """A workspace under `root`; its sessions are closed when the test ends."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "ws"
        self.state = str(home / "state")
        self.root.mkdir()
        self.opened: list[sightline.Session] = []

    def settings(self, policy: str = "merge", **more) -> Settings:
        sources = (Source(policy, **more.pop("source", {})),)
        return Settings(state_home=self.state, sources=sources, **more)

    def session(self, id: str = "s", *, policy: str = "merge", clock=None, approve=None, **more):
        made = sightline.open_session(
            self.root, id=id, settings=self.settings(policy, **more), clock=clock, approve=approve
        )
        self.opened.append(made)
        return made

    def put(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def bytes(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def text(self, path: str) -> str:
        return self.bytes(path).decode()

    def names(self) -> list[str]:
        return sorted(os.listdir(self.root))

    def end(self) -> None:
        """Close the sessions. Where CI is set, check the store of each test first: a tenth of the time."""
        open_ones = [session for session in self.opened if session._users]
        if self.opened and os.environ.get("CI"):
            self.check(open_ones)
        for session in open_ones:
            session.close()

    def check(self, open_ones: list[sightline.Session]) -> None:
        """Check the store, by a session that is open or anew."""
        if open_ones:
            assert open_ones[0]._context.store.verify() == []
            return
        store = open_store(None, workspace_root=str(self.root), state_home=self.state)
        with closing(store) as last:
            assert last.verify() == []


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.end()


@pytest.fixture
def s(place):
    return place.session()


TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.fixture
def ten(place, s):
    """A file of ten lines that the session was shown."""
    place.put("a.py", TEN)
    s.read("a.py")
    return s


@pytest.fixture
def three(place, s):
    """A file of three lines that the session was shown."""
    place.put("a.py", "one\ntwo\nthree\n")
    s.read("a.py")
    return s
