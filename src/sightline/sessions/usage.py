"""Record and list the models that a session's agent used, and the environments it ran in."""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.model.events import (
    EnvironmentSeen,
    Fact,
    ModelUsed,
    PromptFollowed,
    TranscriptRead,
    TurnBegan,
)
from sightline.model.results import Environment, ModelUsage
from sightline.model.timeline import of_kind
from sightline.model.units import moment
from sightline.model.validation import NUMBER_MAX


def changed_model(
    context: SessionContext, model: str | None, provider: str | None = None, mode: str | None = None
) -> list[ModelUsed]:
    """Return the fact of the model that is used now, where it differs from the last recorded one.
    A value of None stays as it was, except for the provider of another model. Nothing is returned
    where no model was ever named."""
    before = _last_model(context)
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
    """Begin a turn, record the model that it uses, and return its number. ValueError where a
    provider or a mode is given and no model was ever named."""
    used = changed_model(context, model, provider, mode)
    if (provider or mode) and not model and _last_model(context) is None:
        raise ValueError("a provider or a mode is that of a model: name the model, too")
    state = context.store.session(context.session)
    if number is not None and not 0 <= number <= NUMBER_MAX:
        raise ValueError(f"a turn has a number from 0 to {NUMBER_MAX}, not {number}")
    begun = number if number is not None else (state.turn if state else 0) + 1
    context.append([TurnBegan(begun), *used])
    return begun


def models(context: SessionContext, session: str | None = None) -> list[ModelUsage]:
    """List the models that a session (by default this one) used, oldest first."""
    used: list[ModelUsage] = []
    turn, before = 0, None
    session = context.session if session is None else session
    for recorded in context.store.timeline(session=session, kinds=[TurnBegan, ModelUsed]):
        fact = recorded.fact
        if isinstance(fact, TurnBegan):
            turn = fact.number
        elif isinstance(fact, ModelUsed) and fact != before:  # two processes may record the same
            before, at = fact, moment(recorded.happened_at)
            model = (fact.provider, fact.model, fact.mode)
            used.append(ModelUsage(*model, at, turn, recorded.position))
    return used


def environments(context: SessionContext, session: str | None = None) -> list[Environment]:
    """List the environments that a session (by default this one) ran in, oldest first. A fact
    without a host has the host of the one before."""
    found: list[Environment] = []
    session = context.session if session is None else session
    for recorded in context.store.timeline(session=session, kinds=[EnvironmentSeen]):
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


def _last_model(context: SessionContext) -> ModelUsed | None:
    newest = context.store.timeline(session=context.session, kinds=[ModelUsed], newest=1)
    return next(of_kind(ModelUsed, newest), None)


def transcript(context: SessionContext) -> str | None:
    """Return the transcript that the hooks of a session read last; None without one."""
    kinds: list[type[Fact]] = [TranscriptRead, PromptFollowed]
    newest = context.store.timeline(session=context.session, kinds=kinds, newest=1)
    facts = [each.fact for each in newest]
    return next(
        (f.transcript for f in facts if isinstance(f, (TranscriptRead, PromptFollowed))), None
    )
