"""The command init: connect agents through their own settings, or disconnect them."""

from __future__ import annotations

import os
from typing import Never

import click

from sightline.agents.connection import Kind, Scope
from sightline.agents.product import Product
from sightline.agents.products import PRODUCTS, connectable
from sightline.agents.settings_file import Change, backup_of, carry_out
from sightline.api.folders import discover
from sightline.cli import completion, connect, exclude, output
from sightline.cli.failures import NO, Answered, report
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.model.diff import diff, unified
from sightline.model.text import split
from sightline.text.phrases import table


@command(example=f"init {next(iter(PRODUCTS))} --dry-run")
@click.argument(
    "agents",
    metavar="[AGENT]...",
    nargs=-1,
    shell_complete=completion.one_of([each.name for each in connectable()]),
)
@click.option("--remove", is_flag=True, help="Remove the hooks of Sightline.")
@click.option("--dry-run", is_flag=True, help="Print what would change, and write nothing.")
@click.option(
    "--scope",
    type=click.Choice(["user", "project", "local"]),
    default="local",
    show_default=True,
    help="local: this workspace, for you alone, as the hooks name this machine's Python; project: "
    "the file that is shared through git; user: all your workspaces.",
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

    Writes hooks into the agent's own settings; everything else in them stays, byte for byte. Run it
    again after Python or Sightline moved. AGENT: claude-code. Default: every agent that is found.
    """
    # The user's own settings need no workspace.
    root = "" if scope == "user" and call.workspace is None else discover(call.workspace)
    if kind == "http" and scope != "local":
        raise click.UsageError("--kind http holds a token for one workspace: use --scope local.")
    shapes = []
    for product in _chosen(agents, root) or _none_found(call):
        if scope not in product.connection.scopes or kind not in product.connection.kinds:
            raise click.UsageError(_not_offered(product))
        change = connect.plan(product, root, scope, kind, remove=remove)
        before = bool(product.connection.registered(scope, connect.place_of(root)))
        action = "removed" if remove else "updated" if before else "connected"
        action = action if change.is_one else "unchanged"
        if not dry_run and change.is_one:
            carry_out(change)
            if remove and scope == "local":
                exclude.remove(root, connect.private_files(root, change))
            folder = os.path.dirname(change.path)
            if change.after is None and not os.path.islink(folder) and not os.listdir(folder):
                os.rmdir(folder)
        backup = backup_of(change.path)
        shapes.append(
            {
                "agent": product.name,
                "scope": scope,
                "kind": kind,
                "path": change.path,
                "action": action,
                "backup": backup if os.path.lexists(backup) else None,
                "diff": _diff(change) if change.is_one else "",
            }
        )
        if call.json:
            continue
        if dry_run:
            if change.is_one:
                output.text(output.coloured(call, _diff(change)))
            output.note(call, "Nothing was written." if change.is_one else "Nothing would change.")
        else:
            output.done(
                call, output.fitted("\n".join(_words(root, scope, product, change, action)))
            )
            _notes(call, root, scope, product, change, removed=remove)
    if call.json:
        output.json({"dry_run": dry_run, "agents": shapes})


def _chosen(agents: tuple[str, ...], root: str) -> list[Product]:
    """Return the products that the user named, else those on this machine."""
    known = {each.name: each for each in connectable()}
    for agent in agents:
        if agent not in known:
            raise click.UsageError(f"'{agent}' cannot be connected; these can: {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(agents)] or connect.found_products(root)


def _not_offered(product: Product) -> str:
    """Return which scopes and kinds of hooks a product has."""
    scopes, kinds = ", ".join(product.connection.scopes), ", ".join(product.connection.kinds)
    return f"{product.title} has these scopes: {scopes}; and these kinds of hooks: {kinds}."


def _none_found(call: Call) -> Never:
    hint = f"If you will install one, name it: sightline init {', '.join([each.name for each in connectable()])}"
    report(call, "agent", "No agent was found that can be connected.", hint)
    raise Answered(NO)


def _diff(change: Change) -> str:
    """Return the change of a file as a patch."""
    before, after = (split((data or b"").decode()) for data in (change.before, change.after))
    old = "/dev/null" if change.before is None else change.path
    new = "/dev/null" if change.after is None else change.path
    return unified(before, after, diff(before, after), old=old, new=new)


ACTIONS = {"connected": "added to", "updated": "updated in"}

PROJECT = "The hook names this machine's Python: it fails for others who share the file."
NO_GIT = "Start it in this folder itself: without git, settings do not hold in its subfolders."


def _words(root: str, scope: Scope, product: Product, change: Change, action: str) -> list[str]:
    """Return words for a connected, disconnected or unchanged agent."""
    name, file = product.title, _short(change.path, root)
    if action == "unchanged":
        there = bool(product.connection.registered(scope, connect.place_of(root)))
        if there:
            return [f"{name} is connected already, by the hooks in {file}."]
        return [f"{name} is not connected: {file} has no hooks of Sightline."]
    if action == "removed":
        how = f"Removed the hooks of Sightline from {file}; all else in it stays."
        if change.after is None:
            how = f"Removed {file}, which init had created."
        elif change.restores:
            how = f"{file} is as it was before, byte for byte."
        return [f"{name} is no longer connected.", f"  {how}"]
    where = f"in {root}" if root else "in all your workspaces"
    verb = "written to" if change.before is None else ACTIONS[action]
    lines = [f"{name} is connected {where}.", f"  Hooks were {verb} {file}."]
    if change.keep:
        lines.append(f"  The file as it was: {_short(backup_of(change.path), root)}")
    undo = _undo(product, scope)
    rows = [("Check it:", "sightline doctor"), ("Watch it:", "sightline up"), ("Undo it:", undo)]
    return [
        *lines,
        f"Sightline judges the edits of {name} from its next session on.",
        f"A process of Sightline answers the hooks, and ends with {name}.",
        *(f"  {line}" for line in table(rows)),
    ]


def _undo(product: Product, scope: Scope) -> str:
    return (
        f"sightline init {product.name} --remove{'' if scope == 'local' else f' --scope {scope}'}"
    )


def _short(path: str, root: str) -> str:
    """Return a path relative to the workspace, or with ~ for the home folder."""
    for folder, sign in ((root, ""), (os.path.expanduser("~"), "~/")):
        if folder and path.startswith(os.path.join(folder, "")):
            return sign + os.path.relpath(path, folder)
    return path


def _notes(
    call: Call, root: str, scope: Scope, product: Product, change: Change, *, removed: bool
) -> None:
    """Print remarks: other scopes, shared settings; offer to keep the local ones out of git."""
    still = "still connect it" if removed else "connect it too; once is enough"
    for other in connect.connections(product, root) if root else ():
        if other != scope:
            undo = _undo(product, other)
            output.say(f"The settings of scope {other} {still}. To undo that:\n  {undo}")
    if removed or scope == "user":
        return
    if scope == "project":
        output.say(PROJECT)
    if not os.path.lexists(os.path.join(root, ".git")):
        output.say(NO_GIT)
    elif scope == "local":
        exclude.offer(call, root, connect.private_files(root, change), yes=False)
