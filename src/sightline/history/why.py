"""Explain a verdict: the facts behind it, and their result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from sightline.changes.session_context import SessionContext, load_knowledge, located
from sightline.guard import file_states
from sightline.guard.evaluation import edit_case
from sightline.history.log_entries import FACT_KINDS, Why, readable_entries
from sightline.model.events import Changed, CommandEnded, Dropped, GitMoved, Moved, RewindEnded
from sightline.model.projections import Knowledge
from sightline.model.spans import spans
from sightline.model.timeline import TURNING, Recorded, Stretch, archived, branch
from sightline.store.port import Store

ENTRIES = 30
"""Newest facts of a file that are listed."""


def why(context: SessionContext, path: str) -> Why:
    """Return the facts behind the current verdict on a file for the context's session."""
    verdict = file_states.check(context, path)
    resolved = located(context, path)
    store = context.store
    knowledge = store.knowledge(context.session, resolved.name or resolved.path)
    agents = {state.id: state.agent for state in store.sessions()}
    others = tuple(
        session
        for session in agents
        if session != context.session and store.knowledge(session, resolved.path) is not None
    )
    policy = context.settings.policy_for(resolved.name or resolved.path)
    agent = agents.get(context.session, "")
    answer = Why(verdict.path, agent, (), 0, verdict, others, policy)
    if knowledge is None:
        return answer
    facts = _facts(store, context.session, knowledge)
    found = context.look(resolved.path)
    case = edit_case(context, found, load_knowledge(context, resolved, found))
    return structs.replace(
        answer,
        entries=tuple(readable_entries(facts[-ENTRIES:], agents)),
        earlier=max(len(facts) - ENTRIES, 0),
        knowledge=knowledge,
        differing=spans((a0 + 1, max(a1, a0 + 1)) for a0, a1, _, _ in case.changes),
        kept=case.base is not None,
    )


def _facts(store: Store, session: str, knowledge: Knowledge) -> list[Recorded]:
    """Return the facts about a file that this session's knowledge rests on, and later changes by
    others, under every name of the file."""

    def turns_of(name: str) -> list[Recorded]:
        return list(store.timeline(session=name, kinds=TURNING))

    stretches = branch(session, store.position(), turns_of)
    facts: dict[int, Recorded] = {}
    for path, upto in _names(store, knowledge):
        for recorded in store.timeline(path=path, kinds=FACT_KINDS, upto=upto):
            if _concerns(recorded, stretches):
                facts[recorded.position] = recorded
    for stretch in stretches:  # facts without a path change the knowledge of every file
        wide = store.timeline(
            session=stretch.session,
            after=stretch.after,
            upto=stretch.upto,
            kinds=[Dropped, RewindEnded],
        )
        facts |= {r.position: r for r in wide if getattr(r.fact, "path", None) is None}
    return [facts[at] for at in sorted(facts) if at >= knowledge.first_position]


def _names(store: Store, knowledge: Knowledge) -> Iterator[tuple[str, int | None]]:
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


def _concerns(recorded: Recorded, stretches: Sequence[Stretch]) -> bool:
    own = any(
        stretch.session == recorded.session and stretch.after < recorded.position <= stretch.upto
        for stretch in stretches
    )
    if own:
        return not isinstance(recorded.fact, CommandEnded)  # its changes have their own facts
    return not archived(recorded.session) and isinstance(recorded.fact, Changed | Moved | GitMoved)
