"""Find what a host's write went over, or what went over it, and bring both changes together.

The host writes some time after the attempt was judged: it asks the user, other hooks run, other sessions
write. The texts decide what was lost, and the timeline says whose it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from sightline.changes.command_texts import worded
from sightline.changes.detect import host_writes
from sightline.changes.session_context import SessionContext, load_marks
from sightline.changes.session_names import author, names_of
from sightline.filesystem.file_state import FileState
from sightline.guard.host_writes import complete_for, write_joined
from sightline.guard.lost_writes import LostWrite, edited_changes
from sightline.hooks import words
from sightline.model.diff import diff, unified
from sightline.model.events import Belief, Cause, Changed, GitMoved, Merged, WriteIntended
from sightline.model.hook_events import Wrote
from sightline.model.projections import git_cause
from sightline.model.revision import MISSING, Revision, revision_of
from sightline.model.spans import count, new_sides
from sightline.model.text import decode, split, unmarked
from sightline.model.timeline import Recorded, newest_first
from sightline.text import causes as change_words
from sightline.text.causes import named_cause

Brought = Literal["written", "held", "lost"]
"""What became of two changes: the file was written with both; it held both; it does not hold both."""


class Loss(Struct, frozen=True):
    """A change that another one went over. texts: None where they are not known. cause: who made the
    other change; position: of its fact, None where it is none. is_ours: this write is the lost one.
    is_inside: a replacement was made inside of lines that had changed; nothing is lost whole. is_hidden: the
    texts may not be stored, so no answer prints them, and a line that stands nowhere any more is a mark."""

    texts: LostWrite | None
    cause: Cause
    position: int | None = None
    is_ours: bool = False
    is_inside: bool = False
    is_hidden: bool = False


def is_text_of(context: SessionContext, revision: Revision, reported: str | None) -> bool:
    """Return whether a host's text is a revision's text. Hosts change line ends and leave out the
    byte order mark. No text: there was no file."""
    if reported is not None and revision_of(reported.encode("utf-8", "replace")) == revision:
        return True
    data = context.store.blob(revision)
    text = decode(data)
    if reported is None or text is None:
        return reported is None and revision == MISSING
    return text.plain == text.own(reported)


def plain_text(context: SessionContext, revision: Revision) -> str | None:
    """Return the text of a revision, "" for no file; None where it is not stored or is no text."""
    if revision == MISSING:
        return ""
    text = decode(context.store.blob(revision))
    return text.plain if text else None


def complete_others(
    context: SessionContext, event: Wrote, judged: Revision, on_disk: FileState
) -> None:
    """Record the writes of other sessions whose text this write went over, or that stands there now:
    their own hooks have not told of them yet. judged: the revision that this write was judged on."""
    for pending in host_writes(context, on_disk.path):
        fact = pending.fact
        assert isinstance(fact, WriteIntended)
        row = context.store.disk(on_disk.path)
        on_record = row.revision if row else MISSING
        was_found = event.known_before and is_text_of(context, fact.after, event.before)
        stands = fact.after == on_disk.revision and not is_text_of(
            context, fact.after, event.content
        )
        if (was_found and fact.after != judged) or stands:
            complete_for(context, pending, on_record, on_disk)


def went_over(
    context: SessionContext, path: str, judged: Revision, on_disk: FileState
) -> Recorded | None:
    """Return the write of another session that stands there in place of this one and was judged on the
    same text: neither knew of the other."""
    newest = context.store.timeline(path=path, kinds=[Changed], newest=1)
    for recorded in newest:
        fact = recorded.fact
        if not isinstance(fact, Changed) or fact.after != on_disk.revision or fact.intent is None:
            continue
        if fact.cause.kind == "agent" and fact.cause.who != context.session:
            intents = context.store.timeline(after=fact.intent - 1, upto=fact.intent)
            if any(getattr(each.fact, "before", None) == judged for each in intents):
                return recorded
    return None


def loss_of_theirs(
    context: SessionContext,
    path: str,
    event: Wrote,
    known: str | None,
    judged: Revision,
    found: str | None,
    *,
    is_whole: bool,
) -> Loss | None:
    """Return the save that a write went over; None where it lost nothing. known: the text that the agent
    had, None where it is not stored; judged: its revision; found: the text that stood there, None for no file. is_whole: the write left nothing of it."""
    if event.content is None:
        return None
    cause, position = left_by(context, path, found, judged)
    ours, theirs = (split(unmarked(each)) for each in (event.content, found or ""))
    base: Sequence[str]
    if known is not None:
        base = split(unmarked(known))
    else:
        text = decode(load_marks(context, judged, [*ours, *theirs]))
        if text is None:
            return Loss(None, cause, position)
        base = text.lines
    texts, is_hidden = LostWrite(base, ours, theirs), not context.may_store(path)
    if is_whole:
        is_lost = texts.joined() != ours
        return Loss(texts, cause, position, is_hidden=is_hidden) if is_lost else None
    is_inside = bool(edited_changes(base, theirs, ours))
    return Loss(texts, cause, position, is_inside=True, is_hidden=is_hidden) if is_inside else None


def loss_of_ours(event: Wrote, known: str, over: Recorded, on_disk: FileState) -> Loss | None:
    """Return this write as lost; None where the texts are not known. known: the text that it rests on;
    over: what went over it."""
    text = decode(on_disk.data)
    if event.content is None or text is None or not isinstance(over.fact, Changed):
        return None
    texts = LostWrite(split(unmarked(known)), split(unmarked(event.content)), text.lines)
    return Loss(texts, over.fact.cause, over.position, is_ours=True)


def merged_since(context: SessionContext, path: str, position: int) -> Cause | None:
    """Return who merged an edit, recorded at a position, with its own; None where nobody did."""
    newest = context.store.timeline(path=path, kinds=[Merged], after=position, newest=1)
    who = next((recorded.session for recorded in newest), None)
    return None if who in (None, context.session) else Cause("agent", who)


def left_by(
    context: SessionContext, path: str, text: str | None, judged: Revision
) -> tuple[Cause, int | None]:
    """Return who left a text at a path, and the position of the fact that records the change; None for
    the position where the text was gone before the change could be recorded. judged: the revision that
    stood there before; what was left earlier is gone."""
    intended: Cause | None = None
    facts = newest_first(
        context.store.timeline, path=path, kinds=[Changed, GitMoved, WriteIntended]
    )
    for recorded in facts:
        for after, cause in _leaves(recorded, path):
            if is_text_of(context, after, text):
                if not isinstance(recorded.fact, WriteIntended):
                    return cause, recorded.position
                intended = intended or cause
            elif after == judged and not isinstance(recorded.fact, WriteIntended):
                return intended or Cause("external"), None
    return intended or Cause("external"), None


def _leaves(recorded: Recorded, path: str) -> Iterator[tuple[Revision, Cause]]:
    """Yield the revision that a fact leaves at a path, and who caused that."""
    fact = recorded.fact
    if isinstance(fact, Changed):
        yield fact.after, fact.cause
    elif isinstance(fact, WriteIntended):
        yield fact.after, Cause("agent", recorded.session)
    elif isinstance(fact, GitMoved):
        for change in fact.changes:
            if change.path == path:
                yield change.after, git_cause(fact)


def bring_back(
    context: SessionContext, loss: Loss, on_disk: FileState, belief: Belief | None
) -> tuple[FileState, Brought]:
    """Write both changes into the file where they join, and return it. belief: as in write_joined."""
    text = decode(on_disk.data)
    if loss.texts is None or loss.is_inside or text is None:
        return on_disk, "lost"
    if loss.texts.is_on(text.lines):
        return on_disk, "held"
    written = write_joined(context, on_disk, loss.texts, belief)
    return (on_disk, "lost") if written is None else (written, "written")


def author_for_person(context: SessionContext, cause: Cause) -> str:
    """Name the author of a change for the person."""
    named = named_cause(worded(context.store, cause), names_of(context.store))
    return change_words.to_person(named, named.who or "", named.detail or "")


def changed_lines(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the number of lines that a change is about: that it leaves, or that it removes."""
    hunks = diff(before, after)
    return max(count(new_sides(hunks)), sum(a1 - a0 for a0, a1, _, _ in hunks))


def told_to_person(context: SessionContext, path: str, loss: Loss, *, is_joined: bool) -> str:
    """Return a line for the person: whose change it was, and where it is now."""
    who = author_for_person(context, loss.cause)
    if is_joined and loss.texts is not None:
        return words.joined_for_user(path, who, changed_lines(loss.texts.base, loss.texts.theirs))
    if loss.is_ours:
        agent = change_words.called(names_of(context.store)(context.session), "agent")
        return words.gone_for_user(path, who, agent)
    is_kept = loss.position is not None and loss.texts is not None and not loss.is_hidden
    return words.lost_for_user(
        path, who, loss.position if is_kept else None, is_inside=loss.is_inside
    )


def told_to_agent(context: SessionContext, path: str, loss: Loss, room: int) -> str:
    """Return what a write of the agent went over, as a diff of at most so many characters."""
    who = author(context, loss.cause)
    if loss.texts is None or loss.is_hidden:
        return words.lost_unkept(path, who)
    texts = loss.texts
    hunks = diff(texts.base, texts.theirs)
    if loss.is_inside:  # the file has the others, and they are told as changes of the file
        hunks = edited_changes(texts.base, texts.theirs, texts.ours)
    text = unified(texts.base, texts.theirs, hunks)
    return words.lost(path, who, text[:room], whole=len(text) <= room, is_inside=loss.is_inside)
