"""Decide who made a change. Every finder of a change asks here. For wording only.

The first cause that fits the content wins: git, a command under way, an undo of an agent's edit, a
formatter behind an edit; else somebody outside. There is no grace time. A wrong cause makes a wrong
word, and never a wrong verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sightline.changes import git_operations
from sightline.changes.detect import Difference, bytes_of, changed, differing
from sightline.changes.layout import same_but_layout
from sightline.changes.session_context import SessionContext
from sightline.changes.words import PUT_BACK
from sightline.filesystem.file_state import FileState
from sightline.filesystem.process import alive
from sightline.model.events import (
    Cause,
    Changed,
    CommandEnded,
    CommandStarted,
    Fact,
    GitMoved,
    Moved,
    TurnBegan,
    WriteIntended,
)
from sightline.model.revision import Revision
from sightline.model.text import decode
from sightline.model.timeline import Recorded, archived, live
from sightline.shell_parsing.command_line import all_commands

AT_WORK = 8
"""Sessions that are searched for a command under way: those with the newest facts."""

RECENT = 64
"""Facts on commands that are read of each session."""

PAST = 8
"""Changes of a file that are searched for the edit behind the newest."""

CHAIN = ("agent", "formatter", "command")
"""Kinds of cause that an undo or a formatter's change may follow."""

BACKGROUND = "&"
"""Suffix of the run of a command that goes on when its tool call has ended."""

NAMING = frozenset((
    "sed", "cp", "mv", "rm", "touch", "tee", "truncate", "echo", "printf", "cat", "ls", "cd",
    "grep", "rg", "head", "tail", "wc", "sort", "diff", "true", "sleep", "pwd", "mkdir", "chmod",
))  # fmt: skip
"""Programs that change no file but those that their words or redirections name."""


class Running(Struct, frozen=True):
    """A command under way. position: of the fact that began it."""

    session: str
    command: str
    run: str
    position: int


def detect_changes(
    context: SessionContext, *looked: FileState, presumed: Cause | None = None
) -> list[Fact]:
    """Return the facts of files that differ from the timeline, where nobody is writing them.
    presumed: the cause of every change that git did not make."""
    differences = [
        difference for found in looked if (difference := differing(context, found)) is not None
    ]
    if not differences:
        return []
    by_git = git_operations.recognised(context, differences)
    others = [
        difference
        for difference in differences
        if difference.path not in by_git.paths and not _being_written(context, difference)
    ]
    for difference in others:
        if difference.found.data is None:  # of a scan: its caller has no text to keep
            text = bytes_of(context, difference)
            context.store.keep(context.keepable(difference.path, text))
    commands = _commands(context, presumed) if others else []
    return [
        *by_git.facts,
        *(changed(d, _cause(context, d, by_git.likely, commands)) for d in others),
    ]


def cause_of(context: SessionContext, difference: Difference) -> Cause:
    """Return the cause of one difference without asking git."""
    return _cause(context, difference, {}, _commands(context))


def _cause(
    context: SessionContext, difference: Difference, likely: dict[str, Cause], commands: list[Cause]
) -> Cause:
    path = difference.path
    if path in likely:
        return likely[path]
    by_command = (cause for cause in commands if may_touch(cause.detail or "", path))
    return next(by_command, None) or _by_content(context, difference)


def of_mode(context: SessionContext, path: str, presumed: Cause | None = None) -> Cause:
    """Return the cause of a change of a file's mode, which leaves no content to compare."""
    causes = _commands(context, presumed)
    return next((c for c in causes if may_touch(c.detail or "", path)), Cause("external"))


def _commands(context: SessionContext, presumed: Cause | None = None) -> list[Cause]:
    """Return the commands under way as causes, the likeliest first."""
    commands = [
        Cause("command", command.session, command.command, "likely")
        for command in reversed(running(context))
    ]
    return commands if presumed is None else [presumed, *commands]


def running(context: SessionContext) -> tuple[Running, ...]:
    """Return the commands of all sessions of this tree that are under way, the newest last."""
    states = [s for s in context.store.sessions() if s.ended is None and not archived(s.id)]
    newest = sorted(states, key=lambda state: state.position)[-AT_WORK:]
    kinds: list[type[Fact]] = [CommandStarted, CommandEnded, TurnBegan]
    commands = [
        command
        for state in newest
        if state.owner is None or alive(state.owner)
        for command in under_way(
            context.store.timeline(session=state.id, kinds=kinds, newest=RECENT)
        )
    ]
    return tuple(sorted(commands, key=lambda command: command.position))


def under_way(log: Iterable[Recorded]) -> tuple[Running, ...]:
    """Return the commands that began and have not ended, oldest first. log: facts of one session,
    in order. A new turn ends all commands: a host that was cut off records no end."""
    commands: dict[str, Running] = {}
    for recorded in log:
        fact = recorded.fact
        if isinstance(fact, TurnBegan):
            commands.clear()
        elif isinstance(fact, CommandEnded):
            commands.pop(fact.run, None)
        elif isinstance(fact, CommandStarted):
            command = Running(recorded.session, fact.command, fact.run, recorded.position)
            commands[fact.run] = command
    return tuple(commands.values())


def may_touch(command: str, path: str) -> bool:
    """Return whether a command may have changed a file, by its text. Most commands may change any
    file; some programs change only the files that they name."""
    words: list[str | None] = []
    commands = all_commands(command, "/")
    for simple in commands:
        words += [*simple.words[1:], *(out for out, _ in simple.outputs)]
    plain = commands and {simple.words[0] for simple in commands if simple.words} <= NAMING
    if not plain or None in words or command.endswith("…"):
        return True
    return any(_names(word, path.split("/")) for word in words if word)


def _names(word: str, path: list[str]) -> bool:
    """Return whether a word may name a file, or a folder above it, from an unknown folder."""
    parts = [part for part in word.split("/") if part not in ("", ".", "..")]
    if not parts:
        return True
    inside = range(len(path) - len(parts) + 1)
    ends = range(1, min(len(parts), len(path)) + 1)
    return any(path[at : at + len(parts)] == parts for at in inside) or any(
        parts[-count:] == path[:count] for count in ends
    )


def by_bracket(context: SessionContext, command: str, run: str, since: int) -> Cause:
    """Return the cause of the differences at the end of a command of this session. since: the
    position at which it began. The cause is certain when nobody else was at work meanwhile."""
    others = any(command.run != run for command in running(context))
    confidence = "likely" if others or _is_busy(context, since) else "certain"
    return Cause("command", context.session, command, confidence)


def _is_busy(context: SessionContext, since: int) -> bool:
    """Return whether anybody else did anything behind a position."""
    kinds: list[type[Fact]] = [Changed, Moved, GitMoved, WriteIntended, CommandStarted]
    for recorded in context.store.timeline(after=since, kinds=kinds):
        cause = getattr(recorded.fact, "cause", None)
        author = cause.who if isinstance(cause, Cause) else recorded.session
        if author != context.session:
            return True
    return False


def _by_content(context: SessionContext, difference: Difference) -> Cause:
    """Return an undo of an agent's edit, a formatter behind one, or somebody outside."""
    row, found = difference.row, difference.found
    if found.kind != "file":
        return Cause("external", detail=found.kind)
    if row.cause is None or row.cause.kind not in CHAIN:
        return Cause("external")
    log = context.store.timeline(path=found.path, kinds=[Changed], upto=row.position, newest=PAST)
    facts = [recorded.fact for recorded in reversed(live(log))]
    past = [fact for fact in facts if isinstance(fact, Changed)]
    if put_back(past, difference.after):
        return Cause("external", detail=PUT_BACK)
    before = _text(context.store.blob(row.revision))
    return by_formatter(past, before, _text(bytes_of(context, difference))) or Cause("external")


def put_back(past: Sequence[Changed], after: Revision) -> bool:
    """Return whether a revision was the file's before an agent's edit. past: the newest changes of
    the file, newest first; only edits and formatters may follow that edit."""
    for fact in past:
        if fact.cause.kind not in ("agent", "formatter"):
            return False
        if fact.cause.kind == "agent" and fact.before == after:
            return True
    return False


def by_formatter(past: Sequence[Changed], before: str | None, after: str | None) -> Cause | None:
    """Return a formatter as the cause where two texts differ in layout alone, and the last change
    but for formatters was an agent's edit or command. past: the newest changes, newest first."""
    for fact in past:
        if fact.cause.kind in ("agent", "command"):
            return after_layout(before, after, fact.cause.who)
        if fact.cause.kind != "formatter":
            return None
    return None


def after_layout(before: str | None, after: str | None, edited: str | None) -> Cause | None:
    """Return a formatter as the cause where two texts differ in layout alone. edited: the session
    whose edit it followed."""
    if edited is None or before is None or after is None or not same_but_layout(before, after):
        return None
    return Cause("formatter", None, edited, "likely")


def after_write(
    context: SessionContext, mine: bytes | None, found: bytes | None, detail: str | None = None
) -> Cause:
    """Return the cause of bytes that replaced those which this session's host wrote just now."""
    if detail is not None:
        return Cause("external", detail=detail)
    return after_layout(_text(mine), _text(found), context.session) or Cause("external")


def _being_written(context: SessionContext, difference: Difference) -> bool:
    """Return whether a formatter changed what a write under way left, before its writer recorded
    the write. The writer will record both."""
    for pending in context.store.pending():
        fact = pending.fact
        if isinstance(fact, WriteIntended) and fact.path == difference.path:
            wanted = _text(context.store.blob(fact.after))
            now = _text(bytes_of(context, difference))
            if after_layout(wanted, now, pending.session) is not None:
                return True
    return False


def _text(data: bytes | None) -> str | None:
    text = decode(data) if data is not None else None
    return text.plain if text else None
