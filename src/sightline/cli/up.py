"""up: the main job in the foreground. Shows what each agent has in context, and what went stale."""

from __future__ import annotations

import os
import sys

import click

from sightline.changes.session_context import SessionContext
from sightline.cli import output
from sightline.cli.import_recordings import read_in
from sightline.cli.live import loop
from sightline.cli.live.lines import Lines
from sightline.cli.live.screen import Screen, wall_time
from sightline.cli.live.terminal import Waiting, held, while_read
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.cli.start_checks import answering, connected, farewell
from sightline.cli.words import session_shape, status_lines
from sightline.history import session_history
from sightline.history.overview import Watch
from sightline.history.watching import Watching
from sightline.history.words import seeing

AGENT_FOLDERS = {
    "claude-code": ".claude", "codex": ".codex", "gemini-cli": ".gemini", "cursor": ".cursor",
    "opencode": ".config/opencode", "cline": ".cline", "roo": ".roo", "copilot": ".copilot",
    "windsurf": ".codeium", "kiro": ".kiro", "goose": ".config/goose", "amp": ".config/amp",
}  # fmt: skip
"""Agent -> where it keeps its settings, in the user's home folder or in the workspace."""


@verb()
@click.option("--once", is_flag=True, help="Print the state and exit.")
@click.option("--yes", is_flag=True, help="Connect the agents that are found.")
@click.option(
    "--import",
    "reading",
    is_flag=True,
    help="Read in what agents recorded here before, as an archive to look at.",
)
@click.pass_obj
def up(call: Call, *, once: bool, yes: bool, reading: bool) -> None:
    """Show live what each agent holds, and what went stale.

    Offers to connect the agents it finds, and stays until Ctrl-C. Without a terminal it asks
    nothing and prints a line per event, with --json an object as 'sightline log --json' does.
    """
    with call.survey() as ground:
        if once:
            if reading:
                read_in(call, ground, wanted=True)
            _once(call, ground)
        else:
            status = connected(call, ground.workspace.root, yes=yes)
            read_in(call, ground, wanted=reading)
            with answering(call, ground.workspace.root):
                _live(call, ground, status)


def _once(call: Call, ground: SessionContext) -> None:
    with output.progress(call, "Looking at the files that sessions were shown"):
        found = session_history.status(ground, call.session)
    root, store = ground.workspace.root, call.store_url(ground)
    agents = _agents(root)
    if call.json:
        sessions = [session_shape(ground, each) for each in found]
        output.json({"workspace": root, "store": store, "agents": agents, "sessions": sessions})
        return
    workspace, *rest = status_lines(call, ground, found, call.session)
    output.text(workspace)
    output.text(f"Store     {store}")
    output.text(f"Agents    {', '.join(agents) or 'none found'}")
    output.text("\n".join(rest))


def _live(call: Call, ground: SessionContext, status: str) -> None:
    try:
        with Watching(ground) as watching:
            _shown(call, ground, watching, f"{status}{_dim(watching)}")
    except KeyboardInterrupt:
        output.note(call, farewell(ground.workspace.root))
        raise


def _shown(call: Call, ground: SessionContext, watching: Watching, status: str) -> None:
    watch = Watch(ground, watching)
    if not call.json and _drawable():
        plain = call.no_color or os.environ.get("NO_COLOR")
        place = _short(ground.workspace.root)
        screen = Screen(sys.stdout, place, status, wall_time, colour=not plain)
        wait = Waiting(screen)
        with held(screen), wait.heeding():
            loop.run(watch, watching, screen, wait)
    output.note(call, f"Watching {ground.workspace.root}. {status}")
    wait = Waiting()
    with while_read(), wait.heeding():
        loop.run(watch, watching, Lines(json=call.json), wait)


def _dim(watching: Watching) -> str:
    """That changes are not seen as they happen, where so."""
    eyes = watching.eyes()
    if eyes.mode == "events":
        return ""
    return f" Changes are seen {seeing(eyes.mode, eyes.why, eyes.folders)}."


def _short(root: str) -> str:
    """The workspace as its user names it."""
    home = os.path.join(os.path.expanduser("~"), "")
    return f"~/{root.removeprefix(home)}" if root.startswith(home) else root


def _drawable() -> bool:
    """Whether stdout is a terminal whose cursor can be led back."""
    return sys.stdout.isatty() and os.environ.get("TERM") not in (None, "", "dumb")


def _agents(root: str) -> list[str]:
    homes = (os.path.expanduser("~"), root)
    return [
        agent
        for agent, folder in AGENT_FOLDERS.items()
        if any(os.path.isdir(os.path.join(home, folder)) for home in homes)
    ]
