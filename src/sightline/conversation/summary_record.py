"""Collect what is certain about messages that are summed up: from recorded facts, not from a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sightline.changes.session_context import SessionContext
from sightline.conversation.dropped_text import path_of
from sightline.conversation.fold_decisions import load_json
from sightline.conversation.message_chain import branch_facts, read_blob
from sightline.conversation.sent_view import Window
from sightline.conversation.summary_ledger import Command, File, Ledger
from sightline.conversation.todos import todos
from sightline.conversation.tool_calls import field, parse_object
from sightline.conversation.window.blocks import Block
from sightline.conversation.written_files import COMMANDS
from sightline.model.events import Changed, CommandEnded, CommandStarted, Condensed, Moved
from sightline.model.timeline import Recorded
from sightline.notices import pending

COMMANDS_MAX = 40


def collect_record(window: Window, blocks: Sequence[Block]) -> Ledger:
    """Collect the record of blocks before a summary replaces them, and of earlier summaries."""
    context = window.context
    before = _previous(window)
    items = todos(window.blocks)
    return Ledger(
        typed=(*before.typed, *(block.text for block in blocks if block.kind == "user")),
        files=tuple(_files(context, before, blocks)),
        commands=_commands(context, before, blocks)[-COMMANDS_MAX:],
        open=tuple(item.text for item in items if item.state in ("pending", "doing")),
        done=tuple(item.text for item in items if item.state in ("done", "cancelled")),
        stale=tuple(change.path for change in pending.changes(context, told=True)),
    )


def _previous(window: Window) -> Ledger:
    """Return the record of the last summary."""
    summaries = [row.fact for row in window.rows if isinstance(row.fact, Condensed)]
    if not summaries or summaries[-1].text is None:
        return Ledger()
    record = load_json(read_blob(window.context, summaries[-1].text))["ledger"]
    return Ledger(
        typed=tuple(record["typed"]),
        files=tuple(File(*row) for row in record["files"]),
        commands=tuple(Command(*row) for row in record["commands"]),
    )


def _files(context: SessionContext, before: Ledger, blocks: Iterable[Block]) -> Iterator[File]:
    """Return each file once: the last change, and the text that the agent holds."""
    deeds = {file.path: file.deed for file in before.files}
    for block in blocks:
        paths = [excerpt.path for excerpt in block.excerpts]
        paths += block.paths if block.deed == "read" and not block.error else ()
        for path in paths:
            deeds.setdefault(path_of(context, path) or path, "read")
        for rewrite in block.rewrites:
            deeds[path_of(context, rewrite.path) or rewrite.path] = "modified"
    known = context.store.known(context.session)
    for path in known:
        deeds.setdefault(path, "read")
    for row in branch_facts(context, [Changed, Moved]):
        _apply_change(deeds, row)
    for path, deed in deeds.items():
        belief = known[path].belief if path in known else None
        yield File(path, deed, belief.text if belief else None, belief.shown if belief else ())


def _apply_change(deeds: dict[str, str], row: Recorded) -> None:
    fact = row.fact
    if isinstance(fact, Moved) and fact.cause.kind == "agent":
        deeds[fact.path] = f"moved from {fact.src}"
    elif isinstance(fact, Changed) and fact.cause.kind in ("agent", "command"):
        created = fact.change == "content" and deeds.get(fact.path) == "created"
        if fact.change in ("created", "deleted", "content") and not created:
            deeds[fact.path] = "modified" if fact.change == "content" else fact.change


def _commands(
    context: SessionContext, before: Ledger, blocks: Iterable[Block]
) -> tuple[Command, ...]:
    """Return the commands in the recorded facts, else those in the messages, which have no exit
    codes."""
    started: dict[str, str] = {}
    commands: list[Command] = []
    for row in branch_facts(context, [CommandStarted, CommandEnded]):
        if isinstance(row.fact, CommandStarted):
            started[row.fact.run] = row.fact.command
        elif isinstance(row.fact, CommandEnded) and row.fact.run in started:
            commands.append(Command(started.pop(row.fact.run), row.fact.exit_code))
    if commands:
        return tuple(commands)
    called: dict[str | None, str] = {}
    for block in blocks:
        command = _command_line(block) if block.kind == "call" else None
        if command is not None:
            called[block.call] = command
        elif block.kind == "result" and block.call in called:
            commands.append(Command(called.pop(block.call), failed=block.error))
    return (*before.commands, *commands)


def _command_line(block: Block) -> str | None:
    """Return the command line in a call's arguments, None for a call that runs none."""
    arguments = parse_object(block.text)
    if arguments is None:
        return block.text if block.deed == "run" else None
    line = field(arguments, *COMMANDS)
    return " ".join(map(str, line)) if isinstance(line, list) else line and str(line)
