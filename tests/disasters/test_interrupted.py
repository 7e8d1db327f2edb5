"""Ctrl-C at any line of a verb, in a host that goes on: a chat loop, a notebook."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

import sightline
from sightline.errors import EditRefused
from sightline.guard.batch import Change

SOURCE = os.path.dirname(sightline.__file__)

Verb = Callable[[sightline.Session], object]

ANSWER = {
    "todos": ["both"],
    "fileChanges": [
        {"path": "a.txt", "edits": [{"old": "two", "new": "2"}], "todoIndex": 0},
        {"path": "new.txt", "content": "new\n", "create": True},
    ],
}
PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


def wrote(session: sightline.Session) -> None:
    """Write as a host does, and say so."""
    with session.writing("a.txt", "one\n2\nthree\n"):
        Path(session.workspace, "a.txt").write_text("one\n2\nthree\n")


def ran(session: sightline.Session) -> None:
    with session.ran("cp b.txt copy.txt"):
        Path(session.workspace, "copy.txt").write_text("b\n")


def acknowledge(session: sightline.Session) -> None:
    """Get what others changed, and confirm it."""
    if (notice := session.notice()) is not None:
        session.acknowledge(notice)


def claim(session: sightline.Session) -> None:
    session.release(session.claim("a.txt", ttl=60))


def save(session: sightline.Session) -> None:
    """Save a file that the session was shown, as its user does."""
    Path(session.workspace, "a.txt").write_text("one\nuser\nthree\n")


BEFORE: dict[str, Verb] = {"notice": save, "acknowledge": save, "mentioned": save}
"""What happens before the verb."""

VERBS: dict[str, Verb] = {
    "read": lambda session: session.read("c.txt"),
    "edit": lambda session: session.edit("a.txt", "two", "2"),
    "write": lambda session: session.write("a.txt", "all\nnew\n"),
    "create": lambda session: session.create("new.txt", "new\n"),
    "delete": lambda session: session.delete("a.txt"),
    "move": lambda session: session.move("a.txt", "moved.txt"),
    "apply": lambda session: session.apply(
        [
            Change("a.txt", edits=(("two", "2", 1),)),
            Change("new.txt", content="new\n", create=True),
        ]
    ),
    "changes": lambda session: session.changes(),
    "checkpoint": lambda session: session.checkpoint("here"),
    "rewind": lambda session: session.rewind("start"),
    "append": lambda session: session.conversation.append({"role": "user", "content": "hello"}),
}
"""The verbs that change files, or what the session knows. Between them they run most lines."""

MORE: dict[str, Verb] = {
    "view": lambda session: session.conversation.view(),
    "saw": lambda session: session.saw("a.txt"),
    "dropped": lambda session: session.dropped("b.txt"),
    "edit_lines": lambda session: session.edit_lines("a.txt", 2, 2, "2"),
    "patch": lambda session: session.patch(PATCH),
    "wrote": wrote,
    "ran": ran,
    "notice": lambda session: session.notice(),
    "acknowledge": acknowledge,
    "check": lambda session: session.check("a.txt"),
    "edited_since": lambda session: session.edited_since("start"),
    "export": lambda session: session.export("start", until_now=True),
    "turn": lambda session: session.turn(model="small"),
    "warn": lambda session: session.acknowledge(session.warn("mind this", ["a.txt"])),
    "claim": claim,
    "fork": lambda session: session.fork().close(),
    "environment": lambda session: session.environment("editor", "1.0"),
    "find": lambda session: session.find("*.txt"),
    "related": lambda session: session.related("a.txt"),
    "mentioned": lambda session: session.mentioned("see @a.txt"),
    "answer": lambda session: session.answer(ANSWER),
    "request_listings": lambda session: session.request_listings({"listings": [{"path": "."}]}),
    "briefing": lambda session: session.briefing("go on"),
}
"""The other verbs that record facts, and some that only look."""

LAZY = {"briefing"}
"""Verbs of which most places are in modules that are loaded once for all hosts."""


class Host:
    """A program with one open session over a small tree, in its own folder."""

    def __init__(self, home: Path) -> None:
        self.root = home / "project"
        self.root.mkdir(parents=True)
        (self.root / "a.txt").write_text("one\ntwo\nthree\n")
        (self.root / "b.txt").write_text("b\n")
        (self.root / "c.txt").write_text("never shown\n")
        self.file = f"{home}/store.db"
        self.session = self.opened("chat")
        self.session.read("a.txt")

    def opened(self, id: str) -> sightline.Session:
        return sightline.open_session(self.root, id=id, store=f"sqlite:///{self.file}")

    def lines_of(self, verb: Verb) -> list[tuple[str, int]]:
        """Run a verb, and return its lines in the order in which they ran."""
        lines: list[tuple[str, int]] = []
        self._traced(verb, lines.append)
        return lines

    def interrupted(self, verb: Verb, at: int) -> bool:
        """Run a verb, and raise KeyboardInterrupt before its line number `at`. Return False where
        the verb ended before that line."""
        left = count(-at)

        def end(_: object) -> None:
            if next(left) == 0:
                raise KeyboardInterrupt

        try:
            self._traced(verb, end)
        except KeyboardInterrupt:
            return True
        return False

    def _traced(self, verb: Verb, on_line: Callable[[tuple[str, int]], None]) -> None:
        def trace(frame, event, _):
            if not frame.f_code.co_filename.startswith(SOURCE):
                return None
            if event == "line":
                on_line((frame.f_code.co_filename, frame.f_lineno))
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            verb(self.session)
        finally:
            sys.settrace(before)

    def told(self) -> list[tuple[str, str, str | None]]:
        """Return what the agent is told of the work of others."""
        return [
            (change.path, change.what, change.changed_by.kind if change.changed_by else None)
            for change in self.session.changes()
        ]

    def tree(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in sorted(self.root.iterdir())}

    def is_free(self) -> bool:
        """Return whether another process could write to the store now."""
        db = sqlite3.connect(self.file, timeout=0, isolation_level=None)
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        else:
            db.execute("ROLLBACK")
            return True
        finally:
            db.close()


@pytest.fixture
def hosts(tmp_path):
    """Make a new host for each call."""
    numbers = count()

    def host(name: str) -> Host:
        made = Host(tmp_path / str(next(numbers)))
        made.session.checkpoint("start")
        made.session.edit("b.txt", "b", "bee")
        BEFORE.get(name, lambda _: None)(made.session)
        return made

    return host


def test_an_edit_interrupted_at_a_line_leaves_the_store_usable(hosts):
    interrupt("edit", hosts, 397)


@pytest.mark.wide
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_interrupted_at_many_lines_leaves_the_store_usable(name, hosts):
    interrupt(name, hosts, 1 if os.environ.get("SIGHTLINE_TEST_WIDE") else 43)


@pytest.mark.wide
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Ctrl-C in a finalizer
@pytest.mark.parametrize("name", MORE)
def test_another_verb_interrupted_at_a_line_leaves_the_store_usable(name, hosts):
    interrupt(name, hosts, 1 if os.environ.get("SIGHTLINE_TEST_WIDE") else 151)


def interrupt(name: str, hosts: Callable[[str], Host], step: int) -> None:
    """Interrupt a verb, in a new host each time, where a line runs for the first or the last time;
    at each `step`th of these places."""
    verb, whole = {**VERBS, **MORE}[name], hosts(name)
    before = whole.tree(), whole.told()
    lines = whole.lines_of(verb)
    after = whole.tree(), whole.told()
    first = {line: place for place, line in reversed([*enumerate(lines)])}
    last = {line: place for place, line in enumerate(lines)}
    places = sorted({*first.values(), *last.values()})
    reached = 0
    for place in places[::step]:
        host = hosts(name)
        if host.interrupted(verb, place):
            reached += 1
            check(host, verb, before, after, lines[place])
        host.session.close()
    least = 1 if name in LAZY else max(1, len(places) // step * 3 / 4)
    assert reached >= least  # threads and caches make runs differ a little


State = tuple[dict[str, str], list[tuple[str, str, str | None]]]


def check(host: Host, verb: Verb, before: State, after: State, line: tuple[str, int]) -> None:
    assert host.is_free(), f"{line}: the store is locked"
    assert host.session.believed("c.txt") is None, f"{line}: what nobody got counts as shown"
    tree = {name: text for name, text in host.tree().items() if not name.startswith(".sightline")}
    assert all(tree.get(name) in (before[0].get(name), after[0].get(name)) for name in tree), line
    assert host.told() in (before[1], after[1]), f"{line}: told as the work of others"
    with suppress(EditRefused):  # where the first attempt was through
        verb(host.session)
    assert (host.tree(), host.told()) == after, f"{line}: not as after the verb"
    other = host.opened("other")
    other.read("a.txt" if (host.root / "a.txt").exists() else "b.txt")
    other.create("by_another.txt", "text")
    other.close()
