"""Users, agents and crashes in any order: what agents look at and try, and where they die."""

from __future__ import annotations

import difflib
from hashlib import sha256

import pytest
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import rule
from tests.properties.ground import COUNTS, Killed, paths, places, sessions
from tests.properties.model import (
    File,
    apart,
    merged,
    parsed,
    placed,
    spliced,
)
from tests.properties.users import Users
from tests.support.certain import are_placed, have_places, is_found

import sightline
from sightline.model.marks import sendable
from sightline.model.text import split


class Agents(Users):
    """What agents look at and try."""

    @rule(name=sessions, path=paths)
    def reads(self, name, path) -> None:
        self.look(name, path, None)

    @rule(name=sessions, path=paths, first=places, size=st.integers(0, 6))
    def reads_lines(self, name, path, first, size) -> None:
        self.look(name, path, (first + 1, first + 1 + size))

    def look(self, name, path, lines) -> None:
        session, file = self.sessions[name], self.disk[path]
        if file is None:
            try:
                session.read(path, lines)
            except sightline.FileMissing:
                return
            raise AssertionError("a missing file was shown")
        have = split(file.plain)
        if lines is not None and lines[0] > max(len(have), 1):
            with pytest.raises(sightline.LinesMissing):
                session.read(path, lines)
            return
        view = session.read(path, lines)
        shown = have[view.lines[0] - 1 : view.lines[1]] if view.lines[1] else []
        assert view.text == sendable("".join(shown))
        if lines is None:
            assert view.text == sendable(file.plain)
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
            lambda f, b: b is not None and (f.plain.count(old) == count or (every and old in f.plain))
            and is_found(b, old, new, f.plain),
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
                lambda f, b: unique and ours != lines and once(block, lines) and once(block, split(f.plain))
                and have_places(b, [(first, first + len(block))], f.plain),
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
            lambda f, b: complete and ours not in (b, f.plain)
            and (b == f.plain or (apart(b, ours, f.plain) and are_placed(b, ours, f.plain))),
            # Of an empty file there is nothing that a session would have to be shown.
            lambda before, b, after: after.plain == ours and (b or "") == before.plain,
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
            lambda f, b: complete
            and (b == f.plain or (apart(b, ours, f.plain) and are_placed(b, ours, f.plain))),
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
        kept = session._context.store.blob(sha256(before.data).hexdigest())
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
        workspace = session._context.workspace
        replace_each = workspace.replace_each

        def dying(wanted):
            if renamed:
                replace_each(wanted)
            else:
                names = workspace.asides(path, wanted[0].token)
                new = wanted[0].new
                with open(f"{self.full(path).rpartition('/')[0]}/{names[0]}", "wb") as out:
                    out.write(new[: len(new) // 2])
            raise Killed

        workspace.replace_each = dying  # type: ignore[method-assign]
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
        assert now._context.store.pending() == []
        assert now._context.store.blob(sha256(file.data).hexdigest()) == file.data


def alike(old: str, believed: str, file: File | None) -> bool:
    """Return whether a text stands as often in the agent's view as on disk, or is gone from there."""
    there = file.plain.count(old) if file else 0
    return there in (0, believed.count(old))


def once(block: list[str], lines: list[str]) -> bool:
    """Return whether a block of lines stands in exactly one place."""
    return sum(lines[n : n + len(block)] == block for n in range(len(lines))) == 1
