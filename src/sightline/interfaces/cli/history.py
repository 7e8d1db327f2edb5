"""Commands that tell what happened: log, why, sessions."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from sightline.interfaces import shapes
from sightline.interfaces.cli import output
from sightline.interfaces.cli.call import Call
from sightline.interfaces.cli.faults import NO, Answered, told
from sightline.interfaces.cli.options import global_options, verb
from sightline.render import views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.services.history import Entry, Why


@verb()
@click.argument("path", required=False)
@click.option("-n", "--newest", type=click.IntRange(1), metavar="N", help="Only the newest N.")
@click.pass_obj
def log(call: Call, path: str | None, newest: int | None) -> None:
    """Show the timeline, or what happened to one file. Oldest first.

    With --session, only what that session did. With --json, one object a line.
    """
    from sightline.services import history

    with call.survey() as ground:
        canonical = None if path is None else ground.workspace.locate(call.path(path)).path
        found = history.entries(ground.store, path=canonical, session=call.session, newest=newest)
        if call.json:
            for entry in found:
                output.json(shapes.entry(entry), schema=False)
            return
        lines = list(_dated(found))
    output.text("\n".join(lines) if lines else "Nothing happened here yet.")


@verb()
@click.argument("path")
@click.pass_obj
def why(call: Call, path: str) -> None:
    """Tell how the verdict on a file comes about, fact by fact."""
    from sightline.services import history

    with call.open() as session:
        reasons = history.why(session._ground, call.path(path))  # noqa: SLF001 - faces compose the parts
        if call.json:
            facts = [shapes.entry(entry) for entry in reasons.entries]
            verdict = shapes.verdict(reasons.verdict)
            others = list(reasons.others)
            output.json(
                {"path": reasons.path, "facts": facts, "verdict": verdict, "other_sessions": others}
            )
            return
        output.text("\n".join(_reasons(call, reasons, session.id)))


@click.group(invoke_without_command=True, epilog="Options of all commands: see 'sightline --help'.")
@click.pass_context
def sessions(context: click.Context) -> None:
    """List the sessions of this workspace, or show one."""
    if context.invoked_subcommand is None:
        _list(context.ensure_object(Call))


sessions.params += global_options(hidden=True)


@sessions.command("show", cls=click.Command)
@click.argument("id")
@click.pass_obj
def show(call: Call, id: str) -> None:
    """Show one session and its files."""
    from sightline.interfaces.cli.words import status_lines
    from sightline.services import history

    with call.survey() as ground:
        found = history.status(ground, id)
        if not found:
            told(call, "session", f"There is no session {id!r} here.", "List: sightline sessions")
            raise Answered(NO)
        if call.json:
            output.json({"session": shapes.session_files(found[0])})
            return
        output.text("\n".join(status_lines(call, ground, found, id)))


show.params += global_options(hidden=True)


def _list(call: Call) -> None:
    from sightline.services import history

    with call.survey() as ground:
        found = history.sessions(ground.store)
    if call.json:
        listed = [{**shapes.session(each.session), "files": each.files} for each in found]
        output.json({"sessions": listed})
        return
    rows = [("ID", "AGENT", "BEGAN", "TURN", "FILES")]
    for each in found:
        state = each.session
        begun = f"{_local(state.started):%Y-%m-%d %H:%M}"
        rows.append((state.id, state.agent, begun, str(state.turn), str(each.files)))
    output.text("\n".join(views.table(rows)) if found else "No session worked here yet.")


def _dated(told: Iterable[Entry]) -> Iterator[str]:
    """A line for each entry, under its day."""
    from sightline.render.log import sentence

    day = None
    for entry in told:
        at = _local(entry.at)
        if at.date() != day:
            day = at.date()
            yield f"{day}"
        said = views.printable(sentence(entry))
        yield f"{entry.position:>5}  {at:%H:%M:%S}  {entry.session}  {said}"


def _reasons(call: Call, told: Why, session: str) -> Iterator[str]:
    from sightline.interfaces.cli.words import state, who
    from sightline.render.log import sentence

    if told.earlier:
        yield f"({views.count(told.earlier, 'earlier fact')} not shown)"
    for entry in told.entries:
        said = views.printable(sentence(entry, session))
        yield f"{entry.position:>5}  {_local(entry.at):%Y-%m-%d %H:%M:%S}  {said}"
    verdict = told.verdict
    said = views.verdict(verdict.state, told.path, who(verdict.changed_by, session))
    yield f"{state(call, verdict.state)}: {views.printable(said)}"
    if verdict.state == "unseen" and told.others:
        yield f"It was shown to {', '.join(told.others)}: ask with --session."


def _local(at: int) -> datetime:
    """Microseconds as the time on the reader's clock."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).astimezone()
