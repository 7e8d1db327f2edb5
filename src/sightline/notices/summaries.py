"""Keep an agent's knowledge right when a summary replaces its conversation.

Notices and refusals tell a change by its lines alone. Once they have left the conversation, the agent
remembers the text that it was shown, and would write it anew without the change. So a change that was told
counts as unseen again, unless a text of the file was shown since.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sightline.changes.session_context import SessionContext
from sightline.model.diff import diff, equal
from sightline.model.events import (
    Belief,
    Changed,
    Dropped,
    Fact,
    Moved,
    NoticeAcknowledged,
    Seen,
    WindowEmptied,
)
from sightline.model.merge import merge
from sightline.model.projections import Knowledge, know
from sightline.model.revision import revision_of
from sightline.model.spans import carry, covers, new_sides, union, whole
from sightline.model.text import decode, joined, lines_of
from sightline.model.timeline import of_kind
from sightline.notices.pending import in_conversation, left_window

TELLING: list[type[Fact]] = [Seen, NoticeAcknowledged]
KNOWING: list[type[Fact]] = [*TELLING, Dropped, WindowEmptied, Changed, Moved]


def summarised(context: SessionContext) -> None:
    """Record that no text is in the window any more, and what the agent knows without the notices."""
    last = left_window(context)
    told = {
        each.fact.path
        for each in context.store.timeline(session=context.session, kinds=TELLING, after=last)
        if isinstance(each.fact, (Seen, NoticeAcknowledged)) and _tells(each.fact)
    }
    known = context.store.known(context.session)
    facts: list[Fact] = [WindowEmptied()]
    texts: list[bytes] = []
    for path in sorted(told & known.keys()):
        without = _without_notices(context, path, known[path])
        if without is not None:
            belief, body = without
            facts.append(Dropped(path, belief=belief))
            texts += context.keepable(path, body)
    context.append(facts, blobs=texts)


def told_before_summary(context: SessionContext) -> set[str]:
    """Return the files whose notices left the window with the last summary."""
    after = left_window(context)
    since = context.store.timeline(session=context.session, kinds=[Dropped], after=after)
    return {fact.path for fact in of_kind(Dropped, since) if fact.belief}


def _tells(fact: Fact) -> bool:
    """Return whether a fact is about lines that an answer told, not about a text that was shown."""
    return isinstance(fact, NoticeAcknowledged) or (
        isinstance(fact, Seen) and fact.via == "refusal"
    )


def _without_notices(
    context: SessionContext, path: str, now: Knowledge
) -> tuple[Belief, bytes] | None:
    """Return the agent's knowledge of a file without the changes in notices since a text of the file was
    shown; None where the knowledge stays the same, or where a text is not stored."""
    text = decode(context.store.blob(now.belief.text))
    kept: Sequence[str] | None = None
    for before, fact, after in _steps(context, path):
        if isinstance(fact, (Dropped, Moved)) and before.text == after.text:
            continue
        if _tells(fact):
            kept = lines_of(context.store.blob(before.text)) if kept is None else kept
        elif isinstance(fact, Seen) and covers(fact.lines, whole(after.lines)):
            kept = None
        elif kept is not None:
            one, other = (lines_of(context.store.blob(each.text)) for each in (before, after))
            merged = merge(one, other, kept) if one is not None and other is not None else None
            kept = merged.lines if merged is not None and merged.clean else None
    if kept is None or text is None or equal(kept, text.lines):
        return None
    hunks = diff(text.lines, kept)
    shown = union(carry(now.belief.shown, hunks), new_sides(hunks))
    body = text.hold(joined(kept))
    return Belief(revision_of(body), shown, (), len(kept)), body


def _steps(context: SessionContext, path: str) -> Iterator[tuple[Belief, Fact, Belief]]:
    """Yield the facts that changed the knowledge of a file, between the knowledge before and after."""
    states: dict[str, Knowledge] = {}
    found = context.store.timeline(session=context.session, path=path, kinds=KNOWING)
    for recorded in in_conversation(context, list(found)):
        before = states.get(path)
        know(states, recorded)
        after = states.get(path)
        if before is not None and after is not None:
            yield before.belief, recorded.fact, after.belief
