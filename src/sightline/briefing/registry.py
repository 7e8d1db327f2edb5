"""The registry: every file that a session knows, with its history, as one table.

Nothing is stored for it. RULE decides the order of the files, and which of them a limit leaves out.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from hashlib import md5
from itertools import islice

from msgspec import Struct, structs

from sightline.changes.authors import by, cause_of
from sightline.changes.session_context import SessionContext
from sightline.guard.file_states import files
from sightline.model.events import Changed, Fact, GitMoved, Moved
from sightline.model.results import ChangedBy, FileInContext, State
from sightline.model.revision import MISSING, UNKNOWN, known
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded, is_live, newest_first
from sightline.model.units import moment
from sightline.model.validation import number_or_all
from sightline.store.port import Timeline

LIMIT = 50
"""Files of a registry, unless asked for."""

CHANGES = 10
"""Newest changes that are listed for each file."""

CHANGING: list[type[Fact]] = [Changed, Moved, GitMoved]

RULE = "not fresh first, then edited by this session, then last touched; the rest is left out"
"""The order of the files, and which of them are pruned."""


class Change(Struct, frozen=True):
    """One change of a file. what: content, created, deleted, mode, kind, moved or git; by: None for an
    unknown author; after: the revision after the change, "missing" for a deletion. md5: sum of that
    text, None unless asked for and stored."""

    position: int
    at: datetime
    what: str
    by: ChangedBy | None
    after: str
    md5: str | None = None


class Entry(Struct, frozen=True):
    """One known file. state: as FileInContext.state; via, last_via: how it was first and last shown.
    revision_seen: of the text that the agent believes in; revision: on disk. turn: the turn in which
    the agent last knew the file; aged: turns since then. changes: the newest ones, oldest first;
    change_count: all since the store knows the file. size: in bytes. md5_seen, md5: of
    the two texts, None unless asked for and stored."""

    path: str
    state: State
    via: str
    last_via: str
    first_seen: datetime
    last_seen: datetime
    last_edited: datetime | None
    revision_seen: str
    revision: str
    seen_lines: Spans
    total_lines: int
    turn: int
    aged: int
    size: int
    language: str | None
    changed_by: ChangedBy | None
    edited: bool
    changes: tuple[Change, ...] = ()
    change_count: int = 0
    md5_seen: str | None = None
    md5: str | None = None


class Registry(Struct, frozen=True):
    """The files that a session knows, the most useful first. known: number of known files; left_out:
    number of known files that are not listed, by the rule.

    entries: the listed files.
    """

    entries: tuple[Entry, ...]
    known: int
    left_out: int
    rule: str = RULE

    def without(self, paths: Collection[str]) -> Registry:
        """Return the registry without these files."""
        entries = tuple(entry for entry in self.entries if entry.path not in paths)
        known = self.known - (len(self.entries) - len(entries))
        return structs.replace(self, entries=entries, known=known)

    def first(self, most: int) -> Registry:
        """Return the registry cut to so many files."""
        entries = self.entries[:most]
        return structs.replace(self, entries=entries, left_out=self.known - len(entries))


def registry(
    context: SessionContext, *, limit: int | None = LIMIT, with_md5: bool = False
) -> Registry:
    """Return the files that this session knows, without those it deleted itself. limit: number of
    files, None for all, chosen by RULE. with_md5: add MD5 sums of stored texts, for hosts that compare
    by them; reads no file. ValueError for a limit below 1."""
    number_or_all("limit", limit)
    ranked = sorted(files(context), key=_rank)
    entries = tuple(_entry(context, file, with_md5=with_md5) for file in ranked[:limit])
    return Registry(entries, len(ranked), len(ranked) - len(entries))


def _rank(file: FileInContext) -> tuple[bool, bool, float, str]:
    touched = max(file.last_read, file.last_agent_edit or file.last_read)
    return file.state == "fresh", not file.edited_by_agent, -touched.timestamp(), file.path


def _entry(context: SessionContext, file: FileInContext, *, with_md5: bool) -> Entry:
    def sum_of(revision: str) -> str | None:
        data = context.store.blob(revision) if with_md5 and known(revision) else None
        return None if data is None else md5(data, usedforsecurity=False).hexdigest()

    knowledge = context.store.knowledge(context.session, file.path)
    path = knowledge.path if knowledge else file.path
    row = context.store.disk(path)
    changes = [_change(context, recorded, path) for recorded in _newest(context.store, path)]
    return Entry(
        path=file.path,
        state=file.state,
        via=file.loaded_by,
        last_via=file.via,
        first_seen=file.first_seen,
        last_seen=file.last_read,
        last_edited=file.last_agent_edit,
        revision_seen=file.revision_seen,
        revision=file.revision_on_disk,
        seen_lines=file.seen_lines,
        total_lines=file.total_lines,
        turn=file.turn_seen,
        aged=file.aged,
        size=file.size,
        language=file.language,
        changed_by=file.changed_by,
        edited=file.edited_by_agent,
        changes=tuple(structs.replace(each, md5=sum_of(each.after)) for each in changes),
        change_count=row.changes if row is not None else 0,
        md5_seen=sum_of(file.revision_seen),
        md5=sum_of(file.revision_on_disk),
    )


def _newest(store: Timeline, path: str) -> list[Recorded]:
    """Return the newest changes of a file that no recording brought."""
    changes = filter(is_live, newest_first(store.timeline, path=path, kinds=CHANGING))
    return [*islice(changes, CHANGES)][::-1]


def _change(context: SessionContext, recorded: Recorded, path: str) -> Change:
    fact = recorded.fact
    cause = cause_of(fact, path)
    what, after = "git", UNKNOWN
    if isinstance(fact, Changed):
        what, after = fact.change, fact.after
    elif isinstance(fact, Moved):
        what, after = "moved", fact.revision if fact.path == path else MISSING
        cause = fact.cause
    elif isinstance(fact, GitMoved):
        after = next((each.after for each in fact.changes if each.path == path), UNKNOWN)
    at = recorded.happened_at
    author = None if cause is None else by(cause, at, context)
    return Change(recorded.position, moment(at), what, author, after)
