"""Decide who made a change. Every finder of a change asks here.

The first cause that fits the content wins: git, a command that has ended or is under way, an undo of
an agent's edit, a formatter behind an edit; else somebody outside. There is no grace time. A wrong
cause makes a wrong word, and never a wrong verdict. A rewind takes back what a command did only
where the cause is certain (changes.command_evidence), and what a formatter did only where one was
seen at work (after_write): a person may lay out an agent's lines anew, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct, structs

from sightline.changes import git_operations
from sightline.changes.command_evidence import EndedCommand
from sightline.changes.command_texts import suspected, text_of_command
from sightline.changes.detect import Difference, bytes_of, changed, differing
from sightline.changes.layout import same_but_layout
from sightline.changes.session_context import Known, SessionContext
from sightline.filesystem.file_state import FileState
from sightline.filesystem.process import alive
from sightline.model.events import (
    Cause,
    Changed,
    CommandStarted,
    Fact,
    SightLost,
    WriteIntended,
)
from sightline.model.revision import MISSING, Revision
from sightline.model.text import plain_of
from sightline.model.timeline import is_live, newest_first, of_kind
from sightline.shell_parsing.command_line import all_commands
from sightline.text.causes import PUT_BACK, UNRECORDED

CHAIN = ("agent", "formatter", "command")
"""Kinds of cause that an undo or a formatter's change may follow."""

OUTAGE = "outage"
"""Reason of the SightLost of a time in which the store or the settings could not be used."""

BACKGROUND = "&"
"""Suffix of the run of a command that goes on when its tool call has ended."""

NAMING = frozenset((
    "sed", "cp", "mv", "rm", "touch", "tee", "truncate", "echo", "printf", "cat", "ls", "cd",
    "grep", "rg", "head", "tail", "wc", "sort", "diff", "true", "sleep", "pwd", "mkdir", "chmod",
))  # fmt: skip
"""Programs that change no file but those that their words or redirections name."""


class Running(Struct, frozen=True):
    """A command under way. text: of the command, "" where it was forgotten; position: of the fact that
    began it."""

    session: str
    command: Revision
    text: str
    run: str
    position: int


Suspect = tuple[Cause, str]
"""A command as a cause, and its text."""


def detect_changes(
    context: SessionContext,
    *looked: FileState,
    ended: EndedCommand | None = None,
    known: Known | None = None,
) -> list[Fact]:
    """Return the facts of files that differ from the timeline, where nobody is writing them.
    ended: the command during which all of them changed. known: what the session knows of them, where the
    caller has loaded that."""
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
    commands = _commands(context) if others else []
    return [
        *by_git.facts,
        *by_git.dropped,
        *(changed(d, _cause(context, d, by_git.likely, commands, ended, known)) for d in others),
    ]


def cause_of(context: SessionContext, difference: Difference) -> Cause:
    """Return the cause of one difference that is not on disk any more. What a git operation left there is
    probably git's: the fact of the operation cannot name a file that another write went over."""
    by_git = git_operations.recognised(context, [difference], unread=True)
    likely = dict(by_git.likely)
    for fact in by_git.facts:
        if difference.path in fact.paths:
            likely[difference.path] = Cause("git", fact.operation, fact.detail, "likely")
    return _cause(context, difference, likely, _commands(context))


def _cause(
    context: SessionContext,
    difference: Difference,
    likely: dict[str, Cause],
    commands: list[Suspect],
    ended: EndedCommand | None = None,
    known: Known | None = None,
) -> Cause:
    path = difference.path
    if path in likely:
        return likely[path]
    by_command: Suspect | None = None
    if ended is not None:
        data = bytes_of(context, difference)
        before, after = difference.row.revision, difference.after
        if (
            difference.found.kind == "directory"
        ):  # a command that removes the file by name, did that
            after = MISSING
        by_command = ended.cause_of_bytes(context, path, before, after, data), ended.text
    cause = _by_command(path, by_command, commands) or _by_content(context, difference, known)
    if cause == Cause("external") and _was_off(context, difference.row.position):
        return Cause("external", detail=UNRECORDED, confidence="likely")
    return cause


def _was_off(context: SessionContext, since: int) -> bool:
    """Return whether an outage ended after that position: what changed meanwhile may be of anybody."""
    lost = context.store.timeline(kinds=[SightLost], after=since)
    return any(fact.reason == OUTAGE for fact in of_kind(SightLost, lost))


def by_ended(
    context: SessionContext, ended: EndedCommand, path: str, before: Revision, found: FileState
) -> Cause:
    """Return the cause of a change of a file that the timeline does not have."""
    cause = ended.cause_of_bytes(context, path, before, found.revision, found.data)
    return _by_command(path, (cause, ended.text), _commands(context)) or Cause("external")


def of_mode(context: SessionContext, path: str, ended: EndedCommand | None = None) -> Cause:
    """Return the cause of a change of a file's mode, which leaves no content to compare."""
    by_command = None if ended is None else (ended.cause_of_mode(context, path), ended.text)
    return _by_command(path, by_command, _commands(context)) or Cause("external")


def _by_command(path: str, ended: Suspect | None, commands: list[Suspect]) -> Cause | None:
    """Return the cause of a change that was found while commands were under way: a command that
    names the file, before one that may have changed any. ended: the cause if the change is of a
    command that has just ended."""
    suspects = commands if ended is None else [ended, *commands]
    if ended is not None and ended[0].confidence == "certain":
        return ended[0]
    fitting = [(cause, text) for cause, text in suspects if may_touch(text, path)]
    naming = (cause for cause, text in fitting if _is_plain(text))
    return next(naming, fitting[0][0] if fitting else None)


def _commands(context: SessionContext) -> list[Suspect]:
    """Return the commands under way as causes, the likeliest first. A command in the background
    counts where it names the file: it is not the author of every save in a turn."""
    return [
        (suspected(each.session, each.command), each.text)
        for each in reversed(running(context))
        if not each.run.endswith(BACKGROUND) or _is_plain(each.text)
    ]


def running(context: SessionContext) -> tuple[Running, ...]:
    """Return the commands under way of all sessions of this tree that are present, the newest last."""
    store = context.store
    begun = store.running(context.active_sessions())
    states = [store.session(name) for name in {each.session for each in begun}]
    at_work = {state.id for state in states if state and (not state.owner or alive(state.owner))}
    return tuple(
        Running(
            each.session,
            fact.command,
            text_of_command(store, fact.command),
            fact.run,
            each.position,
        )
        for each in begun
        for fact in of_kind(CommandStarted, [each])
        if each.session in at_work
    )


def may_touch(command: str, path: str) -> bool:
    """Return whether a command may have changed a file, by its text. Most commands may change any
    file; some programs change only the files that they name."""
    named = _named_words(command)
    return named is None or any(_names(word, path.split("/")) for word in named if word)


def _is_plain(command: str) -> bool:
    """Return whether a command changes no file but those that it names."""
    return _named_words(command) is not None


@lru_cache(maxsize=8)
def _named_words(command: str) -> list[str] | None:
    """Return the words that may name the files which a command changes; None where it may change
    others."""
    words: list[str | None] = []
    commands = all_commands(command, "/")
    for simple in commands:
        words += [*simple.words[1:], *(out for out, _ in simple.outputs)]
    plain = commands and {simple.words[0] for simple in commands if simple.words} <= NAMING
    if not plain or None in words or command.endswith("…"):
        return None
    return [word for word in words if word]


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


def _by_content(context: SessionContext, difference: Difference, known: Known | None) -> Cause:
    """Return an undo of an agent's edit, a formatter behind one, or somebody outside."""
    row, found = difference.row, difference.found
    if found.kind != "file":
        return Cause("external", detail=found.kind)
    if row.cause is None or row.cause.kind not in CHAIN:
        return Cause("external")
    timeline, upto = context.store.timeline, row.position
    log = newest_first(timeline, upto=upto, path=found.path, kinds=[Changed])
    past = [*_up_to_edit(of_kind(Changed, filter(is_live, log)))]
    if put_back(past, difference.after):
        return Cause("external", detail=PUT_BACK)
    before = known.texts.get(row.revision) if known else None
    before = context.store.blob(row.revision) if before is None else before
    return by_formatter(past, plain_of(before), plain_of(bytes_of(context, difference))) or Cause(
        "external"
    )


def _up_to_edit(past: Iterable[Changed]) -> Iterator[Changed]:
    """Yield edits and formatters' changes, and the first change of another kind."""
    for fact in past:
        yield fact
        if fact.cause.kind not in ("agent", "formatter"):
            return


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
    return Cause("formatter", None, edited, "likely", "guess")


def after_write(
    context: SessionContext, mine: bytes | None, found: bytes | None, detail: str | None = None
) -> Cause:
    """Return the cause of bytes that replaced those which this session's host wrote just now. Where
    these differ in layout alone, a formatter was seen at work: nobody had the time to read the text
    and lay it out anew."""
    if detail is not None:
        return Cause("external", detail=detail)
    formatter = after_layout(plain_of(mine), plain_of(found), context.session)
    return structs.replace(formatter, evidence="watched") if formatter else Cause("external")


def _being_written(context: SessionContext, difference: Difference) -> bool:
    """Return whether a formatter changed what a write under way left, before its writer recorded
    the write. The writer will record both."""
    for pending in context.store.pending():
        fact = pending.fact
        if isinstance(fact, WriteIntended) and fact.path == difference.path:
            wanted = plain_of(context.store.blob(fact.after))
            now = plain_of(bytes_of(context, difference))
            if after_layout(wanted, now, pending.session) is not None:
                return True
    return False
