"""`sightline init`: connects agents by their own settings, and takes that back."""

from __future__ import annotations

import os

import click

from sightline.interfaces import connecting
from sightline.interfaces.cli import output
from sightline.interfaces.cli.faults import NO, Answered, told
from sightline.interfaces.cli.options import verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sightline.agents.claude_code.settings import Scope
    from sightline.agents.settings_file import Change
    from sightline.interfaces.cli.call import Call
    from sightline.interfaces.connecting import Kind


@verb()
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
@click.pass_obj
def init(
    call: Call, agents: tuple[str, ...], *, remove: bool, dry_run: bool, scope: Scope, kind: Kind
) -> None:
    """Connect agents, so that what they read is noted and their edits are judged.

    Writes hooks into the agent's own settings; everything else in them stays as it is, byte for
    byte. Run it again after Python or Sightline moved. AGENT: claude-code. Default: those found.
    """
    root = _root(call, scope)
    if kind == "http" and scope != "local":
        raise click.UsageError("--kind http holds a token for one workspace: use --scope local.")
    changes: list[tuple[str, Change, str]] = []
    for agent in _chosen(call, agents, root):
        change = connecting.plan(root, scope, kind, remove=remove)
        before = connecting.registered(change.path)
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
            _notes(call, root, scope, removed=remove)


def _root(call: Call, scope: Scope) -> str:
    """The workspace; the user's own settings need none."""
    from sightline.workspace.discovery import discover

    if scope == "user" and call.workspace is None:
        return ""
    return discover(call.workspace)


def _chosen(call: Call, agents: tuple[str, ...], root: str) -> list[str]:
    known = ", ".join(connecting.AGENTS)
    for agent in agents:
        if agent not in connecting.AGENTS:
            raise click.UsageError(f"'{agent}' cannot be connected; these can: {known}.")
    found = list(dict.fromkeys(agents)) or connecting.found_agents(root)
    if not found:
        hint = f"Name it, if you will install it: sightline init {known}"
        told(call, "agent", "No agent was found that can be connected.", hint)
        raise Answered(NO)
    return found


def _carry_out(change: Change) -> None:
    from sightline.agents.settings_file import carry_out

    carry_out(change)
    folder = os.path.dirname(change.path)
    if change.after is None and not os.listdir(folder):
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
    """What happens to the file, as a patch."""
    from difflib import unified_diff

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
    from sightline.agents.settings_file import backup_of
    from sightline.render.views import table

    name, file = connecting.AGENTS[agent], _short(change.path, root)
    undo = f"sightline init {agent} --remove{'' if scope == 'local' else f' --scope {scope}'}"
    if action == "removed":
        return [f"{name} is no longer connected.", f"  {_left(change, file)}"]
    if action == "unchanged":
        there = connecting.registered(change.path)
        return [f"{name} is {'connected already' if there else 'not connected'}: {file}."]
    where = f"in {root}" if root else "in all your workspaces"
    lines = [f"{name} is connected {where}.", f"  Hooks were {_written(change, action)} {file}."]
    if change.keep:
        lines.append(f"  The file as it was: {_short(backup_of(change.path), root)}")
    lines += ["From its next session on, what it reads is noted and its edits are judged."]
    rows = [("Check it:", "sightline doctor"), ("Watch it:", "sightline up"), ("Undo it:", undo)]
    return [*lines, *(f"  {line}" for line in table(rows))]


def _written(change: Change, action: str) -> str:
    if action == "updated":
        return "updated in"
    return "written to" if change.before is None else "added to"


def _left(change: Change, file: str) -> str:
    if change.after is None:
        return f"{file} is gone again: init had made it."
    if change.drop:
        return f"{file} is as it was before, byte for byte."
    return f"Our hooks are out of {file}; all else in it stays."


def _short(path: str, root: str) -> str:
    """A path as people name it: from the workspace, or from the home folder."""
    home = os.path.expanduser("~")
    for folder, sign in ((root, ""), (home, "~/")):
        if folder and path.startswith(os.path.join(folder, "")):
            return sign + os.path.relpath(path, folder)
    return path


def _notes(call: Call, root: str, scope: Scope, *, removed: bool) -> None:
    """What else the user has to know."""
    others = [other for other in connecting.connections(root) if other != scope] if root else []
    for other in others:
        still = "still connect it" if removed else "connect it too; once is enough"
        output.say(f"The settings of scope {other} {still}. To undo that:")
        output.say(f"  sightline init claude-code --remove --scope {other}")
    if not removed and scope == "project":
        output.say("Others who share this file have another Python: there the hook only fails.")
    if not removed and scope == "local" and _in_git(root):
        output.note(call, "Keep .claude/settings.local.json out of git: it is for this machine.")


def _in_git(root: str) -> bool:
    """Whether git would list the local settings among the files to add."""
    import subprocess

    asked = ["git", "-C", root, "check-ignore", "--quiet", ".claude/settings.local.json"]
    try:
        return subprocess.run(asked, capture_output=True, check=False).returncode == 1
    except OSError:  # no git, nothing to keep it out of
        return False


def _shape(scope: str, kind: str, agent: str, change: Change, action: str) -> dict[str, Any]:
    from sightline.agents.settings_file import backup_of

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
