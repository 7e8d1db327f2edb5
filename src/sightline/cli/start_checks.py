"""What `up` settles before it begins: who is connected here, and who answers hooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from sightline.agents.settings_file import Change, carry_out
from sightline.cli import connect, output
from sightline.cli.output import Call
from sightline.errors import WorkspaceError
from sightline.hooks.server import HookServer


def connected(call: Call, root: str, *, yes: bool) -> str:
    """Connect the agents that are found, if the user wants it (yes: said so already; else asked
    once, on a terminal): who is connected then, in a sentence. SettingsError."""
    there = connect.connections(root)
    found = connect.found_agents(root)
    if not there and found:
        change = connect.plan(root, "local")
        if yes or (not call.json and _wanted(change)):
            _connect(call, change)
            there = connect.connections(root)
    if there:
        names = ", ".join(connect.AGENTS.values())
        return f"{names} is connected. Ctrl-C ends this view."
    if found:
        return "Claude Code is not connected here: sightline init"
    return "No agent found. Connect one: sightline init claude-code"


def farewell(root: str) -> str:
    """What is true of the guard once the view has ended. SettingsError."""
    there = connect.connections(root)
    hooks = [found.hook for scope in there.values() for found in scope]
    if not hooks:
        return "Ended. What was recorded stays: sightline log"
    if any(hook.get("type") == "http" for hook in hooks):
        return "Ended. Hooks of the http kind are answered by nobody now: edits are not judged."
    return "Ended. Edits go on being judged, with or without this view."


def _wanted(change: Change) -> bool:
    """Ask, where somebody sits at a terminal."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    (name,) = connect.AGENTS.values()
    click.echo(f"{name} is not connected here: its edits are not judged.", err=True)
    click.echo(f"Its hooks would go into {change.path}", err=True)
    click.echo("and come out again by 'sightline init --remove'.", err=True)
    try:
        return click.confirm("Connect it?", default=True, err=True)
    except click.Abort:
        raise KeyboardInterrupt from None


def _connect(call: Call, change: Change) -> None:
    carry_out(change)
    (name,) = connect.AGENTS.values()
    output.note(call, f"{name} is connected from its next session on.")


@contextmanager
def answering(call: Call, root: str) -> Iterator[None]:
    """While hooks are answered from here, without a process of their own. Where somebody does
    that already, or a place for it is taken, they are judged all the same, and that is said."""
    environ = dict(os.environ)
    if call.store is not None:
        environ["SIGHTLINE_STORE"] = call.store
    server = HookServer(root, environ=environ, home=os.path.expanduser("~"))
    try:
        server.start()
    except WorkspaceError as error:
        output.say(f"{error.message} {error.hint}")
    try:
        yield
    finally:
        server.stop()
