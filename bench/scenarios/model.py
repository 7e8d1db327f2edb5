"""What a scenario is: files, what the agent reads, what happens, and what it then tries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench.world import World

Kind = Literal["replace", "lines", "write", "rewind"]

PATH = "app.py"
STEPS = 12


def module(steps: int = STEPS) -> str:
    """A small Python module; every line with a number in it occurs once."""
    return "".join(_step(number) for number in range(1, steps + 1))


def _step(number: int) -> str:
    return f"def step_{number:02}(value):\n    return value + {number}\n\n\n"


class Intent(NamedTuple):
    """One change the agent has in mind, in the text it was shown."""

    old: str
    new: str


@dataclass(frozen=True)
class Attempt:
    """One try; a rewind takes the agent's own edits back, to the checkpoint before them, and its
    intent is what that should do. wants: what may come of it: allow, notice (allowed, and told of a change), merge,
    or the reason of a refusal. content: a whole-file write's text, where it is not simply the
    text shown with the intent applied. told: what the agent does when it is told of the change
    before it composes the attempt: it heeds the news, or drops what they say on purpose. Empty: it
    composed the attempt before it was told."""

    label: str
    kind: Kind
    intent: Intent
    wants: frozenset[str]
    content: str | None = None
    told: Literal["", "heeds", "drops"] = ""

    def ours(self, base: str) -> str:
        """The text shown, as the attempt would leave it."""
        if self.content is not None:
            return self.content
        return base.replace(self.intent.old, self.intent.new, 1)

    def target(self, base: str) -> tuple[int, int]:
        """The lines of the text shown that the intent is about."""
        start = base.index(self.intent.old)
        first = base.count("\n", 0, start) + 1
        return first, first + self.intent.old.rstrip("\n").count("\n")


@dataclass(frozen=True)
class Scenario:
    """number and variant name it; what says what happens between read and attempt.

    reads: the line ranges read, None for the whole file. during: happens while the user is asked
    for approval. lands: where the file's bytes are after a rename. before_read runs before the
    agent reads. flags: reopen (the session ends before and resumes after what happens), forget
    (the text leaves the window, then is read again), rewind (the reading is taken back, then is
    done again), sibling (the attempt was sent together with a replacement inside the change, so
    what that one was answered is not known yet), held (a program has the file open meanwhile: what
    it writes has to be there afterwards, and to refuse is no false alarm), cut off (a batch of the
    agent was killed, and telling of that is right), unprivileged (run without root, which no
    permission binds), places (a file and a folder change places), tool (the agent reads by a tool of an MCP server),
    shell (an agent without a tool for lines edits them by a shell command), fork (it goes on in a fork of its
    session), hooks (played behind hooks alone), at once (another agent writes in the same instant), asked (the
    change comes while the user is asked, after the judgement), no merge (another hook would take the place of a
    merge: to refuse a whole write of a changed file is right), summarised (the conversation has a transcript, and
    is summarised), from here (the user did that, and then a prompt comes). also: further files read whole.
    edits: made by the agent after reading. tells: patterns that what a guard tells of the change,
    before the attempt, has to hold.
    """

    number: int
    what: str
    attempts: tuple[Attempt, ...]
    variant: str = ""
    files: Mapping[str, str] | None = None
    path: str = PATH
    reads: tuple[tuple[int, int] | None, ...] = (None,)
    before_read: Callable[[World], None] | None = None
    between: Callable[[World], None] | None = None
    during: Callable[[World], None] | None = None
    lands: str | None = None
    flags: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()
    edits: Intent | None = None
    tells: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As the table and --only have it: all variants of a number are one row."""
        return f"S{self.number}"

    def layout(self) -> dict[str, bytes]:
        """The files it begins with."""
        files = self.files if self.files is not None else {self.path: module()}
        return {path: text.encode() for path, text in files.items()}


def change(number: int, into: str = "value * 100") -> Intent:
    """Return what the agent wants to do to one step."""
    return Intent(f"    return value + {number}\n", f"    return {into}\n")


NEAR, FAR = change(6), change(11, "value - 1")
FORMATTED = module().replace("    return value + 6\n", "    return value + 6  # reviewed\n")
"""Somebody else changed the line that NEAR is about; FAR is far from it."""


def tries(
    outside: str, inside: str, write: str, clash: str = "", *, near: Intent = NEAR
) -> tuple[Attempt, ...]:
    """The usual attempts, each with the outcomes that are right, separated by spaces: a replace
    outside the change, one inside it, a whole-file write whose change is outside, and one whose
    change is inside."""
    rows: tuple[tuple[str, Kind, Intent, str], ...] = (
        ("outside", "replace", FAR, outside),
        ("inside", "replace", near, inside),
        ("write", "write", FAR, write),
        ("write inside", "write", near, clash),
    )
    return tuple(
        Attempt(label, kind, intent, frozenset(wants.split()))
        for label, kind, intent, wants in rows
        if wants
    )


FRESH = tries("allow", "allow", "allow")
"""Nothing differs: everything goes through and nothing is said."""

STALE = tries("notice", "stale", "merge", "conflict stale")
"""The line that NEAR is about was changed."""
