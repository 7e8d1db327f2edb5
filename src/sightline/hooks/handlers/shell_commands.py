"""Record the changes of shell commands, and the lines that their output shows.

No host reports the effects of a command. So the files of the timeline are compared before and after
the command. A change in between is certainly the command's where it names the file, and probably
elsewhere. The lines it showed are found in
its output; its text only names the files to look in (shell_parsing.file_effects).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import islice
from time import monotonic

from msgspec import Struct, structs

from sightline.changes import untracked
from sightline.changes.attribution import BACKGROUND, may_touch
from sightline.changes.command_evidence import EndedCommand, ended_command
from sightline.changes.command_folders import Folders, folders_during, uncovered_folders
from sightline.changes.command_texts import bytes_of_command, suspected
from sightline.changes.commands import Changes, by_times, changes, in_checkpoint, with_moves
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import after_change, before_change
from sightline.checkpoints.words import A_COMMAND
from sightline.errors import FileMissing, PathRefused, Unverifiable
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.filesystem.tree_index import Tree
from sightline.guard.reads import saw
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import acknowledge_request, deliver_pending
from sightline.hooks.handlers.blind_edits import refused_once
from sightline.hooks.handlers.file_reads import ignored, refused_search
from sightline.hooks.handlers.lost_saves import author_for_person
from sightline.hooks.host import Host
from sightline.model.diff import diff, unified
from sightline.model.events import Cause, Changed, CommandStarted, Fact, GitMoved, Moved, SightLost
from sightline.model.events import CommandEnded as Ended
from sightline.model.hook_events import (
    NOTHING,
    Answer,
    CommandBegan,
    CommandEnded,
    Printed,
)
from sightline.model.merge import merge
from sightline.model.nearest import nearest
from sightline.model.projections import Knowledge
from sightline.model.revision import MISSING, UNKNOWN, Revision, revision_of
from sightline.model.revision import known as is_kept
from sightline.model.spans import Spans, count, spans, union, whole
from sightline.model.text import Text, decode, normal
from sightline.model.timeline import Recorded, newest_first
from sightline.notices.pending import is_handed
from sightline.shell_parsing.blind_writes import blind_writes
from sightline.shell_parsing.command_line import absolute_path, start_folders
from sightline.shell_parsing.file_effects import (
    MANY,
    TEXT_MIN,
    all_pipelines,
    contains_text,
    possible_names,
    readings,
    searches,
    writings,
)
from sightline.shell_parsing.folder_search import folder_searches
from sightline.shell_parsing.named_files import named_files
from sightline.shell_parsing.printed_lines import (
    RUN_MIN,
    PrintedRows,
    diff_hits,
    printed_spans,
    search_hits,
)
from sightline.shell_parsing.read_only import only_reads

WALK_S = 1.0
"""Seconds for finding files that no session has read."""

SLACK_NS = 20_000_000
"""File times step by the clock tick, so they may lie that much before the clock."""


UNREAD_MAX = 200
"""Files changed by others since the newest checkpoint that are read before a command. Where there are
more, the cause of their changes stays unsure."""


def began(context: SessionContext, event: CommandBegan, host: Host) -> Answer:
    """Record changes from before the command, and that the command begins. For a command that may
    change files, also record the unread files that are gone since the newest checkpoint. Refuse a
    command that names, or searches, a file that an ignore file refuses."""
    if why := refused_command(context, event.command, event.cwd):
        return Answer(refuse=why)
    ask = _possibly_refused(context, event.command, event.cwd)
    acknowledge_request(context)
    is_harmless = only_reads(event.command, event.cwd)
    if not is_harmless:
        folders = start_folders(event.command, event.cwd)
        writes = [each for folder in folders for each in blind_writes(event.command, folder)]
        if why := refused_once(context, event.command, writes, host):
            return Answer(refuse=why)
    uncovered: tuple[str, ...] = ()
    if not is_harmless:
        uncovered = untracked.named_uncovered(context, event.command, folders)
    name = words.short(event.command)
    note_beginning(context, name, event.call, is_harmless=is_harmless, uncovered=uncovered)
    return Answer(ask=ask) if ask else NOTHING


def refused_command(context: SessionContext, command: str, cwd: str) -> str:
    """Return the refusal of a command that names, or searches, a file that an ignore file refuses; ""
    for any other command."""
    for folder in start_folders(command, cwd):
        for each in readings(command, folder):
            if why := ignored(context, each.path):
                return why
        for named in named_files(command, folder):
            is_meant = named.is_sure and (named.is_written or os.path.lexists(named.path))
            if is_meant and (why := ignored(context, named.path)):
                return why
        for search in folder_searches(command, folder):
            if why := refused_search(context, search):
                return why
    return ""


def _possibly_refused(context: SessionContext, command: str, cwd: str) -> str:
    """Return the question to the user about a command with a word that names a refused file, where a
    variable or another program makes the name; "" for any other command."""
    for folder in start_folders(command, cwd):
        for named in named_files(command, folder):
            path = named.path
            if "/~/" in path:
                path = os.path.expanduser(f"~/{path.partition('/~/')[2]}")
            if not named.is_sure and os.path.lexists(path) and ignored(context, path):
                return words.asks_for_ignored(os.path.relpath(path, context.workspace.root))
    return ""


def note_beginning(
    context: SessionContext,
    name: str,
    call: str,
    *,
    is_harmless: bool,
    uncovered: tuple[str, ...] = (),
    tool: str = A_COMMAND,
) -> None:
    """Record changes from before a command, and that the command begins. For one that may change files,
    also take the turn's checkpoint, and record the unread files that are gone since the newest. name: the
    command's text as it is kept; uncovered: as in CommandStarted; tool: its name for people."""
    gone: tuple[str, ...] | None = None
    folders: tuple[str, ...] | None = None
    if not is_harmless:
        is_new = before_change(context, by=tool)
        gone, folders = _standing(context, is_new=is_new)
    text = bytes_of_command(name)
    begun = CommandStarted(revision_of(text), call, gone, uncovered, folders)
    changes(context).record(context, begun, texts=[text])


def _standing(
    context: SessionContext, *, is_new: bool
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the unread files of the newest checkpoint that are missing now, and the folders that it does
    not cover; None without a checkpoint, or without the time to look. is_new: it was taken just now."""
    checkpoint = untracked.newest(context, context.store.position())
    if checkpoint is None:
        return None, None
    gone: tuple[str, ...] | None = ()
    tree = context.workspace.remembered()
    if not is_new:
        try:
            tree = context.workspace.tree(until=monotonic() + WALK_S)
        except DeadlinePassed:
            return None, None
        gone = untracked.look(context, tree, UNREAD_MAX)
    entries = untracked.manifest(context, checkpoint)
    return gone, None if gone is None else uncovered_folders(context, entries, tree)


def ended(context: SessionContext, event: CommandEnded, host: Host) -> Answer:
    """Record the command's changes and the lines it showed. Return the changes of known files that the
    agent was not told, also those from before the command."""
    started = started_call(context, event.call)
    command = None
    if started is not None and not only_reads(event.command, event.cwd):
        command = _ended_command(context, event, started)
    effects = effects_of(context, event.command, started, command)
    changed = effects.changed
    ends: list[Fact] = [effects.end(event.call, event.exit_code)]
    texts: list[bytes] = []
    if event.background:  # no tool call ends its further changes
        text = _going_on(event)
        texts.append(text)
        ends.append(CommandStarted(revision_of(text), f"{event.call}{BACKGROUND}"))
    given = [
        each.text
        for folder in start_folders(event.command, event.cwd)
        for each in writings(event.command, folder)
    ]
    whole = tuple(map(normal, given))
    lost = overwritten(context, changed, event.command, host.limits.diff, whole)
    changed.record(context, *unsearched(context, changed), *ends, texts=texts)
    note_shown(context, event)
    note_written(context, event, changed.found if started is not None else ())
    after_change(context, *effects.touched)
    told = "\n\n".join(filter(None, [lost.context, deliver_pending(context, host)]))
    return Answer(context=told, tell=lost.tell)


class CommandEffects(Struct, frozen=True):
    """The changes during a command that ended. touched: all files that it touched; named: those that it
    certainly removed and that no session has read."""

    changed: Changes
    touched: tuple[str, ...]
    named: tuple[str, ...] = ()
    folders: Folders = Folders()

    def end(self, run: str, exit_code: int | None) -> Ended:
        """Return the fact of the command's end."""
        made, removed = self.folders.made, self.folders.removed
        return Ended(
            run,
            exit_code,
            self.touched,
            self.named,
            folders_made=made,
            folders_removed=removed,
        )


def effects_of(
    context: SessionContext, command: str, started: Recorded | None, ended: EndedCommand | None
) -> CommandEffects:
    """Return the changes during a command that ended. ended: None for a command that changes no file."""
    # A file that nobody looked at before the command may have changed before it.
    if started is None or ended is None:
        changed = changes(context)
        return CommandEffects(changed, changed.paths)
    changed, removed, folders = _changes_since(context, command, started, ended)
    changed = with_moves(context, changed, ended)
    if not removed:
        changed = structs.replace(changed, facts=ended.with_author(context, changed.facts))
    named = tuple(path for path in removed if ended.names_removal(context, path))
    return CommandEffects(changed, (*changed.paths, *removed), named, folders)


class Overwritten(Struct, frozen=True):
    """Changes of others that the agent's own command removed or wrote over, and that the agent was never
    told of. context: for the model; tell: for the person; "" for none."""

    context: str = ""
    tell: str = ""


def overwritten(
    context: SessionContext, changed: Changes, command: str, room: int, whole: Sequence[str] = ()
) -> Overwritten:
    """Return what a command that ended wrote over. command: its text; room: characters of the diffs; whole:
    texts that the agent gave for whole files. Call before the changes are recorded."""
    texts: list[str] = []
    tells: list[str] = []
    kept: list[str] = []
    for path, before, after in _own_changes(context, changed, command):
        known = context.store.knowledge(context.session, path)
        if known is None or before == after or not is_kept(before):
            continue
        if is_handed(context, known, before):
            continue
        shown = decode(context.store.blob(known.belief.text))
        theirs = decode(context.store.blob(before))
        if shown is None or theirs is None or shown.plain == theirs.plain:
            continue
        now = None if after == MISSING else _text_now(context, changed, path)
        lost = _lost_of(shown, theirs, now, whole)
        name = known.name or path
        if lost and room > 0:
            is_whole, is_gone = len(lost) <= room, after == MISSING
            texts.append(words.lost_to_command(name, lost[:room], whole=is_whole, removed=is_gone))
            room -= len(lost)
        row = context.store.disk(path)
        if lost and row is not None:
            who = author_for_person(context, row.cause or Cause("external"))
            tells.append(
                words.lost_to_command_for_user(name, who, row.position, words.short(command))
            )
        elif not lost:
            kept.append(name)
    if kept:
        tells.append(words.kept_by_command_for_user(kept, words.short(command)))
    return Overwritten("\n\n".join(texts), "\n\n".join(tells))


def _own_changes(
    context: SessionContext, changed: Changes, command: str
) -> Iterator[tuple[str, Revision, Revision]]:
    """Yield the path, and the revisions before and after, of changes by this session's own command. What
    git did meanwhile is the command's where it names git."""
    moved = {fact.src for fact in changed.facts if isinstance(fact, Moved)}
    for fact in changed.facts:
        if isinstance(fact, GitMoved) and re.search(r"\bgit\b", command):
            yield from ((each.path, each.before, each.after) for each in fact.changes)
        elif isinstance(fact, Changed) and fact.cause.who == context.session:
            yield from [(fact.path, fact.before, fact.after)] * (fact.path not in moved)


def _text_now(context: SessionContext, changed: Changes, path: str) -> Text | None:
    """Return the text that a change left; None for no file, and for none that is text."""
    found = next((file for file in changed.found if file.path == path), None)
    return decode((found or context.look(path)).data)


def _lost_of(shown: Text, theirs: Text, now: Text | None, whole: Sequence[str]) -> str:
    """Return the diff of others' changes that a text lacks; "" where it has them all. now: the text on
    disk, None for no file. Where both sides changed the same lines, a program may have worked on
    the changed lines: then a change is lost of which nothing like it is left. A text that the agent gave
    was not made from them."""
    hunks = diff(shown.lines, theirs.lines)
    if now is None:
        return unified(shown.lines, theirs.lines, hunks)
    merged = merge(shown.lines, now.lines, theirs.lines)
    if merged.clean:
        return unified(now.lines, merged.lines, diff(now.lines, merged.lines))
    if now.plain not in whole:
        hunks = [each for each in hunks if _is_gone(theirs.lines[each[2] : each[3]], now)]
    return unified(shown.lines, theirs.lines, hunks) if hunks else ""


ALIKE = 0.6
"""How alike (0 to 1) the lines are of which a program has made others."""


def _is_gone(lines: Sequence[str], now: Text) -> bool:
    """Return whether nothing like some lines is left in a text."""
    text = "".join(lines)
    near = nearest(text, now.lines)
    return bool(text.strip()) and (near is None or near.likeness < ALIKE)


def printed(context: SessionContext, event: Printed) -> Answer:
    """Record the lines that a command showed of files that are new to the session. The session knows newer
    text of all other files."""
    note_shown(context, event, skips=lambda _: True)
    return NOTHING


def printed_elsewhere(event: CommandEnded, project: str) -> list[str]:
    """Return the files outside of a workspace that a command may have printed: named by its words, with
    a first line that the output holds."""
    inside, folders = os.path.join(project, ""), start_folders(event.command, event.cwd)
    words = [re.split(r"[*?\[{]", word)[0] for word in possible_names(event.command)]
    named = [path for base in folders for word in words if (path := absolute_path(base, word))]
    there = filter(os.path.exists, [*folders, *named])
    if all(os.path.join(os.path.realpath(path), "").startswith(inside) for path in there):
        return []
    rows = PrintedRows(normal(event.output))
    files = [path for paths in _candidates(event.command, folders) for path in paths]
    outside = [path for path in files if not os.path.realpath(path).startswith(inside)]
    return [path for path in outside if _lines_on_disk(path, rows)]


def _going_on(event: CommandEnded) -> bytes:
    """Return the text of a command that goes on in the background, as it is kept."""
    return bytes_of_command(words.short(event.command, background=True))


def _ended_command(context: SessionContext, event: CommandEnded, started: Recorded) -> EndedCommand:
    began = started.fact
    assert isinstance(began, CommandStarted)
    command = revision_of(_going_on(event)) if event.background else began.command
    folders = start_folders(event.command, os.path.realpath(event.cwd))
    return ended_command(
        suspected(context.session, command),
        event.command,
        folders,
        exit_code=event.exit_code,
        took_us=context.clock() - started.happened_at,
    )


def _changes_since(
    context: SessionContext, command: str, started: Recorded, ended: EndedCommand
) -> tuple[Changes, tuple[str, ...], Folders]:
    """Return the changes during a command, the files that went meanwhile and that no session has read, and
    the folders that came and went."""
    since_ns = started.happened_at * 1_000 - SLACK_NS
    checkpoint = untracked.newest(context, started.position)
    began = started.fact
    assert isinstance(began, CommandStarted)
    gone = began.gone
    entries = None
    if checkpoint is not None and gone is not None:
        entries = untracked.manifest(context, checkpoint)
    before = by_times if entries is None else in_checkpoint(context, entries)

    def folders(tree: Tree) -> Folders:
        if entries is None or began.folders is None:
            return Folders()
        return folders_during(context, entries, began.folders, tree)

    changed = changes(
        context,
        ended,
        before,
        since_ns=since_ns,
        made=lambda tree: folders(tree).made,
        deadline_s=WALK_S,
    )
    if entries is None:
        facts = [
            _mark_unsure(fact) if checkpoint is not None or _is_outside(fact) else fact
            for fact in changed.facts
        ]
        changed = structs.replace(changed, facts=tuple(facts))
    went = {path for path in began.uncovered if untracked.is_gone(context, path)}
    if entries is not None and gone is not None:
        unread = untracked.missing(context, entries, changed.tree)
        went |= {path for path in unread if path not in gone and may_touch(command, path)}
    unread_gone = tuple(sorted(went.difference(context.store.paths())))
    return changed, unread_gone, Folders() if changed.tree is None else folders(changed.tree)


def _is_outside(fact: Changed | GitMoved | Moved) -> bool:
    """Return whether somebody outside made the change. Of an unread file nobody knows who: without a
    checkpoint nothing tells whether git did."""
    return isinstance(fact, Changed) and fact.cause.kind == "external"


def _mark_unsure(fact: Changed | GitMoved | Moved) -> Changed | GitMoved | Moved:
    """Mark the change of an unread file: another program may have made it before the command."""
    if not isinstance(fact, Changed) or fact.before != UNKNOWN:
        return fact
    cause = structs.replace(fact.cause, confidence="likely", evidence="guess")
    return structs.replace(fact, cause=cause)


def started_call(context: SessionContext, call: str) -> Recorded | None:
    kinds: list[type[Fact]] = [CommandStarted]
    for recorded in newest_first(context.store.timeline, session=context.session, kinds=kinds):
        if isinstance(recorded.fact, CommandStarted) and recorded.fact.run == call:
            return recorded
    return None


def unsearched(context: SessionContext, changed: Changes) -> list[SightLost]:
    """Return the fact that the tree is too large to search, once in a session."""
    if changed.complete:
        return []
    lost = SightLost(words.not_walked(WALK_S))
    earlier = context.store.timeline(session=context.session, kinds=[SightLost])
    return [] if any(recorded.fact == lost for recorded in earlier) else [lost]


FILES_MAX = 50
RUNS_MAX = 100
"""Files, and runs of lines in all, that are recorded of one output."""


class Pages:
    """The texts of files on disk, or as they stood. Each file is read once.

    stood: path -> the revision that was there; a file that it does not name, or whose text is not stored, is
    read from the disk.
    """

    def __init__(
        self, context: SessionContext, stood: Mapping[str, Revision] | None = None
    ) -> None:
        self._context = context
        self._stood = stood or {}
        self._texts: dict[str, Text | None] = {}
        self._lines: dict[str, list[str]] = {}

    def text(self, path: str) -> Text | None:
        """Return a file's text; None for a file that is no text, is missing or not in the
        workspace, and for every file after FILES_MAX files."""
        if path not in self._texts:
            self._texts[path] = None
            if len(self._texts) <= FILES_MAX:
                with suppress(PathRefused, Unverifiable):  # a word like a path need not be one
                    data = self.earlier(path)
                    if data is None:
                        data = self._context.look(self._context.workspace.locate(path).path).data
                    self._texts[path] = decode(data)
        return self._texts[path]

    def earlier(self, path: str) -> bytes | None:
        """Return the bytes of a file as it stood, where it is another one now."""
        located = self._context.workspace.locate(path)
        revision = self._stood.get(located.path)
        if revision is None or self._context.look(located.path).revision == revision:
            return None
        return self._context.store.blob(revision)

    def is_open(self, path: str) -> bool:
        """Return whether the last line of a text has no newline."""
        text = self.text(path)
        return text is not None and bool(text.lines) and not text.plain.endswith("\n")

    def lines(self, path: str) -> list[str]:
        """Return a file's lines without newlines; none where there is no text."""
        if path not in self._lines:
            text = self.text(path)
            self._lines[path] = [line.removesuffix("\n") for line in text.lines] if text else []
        return self._lines[path]


def note_shown(
    context: SessionContext,
    event: CommandEnded | Printed,
    pages: Pages | None = None,
    *,
    skips: Callable[[Knowledge], bool] = lambda _: False,
) -> None:
    """Record the lines of files that the output contains. pages: the files; None for those on disk. skips: whether a file is left out of which the
    session has this knowledge."""
    if not event.output:
        return
    pages, output = pages or Pages(context), normal(event.output)
    seen: dict[str, Spans] = {}
    folders = start_folders(event.command, event.cwd)
    at = 0
    for alternatives in zip(*(readings(event.command, folder) for folder in folders), strict=True):
        candidates = [
            (
                *printed_spans(
                    each, pages.lines(each.path), output, at, is_open=pages.is_open(each.path)
                ),
                each.path,
            )
            for each in alternatives
        ]
        lines, at, path = max(candidates, key=lambda candidate: count(candidate[0]))
        seen[path] = union(seen.get(path, ()), lines)
    for folder in folders:
        for place in searches(event.command, folder):
            for path, line in _hits(pages, place, output):
                seen[path] = union(seen.get(path, ()), ((line, line),))
    for path, line in _hits_of_diffs(context, pages, folders, output):
        seen[path] = union(seen.get(path, ()), ((line, line),))
    rows = PrintedRows(output)
    for path, lines in seen.items():
        for first, last in lines:
            rows.take(pages.lines(path)[first - 1 : last])
    if not rows.is_used_up:
        for path, lines in _by_content(pages, event.command, folders, rows):
            seen[path] = union(seen.get(path, ()), lines)
    known, root = context.store.known(context.session), os.path.join(context.workspace.root, "")
    found = {path: known.get(os.path.realpath(path).removeprefix(root)) for path in seen}
    left_out = {path for path, each in found.items() if each is not None and skips(each)}
    seen = {path: lines for path, lines in seen.items() if path not in left_out}
    record_lines(context, pages, seen, "shell")


ENTRIES_MAX = 2_000
"""Entries of folders that are looked through for files that a command may have printed."""

READ_MAX = 200
"""Files of these that are read."""

FOLDERS_MAX = 8
"""Folders named by a command in which its words may name files."""

RUN_FILES = 20
"""Files that are compared with an output line by line."""

FILE_MAX = 1 << 18
"""Bytes of a file that is looked for in an output without a reader that is known to print it."""


def _by_content(
    pages: Pages, command: str, folders: Sequence[str], rows: PrintedRows
) -> Iterator[tuple[str, Spans]]:
    """Yield the files whose lines stand in the rows that no known reader of files printed: whole
    texts and long runs of files that words and patterns of the command name, whole texts of files
    beside and below them."""
    named, others = _candidates(command, folders)
    lines = {path: each for path in named if (each := _lines_on_disk(path, rows))}
    behind = frozenset(each[0] for each in lines.values())
    found: list[tuple[str, Spans]] = []
    for path in [*lines, *lines]:  # what stands behind a text without a newline is found only then
        taken = rows.take(lines[path], behind if pages.is_open(path) else None)
        found += [(path, taken)] if taken else []
    if not rows.is_used_up:
        likeliest = islice(lines.items(), RUN_FILES)
        found += [(path, rows.take_runs(each, RUN_MIN)) for path, each in likeliest]
    if not rows.is_used_up:
        beside = {path: each for path in others if (each := _lines_on_disk(path, rows))}
        found += _without_names(beside, rows)
        lines |= beside
    for path, printed in found:
        is_chance = not rows.is_used_up and sum(map(len, lines[path])) < TEXT_MIN
        if printed and not is_chance and pages.lines(path) == lines[path]:
            yield path, printed


def _without_names(lines: Mapping[str, list[str]], rows: PrintedRows) -> list[tuple[str, Spans]]:
    """Return the files of no name in the command whose whole text was printed. Where a text stands
    there fewer times than there are such files, nobody knows which one was printed: none counts."""
    same: dict[str, list[str]] = {}
    for path, each in lines.items():
        if sum(map(len, each)) >= TEXT_MIN:
            same.setdefault("\n".join(each), []).append(path)
    found: list[tuple[str, Spans]] = []
    for paths in same.values():
        taken = [rows.take(lines[path]) for path in paths]
        if all(taken):
            found += zip(paths, taken, strict=True)
    return found


def _candidates(command: str, folders: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files that words of a command name or that its patterns match, and the files beside
    and below them, each as absolute paths: READ_MAX of them at most."""
    bases = dict.fromkeys(folders)
    bases |= dict.fromkeys(
        simple.cwd
        for folder in folders
        for pipe in all_pipelines(command, folder)
        for simple in pipe
        if simple.cwd
    )
    words = possible_names(command)
    inside = [absolute_path(base, word) for base in bases for word in words]
    bases |= dict.fromkeys([path for path in inside if path and os.path.isdir(path)][:FOLDERS_MAX])
    paths = [path for base in bases for word in words if (path := absolute_path(base, word))]
    named = dict.fromkeys(path for path in paths if os.path.isfile(path))
    if not MANY.search(command):
        return list(named)[:READ_MAX], []
    patterns = [path for path in paths if any(sign in path for sign in "*?[")]
    roots = [path for path in paths if os.path.isdir(path)]
    roots += [os.path.dirname(re.split(r"[*?\[]", path)[0]) for path in patterns]
    others: list[str] = []
    for path in _files_below([*roots, *bases]):
        is_match = any(fnmatchcase(path, pattern.replace("**/", "*")) for pattern in patterns)
        if is_match:
            named[path] = None
        elif path not in named:
            others.append(path)
    first = list(named)[:READ_MAX]
    return first, others[: READ_MAX - len(first)]


def _files_below(roots: Iterable[str]) -> Iterator[str]:
    """Yield the files in and below folders, those near the top first, of ENTRIES_MAX entries."""
    waiting, left = list(dict.fromkeys(roots)), ENTRIES_MAX
    for folder in waiting:
        with suppress(OSError), os.scandir(folder or "/") as entries:
            for entry in islice(entries, max(left, 0)):
                left -= 1
                if entry.is_file():
                    yield entry.path
                elif _is_looked_into(entry) and entry.path not in waiting:
                    waiting.append(entry.path)


def _is_looked_into(entry: os.DirEntry[str]) -> bool:
    is_hidden = entry.name.startswith(".") or entry.name == "node_modules"
    return not is_hidden and entry.is_dir(follow_symlinks=False)


def _lines_on_disk(path: str, rows: PrintedRows) -> list[str]:
    """Return the lines of a text file without newlines; none of a large file, and none where the
    first line with text was not printed."""
    with suppress(OSError):
        if os.stat(path).st_size <= FILE_MAX:
            with open(path, "rb") as file:
                text = decode(file.read())
            lines = [line.removesuffix("\n") for line in text.lines] if text else []
            if any(map(rows.may_hold, islice(filter(None, lines), 1))):
                return lines
    return []


def note_written(
    context: SessionContext, event: CommandEnded, changed: Iterable[FileState]
) -> None:
    """Record the files whose text the command contains: the agent knows that text."""
    pages = Pages(context)
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
            path = f"{context.workspace.root}/{there.path}"
            text = pages.text(path)
            if text is not None and contains_text(event.command, text.plain):
                seen[path] = spans([(1, len(text.lines))])
    record_lines(context, pages, seen, "command")


def _hits(pages: Pages, folder: str, output: str) -> Iterable[tuple[str, int]]:
    for name, line, row in search_hits(output):
        path = name if name.startswith("/") else f"{folder}/{name}"
        lines = pages.lines(path)
        if 1 <= line <= len(lines) and lines[line - 1] == row:
            yield path, line


def _hits_of_diffs(
    context: SessionContext, pages: Pages, folders: Sequence[str], output: str
) -> Iterator[tuple[str, int]]:
    """Yield the lines of files as they are that unified diffs in an output show. git names a file from the
    top of its repository."""
    if "\n@@ -" not in output:
        return
    root, places = context.workspace.root, dict.fromkeys(folders)
    for folder in folders:
        while folder.startswith(f"{root}/"):
            folder = os.path.dirname(folder)
            places[folder] = None
    files: dict[str, str | None] = {}
    for name, line, text in diff_hits(output):
        if name not in files:
            names = (name, re.sub("^[abciwo]/", "", name))
            paths = (absolute_path(place, each) for each in names for place in places)
            files[name] = next((path for path in paths if path and os.path.isfile(path)), None)
        path = files[name]
        lines = pages.lines(path) if path else []
        if path and 1 <= line <= len(lines) and lines[line - 1] == text:
            yield path, line


def record_lines(context: SessionContext, pages: Pages, seen: dict[str, Spans], via: str) -> None:
    left = RUNS_MAX
    for path, lines in seen.items():
        text = pages.text(path)
        assert text is not None or not lines
        if text is not None and lines and pages.earlier(path) is not None:
            if lines == whole(len(text.lines)):  # of other lines nobody knows the place now
                saw(context, path, None, text.plain, via)
            continue
        for first, last in lines[: max(left, 0)]:
            assert text is not None
            try:
                saw(context, path, (first, last), "".join(text.lines[first - 1 : last]), via)
            except (FileMissing, PathRefused):
                break  # the file is gone by now
        left -= len(lines)
