"""Compare the files that a host's own tools wrote with the writes that were allowed.

A tool reports the text it found, which reveals a save between the check and the write. A
replacement keeps such a save. A whole-file write loses it, and the agent is told what to restore.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec import structs

from sightline.agents.hook_events import (
    DIFF_MAX,
    NOTHING,
    Answer,
    Attempted,
    CellEdit,
    Failed,
    Wrote,
)
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import after_change
from sightline.errors import PathRefused
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import host_writes, notebooks
from sightline.guard.write_journal import completed
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import deliver_changes
from sightline.hooks.handlers.tool_edits import STRAIGHT
from sightline.model.attempts import Attempt, Create, Replace, Several, WriteWhole
from sightline.model.diff import diff, unified
from sightline.model.events import Changed, Fact, Merged, WriteAbandoned, WriteIntended
from sightline.model.locate import find_replacement, replaced
from sightline.model.merge import merge
from sightline.model.revision import MISSING, revision_of
from sightline.model.text import decode, normal, split, unmarked
from sightline.sessions import words as session_words
from sightline.sessions.affected import affected, outside_family
from sightline.text import phrases

Intent = tuple[int, WriteIntended]
"""A journalled attempt, after its position on the timeline."""


def wrote(context: SessionContext, event: Wrote) -> Answer:
    """Record a write of the host's tool, and return the changes that others made meanwhile."""
    try:
        located = context.workspace.locate(event.path)
    except PathRefused:
        return NOTHING
    intent = _pending_intent(context, located.path)
    before = intent[1].before if intent else _revision_on_record(context, located.path)
    on_disk = context.look(located.path)
    if intent is None and _is_recorded(context, event, on_disk):
        return Answer(context=_changes_by_others(context, located, on_disk, DIFF_MAX))
    lost = _lost_save(context, located.path, before, event)
    merged, knows_all = "", False
    if intent is not None and _as_intended(context, intent[1], event, on_disk):
        position, intended = intent
        facts: list[Fact] = [completed(intended, on_disk, context.session, position)]
        is_merge = event.whole and _is_merge(intended)
        known = context.store.knowledge(context.session, intended.path) if is_merge else None
        if known is not None:
            merged_from = known.belief.text, intended.before, intended.after
            facts.append(Merged(intended.path, *merged_from))
            merged = located.name or located.path
        context.append(facts, found=[on_disk], durable=True)
        belief = intended.belief
        knows_all = belief is not None and belief.text == on_disk.revision
    else:
        _record_unplanned(context, located, event, intent, on_disk)
    after_change(context, located.path)
    room = DIFF_MAX - len(lost)
    changes = "" if knows_all else _changes_by_others(context, located, on_disk, room)
    affected_sessions = _affected_sessions(context, before, on_disk)
    texts = [words.merged(merged) if merged else "", lost, changes, affected_sessions]
    tell = words.merged_for_user(merged) if merged else ""
    return Answer(context="\n\n".join(filter(None, texts)), tell=tell)


def recognise(context: SessionContext, edits: Sequence[Attempted]) -> Answer:
    """Record edits of one file, in order, that the host carried out and that no hook reported, because
    the hooks were killed. The content decides: the file has to be what the last of them make of the
    text on record."""
    try:
        path = context.workspace.locate(edits[0].path).path
    except PathRefused:
        return NOTHING
    row, on_disk = context.store.disk(path), context.look(path)
    on_record = row.revision if row else MISSING
    if on_record == on_disk.revision or on_disk.data is None:
        return NOTHING
    before, after = _plain_text(context, on_record), decode(on_disk.data)
    if before is None or after is None:
        return NOTHING
    for start in range(len(edits)):
        attempts = [each.attempt for each in edits[start:]]
        if row is None and not isinstance(attempts[0], Create):
            continue  # nobody knows what the file held before
        if not _explains(attempts, before, after.plain):
            continue
        whole = any(isinstance(each, (Create, WriteWhole)) for each in attempts)
        found = None if on_record == MISSING else before
        last = edits[-1]
        return wrote(context, Wrote(last.path, last.call, found, content=after.plain, whole=whole))
    return NOTHING


def _explains(attempts: Sequence[Attempt | CellEdit], before: str, after: str) -> bool:
    """Return whether attempts, one after the other, make one text of another."""
    cells = [(each.cell, each.mode, each.source) for each in attempts if isinstance(each, CellEdit)]
    if cells:
        return len(cells) == len(attempts) and notebooks.is_carried_out(before, after, cells)
    parts = tuple(each for each in attempts if not isinstance(each, CellEdit))
    if after in _outcomes(before, Several(parts)):
        return True
    # Hosts match straight quotes with the typographic quotes of the file, and keep these.
    straight = Several(tuple(map(_with_straight_quotes, parts)))
    return after.translate(STRAIGHT) in _outcomes(before.translate(STRAIGHT), straight)


def _with_straight_quotes(attempt: Attempt) -> Attempt:
    if not isinstance(attempt, Replace):
        return attempt
    old, new = attempt.old.translate(STRAIGHT), attempt.new.translate(STRAIGHT)
    return structs.replace(attempt, old=old, new=new)


def _outcomes(plain: str, attempt: Attempt) -> list[str]:
    """Return the texts that an attempt can make of a text; none where it cannot be carried out."""
    if isinstance(attempt, (Create, WriteWhole)):
        return [] if isinstance(attempt, Create) and plain else [normal(attempt.content)]
    if isinstance(attempt, Replace):
        olds = [attempt.old]
        if not attempt.new and not attempt.old.endswith("\n"):
            olds.append(f"{attempt.old}\n")  # with a removed text, hosts remove the end of its line
        found = [find_replacement(plain, structs.replace(attempt, old=old)) for old in olds]
        return [
            replaced(plain, old, new, places.offsets)
            for old, new, places in found
            if places.offsets
        ]
    if not isinstance(attempt, Several):
        return []
    texts = [plain]
    for part in attempt.parts:
        texts = [outcome for text in texts for outcome in _outcomes(text, part)]
    return texts


def failed(context: SessionContext, event: Failed) -> Answer:
    """Record that the host did not carry out an allowed attempt."""
    with suppress(PathRefused):
        _abandon(context, context.workspace.locate(event.path).path)
    return NOTHING


def _pending_intent(context: SessionContext, path: str) -> Intent | None:
    """Return this session's newest attempt on a path that the host is carrying out."""
    for recorded in reversed(context.store.pending()):
        fact = recorded.fact
        if not isinstance(fact, WriteIntended) or recorded.session != context.session:
            continue
        if fact.path == path and not fact.aside:
            return recorded.position, fact
    return None


def _revision_on_record(context: SessionContext, path: str) -> str:
    row = context.store.disk(path)
    return row.revision if row else MISSING


def _as_intended(
    context: SessionContext, intent: WriteIntended, event: Wrote, on_disk: FileState
) -> bool:
    """Return whether the host found the text that was judged, and left the intended one."""
    if on_disk.revision != intent.after or event.user_modified:
        return False
    return not event.known_before or _is_text_of(context, intent.before, event.before)


def _is_recorded(context: SessionContext, event: Wrote, on_disk: FileState) -> bool:
    """Return whether this write is already the newest change of the file: hooks in two settings
    files, with two commands, are called twice for one write."""
    newest = context.store.timeline(path=on_disk.path, kinds=[Changed], newest=1)
    fact = next((recorded.fact for recorded in newest), None)
    if not isinstance(fact, Changed) or fact.cause.who != context.session:
        return False
    same = not event.known_before or _is_text_of(context, fact.before, event.before)
    return same and fact.after == on_disk.revision and not event.user_modified


def _is_text_of(context: SessionContext, revision: str, reported: str | None) -> bool:
    """Return whether a host's text is a revision's text. Hosts change line ends and leave out the
    byte order mark. No text: there was no file."""
    if reported is not None and revision_of(reported.encode("utf-8", "replace")) == revision:
        return True
    data = context.store.blob(revision)
    text = decode(data)
    if reported is None or text is None:
        return reported is None and data is None
    return text.plain == text.own(reported)


def _exact_bytes(reported: str | None, data: bytes | None) -> str | bytes | None:
    """Return the bytes that a host's text stands for, or the text where they are others."""
    text = decode(data) if data is not None and reported is not None else None
    same = text is not None and reported is not None and text.plain == text.own(reported)
    return data if same else reported


def _record_unplanned(
    context: SessionContext,
    located: ResolvedPath,
    event: Wrote,
    intent: Intent | None,
    on_disk: FileState,
) -> None:
    """Record a write that no hook announced, or that left other text than was judged."""
    row = context.store.disk(located.path)
    before = context.store.blob(row.revision) if row else None
    host_writes.wrote(
        context,
        event.path,
        content=_exact_bytes(event.content, on_disk.data),
        before=_exact_bytes(event.before, before) if event.known_before else None,
        user_modified=event.user_modified,
        whole=event.whole and not (intent and _is_merge(intent[1])),
        intent=intent[1] if intent else None,
    )
    _abandon(context, located.path)


def _is_merge(intent: WriteIntended) -> bool:
    """Return whether a whole-file write leaves others' changes beside the agent's text."""
    return intent.belief is not None and intent.belief.text != intent.after


def _lost_save(context: SessionContext, path: str, checked: str, event: Wrote) -> str:
    """Describe a save between the check and a whole-file write, which the write has lost; "" for
    none. checked: the revision that was judged."""
    if event.content is None or not event.whole:
        return ""  # a replacement keeps the rest of the text
    base = _plain_text(context, checked)
    overwritten = event.before
    if not event.known_before:
        overwritten = _plain_text(context, _revision_on_record(context, path))
    if overwritten is None or base is None or base == unmarked(overwritten):
        return ""
    ours, theirs = split(normal(event.content)), split(normal(overwritten))
    merged = merge(split(base), ours, theirs)
    wanted = list(merged.lines) if merged.clean else theirs
    hunks = diff(ours, wanted)
    if not hunks:
        return ""
    text = unified(ours, wanted, hunks)
    return words.lost(event.path, text[:DIFF_MAX], whole=len(text) <= DIFF_MAX)


def _plain_text(context: SessionContext, revision: str) -> str | None:
    """Return the text of a revision, "" for no file; None where it is not stored or is no text."""
    if revision == MISSING:
        return ""
    text = decode(context.store.blob(revision))
    return text.plain if text else None


def _abandon(context: SessionContext, path: str) -> None:
    while (intent := _pending_intent(context, path)) is not None:
        context.append([WriteAbandoned(path, intent[0])])


def _changes_by_others(
    context: SessionContext, located: ResolvedPath, on_disk: FileState, room: int
) -> str:
    """Describe others' changes to the file that the agent was not told, and record the delivery."""
    known = context.store.knowledge(context.session, located.path)
    if known is not None and known.belief.text == on_disk.revision:
        return ""
    change, delivered = deliver_changes(context, located, room)
    return words.also_changed(change.summary, change.diff) if delivered else ""


def _affected_sessions(context: SessionContext, before: str, on_disk: FileState) -> str:
    """Name the sessions whose knowledge the write made stale. Sub-agents of this agent, and its
    parent, are left out: each of them gets a notice."""
    if not context.store.knowers(on_disk.path).keys() - {context.session}:
        return ""
    text = context.store.blob(before) if before != MISSING else None
    others = outside_family(context, affected(context, on_disk.path, text, on_disk.data))
    return phrases.says(session_words.affected(others, context.session)) if others else ""
