"""Which models a session's agent used, and where it ran: a fact each time it was another.

The hook of every prompt asks whether it is: what only the answers are made of is loaded for them.
"""

from __future__ import annotations

from sightline.changes.authors import moment
from sightline.changes.session_context import SessionContext
from sightline.model.events import EnvironmentSeen, ModelUsed, TurnBegan
from sightline.model.results import Environment, ModelUsage


def another(
    context: SessionContext, model: str | None, provider: str | None = None, mode: str | None = None
) -> list[ModelUsed]:
    """The fact that says what is used now, where that is not what was recorded last. None: it was
    not told, and stays as it was; but nobody knows whose another model is. Nothing can be said of
    a model that was never named."""
    before = _last(context)
    if before is not None:
        mode = mode or before.mode
        if model in (None, before.model):
            model, provider = before.model, provider or before.provider
    if not model:
        return []
    now = ModelUsed(provider, model, mode)
    return [] if now == before else [now]


def turn(
    context: SessionContext,
    number: int | None,
    model: str | None,
    provider: str | None,
    mode: str | None,
) -> int:
    """Begin a turn, and note what is used from there on; its number. ValueError where the model
    was never named."""
    used = another(context, model, provider, mode)
    if (provider or mode) and not model and _last(context) is None:
        raise ValueError("a provider or a mode is that of a model: name the model, too")
    state = context.store.session(context.session)
    begun = number if number is not None else (state.turn if state else 0) + 1
    context.append([TurnBegan(begun), *used])
    return begun


def models(context: SessionContext, session: str | None = None) -> list[ModelUsage]:
    """What a session (this one) used, oldest first."""
    found: list[ModelUsage] = []
    turn, before = 0, None
    whose = context.session if session is None else session
    for recorded in context.store.timeline(session=whose, kinds=[TurnBegan, ModelUsed]):
        fact = recorded.fact
        if isinstance(fact, TurnBegan):
            turn = fact.number
        elif isinstance(fact, ModelUsed) and fact != before:  # two processes may tell it at once
            before, at = fact, moment(recorded.happened_at)
            told = (fact.provider, fact.model, fact.mode)
            found.append(ModelUsage(*told, at, turn, recorded.position))
    return found


def environments(context: SessionContext, session: str | None = None) -> list[Environment]:
    """Where a session (this one) ran, oldest first. A host that is not told again is still it."""
    found: list[Environment] = []
    whose = context.session if session is None else session
    for recorded in context.store.timeline(session=whose, kinds=[EnvironmentSeen]):
        fact, at = recorded.fact, moment(recorded.happened_at)
        assert isinstance(fact, EnvironmentSeen)
        host, version = fact.host, fact.host_version
        if host is None and found:
            host, version = found[-1].host, found[-1].host_version
        now = Environment(fact.system, fact.python, host, version, at, recorded.position)
        if not found or _where(found[-1]) != _where(now):
            found.append(now)
    return found


def _where(each: Environment) -> tuple[str | None, ...]:
    return each.system, each.python, each.host, each.host_version


def _last(context: SessionContext) -> ModelUsed | None:
    newest = context.store.timeline(session=context.session, kinds=[ModelUsed], newest=1)
    last = next(iter(newest), None)
    return last.fact if last is not None and isinstance(last.fact, ModelUsed) else None
