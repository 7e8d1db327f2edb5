"""The command init: connect agents through their own settings, or disconnect them."""

from __future__ import annotations

import os
import subprocess
from difflib import unified_diff
from typing import Any

import click

from sightline.agents.claude_code.settings import Scope
from sightline.agents.settings_file import Change, backup_of, carry_out
from sightline.cli import connect, output
from sightline.cli.connect import Kind
from sightline.cli.failures import NO, Answered, report
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.filesystem.discovery import discover
from sightline.text.phrases import table


@command()
@click.argument("agents", metavar="[AGENT]...", nargs=-1)
@click.option("--remove", is_flag=True, help="Take our hooks out again.")
@click.option("--dry-run", is_flag=True, help="Print what would change, and write nothing.")
@click.option(
    "--scope",
    type=click.Choice(["user", "project", "local"]),
    default="local",
    show_default=True,
    help="local: this workspace and you alone, as the entry names this machine's Python; "
    "project: the file that is shared through git; user: all your workspaces.",
)
@click.option(
    "--kind",
    type=click.Choice(["command", "http"]),
    default="command",
    show_default=True,
    help="http: no process for every event, but nothing is guarded while 'up' is not running.",
)
def init(
    call: Call, agents: tuple[str, ...], *, remove: bool, dry_run: bool, scope: Scope, kind: Kind
) -> None:
    """Connect agents, so that their edits are judged.

    Writes hooks into the agent's own settings; everything else in them stays as it is, byte for
    byte. Run it again after Python or Sightline moved. AGENT: claude-code. Default: those found.
    """
    root = _root(call, scope)
    if kind == "http" and scope != "local":
        raise click.UsageError("--kind http holds a token for one workspace: use --scope local.")
    changes: list[tuple[str, Change, str]] = []
    for agent in _chosen(call, agents, root):
        change = connect.plan(root, scope, kind, remove=remove)
        before = connect.registered(change.path)
        if not dry_run and change.is_one:
            _carry_out(change)
        changes.append((agent, change, _action(change, remove=remove, before=bool(before))))
    if call.json:
        shapes = [_shape(scope, kind, *each) for each in changes]
        output.json({"dry_run": dry_run, "agents": shapes})
        return
    for agent, change, action in changes:
        if dry_run:
            _preview(call, change)
        else:
            output.done(call, "\n".join(_words(root, scope, agent, change, action)))
            _notes(call, root, scope, agent, removed=remove)


def _root(call: Call, scope: Scope) -> str:
    """Return the workspace; "" for the user's own settings, which need none."""
    if scope == "user" and call.workspace is None:
        return ""
    return discover(call.workspace)


def _chosen(call: Call, agents: tuple[str, ...], root: str) -> list[str]:
    known = ", ".join(connect.AGENTS)
    for agent in agents:
        if agent not in connect.AGENTS:
            raise click.UsageError(f"'{agent}' cannot be connected; these can: {known}.")
    found = list(dict.fromkeys(agents)) or connect.found_agents(root)
    if not found:
        hint = f"Name it, if you will install it: sightline init {known}"
        report(call, "agent", "No agent was found that can be connected.", hint)
        raise Answered(NO)
    return found


def _carry_out(change: Change) -> None:
    carry_out(change)
    folder = os.path.dirname(change.path)
    if change.after is None and not os.path.islink(folder) and not os.listdir(folder):
        os.rmdir(folder)


def _action(change: Change, *, remove: bool, before: bool) -> str:
    if not change.is_one:
        return "unchanged"
    if remove:
        return "removed"
    return "updated" if before else "connected"


def _preview(call: Call, change: Change) -> None:
    if change.is_one:
        output.text(output.coloured(call, _diff(change)))
    output.note(call, "Nothing was written." if change.is_one else "Nothing would change.")


def _diff(change: Change) -> str:
    """Return the change of a file as a patch."""
    before, after = (
        (data or b"").decode().splitlines(keepends=True) for data in (change.before, change.after)
    )
    old = "/dev/null" if change.before is None else change.path
    new = "/dev/null" if change.after is None else change.path
    lines = (
        line if line.endswith("\n") else f"{line}\n"
        for line in unified_diff(before, after, old, new)
    )
    return "".join(lines)


def _words(root: str, scope: Scope, agent: str, change: Change, action: str) -> list[str]:
    name, file = connect.AGENTS[agent], _short(change.path, root)
    if action == "unchanged":
        return unchanged(name, file, there=bool(connect.registered(change.path)))
    if action == "removed":
        how = "gone" if change.after is None else "restored" if change.drop else "edited"
        return disconnected(name, file, how)
    backup = _short(backup_of(change.path), root) if change.keep else None
    made = "made" if change.before is None else action
    return connected(name, root, file, backup, made, _undo(agent, scope))


def _undo(agent: str, scope: Scope) -> str:
    return f"sightline init {agent} --remove{'' if scope == 'local' else f' --scope {scope}'}"


def _short(path: str, root: str) -> str:
    """Return a path relative to the workspace, or with ~ for the home folder."""
    home = os.path.expanduser("~")
    for folder, sign in ((root, ""), (home, "~/")):
        if folder and path.startswith(os.path.join(folder, "")):
            return sign + os.path.relpath(path, folder)
    return path


def _notes(call: Call, root: str, scope: Scope, agent: str, *, removed: bool) -> None:
    """Print remarks: other scopes, shared settings, git."""
    others = [other for other in connect.connections(root) if other != scope] if root else []
    for other in others:
        undo = _undo(agent, other)
        output.say("\n".join(elsewhere(other, undo, removed=removed)))
    if removed or scope == "user":
        return
    if scope == "project":
        output.say(PROJECT)
    if not os.path.lexists(os.path.join(root, ".git")):
        output.say(NO_GIT)
    elif scope == "local" and _listed_by_git(root):
        output.note(call, GIT)


def _listed_by_git(root: str) -> bool:
    """Return whether git would list the local settings among the files to add."""
    asked = ["git", "-C", root, "check-ignore", "--quiet", ".claude/settings.local.json"]
    try:
        return subprocess.run(asked, capture_output=True, check=False).returncode == 1
    except OSError:  # no git, nothing to keep it out of
        return False


def _shape(scope: str, kind: str, agent: str, change: Change, action: str) -> dict[str, Any]:
    backup = backup_of(change.path)
    return {
        "agent": agent,
        "scope": scope,
        "kind": kind,
        "path": change.path,
        "action": action,
        "backup": backup if os.path.lexists(backup) else None,
        "diff": _diff(change) if change.is_one else "",
    }


ACTIONS = {"connected": "added to", "made": "written to", "updated": "updated in"}

PROJECT = "Others who share this file have another Python: there the hook only fails."
GIT = "Keep .claude/settings.local.json out of git: it is for this machine."
NO_GIT = "Start it in this folder itself: without git, settings do not hold in its subfolders."


def connected(
    name: str, root: str, file: str, backup: str | None, action: str, undo: str
) -> list[str]:
    """Return words for a connected agent. root: "" for all workspaces; action: one of ACTIONS."""
    where = f"in {root}" if root else "in all your workspaces"
    lines = [f"{name} is connected {where}.", f"  Hooks were {ACTIONS[action]} {file}."]
    if backup:
        lines.append(f"  The file as it was: {backup}")
    lines.append("From its next session on, what it reads is noted and its edits are judged.")
    lines.append("Meanwhile a process of ours answers its hooks, and ends with it.")
    rows = [("Check it:", "sightline doctor"), ("Watch it:", "sightline up"), ("Undo it:", undo)]
    return [*lines, *(f"  {line}" for line in table(rows))]


def disconnected(name: str, file: str, how: str) -> list[str]:
    """Return words for a disconnected agent. how: one of gone, restored, edited."""
    return [f"{name} is no longer connected.", f"  {_LEFT[how].format(file=file)}"]


_LEFT = {
    "gone": "{file} is gone again: init had made it.",
    "restored": "{file} is as it was before, byte for byte.",
    "edited": "Our hooks are out of {file}; all else in it stays.",
}


def unchanged(name: str, file: str, *, there: bool) -> list[str]:
    """Return words for a settings file that did not change."""
    return [f"{name} is {'connected already' if there else 'not connected'}: {file}."]


def elsewhere(scope: str, undo: str, *, removed: bool) -> list[str]:
    """Return words for another scope that has hooks of Sightline."""
    still = "still connect it" if removed else "connect it too; once is enough"
    return [f"The settings of scope {scope} {still}. To undo that:", f"  {undo}"]
