"""How a verdict comes about: the facts behind it, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from sightline.changes.session_context import SessionContext, load_knowledge, located
from sightline.guard import file_states
from sightline.guard.evaluation import edit_case
from sightline.history.log_entries import TOLD, told
from sightline.history.views import Why
from sightline.model.events import Changed, CommandEnded, Dropped, GitMoved, Moved, RewindEnded
from sightline.model.projections import Knowledge
from sightline.model.spans import spans
from sightline.model.timeline import TURNING, Recorded, Stretch, archived, branch
from sightline.store.port import Store

ENTRIES = 30
"""How many facts are told of one file, the newest ones."""


def why(ground: SessionContext, path: str) -> Why:
    """The facts behind the verdict on a file that `ground`'s session would get now."""
    verdict = file_states.check(ground, path)
    there = located(ground, path)
    store = ground.store
    knowledge = store.knowledge(ground.session, there.name or there.path)
    states = store.sessions()
    agents = {state.id: state.agent for state in states}
    others = tuple(
        state.id
        for state in states
        if state.id != ground.session and store.knowledge(state.id, there.path) is not None
    )
    policy = ground.settings.policy_for(there.name or there.path)
    answer = Why(
        verdict.path, agents.get(ground.session, ""), (), 0, verdict, others, policy, knowledge
    )
    if knowledge is None:
        return answer
    facts = _chain(store, ground.session, knowledge)
    shown = tuple(told(facts[-ENTRIES:], agents))
    found = ground.look(there.path)
    case = edit_case(ground, found, load_knowledge(ground, there, found))
    return structs.replace(
        answer,
        entries=shown,
        earlier=len(facts) - len(shown),
        differing=spans((a0 + 1, max(a1, a0 + 1)) for a0, a1, _, _ in case.changes),
        kept=case.base is not None,
    )


def _chain(store: Store, session: str, knowledge: Knowledge) -> list[Recorded]:
    """The facts about a file that this session's knowledge rests on, and what others did to it
    since, under every name that it had."""
    stretches = _branch(store, session)
    facts: dict[int, Recorded] = {}
    for path, upto in _names(store, knowledge):
        for recorded in store.timeline(path=path, kinds=TOLD, upto=upto):
            if _concerns(recorded, stretches):
                facts[recorded.position] = recorded
    for stretch in stretches:  # these change what is known of every file, and name none
        wide = store.timeline(
            session=stretch.session,
            after=stretch.after,
            upto=stretch.upto,
            kinds=[Dropped, RewindEnded],
        )
        facts |= {r.position: r for r in wide if getattr(r.fact, "path", None) is None}
    return [facts[at] for at in sorted(facts) if at >= knowledge.first_position]


def _names(store: Store, knowledge: Knowledge) -> Iterator[tuple[str, int | None]]:
    """The path of a file, and those that it had before, with the position where each ended."""
    path: str | None = knowledge.path
    upto: int | None = None
    while path is not None:
        yield path, upto
        moves = store.timeline(path=path, kinds=[Moved], upto=upto)
        came = [r for r in moves if isinstance(r.fact, Moved) and r.fact.path == path]
        path = None
        if came and came[-1].position > knowledge.first_position:
            path, upto = came[-1].fact.src, came[-1].position - 1  # type: ignore[attr-defined]


def _branch(store: Store, session: str) -> tuple[Stretch, ...]:
    def turns_of(name: str) -> list[Recorded]:
        return list(store.timeline(session=name, kinds=TURNING))

    return branch(session, store.position(), turns_of)


def _concerns(recorded: Recorded, stretches: tuple[Stretch, ...]) -> bool:
    own = any(
        each.session == recorded.session and each.after < recorded.position <= each.upto
        for each in stretches
    )
    if own:
        return not isinstance(recorded.fact, CommandEnded)  # its changes say that it was run
    if archived(recorded.session):
        return False
    return isinstance(recorded.fact, (Changed, Moved, GitMoved))
