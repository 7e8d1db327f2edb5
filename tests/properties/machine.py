"""Users, agents and crashes in any order, over the real library, real files and real SQLite.

No rule plays with watcher events: no verb asks a watcher, each looks at the disk itself, so a
lost or doubled event has nothing to change (P7 is held by files() and check() agreeing, the one
by stat and the other by content).
"""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from collections import Counter
from hashlib import sha256

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.properties.model import (
    ENCODINGS,
    File,
    apart,
    changed_part,
    embeds,
    merged,
    parsed,
    placed,
    spliced,
)

import sightline
from sightline.config import Settings
from sightline.core.text import split
from sightline.workspace.process import owner

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
        COUNTS["examples"] += 1

    def opened(self, name: str) -> sightline.Session:
        session = sightline.open_session(self.root, id=name, settings=self.settings)
        session._ground.owner = f"{owner().rpartition(':')[0]}:0"
        return session

    def teardown(self) -> None:
        for session in self.sessions.values():
            assert session._ground.store.verify() == []
            session.close()
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
            changes = session.changes()
            assert {c.path: c.state for c in changes} == {
                path: state for path, state in states.items() if state != "fresh"
            }
            assert changes == session.changes()

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


class Agents(Users):
    """What agents look at and try."""

    @rule(name=sessions, path=paths)
    def reads(self, name, path) -> None:
        self.look(name, path, None)

    @rule(name=sessions, path=paths, first=places, size=st.integers(0, 6))
    def reads_lines(self, name, path, first, size) -> None:
        self.look(name, path, (first, first + size))

    def look(self, name, path, lines) -> None:
        session, file = self.sessions[name], self.disk[path]
        if file is None:
            try:
                session.read(path, lines)
            except sightline.FileMissing:
                return
            raise AssertionError("a missing file was shown")
        view = session.read(path, lines)
        have = split(file.plain)
        assert view.text == "".join(
            have[view.lines[0] - 1 : view.lines[1]] if view.lines[1] else []
        )
        if lines is None:
            assert view.text == file.plain
        assert session.believed(path) == file.plain
        verdict = session.check(path)
        assert verdict.state == "fresh"
        if view.lines[1]:
            assert any(a <= view.lines[0] and view.lines[1] <= b for a, b in verdict.seen_lines)

    @rule(name=sessions, path=paths, first=places, size=st.integers(0, 4))
    def is_shown_lines_by_its_own_tool(self, name, path, first, size) -> None:
        session, file = self.sessions[name], self.disk[path]
        if file is None or not file.lines:
            return
        have = split(file.plain)
        first = first % len(have) + 1
        shown = have[first - 1 : first + size]
        session.saw(path, lines=(first, first + len(shown) - 1), text="".join(shown))
        for line in shown:
            assert line in split(session.believed(path) or "")

    @rule(
        name=sessions, path=paths, at=places, size=st.integers(0, 2), more=st.integers(0, 2),
        every=st.booleans(), known=st.booleans(),
    )  # fmt: skip
    def replaces(self, name, path, at, size, more, every, known) -> None:
        """A text of the agent's own view, or one that only stands on disk."""
        session, file = self.sessions[name], self.disk[path]
        believed = session.believed(path)
        source = split((believed if known else file.plain if file else believed) or "")
        if not source:
            return
        at %= len(source)
        old = "".join(source[at : at + size + 1])
        if size == 0:
            old = old.strip() or old
        new = "".join(f"{self.line(n)}\n" for n in range(more)).removesuffix("\n" * (size == 0))
        count = None if every else 1
        self.attempt(
            name, path, lambda: session.edit(path, old, new, count=count),
            lambda f, b: b is not None and (f.plain.count(old) == count or (every and old in f.plain)),
            lambda before, b, after: spliced(before, after, old, new),
            (lambda b: b.replace(old, new)) if believed and alike(old, believed, file) else None,
        )  # fmt: skip

    @rule(name=sessions, path=paths, at=places, size=st.integers(0, 3), more=st.integers(0, 2))
    def replaces_lines(self, name, path, at, size, more) -> None:
        session = self.sessions[name]
        believed = session.believed(path)
        if believed is None:
            return
        lines = split(believed)
        first = at % (len(lines) + 1)
        block = lines[first : first + size]
        put = [f"{self.line(n)}\n" for n in range(more)]
        ours = [*lines[:first], *put, *lines[first + len(block) :]]
        if not (lines and lines[-1][-1:] != "\n" and first + len(block) == len(lines)):
            seen = {n for a, b in session.check(path).seen_lines for n in range(a, b + 1)}
            unique = block and set(range(first + 1, first + len(block) + 1)) <= seen
            self.attempt(
                name, path,
                lambda: session.edit_lines(path, first + 1, first + len(block), "".join(put)),
                lambda f, b: unique and ours != lines and once(block, lines) and once(block, split(f.plain)),
                lambda before, b, after: placed(
                    before.plain, after.plain, block, put, lines[max(first - 1, 0) : first + 1]
                ),
                lambda b: "".join(ours),
            )  # fmt: skip

    @rule(name=sessions, path=paths, at=places, size=st.integers(0, 2), more=st.integers(0, 2))
    def writes(self, name, path, at, size, more) -> None:
        session, file = self.sessions[name], self.disk[path]
        believed = session.believed(path)
        ours = self.rewritten(believed or "", at, size, more)
        complete = session.check(path).complete
        if file is None and believed is None:
            session.write(path, ours)
            self.disk[path] = parsed(ours.encode(), "utf-8")
            return
        self.attempt(
            name, path, lambda: session.write(path, ours),
            lambda f, b: complete and ours not in (b, f.plain) and (b == f.plain or apart(b, ours, f.plain)),
            lambda before, b, after: after.plain == ours and b == before.plain,
            lambda b: ours,
        )  # fmt: skip

    @rule(
        name=sessions, path=paths, at=places, size=st.integers(0, 2), more=st.integers(0, 2),
        context=st.integers(0, 3),
    )  # fmt: skip
    def patches(self, name, path, at, size, more, context) -> None:
        session = self.sessions[name]
        believed = session.believed(path)
        if believed is None or (believed and not believed.endswith("\n")):
            return
        ours = self.rewritten(believed, at, size, more)
        if ours == believed:
            return
        text = "".join(difflib.unified_diff(split(believed), split(ours), f"a/{path}", f"b/{path}", n=context))  # fmt: skip
        complete = session.check(path).complete
        self.attempt(
            name, path, lambda: session.patch(text),
            lambda f, b: complete and (b == f.plain or apart(b, ours, f.plain)),
            lambda before, b, after: merged(b, ours, before.plain, after.plain),
            None if not complete else lambda b: ours,
        )  # fmt: skip

    def rewritten(self, text: str, at: int, size: int, more: int) -> str:
        lines = split(text)
        at %= len(lines) + 1
        put = [f"{self.line(n)}\n" for n in range(more)]
        if put and at and not lines[at - 1].endswith("\n"):
            lines[at - 1] += "\n"
        return "".join([*lines[:at], *put, *lines[at + size :]])

    def attempt(self, name, path, act, owed, right, own) -> None:
        """One attempt. owed: whether refusing it would be unhelpful; right: whether the result is
        what was asked, where nothing had to be merged; own: the agent's own text afterwards."""
        session, before = self.sessions[name], self.disk[path]
        believed, verdict = session.believed(path), session.check(path)
        COUNTS["attempts"] += 1
        try:
            result = act()
        except sightline.EditRefused as refused:
            self.was_refused(name, path, refused, believed, owed)
            return
        assert before is not None, "a missing file was written"
        after = parsed(self.bytes_at(path) or b"", before.encoding)
        self.disk[path] = after
        COUNTS["merged" if result.merged else "accepted"] += 1
        if result.merged:
            assert own is not None
            assert believed is not None
            assert merged(believed, own(believed), before.plain, after.plain)
        else:
            assert right(before, believed, after), (before, after)
        kept = session._ground.store.blob(sha256(before.data).hexdigest())
        assert kept == before.data, "the version that was replaced is gone"
        if believed is not None and own is not None and verdict.complete:
            assert session.believed(path) == own(believed), (
                before.plain,
                believed,
                session.believed(path),
            )
        if verdict.state == "fresh":
            assert session.check(path).state == "fresh", "its own edit is reported as foreign"

    def was_refused(self, name, path, refused, believed, owed) -> None:
        note(f"refused: {refused.reason}")
        COUNTS["refused"] += 1
        file = self.disk[path]
        assert refused.hint
        assert refused.message
        if file is None:
            assert refused.reason in ("deleted", "not_found", "unseen")
            return
        assert not owed(file, believed), f"unhelpful: {refused.reason}"
        after = self.sessions[name].believed(path)
        if believed is not None:
            assert set(split(after or "")) <= set(split(believed)) | set(split(file.plain))


class Machine(Agents):
    """Crashes between any two steps."""

    @rule(name=sessions)
    def comes_back(self, name) -> None:
        """The process ends without a word, and the session is resumed."""
        self.sessions[name].close()
        self.sessions[name] = self.opened(name)

    @rule(name=sessions, path=paths, at=places, renamed=st.booleans())
    def is_killed_while_writing(self, name, path, at, renamed) -> None:
        session, file = self.sessions[name], self.disk[path]
        if file is None or not file.lines:
            return
        session.read(path)
        ours = self.rewritten(file.plain, at, 0, 1)
        workspace = session._ground.workspace
        replace_if = workspace.replace_if

        def dying(path, expected, new, *, token=""):
            aside = f"{self.full(path).rpartition('/')[0]}/{workspace.asides(path, token)[0]}"
            if renamed:
                replace_if(path, expected, new, token=token)
            else:
                with open(aside, "wb") as out:
                    out.write(new[: len(new) // 2])
            raise Killed

        workspace.replace_if = dying  # type: ignore[method-assign]
        try:
            session.write(path, ours)
        except Killed:
            COUNTS["killed"] += 1
        else:
            raise AssertionError("nobody was killed")
        if renamed:
            self.disk[path] = parsed(self.bytes_at(path) or b"", file.encoding)
        session.close()
        self.sessions[name] = self.opened(name)
        now = self.sessions[name]
        assert now.believed(path) == (ours if renamed else file.plain)
        assert now.check(path).state == "fresh", "its own edit is reported as foreign"
        assert now._ground.store.pending() == []
        assert now._ground.store.blob(sha256(file.data).hexdigest()) == file.data


def alike(old: str, believed: str, file: File | None) -> bool:
    """Whether a text stands as often in the agent's view as on disk, or is gone from there."""
    there = file.plain.count(old) if file else 0
    return there in (0, believed.count(old))


def once(block: list[str], lines: list[str]) -> bool:
    """Whether a block of lines stands in exactly one place."""
    return sum(lines[n : n + len(block)] == block for n in range(len(lines))) == 1
