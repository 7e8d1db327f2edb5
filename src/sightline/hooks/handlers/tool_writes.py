"""What a host's own tools wrote, held against what they were let write.

What a tool says it found tells a save apart that slipped in between. A replacement keeps such a
save; a whole-file write loses it, and its agent is told what to put back.
"""

from __future__ import annotations

from sightline.agents.hook_events import DIFF_MAX, NOTHING, Answer, Failed, Wrote
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import after_change
from sightline.errors import PathRefused
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import host_writes
from sightline.guard.write_journal import completed
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import tell_changes
from sightline.model.diff import diff, unified
from sightline.model.events import Changed, Fact, Merged, WriteAbandoned, WriteIntended
from sightline.model.merge import merge
from sightline.model.revision import MISSING
from sightline.model.text import decode, normal, split, unmarked
from sightline.sessions import words as session_words
from sightline.sessions.affected import affected, outside_family
from sightline.text import phrases


def wrote(ground: SessionContext, event: Wrote) -> Answer:
    """Record what the host's tool wrote, and tell what others did to the same file meanwhile."""
    try:
        located = ground.workspace.locate(event.path)
    except PathRefused:
        return NOTHING
    intent = _journalled(ground, located.path)
    stood = _before(ground, located.path, intent)
    found = ground.look(located.path)
    again = intent is None and _recorded(ground, event, found)
    lost = "" if again else _lost(ground, located.path, intent, event)
    if intent is not None and _as_intended(ground, intent[1], event, found):
        _carried_out(ground, *intent, found, merged=event.whole and _is_merge(intent[1]))
    elif not again:
        row = ground.store.disk(located.path)
        begun = ground.store.blob(row.revision) if row else None
        host_writes.wrote(
            ground,
            event.path,
            content=_bytes_of(event.content, found.data),
            before=_bytes_of(event.before, begun) if event.known_before else None,
            user_modified=event.user_modified,
            whole=event.whole and not (intent and _is_merge(intent[1])),
            intent=intent[1] if intent else None,
        )
        _abandon(ground, located.path)
    if not again:
        after_change(ground, located.path)
    news = _news(ground, located, found, DIFF_MAX - len(lost))
    said = [lost, *news, "" if again else _concerns(ground, stood, found)]
    return Answer(context="\n\n".join(filter(None, said)))


def failed(ground: SessionContext, event: Failed) -> Answer:
    """The host did not carry out what was let go on."""
    try:
        _abandon(ground, ground.workspace.locate(event.path).path)
    except PathRefused:
        return NOTHING
    return NOTHING


def _before(ground: SessionContext, path: str, intent: tuple[int, WriteIntended] | None) -> str:
    """The revision that a write was made over, as far as is known before it is recorded."""
    row = ground.store.disk(path)
    return intent[1].before if intent is not None else row.revision if row else MISSING


def _concerns(ground: SessionContext, stood: str, found: FileState) -> str:
    """Whom else the write made stale. Its agent's own helpers, and who it helps, are left out:
    each of them is told itself. Where nobody else knows the file nothing is loaded."""
    if not ground.store.knowers(found.path).keys() - {ground.session}:
        return ""
    before = ground.store.blob(stood) if stood != MISSING else None
    others = outside_family(ground, affected(ground, found.path, before, found.data))
    return phrases.says(session_words.affected(others, ground.session)) if others else ""


def _journalled(ground: SessionContext, path: str) -> tuple[int, WriteIntended] | None:
    """This session's newest attempt on a path that the host is carrying out."""
    return next(
        (
            (recorded.position, recorded.fact)
            for recorded in reversed(ground.store.pending())
            if recorded.session == ground.session
            and isinstance(recorded.fact, WriteIntended)
            and recorded.fact.path == path
            and not recorded.fact.aside
        ),
        None,
    )


def _as_intended(
    ground: SessionContext, intent: WriteIntended, event: Wrote, found: FileState
) -> bool:
    """Whether the host found what was judged, and left what was to be left."""
    if found.revision != intent.after or event.user_modified:
        return False
    return not event.known_before or _same_text(ground, intent.before, event.before)


def _recorded(ground: SessionContext, event: Wrote, found: FileState) -> bool:
    """Whether this very write is the newest change of the file already: hooks that stand in two
    settings files, with two commands, are called twice for it."""
    changes = ground.store.timeline(path=found.path, kinds=[Changed], newest=1)
    last = next(iter(changes), None)
    fact = last.fact if last else None
    if not isinstance(fact, Changed) or fact.cause.who != ground.session:
        return False
    same = not event.known_before or _same_text(ground, fact.before, event.before)
    return same and fact.after == found.revision and not event.user_modified


def _bytes_of(told: str | None, data: bytes | None) -> str | bytes | None:
    """These bytes, where they are what a host tells in line ends and with a BOM of its own."""
    text = decode(data) if data is not None and told is not None else None
    same = text is not None and told is not None and text.plain == unmarked(told)
    return data if same else told


def _same_text(ground: SessionContext, revision: str, told: str | None) -> bool:
    """Whether a host's text is that of a revision; hosts tell line ends and BOM in their own way."""
    data = ground.store.blob(revision)
    text = decode(data) if data is not None else None
    if told is None or text is None:
        return told is None and data is None
    return text.plain == unmarked(told)


def _carried_out(
    ground: SessionContext, position: int, intent: WriteIntended, found: FileState, *, merged: bool
) -> None:
    facts: list[Fact] = [completed(intent, found, ground.session, position)]
    known = ground.store.knowledge(ground.session, intent.path)
    if merged and known is not None:
        facts.append(Merged(intent.path, known.belief.text, intent.before, intent.after))
    ground.append(facts, found=[found], durable=True)


def _is_merge(intent: WriteIntended) -> bool:
    """Whether a whole-file write leaves more than its agent gave: others' changes."""
    return intent.belief is not None and intent.belief.text != intent.after


def _lost(
    ground: SessionContext, path: str, intent: tuple[int, WriteIntended] | None, event: Wrote
) -> str:
    """What a save between the check and the write had, and the write has not, in words. Of a write
    that was not journalled, the timeline's last text is what was checked."""
    if event.content is None or not event.whole:
        return ""  # a replacement is made in what stands there
    row = ground.store.disk(path)
    checked = intent[1].before if intent else row.revision if row else MISSING
    stood = event.before if event.known_before else _text_of(ground, row.revision if row else None)
    base = _text_of(ground, checked)
    if stood is None or base is None or base == unmarked(stood):
        return ""

    ours, theirs = split(normal(event.content)), split(normal(stood))
    both = merge(split(base), ours, theirs)
    wanted = list(both.lines) if both.clean else theirs
    hunks = diff(ours, wanted)
    if not hunks:
        return ""
    put_back = unified(ours, wanted, hunks)
    return words.lost(event.path, put_back[:DIFF_MAX], whole=len(put_back) <= DIFF_MAX)


def _text_of(ground: SessionContext, revision: str | None) -> str | None:
    """The text of a revision, which is none of a file that is not there; None when it is not
    kept, or no text."""
    if revision is None or revision == MISSING:
        return ""
    data = ground.store.blob(revision)
    text = decode(data) if data is not None else None
    return text.plain if text else None


def _abandon(ground: SessionContext, path: str) -> None:
    while (intent := _journalled(ground, path)) is not None:
        ground.append([WriteAbandoned(path, intent[0])])


def _news(ground: SessionContext, located: ResolvedPath, found: FileState, room: int) -> list[str]:
    """Others' changes to the file that its agent was not told of yet."""
    known = ground.store.knowledge(ground.session, located.path)
    if known is not None and known.belief.text == found.revision:
        return []  # its agent holds the very text: nothing has to be read and compared
    change, told = tell_changes(ground, located, room)
    return [words.also_changed(change.summary, change.diff)] if told else []
