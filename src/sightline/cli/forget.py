"""The command forget: list and delete what Sightline keeps of a workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import click
from msgspec import Struct

from sightline.agents.product import Product
from sightline.agents.products import connectable
from sightline.api.folders import settings_of
from sightline.changes.session_names import names_of
from sightline.cli import connect, output
from sightline.cli.failures import NO, Answered, report
from sightline.cli.input import is_asking
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.config.settings import Settings
from sightline.errors import SettingsError, StoreError
from sightline.filesystem.process import alive, machine
from sightline.hooks import daemon_status, fault_log
from sightline.model.session_ids import AT_SHELL
from sightline.store.opening import kind_of
from sightline.store.sqlite_file import open_file
from sightline.store.workspace_files import StoredWorkspace, StoreInUse, delete_stored, find_stored
from sightline.text.causes import called
from sightline.text.phrases import count, size, table
from sightline.text.printable import printable


class Contents(Struct, frozen=True):
    """The contents of a store. texts: number of stored file contents. checkpoints: number of those that
    a rewind can go to. live: the names of sessions whose agents run on this machine now."""

    sessions: int
    facts: int
    texts: int
    checkpoints: int
    live: tuple[str, ...]


@command(example="forget --dry-run")
@click.option("--dry-run", is_flag=True, help="List what would be deleted, and delete nothing.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
def forget(call: Call, *, dry_run: bool, yes: bool) -> None:
    """Delete all that Sightline keeps of this workspace.

    Your own files stay as they are. On a terminal, the command lists what it would delete, and
    asks; elsewhere pass --dry-run or --yes. With --workspace, the folder of the workspace may be
    gone. Exit code 1: nothing is kept, or an agent is at work.
    """
    root = _root(call)
    settings = settings_of(root, call.store)
    kept = find_stored(settings.state_home, root)
    if kept is None:
        hint = "Name another workspace: sightline forget --workspace DIR"
        report(call, "nothing", f"Sightline keeps nothing of {printable(root)}.", hint)
        raise Answered(NO)
    asking = is_asking(call, dry_run=dry_run, yes=yes)
    contents = _contents(kept)
    stays = list(_stays(settings))
    if not (call.json or (yes and call.quiet)):
        output.prose("\n".join(_listed(root, kept, contents)))
    for words in _busy(root, contents):
        report(call, "in_use", *words)
        raise Answered(NO)
    if asking and not output.confirmed("Delete these files? This cannot be undone."):
        output.say("Nothing was deleted.")
        raise Answered(NO)
    if not dry_run:
        _delete(root, kept)
    connected = _connected(root)
    if call.json:
        answer = {"workspace": root, "folder": kept.folder, "dry_run": dry_run}
        known = None if contents is None else {
            name: getattr(contents, name) for name in ("sessions", "facts", "texts", "checkpoints")
        }  # fmt: skip
        listed = [{"path": path, "size": bytes_} for path, bytes_ in kept.files.items()]
        more = {
            "size": kept.size,
            "contents": known,
            "stays": stays,
            "hooks": [scope for _, scope in connected],
        }
        output.json({**answer, "files": listed, **more})
        return
    if not dry_run:
        files = f"{count(len(kept.files), 'file')} ({size(kept.size)})"
        output.done(call, f"Deleted {files}. The files of the workspace are as they were.")
    for path in stays:
        output.note(call, f"Not deleted: {printable(path)}")
    for product, scope in connected:
        flag = "" if scope == "local" else f" --scope {scope}"
        output.note(
            call,
            f"The hooks of {product.title} ({scope}) still call Sightline, and would begin anew. Remove "
            f"them:\n  sightline init {product.name} --remove{flag}",
        )


def _root(call: Call) -> str:
    """Return the workspace. The folder of a named workspace may be gone. WorkspaceError."""
    named = call.workspace and os.path.realpath(os.path.expanduser(call.workspace))
    return named if named and not os.path.lexists(named) else call.root


def _contents(kept: StoredWorkspace) -> Contents | None:
    """Count what the store holds; None where there is no store that can be read."""
    if kept.store is None:
        return None
    try:
        with closing(open_file(kept.store)) as store:
            tally = store.tally()
            held = [name for name, owner in store.held_on(machine()).items() if alive(owner)]
            agents = store.agents(held)
            # A shell in which somebody typed a command is no agent.
            name_of = names_of(store)
            agents_at_work = [name for name in held if agents.get(name) != AT_SHELL]
            live = tuple(sorted(map(name_of, agents_at_work)))
            standing = tally.get("CheckpointTaken", 0) - tally.get("CheckpointDropped", 0)
            return Contents(
                store.session_count(), store.position(), len(store.texts()), standing, live
            )
    except StoreError:
        return None  # a damaged store can be forgotten, too


def _listed(root: str, kept: StoredWorkspace, contents: Contents | None) -> list[str]:
    """Return the lines about what is kept."""
    by_name: dict[str, list[int]] = {}
    for path, bytes_ in kept.files.items():
        by_name.setdefault(path.partition(os.sep)[0], []).append(bytes_)
    holds = "a store that cannot be read" if contents is None else ", ".join(
        (
            count(contents.sessions, "session"),
            count(contents.facts, "fact"),
            count(contents.texts, "text"),
            count(contents.checkpoints, "checkpoint"),
        )
    )  # fmt: skip
    about = {"store.db": holds, "locks": "lock files", "imports": "imports of source files"}
    about |= {"http": "address and token of 'sightline up'", "store.db-wal": "log of the store"}
    rows = [("  " + name, size(sum(all_)), about.get(name, "")) for name, all_ in by_name.items()]
    return [
        f"Sightline keeps {size(kept.size)} of {printable(root)}",
        f"in {printable(kept.folder)}:",
        *table(rows),
    ]


def _busy(root: str, contents: Contents | None) -> Iterator[tuple[str, str]]:
    """Yield each reason why nothing can be deleted now, and the next step for the user."""
    ups = daemon_status.list_pipes(root, os.environ, os.path.expanduser("~"), "up")
    for status in filter(None, map(daemon_status.ask_status, ups)):
        if status.root == root:
            yield (
                f"'sightline up' runs for this workspace (process {status.pid}). Nothing was deleted.",
                "End it with q or Ctrl-C in its terminal, then run this again.",
            )
    if contents is not None and contents.live:
        names = ", ".join(called(printable(each), "session") for each in contents.live)
        yield (
            f"An agent is at work here ({names}). Nothing was deleted.",
            "End that agent, then run this again.",
        )


def _delete(root: str, kept: StoredWorkspace) -> None:
    """End the processes that hooks left behind, and delete. StoreError, StoreInUse."""
    left = daemon_status.end_daemons(root, os.environ, os.path.expanduser("~"))
    if left:
        raise StoreInUse(
            f"Process {left[0]} answers hooks of this workspace and does not end. Nothing was deleted.",
            f"End it yourself: kill -9 {left[0]}",
        )
    delete_stored(kept)


def _stays(settings: Settings) -> Iterator[str]:
    """Yield what is not deleted: a store whose place the user chose, and the log of all workspaces."""
    if settings.store is not None:
        yield from kind_of(settings.store).files(settings.store)[:1]
    log = os.path.join(settings.state_home, fault_log.NAME)
    if os.path.exists(log):
        yield log


def _connected(root: str) -> list[tuple[Product, str]]:
    """Return the products, and the scopes of their settings, that are connected to Sightline in this
    workspace."""
    try:
        return [
            (each, scope) for each in connectable() for scope in connect.connections(each, root)
        ]
    except SettingsError:
        return []
