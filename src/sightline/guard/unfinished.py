"""Settle writes of dead processes by the content on disk.

One rule for a single write and for a batch: where everything that was intended stands, it is
recorded as done, and otherwise all of it is undone. It is undone and not finished, because nobody was
told that it was made: the agent's knowledge, and the user's, is that of before. A later save by
somebody else is never undone. It keeps its batch from being undone as a whole, and that is told.

A file with several names is written in place, so a cut-off write leaves it half written. A user's save
could leave exactly these bytes, too: by its content alone it cannot be told apart. So a file that was
last written more than LATE_S after the intent is left as it is, and the warning names it.

Undoing needs no journal of its own: killed in the middle, it leaves what this module settles again. (A
file with several names that is half set back after LATE_S is left and named, like a late save.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import urandom

from msgspec import Struct

from sightline.changes.session_context import SessionContext, stamp_of, warning
from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileState, Link, Replacement
from sightline.filesystem.process import alive
from sightline.guard import words
from sightline.guard.write_journal import (
    completed,
    ends_of,
    take_back_folders,
    took_effect,
)
from sightline.model.events import (
    BatchEnded,
    Fact,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.revision import MISSING, UNKNOWN, Revision, is_link, link_of
from sightline.model.timeline import Recorded
from sightline.model.written import is_half_written, still_holds
from sightline.store.port import Append

KEPT = {"under": words.SAVED, "late": words.MAYBE_SAVED, "other": words.SAVED}
"""The states of files that are left as they are, with the reason."""

LATE_S = 60
"""Seconds from an intent within which its own write ends: one file takes milliseconds, and thousands of
files of a batch less than this."""


class Unfinished(Struct, frozen=True):
    """A pending intent, and how its file looks. state: done; under (a later save by somebody else
    holds it); before; half (overwritten in part); late (as half, but last written so late that
    somebody else may have saved it); other (somebody else's bytes)."""

    recorded: Recorded
    fact: WriteIntended
    state: str
    content: Revision


@contextmanager
def locked(context: SessionContext, *paths: str) -> Iterator[int]:
    """Lock paths for a write, and settle first what dead processes left there; give the number of
    intents that were settled. A batch is settled as a whole, so all of its paths are locked."""
    wanted = {*paths}
    while True:
        with context.workspace.lock(*sorted(wanted)):
            pending = context.store.pending()
            together = wanted | _with_batches(pending, paths)
            if together == wanted:
                yield _recover(context, pending, wanted)
                return
        wanted = together


def _with_batches(pending: Iterable[Recorded], paths: Iterable[str]) -> set[str]:
    """Return the paths of the batches that have an unsettled write at one of these paths."""
    facts = [entry.fact for entry in pending]
    writes = [fact for fact in facts if isinstance(fact, WriteIntended) and fact.batch]
    touched = {fact.batch for fact in writes if not {fact.path, fact.src}.isdisjoint(paths)}
    found = {path for fact in writes if fact.batch in touched for path in (fact.path, fact.src)}
    return {path for path in found if path is not None}


def _recover(context: SessionContext, pending: Iterable[Recorded], paths: set[str]) -> int:
    """Settle the pending intents on paths whose locks the caller holds; return their number.

    No other process can be in the middle of a write of ours, because that needs the lock. A
    host's own write is left alone while its process lives.
    """
    groups: dict[str | int, list[Recorded]] = {}
    for intent in pending:
        fact = intent.fact
        if not isinstance(fact, WriteIntended) or fact.path not in paths:
            continue
        if fact.aside or not alive(fact.owner):
            groups.setdefault(fact.batch or intent.position, []).append(intent)
    for intents in groups.values():
        settle(context, intents)
    return sum(map(len, groups.values()))


def recover_all(context: SessionContext, *, own: bool = False) -> int:
    """Settle the intents of all processes that died; return their number. own: also those of this
    session that this process left, because a verb was interrupted."""
    settled = 0
    for intent in context.store.pending():
        fact = intent.fact
        if not isinstance(fact, WriteIntended):
            continue
        ours = (intent.session, fact.owner) == (context.session, context.owner)
        if (own and ours and fact.aside) or not alive(fact.owner):
            with locked(context, fact.path) as count:
                settled += count
    return settled


def settle_host_writes(context: SessionContext) -> None:
    """Settle this session's intents that its host carries out, once the host ended its calls. When
    the user denied a call, no other hook tells."""
    for intent in context.store.pending():
        fact = intent.fact
        own = intent.session == context.session
        if own and isinstance(fact, WriteIntended) and not fact.aside:
            with context.workspace.lock(fact.path):
                settle(context, [intent])


def settle(context: SessionContext, intents: Sequence[Recorded]) -> None:
    """Settle one write, or all writes of a batch, whose locks the caller holds."""
    found = _looked_at(context, intents)
    is_done = all(each.state in ("done", "under") for each in found)
    kept = {each.fact.path: KEPT[each.state] for each in found if each.state in KEPT}
    undone: list[Unfinished] = []
    for each in reversed(found) if not is_done else ():
        if each.state in ("done", "half"):
            why = _undo(context, each)
            if why:
                kept[each.fact.path] = why
            else:
                undone.append(each)
        elif each.state == "before":
            take_back_folders(context, each.fact)
    facts: list[Fact] = []
    stamps = {}
    for each in found:
        on_disk = context.workspace.read(each.fact.path)
        position = each.recorded.position
        if stamp := stamp_of(on_disk):
            stamps[on_disk.path] = stamp
        if is_done or (each.fact.path in kept and each.state in ("done", "under")):
            facts.append(completed(each.fact, on_disk, each.recorded.session, position))
        else:
            facts.append(WriteAbandoned(each.fact.path, position))
    first = intents[0]
    facts += _ended(found, undone, kept, is_done=is_done)
    context.store.append(
        Append(first.session, facts, at=context.clock(), stats=stamps, durable=True)
    )


def _ended(
    found: Sequence[Unfinished],
    undone: Sequence[Unfinished],
    kept: Mapping[str, str],
    *,
    is_done: bool,
) -> Iterator[Fact]:
    """Yield how a batch ended, and the warning that says so. kept: the files that are not as before,
    each with the reason."""
    batch = found[0].fact.batch
    paths = sorted(kept)
    if batch is not None and is_done:
        yield BatchEnded(batch, "done")
    elif batch is not None:
        yield BatchEnded(batch, "mixed" if paths else "undone", tuple(paths))
    is_late = any(each.state == "late" for each in found)
    if is_done or not (undone or is_late or (batch is not None and kept)):
        return
    names = sorted({each.fact.path for each in found})
    text = words.cut_off(names, sorted({each.fact.path for each in undone}), kept)
    yield warning(text, names)


def _looked_at(context: SessionContext, intents: Sequence[Recorded]) -> list[Unfinished]:
    """Remove what is left beside the files, and return how each looks. A batch is followed
    backwards, because a later write of it may have moved the file of an earlier one."""
    now: dict[str, FileState] = {}
    found: list[Unfinished] = []
    passing: set[str] = (
        set()
    )  # folders that stand only because of these writes, or till one of them
    for intent in intents:
        fact = intent.fact
        assert isinstance(fact, WriteIntended)
        before, after = ends_of(fact)
        context.workspace.clean(fact.path, fact.aside, before=before, after=after)
        passing.update(fact.makes, fact.gives_way)
    for intent in reversed(intents):
        fact = intent.fact
        assert isinstance(fact, WriteIntended)
        for path in filter(None, (fact.path, fact.src)):
            if path not in now:
                there = context.workspace.read(path)
                is_passing = there.kind == "directory" and path in passing
                now[path] = FileState(path, "missing") if is_passing else there
        there = now[fact.path]
        state = _state(context, intent, fact, there)
        if fact.src is not None and state in ("done", "under"):
            if now[fact.src].kind != "missing":
                state = "other"
            else:
                now[fact.src] = there
                now[fact.path] = FileState(fact.path, "missing")
        found.append(Unfinished(intent, fact, state, there.content))
        if fact.src is None and state == "done":
            now[fact.path] = FileState(
                fact.path, "missing" if fact.before == MISSING else "file", fact.before
            )
    found.reverse()
    return found


def _state(context: SessionContext, intent: Recorded, fact: WriteIntended, there: FileState) -> str:
    before, after = ends_of(fact)
    if took_effect(fact, there):
        return "done"
    if there.content == before:
        return "before"
    load = context.store.blob
    known = not {before, after} & {MISSING, UNKNOWN} and not is_link(before) and not is_link(after)
    old, new = (load(before), load(after)) if known else (None, None)
    if fact.src is not None:
        old = new = load(after)
    if old is None or new is None or there.data is None:
        return "other"
    if fact.src is None and fact.aside and is_half_written(old, new, there.data):
        written_us = there.signature.mtime_ns // 1_000 if there.signature else 0
        return "late" if written_us > intent.recorded_at + LATE_S * 1_000_000 else "half"
    return "under" if old != new and still_holds(old, new, there.data) else "other"


def _undo(context: SessionContext, unfinished: Unfinished) -> str:
    """Set a file back to the content before its write; return why that is not so, "" where it is."""
    fact = unfinished.fact
    before, _ = ends_of(fact)
    target = link_of(before)
    new: bytes | Link | None = Link(target) if target is not None else None
    if fact.src is None and new is None and before != MISSING:
        text = context.store.blob(before)
        if text is None:  # a secret whose text may not be kept
            return words.NOT_KEPT
        new = text
    return take_back(context, fact, unfinished.content, new)


def take_back(
    context: SessionContext, fact: WriteIntended, stands: Revision, old: bytes | Link | None
) -> str:
    """Undo one write on disk, with the folders that the write made and the folders that gave way.
    Return the reason for a failure, "" for success. stands: the revision that the write left; old:
    the content before the write."""
    workspace = context.workspace
    outcome: FileState | Unverifiable
    if fact.src is not None:
        try:
            outcome = workspace.move_if(fact.path, fact.src, stands)
        except Unverifiable as error:
            outcome = error
        before = stands
    else:
        token = urandom(6).hex() if not fact.aside else _token(fact.aside)
        try:
            wanted = Replacement(fact.path, stands, old, token, context.may_store(fact.path))
            [outcome] = workspace.replace_each([wanted])
        except Unverifiable as error:
            outcome = error
        before, _ = ends_of(fact)
    if isinstance(outcome, Unverifiable):
        return f"the disk refused: {outcome.message.removesuffix(words.AS_IT_WAS)}"
    if outcome.kind == "directory":
        return words.FOLDER
    if not (outcome.saved_over or outcome.content == before):
        return words.SAVED
    take_back_folders(context, fact)
    return ""


def _token(aside: Sequence[str]) -> str:
    """Return the token in the names of a write's temporary files, which clean() knows."""
    return aside[0].rpartition("-")[2].partition(".")[0]
