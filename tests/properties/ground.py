"""What the state machine stands on: the real library, real files, real SQLite, and the model.

A watcher of the same tree is told anything at any time: hints that come twice, late, in another
order, for nothing, or never (P7).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant
from tests.properties.model import (
    ENCODINGS,
    File,
    changed_part,
    embeds,
)

import sightline
from sightline.api.folders import ports
from sightline.changes.session_context import now_us
from sightline.config.settings import Settings
from sightline.filesystem.process import owner
from sightline.filesystem.watch.watcher import Eyes, Hints
from sightline.history.session_history import survey
from sightline.history.watching import Watching

PATHS = ("a.py", "src/b.ts", "notes.txt")
SESSIONS = ("one", "two")
REPEATED = ("}", "    return", "", "  {")

paths = st.sampled_from(PATHS)
sessions = st.sampled_from(SESSIONS)
places = st.integers(0, 15)
saves = st.sampled_from(["in place", "atomic", "mtime restored"])

COUNTS: Counter[str] = Counter()
"""What the run met, for bench/wide.py to print."""


class Killed(BaseException):
    """The writer's process ends here."""


class Told:
    """A watcher that answers what it is told to."""

    def __init__(self) -> None:
        self.hints: Hints | None = None

    def wait(self, timeout_s: float | None) -> Hints | None:
        hints, self.hints = self.hints, None
        return hints

    def fileno(self) -> int | None:
        return None

    def eyes(self) -> Eyes:
        return Eyes("events")

    def follow(self, paths: Iterable[str]) -> None:
        """It sees nothing by itself."""

    def wake(self) -> None:
        """Nobody waits for it."""

    def close(self) -> None:
        """Nothing is held open."""


class Ground(RuleBasedStateMachine):
    """What both kinds of rules stand on: the workspace, the model's disk, two sessions."""

    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.mkdtemp(prefix="sightline-machine-")
        self.root = f"{self.home}/ws"
        os.makedirs(f"{self.root}/src")
        self.disk: dict[str, File | None] = dict.fromkeys(PATHS)
        self.tokens = 0
        # A dead owner, so that whatever a killed write leaves is settled at the next open.
        self.settings = Settings(state_home=f"{self.home}/state")
        self.sessions = {name: self.opened(name) for name in SESSIONS}
        store, tree = ports(self.sessions["one"].workspace, self.settings, None)
        self.watcher = Told()
        self.watched = survey(store, tree, self.settings, now_us)
        self.watching = Watching(self.watched, self.watcher)
        COUNTS["examples"] += 1

    def opened(self, name: str) -> sightline.Session:
        session = sightline.open_session(self.root, id=name, settings=self.settings)
        session._context.owner = f"{owner().rpartition(':')[0]}:0"
        return session

    def teardown(self) -> None:
        for session in self.sessions.values():
            assert session._context.store.verify() == []
            session.close()
        self.watched.store.close()
        shutil.rmtree(self.home)

    def line(self, at: int, *, repeated: bool = False) -> str:
        """A line of its own, or one that stands in many places."""
        if repeated:
            return REPEATED[at % len(REPEATED)]
        self.tokens += 1
        return f"{'    ' * (at % 2)}value{self.tokens} = {at}"

    def full(self, path: str) -> str:
        return f"{self.root}/{path}"

    def save(self, path: str, file: File | None, how: str = "in place") -> None:
        """Save as a program of the user does."""
        self.disk[path] = file
        full = self.full(path)
        if file is None:
            if os.path.exists(full):
                os.unlink(full)
            return
        before = os.stat(full) if os.path.exists(full) else None
        target = f"{full}.tmp" if how == "atomic" else full
        with open(target, "wb") as out:
            out.write(file.data)
        if how == "atomic":
            os.replace(target, full)
        elif how == "mtime restored" and before:
            os.utime(full, ns=(before.st_atime_ns, before.st_mtime_ns))

    def bytes_at(self, path: str) -> bytes | None:
        try:
            with open(self.full(path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    @initialize(
        encodings=st.tuples(*[st.sampled_from(ENCODINGS)] * len(PATHS)),
        ends=st.tuples(*[st.sampled_from(["\n", "\r\n", "mixed"])] * len(PATHS)),
        sizes=st.tuples(*[st.integers(0, 12)] * len(PATHS)),
        last=st.booleans(),
    )
    def begin(self, encodings, ends, sizes, last) -> None:
        for path, encoding, end, size in zip(PATHS, encodings, ends, sizes, strict=True):
            lines = [(self.line(n, repeated=n % 3 == 2), "\r\n" if end == "mixed" and n % 2 else "\n" if end == "mixed" else end) for n in range(size)]  # fmt: skip
            if encoding in ("latin-1", "broken") and lines:
                lines[0] = ("caf\u00e9" + "\udcff" * (encoding == "broken"), lines[0][1])
            if last and lines:
                lines[-1] = (lines[-1][0] or "end", "")
            self.save(path, File(tuple(lines), encoding))
        for path in PATHS:
            self.sessions["one"].read(path)
        if sizes[0] >= 2:
            self.sessions["two"].read(PATHS[0], (2, 5))

    @invariant()
    def the_disk_is_what_the_model_says(self) -> None:
        for path in PATHS:
            file = self.disk[path]
            assert self.bytes_at(path) == (None if file is None else file.data)
        assert set(os.listdir(self.root)) <= {*PATHS, "src"}
        assert set(os.listdir(f"{self.root}/src")) <= {"b.ts"}

    @invariant()
    def what_is_asked_agrees_and_stays(self) -> None:
        for session in self.sessions.values():
            states = {file.path: file.state for file in session.files()}
            for path, state in states.items():
                verdict = session.check(path)
                assert verdict == session.check(path)
                assert verdict.state == state, (path, verdict.state, state)
                self.fresh_is_true(session, path, verdict)
            changes = session.changes(told=True)
            assert {c.path: c.state for c in changes if c.what != "endings"} == {
                path: state for path, state in states.items() if state != "fresh"
            }
            assert changes == session.changes(told=True)
            assert set(session.changes()) <= set(changes)

    def fresh_is_true(self, session, path, verdict) -> None:
        """Fresh exactly when the lines that were shown are what the disk has."""
        file, believed = self.disk[path], session.believed(path)
        if file is None:
            assert verdict.state in ("deleted", "moved")
            return
        assert believed is not None
        assert verdict.state in ("fresh", "stale")
        if verdict.complete:
            assert (verdict.state == "fresh") == (believed == file.plain)
        start, end = changed_part(believed, file.plain)
        far = all(last < start or first > end + 1 for first, last in verdict.seen_lines)
        if believed == file.plain or (believed and far):
            assert verdict.state == "fresh"
        if verdict.state == "fresh":
            assert embeds(believed, verdict.seen_lines, file.plain)
