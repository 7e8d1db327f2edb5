"""Compare the files that a host's own tools wrote with the writes that were allowed.

A tool reports the text it found, which reveals a save between the check and the write. A
replacement keeps such a save. A whole-file write goes over it: then both changes are written where
they join, and told to agent and person (hooks.handlers.lost_saves).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from msgspec import Struct, structs

from sightline.changes import untracked
from sightline.changes.authors import changed_by
from sightline.changes.session_context import SessionContext, load_knowledge
from sightline.changes.session_names import author, names_for
from sightline.checkpoints.automatic import after_change
from sightline.errors import PathRefused, StoreError
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import host_writes, notebooks
from sightline.guard.lost_writes import is_in_file
from sightline.guard.unfinished import locked
from sightline.guard.write_journal import completed
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import deliver_changes
from sightline.hooks.handlers.lost_saves import (
    Brought,
    Loss,
    author_for_person,
    bring_back,
    changed_lines,
    complete_others,
    is_text_of,
    loss_of_ours,
    loss_of_theirs,
    merged_since,
    plain_text,
    told_to_agent,
    told_to_person,
    went_over,
)
from sightline.hooks.handlers.tool_edits import STRAIGHT
from sightline.hooks.host import Host
from sightline.model.attempts import Attempt, CellEdit, Create, Replace, Several, WriteWhole
from sightline.model.diff import diff
from sightline.model.events import Cause, Changed, Fact, Merged, WriteAbandoned, WriteIntended
from sightline.model.hook_events import (
    NOTHING,
    Answer,
    Failed,
    Wrote,
)
from sightline.model.locate import find_replacement, replaced
from sightline.model.marks import REPLACEMENT
from sightline.model.revision import MISSING, Revision
from sightline.model.text import Text, decode, normal, plain_of, split, unmarked
from sightline.model.timeline import newest_first
from sightline.sessions import words as session_words
from sightline.sessions.affected import affected, outside_family
from sightline.text import phrases

Intent = tuple[int, WriteIntended]
"""A journalled attempt, after its position on the timeline."""

INSTANT_S = 5
"""Seconds at most between the moment when a host's tool reads a file and the moment when it writes it."""

GIT_S = 1.0
"""Seconds that git may take to tell the bytes of one file."""


def wrote(context: SessionContext, event: Wrote, host: Host) -> Answer:
    """Record a write of the host's tool. Bring a change together with what it went over, or with what went
    over it, and return that and the changes that others made meanwhile."""
    try:
        located = context.workspace.locate(event.path)
    except PathRefused:
        return NOTHING
    basis: _Basis | None = None
    try:
        with locked(context, located.path):
            has_marks = event.before is not None and REPLACEMENT in event.before
            data = _bytes_on_record(context, located.path, event.before) if has_marks else None
            damaged = _before_damage(data, event.before)
            is_unknown = has_marks and data is None and context.store.disk(located.path) is None
            if damaged is not None:
                event = structs.replace(event, before=damaged.plain)
            basis = _basis(context, located, event)
            write = _carried_out(context, located, event, basis)
        if write.is_news:
            after_change(context, located.path)
        answer = _answered(context, located, event, write, host)
        if is_unknown and write.is_news and REPLACEMENT.encode() in (write.on_disk.data or b""):
            return answer.behind(*words.bytes_unknown(located.name or located.path))
        if damaged is None or not write.is_news:
            return answer
        lines = _damaged_lines(damaged, write.on_disk)
        return _with_damage(answer, located.name or located.path, damaged.label, lines)
    except StoreError:
        answer = (
            NOTHING
            if basis is None
            else _unrecorded_loss(context, located, event, basis, host.limits.diff)
        )
        if answer == NOTHING:
            raise
        return answer


def _before_damage(data: bytes | None, before: str | None) -> Text | None:
    """Return the text on record that the host's tool read as the text before, with U+FFFD in place of its
    bytes: the tool wrote these marks back. None for any other write. data: on record; None where the text
    before has no such marks."""
    text = decode(data)
    if data is None or text is None or before is None or text.plain == text.own(before):
        return None
    return text if _is_read_as(data, before) else None


def _is_read_as(data: bytes, before: str) -> bool:
    """Return whether a text is bytes as a host's tool reads them, or as we do."""
    text = decode(data)
    read = unmarked(data.decode("utf-8", "replace"))
    return read == unmarked(before) or (text is not None and text.plain == before)


def _bytes_on_record(context: SessionContext, path: str, before: str | None = None) -> bytes | None:
    """Return the last bytes on record of a file, from the newest checkpoint where no session has read it;
    None where they are not kept. before: the text that a tool read; where nothing is on record, git's index
    and HEAD may hold the only bytes that are read so."""
    row = context.store.disk(path)
    if row is not None:
        return context.store.blob(row.revision)
    last = untracked.newest(context, context.store.position())
    entry = untracked.manifest(context, last).get(path) if last is not None else None
    if entry is not None:
        return context.store.blob(entry.revision)
    repository = context.workspace.repository(path) if before is not None else None
    if repository is None or before is None or before.isascii():
        return None
    found = {repository.text(path, commit, GIT_S) for commit in ("", "HEAD")}
    disk = context.look(path).data or b""
    fitting = [
        data
        for data in found
        if data is not None
        and (b"\r\n" in data) == (b"\r\n" in disk)  # git converted no line ends
        and _is_read_as(data, before)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _damaged_lines(before: Text, on_disk: FileState) -> int:
    """Return how many lines lost bytes to U+FFFD."""
    after = decode(on_disk.data)
    if after is None:
        return 0
    hunks = diff(before.lines, after.lines)
    return sum(REPLACEMENT in line for _, _, b0, b1 in hunks for line in after.lines[b0:b1])


def _with_damage(answer: Answer, path: str, encoding: str, lines: int) -> Answer:
    """Add to an answer that the host's tool destroyed bytes of so many lines; none where it kept them."""
    if not lines:
        return answer
    return answer.behind(*words.damaged(path, encoding, lines))


class _OnRecord(Struct, frozen=True):
    """A write that is on record, and the position of its fact."""

    fact: Changed
    position: int


class _Basis(Struct, frozen=True):
    """The records of a tool's write, and the text that it replaced. on_disk: the file as the tool left it. intent: the
    attempt that the write carries out; recorded: the write, where it is on record already. judged: the
    revision that it was judged on. known: the text that it rests on, None where that is not stored.
    found: the text that the write replaced, (None,) for no file; None where nobody knows. is_whole: its own
    text is the whole file's, without what was found."""

    on_disk: FileState
    intent: Intent | None
    recorded: _OnRecord | None
    judged: Revision
    known: str | None
    found: tuple[str | None] | None
    is_whole: bool


def _basis(context: SessionContext, located: ResolvedPath, event: Wrote) -> _Basis:
    """Look up what a write rests on. Nothing is recorded."""
    path = located.path
    on_disk, intent = context.look(path, is_edit=True), _pending_intent(context, path)
    recorded = None if intent else _recorded(context, event, on_disk)
    if recorded is not None:
        judged = recorded.fact.before
    else:
        judged = intent[1].before if intent else _revision_on_record(context, path)
    known = _known_text(context, located, event, judged, intent)
    found = _found_text(context, path, event)
    is_whole = event.whole
    if intent is not None and found is not None and _is_known(context, known, judged, found[0]):
        since = _written_since(context, intent[1], on_disk)
        found, is_whole = since or found, is_whole or since is not None
    is_unknown = intent is None and recorded is None and context.store.disk(path) is None
    if is_unknown and found is not None and found[0] is not None:
        known = unmarked(
            found[0]
        )  # nobody looked at the file before: it rests on what the tool found
    return _Basis(on_disk, intent, recorded, judged, known, found, is_whole)


def _unrecorded_loss(
    context: SessionContext, located: ResolvedPath, event: Wrote, basis: _Basis, room: int
) -> Answer:
    """Describe a save that a tool's write replaced while the store had no room to record it; NOTHING without
    such a save. Reading needs no room in the store."""
    found, path = basis.found, located.path
    if found is None or _is_known(context, basis.known, basis.judged, found[0]):
        return NOTHING
    loss = loss_of_theirs(
        context, path, event, basis.known, basis.judged, found[0], is_whole=basis.is_whole
    )
    if loss is None:
        return NOTHING
    name, disk = located.name or path, decode(context.look(path, is_edit=True).data)
    is_joined = loss.texts is not None and disk is not None and loss.texts.is_on(disk.lines)
    agent = "" if is_joined else told_to_agent(context, name, loss, room)
    return Answer(context=agent, tell=told_to_person(context, name, loss, is_joined=is_joined))


class _Write(Struct, frozen=True):
    """A write that a host carried out. is_news: it was not on record before. known: the text that it rests
    on, None where that is not stored; judged: the revision that it was judged on; on_disk: the file now.
    merge: what was recorded of a merge that was handed over and written. losses: what went over what,
    and what became of that."""

    is_news: bool
    known: str | None
    judged: Revision
    on_disk: FileState
    merge: WriteIntended | None
    losses: tuple[tuple[Loss, Brought], ...]


def _carried_out(
    context: SessionContext, located: ResolvedPath, event: Wrote, basis: _Basis
) -> _Write:
    """Record a write, whose path the caller has `locked`, and bring back what can be."""
    path, on_disk, intent, recorded = located.path, basis.on_disk, basis.intent, basis.recorded
    judged, known, found = basis.judged, basis.known, basis.found
    complete_others(context, event, judged, on_disk)
    over = went_over(context, path, judged, on_disk)
    belief, merge = None, None
    if intent is not None and over is not None:
        belief = intent[1].belief
        context.append([WriteAbandoned(path, intent[0])])
    elif recorded is None:
        merge = _record(context, located, event, intent, on_disk)
    losses: list[Loss | None] = []
    if found is not None and not _is_known(context, known, judged, found[0]):
        theirs = loss_of_theirs(
            context, path, event, known, judged, found[0], is_whole=basis.is_whole
        )
        losses.append(theirs)
    if over is not None and found is not None:
        base = known if event.whole else found[0]
        losses.append(loss_of_ours(event, base or "", over, on_disk))
    brought: list[tuple[Loss, Brought]] = []
    for loss in filter(None, losses):
        on_disk, what = bring_back(context, loss, on_disk, belief)
        brought.append((loss, what))
    if recorded is not None and not brought:
        by = merged_since(context, path, recorded.position)
        brought += [(Loss(None, by), "held")] if by else []
    return _Write(recorded is None, known, judged, on_disk, merge, tuple(brought))


def _record(
    context: SessionContext,
    located: ResolvedPath,
    event: Wrote,
    intent: Intent | None,
    on_disk: FileState,
) -> WriteIntended | None:
    """Record a write; return its intent where it was a merge of whole texts, as it was handed over."""
    if intent is None or not _as_intended(context, intent[1], event, on_disk):
        _record_unplanned(context, located, event, intent, on_disk)
        return None
    position, intended = intent
    done = completed(intended, on_disk, context.session, position)
    if isinstance(done, Changed):  # of two intents of one text, either may be the call's own
        done = structs.replace(done, call=event.call)
    facts: list[Fact] = [done]
    is_merge = event.whole and _is_merge(intended)
    known = context.store.knowledge(context.session, intended.path) if is_merge else None
    if known is not None:
        facts.append(Merged(intended.path, known.belief.text, intended.before, intended.after))
    context.append(facts, found=[on_disk], durable=True)
    return intended if known is not None else None


def _known_text(
    context: SessionContext,
    located: ResolvedPath,
    event: Wrote,
    judged: Revision,
    intent: Intent | None,
) -> str | None:
    """Return the text that a write rests on; None where it is not stored. What another hook put in the place
    of a merge rests on the text that the agent believed."""
    if (
        intent is not None
        and event.whole
        and _is_merge(intent[1])
        and not is_text_of(context, intent[1].after, event.content)
    ):
        believed = load_knowledge(context, located).believed
        return plain_of(believed) if believed is not None else None
    return plain_text(context, judged)


def _found_text(context: SessionContext, path: str, event: Wrote) -> tuple[str | None] | None:
    """Return the text that the tool found, (None,) for no file; None where nobody knows. Of a large file
    hosts tell no text: then what is on record was there before a whole write."""
    if event.known_before:
        return (event.before,)
    text = plain_text(context, _revision_on_record(context, path)) if event.whole else None
    return None if text is None else (text,)


def _written_since(
    context: SessionContext, intent: WriteIntended, on_disk: FileState
) -> tuple[str | None] | None:
    """Return the text that was recorded after a tool had read the file and before it wrote; None where there
    is none. Between the two a tool needs moments: an older record may have been taken back by hand."""
    row = context.store.disk(on_disk.path)
    if row is None or row.revision in (intent.before, intent.after, on_disk.revision):
        return None
    written_us = on_disk.signature.mtime_ns // 1_000 if on_disk.signature is not None else 0
    if written_us - row.at > INSTANT_S * 1_000_000:
        return None
    text = plain_text(context, row.revision)
    return None if text is None else (text,)


def _is_known(
    context: SessionContext, known: str | None, judged: Revision, found: str | None
) -> bool:
    """Return whether the text that a tool found is the one that its write rests on."""
    return is_text_of(context, judged, found) if known is None else known == unmarked(found or "")


def _answered(
    context: SessionContext, located: ResolvedPath, event: Wrote, write: _Write, host: Host
) -> Answer:
    """Return the words for the agent and for the person after a write."""
    path, room = located.name or located.path, host.limits.diff
    texts: list[str] = []
    tells: list[str] = []
    if write.merge is not None:
        tells.append(_merge_for_person(context, path, write.merge))
    for loss, what in write.losses:
        if what == "lost" and not loss.is_ours:
            texts.append(told_to_agent(context, path, loss, room))
            room -= len(texts[-1])
        if what != "held":
            tells.append(told_to_person(context, path, loss, is_joined=what == "written"))
    news = _changes_by_others(context, host, located, event, write, room)
    texts.append(news or (words.merged(path) if write.merge is not None else ""))
    texts.append(_affected_sessions(context, write.judged, write.on_disk))
    return Answer(context="\n\n".join(filter(None, texts)), tell="\n\n".join(tells))


def recognise(
    context: SessionContext, path: str, edits: Sequence[tuple[Attempt, str]], host: Host
) -> Answer:
    """Record edits of one file, in order, each with the id of its call, that the host carried out and that no hook
    reported, because the hooks were killed. The content decides: the file has to be what the last of them make of the
    text on record."""
    try:
        canonical = context.workspace.locate(path).path
    except PathRefused:
        return NOTHING
    row, on_disk = context.store.disk(canonical), context.look(canonical, is_edit=True)
    on_record = row.revision if row else MISSING
    if on_record == on_disk.revision or on_disk.data is None:
        return NOTHING
    before, after = plain_text(context, on_record), decode(on_disk.data)
    if before is None or after is None:
        return NOTHING
    for start in range(len(edits)):
        attempts = [attempt for attempt, _ in edits[start:]]
        if row is None and not isinstance(attempts[0], Create):
            continue  # nobody knows what the file held before
        if not _explains(attempts, before, after.plain):
            continue
        whole = any(isinstance(each, (Create, WriteWhole)) for each in attempts)
        found = None if on_record == MISSING else before
        write = Wrote(path, edits[-1][1], found, content=after.plain, whole=whole)
        return wrote(context, write, host)
    return NOTHING


def _explains(attempts: Sequence[Attempt], before: str, after: str) -> bool:
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
    return not event.known_before or is_text_of(context, intent.before, event.before)


def _recorded(context: SessionContext, event: Wrote, on_disk: FileState) -> _OnRecord | None:
    """Return the fact of this write, where it is on record: hooks in two settings files, with two
    commands, are called twice for one write, and another session's hook records a write that it finds. A
    call without an id is the one that left the session's newest change, where that stands."""
    if event.user_modified:
        return None
    own = newest_first(
        context.store.timeline, session=context.session, path=on_disk.path, kinds=[Changed]
    )
    changes = ((each.fact, each.position) for each in own if isinstance(each.fact, Changed))
    if event.call:
        found = (_OnRecord(*each) for each in changes if each[0].call == event.call)
        return next(found, None)
    for fact, position in islice(changes, 1):
        is_same = not event.known_before or is_text_of(context, fact.before, event.before)
        stands = _revision_on_record(context, on_disk.path) == on_disk.revision == fact.after
        if is_same and stands and fact.cause.who == context.session:
            return _OnRecord(fact, position)
    return None


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
    """Record a write that no hook announced, or that left other text than was judged. Of a whole file that
    another hook rewrote, the agent knows the text that it sent."""
    before = _bytes_on_record(context, located.path, event.before)
    sent = _sent_before_rewriting(context, event, intent)
    host_writes.wrote(
        context,
        event.path,
        content=_exact_bytes(event.content, on_disk.data) if sent is None else sent,
        before=_exact_bytes(event.before, before) if event.known_before else None,
        user_modified=event.user_modified,
        rewritten=sent is not None,
        whole=event.whole and not (intent and _is_merge(intent[1])),
        intent=intent,
        call=event.call,
    )
    _abandon(context, located.path)


def _sent_before_rewriting(
    context: SessionContext, event: Wrote, intent: Intent | None
) -> bytes | None:
    """Return the text of a whole file that the agent sent and another hook rewrote before it was written;
    None for any other write, and where the text is not stored."""
    if intent is None or not event.whole or event.user_modified or _is_merge(intent[1]):
        return None
    if event.content is None or is_text_of(context, intent[1].after, event.content):
        return None
    return context.store.blob(intent[1].after)


def _is_merge(intent: WriteIntended) -> bool:
    """Return whether a whole-file write leaves others' changes beside the agent's text."""
    return intent.belief is not None and intent.belief.text != intent.after


def _abandon(context: SessionContext, path: str) -> None:
    while (intent := _pending_intent(context, path)) is not None:
        context.append([WriteAbandoned(path, intent[0])])


def _changes_by_others(
    context: SessionContext,
    host: Host,
    located: ResolvedPath,
    event: Wrote,
    write: _Write,
    room: int,
) -> str:
    """Describe others' changes to the file that the agent was not told, and record the delivery."""
    known = context.store.knowledge(context.session, located.path)
    if known is not None and known.belief.text == write.on_disk.revision:
        return ""
    change, is_new = deliver_changes(context, host, located, room)
    if not is_new:
        return ""
    for loss, what in write.losses:
        who = author(context, loss.cause)
        if what != "lost":
            return words.joined(change.path, who, change.diff)
        if loss.is_ours:
            return words.not_in_file(change.path, who, change.diff)
    if write.merge is not None:
        return words.merged_with(change.summary, change.diff)
    return words.also_changed(change.summary, change.diff, is_in=_is_in_file(event, write))


def _merge_for_person(context: SessionContext, path: str, merge: WriteIntended) -> str:
    """Return the line for the person on a merge that was written: whose change was merged, and how many of
    its lines the file has beside the agent's text."""
    mine = plain_text(context, merge.belief.text) if merge.belief else None
    both = plain_text(context, merge.after)
    lines = 0 if mine is None or both is None else changed_lines(split(mine), split(both))
    last = changed_by(context, merge.path)[1]
    who = author_for_person(context, last.cause if last else Cause("external"))
    return words.merged_for_user(path, who, lines)


def _is_in_file(event: Wrote, write: _Write) -> bool | None:
    """Return whether the file holds what the write changed; None for some of it, or where nobody knows."""
    disk, found = decode(write.on_disk.data), event.before if event.known_before else write.known
    if disk is None or found is None or event.content is None:
        return None
    return is_in_file(split(unmarked(found)), split(unmarked(event.content)), disk.lines)


def _affected_sessions(context: SessionContext, before: str, on_disk: FileState) -> str:
    """Name the sessions whose knowledge the write made stale. Sub-agents of this agent, and its
    parent, are left out: each of them gets a notice."""
    if not context.knowers(on_disk.path).keys() - {context.session}:
        return ""
    text = context.store.blob(before) if before != MISSING else None
    others = outside_family(context, affected(context, on_disk.path, text, on_disk.data))
    return phrases.says(session_words.affected(others, names_for(context))) if others else ""
