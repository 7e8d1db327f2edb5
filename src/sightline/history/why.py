"""Explain a verdict: the facts behind it, and their result."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from sightline.changes.attribution import detect_changes
from sightline.changes.authors import by
from sightline.changes.session_context import SessionContext, load_knowledge, located
from sightline.guard.check import check
from sightline.guard.evidence import edit_case
from sightline.history.session_history import readable_entries
from sightline.model.events import (
    Changed,
    CommandEnded,
    GitMoved,
    Moved,
    RewindEnded,
    WindowEmptied,
)
from sightline.model.log_entries import FACT_KINDS, Why
from sightline.model.projections import Knowledge
from sightline.model.session_ids import archived
from sightline.model.spans import spans
from sightline.model.timeline import TURNING, Recorded, branch
from sightline.store.port import Timeline

ENTRIES = 30
"""Newest facts of a file that are listed."""

OWN_KINDS = [kind for kind in FACT_KINDS if kind is not CommandEnded]
"""Kinds of a session's own facts that are listed. The changes of a command have their own facts."""


def why(context: SessionContext, path: str) -> Why:
    """Return the facts behind the current verdict on a file for the context's session. Records
    nothing: a change that this look finds is the last entry, without a position."""
    verdict = check(context, path, record=False)
    resolved = located(context, path)
    store = context.store
    knowledge = store.knowledge(context.session, resolved.name or resolved.path)
    own = store.session(context.session)
    others = tuple(name for name in context.knowers(resolved.path) if name != context.session)
    policy = context.settings.policy_for(resolved.path, resolved.name, *resolved.links)
    agent = own.agent if own else ""
    answer = Why(verdict.path, context.session, agent, (), 0, verdict, others, policy)
    if knowledge is None:
        return _renamed(context, answer)
    facts = _facts(store, context.session, knowledge)
    found, now = context.look(resolved.path), context.clock()
    facts += [Recorded(0, "", now, now, fact) for fact in detect_changes(context, found)]
    case = edit_case(context, found, load_knowledge(context, resolved, found))
    return structs.replace(
        answer,
        entries=tuple(readable_entries(store, facts[-ENTRIES:])),
        earlier=max(len(facts) - ENTRIES, 0),
        knowledge=knowledge,
        differing=spans((a0 + 1, max(a1, a0 + 1)) for a0, a1, _, _ in case.changes),
        kept=case.base is not None and not case.sight.has_marks,
    )


def _renamed(context: SessionContext, answer: Why) -> Why:
    """Add what the session knows of a file under its new name. A file that never had the path of the
    answer, or that the session does not know, adds nothing."""
    row = context.store.disk(answer.path)
    moved_to = row.moved_to if row is not None else None
    knowledge = context.store.knowledge(context.session, moved_to) if moved_to else None
    if row is None or row.cause is None or knowledge is None:
        return answer
    facts = _facts(context.store, context.session, knowledge)
    return structs.replace(
        answer,
        entries=tuple(readable_entries(context.store, facts[-ENTRIES:])),
        earlier=max(len(facts) - ENTRIES, 0),
        verdict=structs.replace(
            answer.verdict, state="moved", changed_by=by(row.cause, row.at, context)
        ),
        moved_to=moved_to,
    )


def _facts(store: Timeline, session: str, knowledge: Knowledge) -> list[Recorded]:
    """Return the facts about a file that this session's knowledge rests on, and later changes by
    others, under every name of the file."""

    def turns_of(name: str) -> list[Recorded]:
        return list(store.timeline(session=name, kinds=TURNING))

    stretches = branch(session, store.position(), turns_of)
    facts: dict[int, Recorded] = {}
    for path, upto in _names(store, knowledge):
        for stretch in stretches:
            own = store.timeline(
                session=stretch.session,
                path=path,
                kinds=OWN_KINDS,
                after=stretch.after,
                upto=stretch.upto if upto is None else min(stretch.upto, upto),
            )
            facts |= {recorded.position: recorded for recorded in own}
        changes = store.timeline(path=path, kinds=[Changed, Moved, GitMoved], upto=upto)
        facts |= {each.position: each for each in changes if not archived(each.session)}
    for stretch in stretches:  # facts without a path change the knowledge of every file
        wide = store.timeline(
            session=stretch.session,
            after=stretch.after,
            upto=stretch.upto,
            kinds=[WindowEmptied, RewindEnded],
        )
        facts |= {recorded.position: recorded for recorded in wide}
    found = [facts[at] for at in sorted(facts) if at >= knowledge.first_position]
    return list(_once(found))


def _once(facts: list[Recorded]) -> Iterator[Recorded]:
    """Leave out further facts of one rename: each session records the renames that it finds."""
    last: Moved | None = None
    for recorded in facts:
        if isinstance(fact := recorded.fact, Moved):
            if last is not None and (fact.src, fact.path) == (last.src, last.path):
                continue
            last = fact
        yield recorded


def _names(store: Timeline, knowledge: Knowledge) -> Iterator[tuple[str, int | None]]:
    """Yield the path of a file and its former paths, each with the position of its end."""
    path = knowledge.path
    upto: int | None = None
    while True:
        yield path, upto
        moves = [
            (recorded.position, recorded.fact.src)
            for recorded in store.timeline(path=path, kinds=[Moved], upto=upto)
            if isinstance(recorded.fact, Moved) and recorded.fact.path == path
        ]
        if not moves or moves[-1][0] <= knowledge.first_position:
            return
        path, upto = moves[-1][1], moves[-1][0] - 1
