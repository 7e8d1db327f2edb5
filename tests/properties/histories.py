"""Histories of one tree, as values: what agents, users, commands and a second session do to files
of lines that nobody else ever wrote. What became of each line can be told from the bytes alone."""

from __future__ import annotations

from contextlib import suppress
from time import time_ns
from typing import NamedTuple

from hypothesis import strategies as st

import sightline
from sightline.filesystem.process import owner
from sightline.testing import MemoryWorkspace, make_session

PATHS = ("a.py", "b.py", "c.py")
NEW = ("d.py", "e.py")


class Deed(NamedTuple):
    """who: agent, command, user or second. what: lines, create, delete, move or link (of those who
    use no verbs). at, size, more: lines from `at` on that go, and how many come; fresh: the agent
    looks first."""

    who: str
    what: str
    path: str
    at: int = 0
    size: int = 0
    more: int = 0
    fresh: bool = True
    to: str = NEW[0]


WHO = ("agent", "agent", "agent", "command", "user", "user", "second")
WHAT = ("lines",) * 10 + ("create", "delete", "move") * 2 + ("link",)

deeds = st.lists(
    st.builds(
        Deed,
        who=st.sampled_from(WHO),
        what=st.sampled_from(WHAT),
        path=st.sampled_from(PATHS + NEW),
        at=st.integers(0, 11),
        size=st.integers(0, 3),
        more=st.integers(0, 3),
        fresh=st.booleans(),
        to=st.sampled_from(PATHS + NEW),
    ),
    min_size=1,
    max_size=14,
)

OF_AGENT = ("agent", "command")


class World:
    """A tree in memory, the session that rewinds, and a second one. touched: path -> who did
    anything to it since the checkpoint; renamed: paths that others renamed files to."""

    def __init__(self, ends: str = "\n") -> None:
        self.ends = ends
        self.count = 0
        files = {path: "".join(self.line("old") for _ in range(12)) for path in PATHS}
        self.tree = MemoryWorkspace()
        self.tree._time_ns = time_ns()  # as a disk's: younger than a checkpoint or not
        for path, content in files.items():
            self.tree.put(path, content)
        self.sessions = {name: make_session(self.tree, id=name) for name in ("one", "two")}
        # A dead owner, so that whatever a killed write leaves is settled when it comes back.
        self.one._context.owner = f"{owner().rpartition(':')[0]}:0"
        for path in PATHS:
            self.one.read(path)
        self.touched: dict[str, set[str]] = {}
        self.renamed: set[str] = set()

    @property
    def one(self) -> sightline.Session:
        return self.sessions["one"]

    def comes_back(self) -> None:
        """The session that rewinds ended without a word, and is resumed in a new process."""
        self.sessions["one"] = make_session(self.tree, id="one")

    def line(self, who: str) -> str:
        self.count += 1
        return f"{who} {self.count}{self.ends}"

    def disk(self) -> dict[str, bytes]:
        """Every file, by path; of a symlink, where it leads: that is a line, too."""
        found = [self.tree.read(path) for path in PATHS + NEW]
        stands = {x.path: x.data if x.target is None else x.target.encode() for x in found}
        return {path: data for path, data in stands.items() if data is not None}

    def leads(self, path: str) -> bool:
        """Return whether a symlink stands there."""
        return self.tree.read(path).target is not None

    def does(self, deed: Deed) -> None:
        """Carry out a deed, as far as it can be and the guard lets it."""
        before = self.disk()
        if deed.who in ("agent", "second"):
            with suppress(sightline.EditRefused):
                self._by_verb(self.one if deed.who == "agent" else self.sessions["two"], deed)
        elif deed.who == "command":
            with self.one.ran(self.command(deed)):
                self._by_hand(deed)
        else:
            self._by_hand(deed)
        if deed.what == "move" and deed.who not in OF_AGENT:
            self.renamed.add(deed.to)
        after = self.disk()
        for path in PATHS + NEW:
            if before.get(path) != after.get(path):
                self.touched.setdefault(path, set()).add(deed.who)

    def command(self, deed: Deed) -> str:
        """A shell command that does it, as it names what it writes."""
        if deed.what == "delete":
            return f"rm {deed.path}"
        if deed.what == "move":
            return f"mv {deed.path} {deed.to}"
        return f"ln -sf x {deed.path}" if deed.what == "link" else f"sed -i s/x/y/ {deed.path}"

    def _by_verb(self, session: sightline.Session, deed: Deed) -> None:
        if deed.what == "link" or self.leads(deed.path):
            return
        if deed.fresh or session.believed(deed.path) is None:
            session.read(deed.path) if deed.path in self.disk() else None
        if deed.what == "create":
            session.create(deed.path, self.line(deed.who))
        elif deed.what == "delete":
            session.delete(deed.path)
        elif deed.what == "move":
            session.move(deed.path, deed.to)
        else:
            believed = session.believed(deed.path)
            if believed is not None:
                session.write(deed.path, self.changed(believed, deed))

    def _by_hand(self, deed: Deed) -> None:
        data = self.disk().get(deed.path)
        if deed.what == "create" and data is None:
            self.tree.put(deed.path, self.line(deed.who))
        elif deed.what == "link":
            self.tree.put_kind(deed.path, "symlink", target=self.line(deed.who).strip())
        elif data is None:
            return
        elif deed.what == "delete":
            self.tree.remove(deed.path)
        elif deed.what == "move" and deed.to not in self.disk() and not self.leads(deed.path):
            self.tree.move_if(deed.path, deed.to, self.tree.read(deed.path).revision)
        elif deed.what == "lines":  # of a symlink: it is a file then
            text = data.decode() + self.ends * self.leads(deed.path)
            self.tree.put(deed.path, self.changed(text, deed))

    def changed(self, text: str, deed: Deed) -> str:
        lines = text.replace("\r\n", "\n").splitlines(keepends=True)
        at = deed.at % (len(lines) + 1)
        whose = deed.who
        put = [self.line(whose) for _ in range(deed.more)]
        return "".join([*(x.replace("\n", self.ends) for x in lines[:at]), *put, *(x.replace("\n", self.ends) for x in lines[at + deed.size :])])  # fmt: skip


def whose(line: bytes) -> str:
    """Who wrote a line."""
    return line.decode().split(" ")[0]


def foreign(data: bytes) -> list[bytes]:
    """The lines of a file that its agent did not write, in order."""
    return [line for line in data.splitlines() if whose(line) not in OF_AGENT]
