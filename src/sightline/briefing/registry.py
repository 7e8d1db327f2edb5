"""The registry: every file that a session knows, with its history, as one table.

It is a view like the others: nothing is kept for it. Which lines come first, and which are left
out where there are more than asked for, is one stated rule (RULE).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from msgspec import Struct, structs

from sightline.changes.authors import by, cause_of, moment
from sightline.changes.session_context import SessionContext
from sightline.guard.file_states import files
from sightline.model.events import Changed, Fact, GitMoved, Moved
from sightline.model.results import ChangedBy, FileInContext
from sightline.model.revision import MISSING, UNKNOWN, known
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded, archived
from sightline.model.validation import number_or_all

Sum = Callable[[str], str | None]

LIMIT = 50
"""Files of a registry, unless asked for."""

CHANGES = 10
"""Newest changes of each file that are told one by one."""

COUNTED = 1_000
"""Changes of one file that are counted."""

RULE = "not fresh first, then edited by this session, then last touched; the rest is left out"
"""The order of the files, and which of them are pruned."""

KINDS: list[type[Fact]] = [Changed, Moved, GitMoved]


class Change(Struct, frozen=True):
    """One change of a file. what: content, created, deleted, mode, kind, moved or git; by: None
    where nobody knows; after: what stood there then, "missing" where nothing did. md5: of that
    text, None where it was not asked for or the text is not kept."""

    position: int
    at: datetime
    what: str
    by: ChangedBy | None
    after: str
    md5: str | None = None


class Entry(Struct, frozen=True):
    """One known file. state: as FileInContext.state; via: how it first came in, last_via: how it
    was last shown. revision_seen: of the text that the agent believes in; revision: what stands on
    disk. turn, aged: in which turn it was last known, and how many ago that is. changes: the
    newest ones, oldest first; change_count: all since the store knows the file (up to 1,000).
    size: in bytes. md5_seen, md5: of those two texts, None where not asked for or not kept."""

    path: str
    state: str
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
    """The files that a session knows, the most useful ones first. known: how many there are;
    left_out: of them are not here, by the rule."""

    entries: tuple[Entry, ...]
    known: int
    left_out: int
    rule: str = RULE

    def first(self, most: int) -> Registry:
        """The same with so many files at most."""
        entries = self.entries[:most]
        return structs.replace(self, entries=entries, left_out=self.known - len(entries))


def registry(
    ground: SessionContext, *, limit: int | None = LIMIT, with_md5: bool = False
) -> Registry:
    """What this session knows of its files; one that it took away itself is none. limit: how many
    files, None for all; which ones, see RULE. with_md5: also MD5 sums, for hosts that compare by
    them, of the texts that are kept; no file is read for it. ValueError."""
    number_or_all("limit", limit)
    every = sorted(files(ground), key=_rank)
    told = every[:limit]
    sums = _sums(ground) if with_md5 else _no_sum
    entries = tuple(_entry(ground, each, sums) for each in told)
    return Registry(entries, len(every), len(every) - len(told))


def _rank(file: FileInContext) -> tuple[bool, bool, float, str]:
    touched = max(file.last_read, file.last_agent_edit or file.last_read)
    return file.state == "fresh", not file.edited_by_agent, -touched.timestamp(), file.path


def _entry(ground: SessionContext, file: FileInContext, md5: Sum) -> Entry:
    knowledge = ground.store.knowledge(ground.session, file.path)
    found = list(_changes(ground, knowledge.path if knowledge else file.path, md5))
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
        changes=tuple(found[-CHANGES:]),
        change_count=len(found),
        md5_seen=md5(file.revision_seen),
        md5=md5(file.revision_on_disk),
    )


def _changes(ground: SessionContext, path: str, md5: Sum) -> Iterator[Change]:
    """The changes of a file, oldest first."""
    log = ground.store.timeline(path=path, kinds=KINDS, newest=COUNTED)
    for recorded in log:
        if archived(recorded.session):
            continue
        what, after = _what(recorded, path)
        made = recorded.fact.cause if isinstance(recorded.fact, Moved) else None
        made = made or cause_of(recorded.fact, path)
        at = recorded.happened_at
        who = None if made is None else by(made, at, ground)
        yield Change(recorded.position, moment(at), what, who, after, md5(after))


def _what(recorded: Recorded, path: str) -> tuple[str, str]:
    """What a fact did to a file, in a word, and what stood there then."""
    fact = recorded.fact
    if isinstance(fact, Changed):
        return fact.change, fact.after
    if isinstance(fact, Moved):
        return "moved", fact.revision if fact.path == path else MISSING
    changes = fact.changes if isinstance(fact, GitMoved) else ()
    return "git", next((each.after for each in changes if each.path == path), UNKNOWN)


def _no_sum(_revision: str) -> None:
    return None


def _sums(ground: SessionContext) -> Sum:
    """MD5 sums by revision, each made once."""
    from hashlib import md5

    made: dict[str, str | None] = {}

    def of(revision: str) -> str | None:
        if revision not in made:
            data = ground.store.blob(revision) if known(revision) else None
            sum_ = None if data is None else md5(data, usedforsecurity=False).hexdigest()
            made[revision] = sum_
        return made[revision]

    return of
