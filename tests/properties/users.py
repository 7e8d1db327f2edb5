"""What people, editors, formatters and version control do, in any order."""

from __future__ import annotations

import os

from hypothesis import strategies as st
from hypothesis.stateful import rule
from tests.properties.ground import PATHS, Ground, paths, places, saves
from tests.properties.model import (
    File,
)

from sightline.filesystem.watch.watcher import Hints
from sightline.model.session_ids import NOBODY


class Users(Ground):
    """What people, editors, formatters and version control do to files."""

    @rule(path=paths, at=places, how=saves, repeated=st.booleans())
    def inserts(self, path, at, how, repeated) -> None:
        if (file := self.disk[path]) is not None:
            at = min(at, len(file.lines))
            lines = list(file.lines)
            if at == len(lines) and lines and not lines[-1][1]:
                lines[-1] = (lines[-1][0], "\n")
            lines.insert(at, (self.line(at, repeated=repeated), lines[at - 1][1] if at else "\n"))
            self.save(path, file._replace(lines=tuple(lines)), how)

    @rule(path=paths, at=places, how=saves, repeated=st.booleans())
    def changes(self, path, at, how, repeated) -> None:
        if (file := self.disk[path]) is not None and file.lines:
            at %= len(file.lines)
            put = (self.line(at, repeated=repeated) or "x", file.lines[at][1])
            self.save(
                path, file._replace(lines=(*file.lines[:at], put, *file.lines[at + 1 :])), how
            )

    @rule(path=paths, at=places, size=st.integers(1, 3), how=saves)
    def deletes_lines(self, path, at, size, how) -> None:
        if (file := self.disk[path]) is not None and file.lines:
            at %= len(file.lines)
            self.save(path, file._replace(lines=file.lines[:at] + file.lines[at + size :]), how)

    @rule(path=paths, at=places, to=places)
    def moves_a_block(self, path, at, to) -> None:
        if (file := self.disk[path]) is not None and len(file.lines) > 3 and file.lines[-1][1]:
            lines = list(file.lines)
            at %= len(lines) - 1
            block = lines[at : at + 2]
            del lines[at : at + 2]
            to %= len(lines) + 1
            lines[to:to] = block
            self.save(path, file._replace(lines=tuple(lines)))

    @rule(path=paths, how=st.sampled_from(["indent", "trailing", "ends", "bom", "last newline"]))
    def formats(self, path, how) -> None:
        file = self.disk[path]
        if file is None or not file.lines:
            return
        lines = list(file.lines)
        if how == "indent":
            lines = [("  " + text.lstrip() if text else text, end) for text, end in lines]
        elif how == "trailing":
            lines = [(text.rstrip() + " " * (n % 2), end) for n, (text, end) in enumerate(lines)]
        elif how == "ends":
            lines = [(text, end and ("\n" if "\r" in end else "\r\n")) for text, end in lines]
        elif how == "last newline":
            lines[-1] = (lines[-1][0] or "end", "" if lines[-1][1] else "\n")
        elif file.encoding in ("utf-8", "utf-8-sig"):
            file = file._replace(encoding="utf-8" if file.encoding == "utf-8-sig" else "utf-8-sig")
        self.save(path, file._replace(lines=tuple(lines)))

    @rule(
        hinted=st.sets(st.sampled_from([*PATHS, "src", "gone.py", ".git/HEAD"])),
        everything=st.booleans(),
        lost=st.none() | st.sampled_from(["overflow", "suspended"]),
    )
    def a_watcher_looks(self, hinted, everything, lost) -> None:
        """Wherever it is sent. What it finds is what is there, and its finder is nobody."""
        self.watcher.hints = Hints(frozenset(hinted), everything=everything, lost=lost)
        for entry in self.watching.wait(0) or ():
            if entry.session == NOBODY and entry.kind == "changed":
                assert entry.after != entry.before

    @rule(path=paths, how=st.sampled_from(["touch", "same bytes", "same bytes, atomic", "older"]))
    def touches(self, path, how) -> None:
        """Nothing that was shown changes, and nothing may be said to have."""
        file = self.disk[path]
        if file is None:
            return
        before = [s.check(path).state for s in self.sessions.values()]
        if how == "touch":
            os.utime(self.full(path))
        elif how == "older":
            os.utime(self.full(path), ns=(10**18, 10**18))
        else:
            self.save(path, file, "atomic" if "atomic" in how else "in place")
        assert [s.check(path).state for s in self.sessions.values()] == before

    @rule(path=paths)
    def removes(self, path) -> None:
        self.save(path, None)

    @rule(path=paths, at=places)
    def recreates(self, path, at) -> None:
        if self.disk[path] is None:
            self.save(path, File(((self.line(at), "\n"), ("}", "\n"))))

    @rule(path=paths, look=st.booleans())
    def deletes_and_recreates(self, path, look) -> None:
        self.away_and_back({path: None}, look)

    @rule(path=paths, at=places, look=st.booleans())
    def changes_and_changes_back(self, path, at, look) -> None:
        self.away_and_back({path: File(((self.line(at), "\n"),))}, look)

    @rule(at=places, look=st.booleans())
    def switches_branch_and_back(self, at, look) -> None:
        self.away_and_back({path: File(((self.line(at), "\n"),)) for path in PATHS}, look)

    def away_and_back(self, there: dict[str, File | None], look) -> None:
        """A -> B -> A is nothing at all, whether or not anybody looked in between."""
        before = dict(self.disk)
        told = {n: {p: s.check(p).state for p in there} for n, s in self.sessions.items()}
        for path, file in there.items():
            self.save(path, file)
        if look:
            for session in self.sessions.values():
                session.changes()
        for path in there:
            self.save(path, before[path])
        now = {n: {p: s.check(p).state for p in there} for n, s in self.sessions.items()}
        assert now == told

    @rule(path=paths)
    def renames_and_back(self, path) -> None:
        if self.disk[path] is None:
            return
        away = f"{self.home}/away"
        os.rename(self.full(path), away)
        for session in self.sessions.values():
            assert session.check(path).state in ("deleted", "unseen")
        os.rename(away, self.full(path))
