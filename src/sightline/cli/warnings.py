"""Commands on what a session's agent has to mind, and what it ran on: warnings, models."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sightline.api import json_shapes
from sightline.changes.session_context import SessionContext
from sightline.cli import output
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.model.results import FileWarning, ModelUsage
from sightline.notices import words
from sightline.notices.warnings import pending
from sightline.sessions import usage
from sightline.text import phrases


@verb()
@click.pass_obj
def warnings(call: Call) -> None:
    """List the warnings that nobody acknowledged yet.

    Of all sessions, or with --session of one. A warning is told to its agent once, with the next
    prompt, and is listed until it is acknowledged by its id (ack).
    """
    with call.survey() as ground:
        found = pending(ground, call.session)
    if call.json:
        output.json({"warnings": [json_shapes.warning(each) for each in found]})
    elif found:
        output.text("\n".join(phrases.table(_row(each) for each in found)))
        output.note(call, f"Once it was seen to: sightline ack {found[0].id}")
    else:
        output.note(call, "There is no warning.")


@verb()
@click.pass_obj
def models(call: Call) -> None:
    """List the models that sessions used, and since when.

    Of all sessions, or with --session of one. A line stands where another model, provider or mode
    was used than before.
    """
    with call.survey() as ground:
        found = _used(ground, call.session)
    if call.json:
        listed = [json_shapes.model_usage(each, session) for session, each in found]
        output.json({"models": listed})
    elif found:
        rows = [("SINCE", "SESSION", "TURN", "MODEL", "PROVIDER", "MODE")]
        rows += [_usage(session, each) for session, each in found]
        output.text("\n".join(phrases.table(rows)))
    else:
        output.note(call, "No session told which model it used.")


def _row(each: FileWarning) -> Sequence[str]:
    at = json_shapes.moment(each.at) or ""
    return each.id, at, phrases.one_line(each.session), words.in_line(each)


def _usage(session: str, each: ModelUsage) -> tuple[str, str, str, str, str, str]:
    told = (session, str(each.turn), each.model, each.provider or "-", each.mode or "-")
    who, turn, model, provider, mode = (phrases.one_line(word) for word in told)
    return json_shapes.moment(each.at) or "", who, turn, model, provider, mode


def _used(ground: SessionContext, session: str | None) -> list[tuple[str, ModelUsage]]:
    """Every usage with its session, in the order in which they began."""
    ids = [each.id for each in ground.store.sessions()] if session is None else [session]
    found = [(name, each) for name in ids for each in usage.models(ground, name)]
    return sorted(found, key=lambda pair: pair[1].position)
