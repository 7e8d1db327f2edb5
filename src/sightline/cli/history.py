"""Commands that tell what happened: log, why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from textwrap import fill
from time import time

import click
from msgspec import structs

from sightline.api import json_shapes
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.time_points import ALWAYS
from sightline.checkpoints.time_points import since as moment
from sightline.cli import output
from sightline.cli import words as cli_words
from sightline.cli.live.lines import Lines
from sightline.cli.live.terminal import Waiting, while_read
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.history import session_history
from sightline.history.log_entries import KINDS, Entry
from sightline.history.overview import foreign
from sightline.history.session_history import Asked
from sightline.history.views import Why
from sightline.history.why import why as reasons_for
from sightline.history.words import sentence, story
from sightline.text import phrases

EVERY_S = 0.5
"""Between two questions to the store whether anything was recorded."""

WIDTH = 79

BEFORE = 10
"""How many facts --follow begins with, unless it is told."""


@verb()
@click.argument("path", required=False)
@click.option(
    "--since", metavar="WHEN", help="What came then or later: 2h, 2026-01-01, a time, a position."
)
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(KINDS), metavar="K", help="Such as changed."
)
@click.option("-n", "--newest", type=click.IntRange(0), metavar="N", help="Only the newest N.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.pass_obj
def log(
    call: Call,
    path: str | None,
    since: str | None,
    kinds: tuple[str, ...],
    newest: int | None,
    *,
    follow: bool,
) -> None:
    """Show the timeline, or what happened to one file. Oldest first.

    With --session, only what that session did. --kind may stand several times; a wrong one names all there are. --since with a position (the number in front of each line) shows what stands behind it. With --json, one object a line.
    """
    with call.survey() as ground:
        asked = _asked(call, ground, path, since, kinds, newest)
        if follow:
            if newest is None and since is None:
                asked = structs.replace(asked, newest=BEFORE)
            _follow(call, ground, asked)
            return
        found = session_history.select(ground.store, asked)
        if call.json:
            for entry in found:
                output.json(json_shapes.entry(entry), schema=False)
            return
        lines = list(_dated(found))
    output.text("\n".join(lines) if lines else _nothing(asked))


@verb()
@click.argument("path")
@click.pass_obj
def why(call: Call, path: str) -> None:
    """Tell how the verdict on a file comes about, fact by fact."""
    with call.open() as session:
        ground = session._context  # noqa: SLF001 - faces compose the parts
        reasons = reasons_for(ground, call.path(path))
    if call.json:
        output.json(json_shapes.why(reasons))
    else:
        output.text("\n".join(_story(reasons, session.id)))


def _asked(
    call: Call,
    ground: SessionContext,
    path: str | None,
    since: str | None,
    kinds: tuple[str, ...],
    newest: int | None,
) -> Asked:
    try:
        begun = ALWAYS if since is None else moment(since, ground.clock())
    except ValueError as wrong:
        raise click.BadParameter(f"{wrong}.", param_hint="--since") from None
    canonical = None if path is None else ground.workspace.locate(call.path(path)).path
    return Asked(canonical, call.session, begun, kinds or None, newest)


def _follow(call: Call, ground: SessionContext, asked: Asked) -> None:
    """What there is, then what comes, until Ctrl-C or until nobody reads it any more."""
    lines, wait = Lines(json=call.json), Waiting()
    news = session_history.follow(ground.store, asked)
    with while_read(), wait.heeding():
        while True:
            lines.tell(next(news))
            wait(EVERY_S)


def _nothing(asked: Asked) -> str:
    narrow = asked != structs.replace(asked, path=None, session=None, kinds=None) or asked.since.at
    return "Nothing of that kind happened here." if narrow else "Nothing happened here yet."


def _dated(told: Iterable[Entry]) -> Iterator[str]:
    """A line for each entry, under its day. What a session only found is put down to nobody."""
    day = None
    for entry in told:
        at = _local(entry.at)
        if at.date() != day:
            day = at.date()
            yield f"{day}"
        said = sentence(entry, entry.session)
        who = "-" if foreign(entry) or not entry.session else phrases.printable(entry.session)
        yield f"{entry.position:>5}  {at:%H:%M:%S}  {who}  {said}"


def _story(told: Why, session: str) -> list[str]:
    by = told.verdict.changed_by
    ago = None if by is None else time() - by.at.timestamp()
    lines = story(
        told, session, cli_words.who(by, session), ago, lambda at: f"{_local(at):%Y-%m-%d %H:%M:%S}"
    )
    return [line if line[:1] in ("", " ") else _wrapped(line) for line in lines]


def _wrapped(line: str) -> str:
    return fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _local(at: int) -> datetime:
    """Microseconds as the time on the reader's clock."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).astimezone()
