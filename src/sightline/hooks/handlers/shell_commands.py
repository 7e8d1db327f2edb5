"""Shell commands: what they changed, and what they showed.

Nothing tells what a command does. So the files of the timeline are compared before it and after
it, and between the two whatever changed counts as the command's. What it showed is read off its
output, line by line; its text only says where to look (shell_parsing.file_effects).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import monotonic

from msgspec import structs

from sightline.agents.hook_events import NOTHING, Answer, CommandBegan, CommandEnded
from sightline.changes import untracked
from sightline.changes.attribution import BACKGROUND, by_bracket, may_touch
from sightline.changes.commands import Before, Changes, Stood, by_times, changes
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import after_change, before_change
from sightline.errors import FileMissing, PathRefused, Unverifiable
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.guard.reads import saw
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import news
from sightline.model.events import Changed, CommandStarted, Fact, GitMoved, SightLost
from sightline.model.events import CommandEnded as Ended
from sightline.model.manifest import Entry
from sightline.model.revision import MISSING, UNKNOWN, StatSignature
from sightline.model.spans import Spans, count, spans, union
from sightline.model.text import Text, decode, normal
from sightline.model.timeline import Recorded
from sightline.shell_parsing.command_line import start_folders
from sightline.shell_parsing.file_effects import contains_text, readings, searches, writings
from sightline.shell_parsing.printed_lines import printed_spans, search_hits
from sightline.shell_parsing.read_only import only_reads

RECENT = 64
"""Commands that are looked through for the one that began."""

WALK_S = 1.0
"""Seconds that may go by in looking for files that were never heard of."""

SLACK_NS = 20_000_000
"""The times of files step by the clock tick, and may lie that much before the clock."""


LOOKED_AT = 200
"""Files that others changed since the newest checkpoint, and that there is time to read before a
command. Where there are more, what the command did to such files is not sure."""


def began(ground: SessionContext, event: CommandBegan) -> Answer:
    """Record what changed before, and that the command begins; where it may change files, also
    what a checkpoint does not say of those that nobody has looked at."""
    named = words.short(event.command)
    gone: tuple[str, ...] | None = None
    if not only_reads(event.command, event.cwd):
        kept = before_change(ground, command=named)
        gone = () if kept else _gone(ground)
    changes(ground).record(ground, CommandStarted(named, event.call, gone))
    return NOTHING


def _gone(ground: SessionContext) -> tuple[str, ...] | None:
    """The files of the newest checkpoint that are gone, and that nobody had looked at; None where
    there is none, or no time to look."""
    if untracked.newest(ground, ground.store.position()) is None:
        return None
    try:
        walked = dict(ground.workspace.walk(until=monotonic() + WALK_S))
    except DeadlinePassed:
        return None
    return untracked.look(ground, walked, LOOKED_AT)


def ended(ground: SessionContext, event: CommandEnded) -> Answer:
    """Record what the command changed and what it showed; tell which shown lines are old now."""
    started = _started(ground, event.call)
    reads = only_reads(event.command, event.cwd)
    # Where nobody looked when it began, what changed may have done so before.
    removed: tuple[str, ...] = ()
    if started is None or reads:
        made = changes(ground)
    else:
        made, removed = _made_by(ground, event, started)
    touched = (*made.paths, *removed)
    over: list[Fact] = [Ended(event.call, event.exit_code, touched)]
    if event.background:  # what it changes from now on, no tool call brackets
        named = words.short(event.command, background=True)
        over.append(CommandStarted(named, f"{event.call}{BACKGROUND}"))
    made.record(ground, *_lost(ground, made), *over)
    note_shown(ground, event)
    note_written(ground, event, made.found if started is not None else ())
    after_change(ground, *touched)
    return Answer(context=news(ground)) if made.found else NOTHING


def _made_by(
    ground: SessionContext, event: CommandEnded, started: Recorded
) -> tuple[Changes, tuple[str, ...]]:
    """What a command changed, and the files that it removed and that nobody had looked at."""
    named = words.short(event.command, background=event.background)
    cause = by_bracket(ground, named, event.call, started.position)
    since_ns = started.happened_at * 1_000 - SLACK_NS
    taken = untracked.newest(ground, ground.store.position())
    gone = started.fact.gone if isinstance(started.fact, CommandStarted) else None
    entries = untracked.manifest(ground, taken) if taken is not None and gone is not None else None
    before = by_times if entries is None else _as_kept(ground, entries)
    made = changes(ground, cause, before, since_ns=since_ns, deadline_s=WALK_S)
    if taken is not None and entries is None:
        made = structs.replace(made, facts=tuple(map(_unsure, made.facts)))
    if entries is None or gone is None or cause.confidence != "certain":
        return made, ()
    return made, _removed(ground, event.command, entries, gone)


def _as_kept(ground: SessionContext, entries: Mapping[str, Entry]) -> Before:
    """By a checkpoint, whatever changed between it and the command being on record."""

    def before(path: str, _: StatSignature) -> Stood:
        entry = entries.get(path)
        if entry is None:
            return Stood(MISSING if untracked.covers(ground, entries, path) else UNKNOWN)
        if entry.kind == "file":
            return Stood(entry.revision, entry.mode)
        return Stood(UNKNOWN, target=entry.target)

    return before


def _unsure(fact: Changed | GitMoved) -> Changed | GitMoved:
    """A change of a file that nobody had looked at: others may have made it before the command."""
    if isinstance(fact, GitMoved) or fact.before != UNKNOWN:
        return fact
    return structs.replace(fact, cause=structs.replace(fact.cause, confidence="likely"))


def _removed(
    ground: SessionContext, command: str, entries: Mapping[str, Entry], gone: tuple[str, ...]
) -> tuple[str, ...]:
    """Files of a checkpoint that were there before the command and are not any more. Only the
    checkpoint knows what they were."""
    heard = {*ground.store.paths(), *gone}
    return tuple(
        path
        for path in entries
        if path not in heard and may_touch(command, path) and untracked.is_gone(ground, path)
    )


def _started(ground: SessionContext, call: str) -> Recorded | None:
    kinds: list[type[Fact]] = [CommandStarted]
    newest = ground.store.timeline(session=ground.session, kinds=kinds, newest=RECENT)
    for recorded in newest:
        if isinstance(recorded.fact, CommandStarted) and recorded.fact.run == call:
            return recorded
    return None


def _lost(ground: SessionContext, made: Changes) -> list[SightLost]:
    """Said once in a session: the tree will not become smaller."""
    if made.complete:
        return []
    lost = SightLost(words.not_walked(WALK_S))
    said = ground.store.timeline(session=ground.session, kinds=[SightLost])
    return [] if any(recorded.fact == lost for recorded in said) else [lost]


FILES_MAX = 50
RUNS_MAX = 100
"""Files, and runs of lines in all, of one output that are recorded."""


class Pages:
    """The texts of files as they stand now, each looked at once."""

    def __init__(self, ground: SessionContext) -> None:
        self._ground = ground
        self._texts: dict[str, Text | None] = {}
        self._lines: dict[str, list[str]] = {}

    def text(self, path: str) -> Text | None:
        """None for what is no text, is not there or not ours, and for the files after many."""
        if path not in self._texts:
            full = len(self._texts) >= FILES_MAX
            self._texts[path] = None if full else self._looked(path)
        return self._texts[path]

    def lines(self, path: str) -> list[str]:
        """Its lines without their newlines; none where there is no text."""
        if path not in self._lines:
            text = self.text(path)
            self._lines[path] = [line.removesuffix("\n") for line in text.lines] if text else []
        return self._lines[path]

    def _looked(self, path: str) -> Text | None:
        try:
            data = self._ground.look(self._ground.workspace.locate(path).path).data
        except (PathRefused, Unverifiable):
            return None  # a word that looks like a path need not be one
        return decode(data) if data is not None else None


def note_shown(ground: SessionContext, event: CommandEnded) -> None:
    """Record the lines of files that stand in the output."""
    if not event.output:
        return
    pages, output = Pages(ground), normal(event.output)
    seen: dict[str, Spans] = {}
    folders = start_folders(event.command, event.cwd)
    at = 0
    for same in zip(*(readings(event.command, folder) for folder in folders), strict=True):
        told = [
            (*printed_spans(each, pages.lines(each.path), output, at), each.path) for each in same
        ]
        lines, at, path = max(told, key=lambda one: count(one[0]))
        seen[path] = union(seen.get(path, ()), lines)
    for folder in folders:
        for place in searches(event.command, folder):
            for path, line in _found(pages, place, output):
                seen[path] = union(seen.get(path, ()), ((line, line),))
    _record(ground, pages, seen, "shell")


def note_written(ground: SessionContext, event: CommandEnded, changed: Iterable[FileState]) -> None:
    """Record files whose text stands in the command itself: their agent knows it."""
    pages = Pages(ground)
    seen: dict[str, Spans] = {}
    folders = start_folders(event.command, event.cwd)
    for writing in [each for folder in folders for each in writings(event.command, folder)]:
        text = pages.text(writing.path)
        if text is not None and writing.text and text.plain.endswith(normal(writing.text)):
            total = len(text.lines)
            new = writing.text.count("\n") + (not writing.text.endswith("\n"))
            if writing.appended or total == new:
                seen[writing.path] = spans([(total - new + 1, total)])
    for there in changed:
        if there.data and len(there.data) <= 4 * len(event.command):
            path = f"{ground.workspace.root}/{there.path}"
            text = pages.text(path)
            if text is not None and contains_text(event.command, text.plain):
                seen[path] = spans([(1, len(text.lines))])
    _record(ground, pages, seen, "command")


def _found(pages: Pages, folder: str, output: str) -> Iterable[tuple[str, int]]:
    for name, line, row in search_hits(output):
        path = name if name.startswith("/") else f"{folder}/{name}"
        lines = pages.lines(path)
        if 1 <= line <= len(lines) and lines[line - 1] == row:
            yield path, line


def _record(ground: SessionContext, pages: Pages, seen: dict[str, Spans], via: str) -> None:
    left = RUNS_MAX
    for path, lines in seen.items():
        text = pages.text(path)
        for first, last in lines[: max(left, 0)]:
            assert text is not None
            try:
                saw(ground, path, (first, last), "".join(text.lines[first - 1 : last]), via)
            except (FileMissing, PathRefused):
                break  # it went away since it was looked at
        left -= len(lines)
