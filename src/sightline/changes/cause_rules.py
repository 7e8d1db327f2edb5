"""Who made a change, told by content. For wording only: it never decides a verdict.

The order is that of changes.attribution; here is each rule by itself, over values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sightline.changes.layout import same_but_layout  # few changes get this far
from sightline.model.events import Cause, Changed, CommandEnded, CommandStarted, TurnBegan
from sightline.model.revision import Revision
from sightline.model.timeline import Recorded
from sightline.shell_parsing.command_line import all_commands

PUT_BACK = "put back"
"""What a cause says of bytes that stood there before an agent's edit, and stand there again."""

REWOUND = "rewound"
"""What a cause says of a session's own edit that its conversation was taken back to before."""

REWINDING = "rewind to "
"""How the cause of what a rewind does begins; what it leads to follows."""

UNDER_WAY = "under way"
"""What a cause says of a change that git made in the middle of an operation."""

BACKGROUND = "&"
"""How the run of a command ends that went on when its tool call had ended."""


class Running(Struct, frozen=True):
    """A command under way. position: of the fact that it began."""

    session: str
    command: str
    run: str
    position: int


def under_way(log: Iterable[Recorded]) -> tuple[Running, ...]:
    """Commands that began and have not ended, oldest first. log: facts of one session, in order.
    A new turn ends them all: a host that is cut off tells of no end."""
    running: dict[str, Running] = {}
    for recorded in log:
        fact = recorded.fact
        if isinstance(fact, TurnBegan):
            running.clear()
        elif isinstance(fact, CommandEnded):
            running.pop(fact.run, None)
        elif isinstance(fact, CommandStarted):
            made = Running(recorded.session, fact.command, fact.run, recorded.position)
            running[fact.run] = made
    return tuple(running.values())


def may_touch(command: str, path: str) -> bool:
    """Whether a command may have changed a file, by its text. Most may change anything; some
    programs change only what they are given by name."""
    words: list[str | None] = []
    commands = all_commands(command, "/")
    for simple in commands:
        words += [*simple.words[1:], *(out for out, _ in simple.outputs)]
    plain = commands and {simple.words[0] for simple in commands if simple.words} <= NAMING
    if not plain or None in words or command.endswith("…"):
        return True
    return any(_names(word, path.split("/")) for word in words if word)


def _names(word: str, path: list[str]) -> bool:
    """Whether a word may name a file, or a folder above it, from a folder that is not known."""
    parts = [part for part in word.split("/") if part not in ("", ".", "..")]
    if not parts:
        return True
    inside = range(len(path) - len(parts) + 1)
    ends = range(1, min(len(parts), len(path)) + 1)
    return any(path[at : at + len(parts)] == parts for at in inside) or any(
        parts[-count:] == path[:count] for count in ends
    )


NAMING = frozenset((
    "sed", "cp", "mv", "rm", "touch", "tee", "truncate", "echo", "printf", "cat", "ls", "cd",
    "grep", "rg", "head", "tail", "wc", "sort", "diff", "true", "sleep", "pwd", "mkdir", "chmod",
))  # fmt: skip
"""Programs that change no file but those that their words or redirections name."""


def by_command(running: Running) -> Cause:
    """A change found while a command is under way: others may be at work, too."""
    return Cause("command", running.session, running.command, "likely")


def put_back(past: Sequence[Changed], after: Revision) -> bool:
    """Whether what stands there stood there before an agent's edit. past: the newest changes of
    the file, newest first; behind an agent's edit only edits and formatters count."""
    for fact in past:
        if fact.cause.kind not in ("agent", "formatter"):
            return False
        if fact.cause.kind == "agent" and fact.before == after:
            return True
    return False


def by_formatter(past: Sequence[Changed], before: str | None, after: str | None) -> Cause | None:
    """A formatter behind an agent's edit, or behind its command's: the last change of the file
    was that, or was a formatter's behind it, and the texts are the same but for layout."""
    followed = _followed(past)
    if followed is None:
        return None
    return after_layout(before, after, followed)


def after_layout(before: str | None, after: str | None, edited: str) -> Cause | None:
    """A formatter behind a session's edit, where two texts are the same but for layout."""
    if before is None or after is None or not same_but_layout(before, after):
        return None
    return Cause("formatter", None, edited, "likely")


def _followed(past: Sequence[Changed]) -> str | None:
    """The session whose edit was the last but for formatters."""
    for fact in past:
        if fact.cause.kind in ("agent", "command"):
            return fact.cause.who
        if fact.cause.kind != "formatter":
            return None
    return None
