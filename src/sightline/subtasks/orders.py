"""The run of an attempt in another clone of the repository, perhaps on another machine.

The timeline stays where the attempt began. An order holds all that the run needs: the prompt, the
commit, and the files that differ from it. The outcome brings back every changed file as bytes. Whoever
began the attempt judges the changes and applies them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from glob import escape, glob
from json import loads
from platform import node

from msgspec import Struct, convert, structs, to_builtins

from sightline.changes.session_context import SessionContext
from sightline.errors import SightlineError, WorkspaceError, without_calls
from sightline.filesystem.private_files import make_folder, write_file
from sightline.filesystem.process import alive
from sightline.model.json_text import compact_json
from sightline.subtasks import words, worktree, worktree_run
from sightline.subtasks.file_bytes import FileBytes
from sightline.subtasks.runners import Assignment, Outcome, Runner, RunnerSpec, end_left, token_of
from sightline.subtasks.scope import narrowed
from sightline.subtasks.subtask import SubTask
from sightline.subtasks.worktree import Start
from sightline.subtasks.worktree_run import private_context, run_in

OWNER = ".owner"
"""End of the name of the file beside the tree of an order, with the process that carries it out."""

BYTES_MAX = 64_000_000
"""Bytes of all files of an order, or of an outcome."""


class Order(Struct, frozen=True):
    """A run of an attempt. session: of the attempt; handed: the files that the prompt shows, with their
    texts."""

    task: SubTask
    session: str
    prompt: str
    handed: tuple[tuple[str, str], ...]
    runner: RunnerSpec
    start: Start


def order_of(given: Assignment, runner: RunnerSpec) -> Order:
    """Return the order for an assignment, without files that may hold secrets. WorkspaceError where the
    other files are too many bytes."""
    start = worktree.start_of(given.context.workspace.root, BYTES_MAX, is_alone=True)
    dirty = {
        name: content
        for name, content in start.dirty.items()
        if given.context.settings.may_store(name.removeprefix(start.prefix))
    }
    size = sum(content.length for content in dirty.values())
    if size > BYTES_MAX:
        raise WorkspaceError(words.too_large_to_send("uncommitted", size, BYTES_MAX))
    start = structs.replace(start, dirty=dirty)
    prompt = given.prompt
    if start.left_out:
        prompt += f"\n{words.not_handed_over(start.left_out)}.\n"
    return Order(given.task, given.session, prompt, given.handed, runner, start)


def carry_out(
    order: Order,
    runner: Runner,
    clone: SessionContext,
    folder: str,
    must_stop: Callable[[], str],
) -> Outcome:
    """Carry out an order in a tree of its own. clone: any session in this clone; folder: for the
    tree, which does not exist yet. Whatever fails is the outcome."""
    locks = os.path.dirname(folder)
    try:
        make_folder(locks)
        write_file(f"{folder}{OWNER}", f"{clone.owner}\n".encode())
        is_kept = False
        try:
            tree = worktree.make(clone.workspace.root, order.start, folder, BYTES_MAX)
            scopes = narrowed((), order.task.scope)
            with private_context(tree, clone, order.session, scopes, locks) as context:
                given = Assignment(
                    order.task, order.prompt, tree.root, order.session, "worktree", context,
                    order.handed, must_stop, token_of(folder),
                )  # fmt: skip
                outcome = _to_send(run_in(tree, given, runner), clone)
            is_kept = bool(outcome.result.kept)
            return _with_host(outcome)
        finally:
            remove(clone, folder, is_kept=is_kept)
    except SightlineError as error:
        return Outcome(failed=f"{error.message} {error.next_step.worded(without_calls)}".strip())
    except Exception as error:  # noqa: BLE001 - whatever a runner raises fails its attempt alone
        return Outcome(failed=f"{type(error).__name__}: {error}")


def remove(clone: SessionContext, folder: str, *, is_kept: bool = False) -> None:
    """Remove the tree of an order and the files beside the tree. is_kept: leave the tree itself.
    WorkspaceError."""
    worktree_run.remove(clone, folder, is_kept=is_kept)
    with suppress(FileNotFoundError):
        os.unlink(f"{folder}{OWNER}")


def sweep(clone: SessionContext, folder: str) -> None:
    """Remove what killed processes left of orders in a clone, and end their commands. folder: with
    the trees of orders. WorkspaceError."""
    for path in glob(os.path.join(escape(folder), f"*{OWNER}")):
        try:
            with open(path, encoding="utf-8") as file:
                owner = file.read().strip()
        except FileNotFoundError:  # the order ended meanwhile
            continue
        if not alive(owner):
            tree = path.removesuffix(OWNER)
            end_left(tree)
            remove(clone, tree)


def encoded(value: Order | Outcome) -> bytes:
    """Return an order or an outcome as JSON. Names of files may hold any bytes, as surrogates."""
    return compact_json(to_builtins(value)).encode("utf-8", "surrogatepass")


def decoded_order(data: bytes) -> Order:
    """Return the order of JSON."""
    return convert(loads(data.decode("utf-8", "surrogatepass")), Order)


def decoded_outcome(data: bytes) -> Outcome:
    """Return the outcome of JSON."""
    return convert(loads(data.decode("utf-8", "surrogatepass")), Outcome)


def _with_host(outcome: Outcome) -> Outcome:
    """Return an outcome that names the machine of a tree that is kept."""
    if not outcome.result.kept:
        return outcome
    kept = f"{node()}:{outcome.result.kept}"
    return structs.replace(outcome, result=structs.replace(outcome.result, kept=kept))


def _to_send(outcome: Outcome, clone: SessionContext) -> Outcome:
    """Return an outcome without the bytes of files that may hold secrets. It fails where the other
    files are too many bytes."""
    hidden = FileBytes(b"", None, "secret")
    changes = tuple(
        (name, before, after)
        if clone.settings.may_store(name.removeprefix(outcome.prefix))
        else (name, hidden, hidden)
        for name, before, after in outcome.changes
    )
    size = sum(each.length for _, *both in changes for each in both)
    if size > BYTES_MAX:
        why = words.too_large_to_send("changed", size, BYTES_MAX)
        return Outcome(outcome.result, failed=why)
    return structs.replace(outcome, changes=changes)
