"""What is certain of messages that are summed up: from the record, not from a model's memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sightline.changes.session_context import SessionContext
from sightline.conversation.dropped_text import path_of
from sightline.conversation.fold_decisions import loaded
from sightline.conversation.message_chain import along, kept
from sightline.conversation.sent_view import Window
from sightline.conversation.summary_ledger import Command, File, Ledger
from sightline.conversation.window.blocks import Block
from sightline.model.events import Changed, CommandEnded, CommandStarted, Condensed, Moved
from sightline.model.timeline import Recorded
from sightline.notices import pending

COMMANDS_MAX = 40

TODO = ("content", "step", "task", "title", "text")
DONE = ("completed", "done", "cancelled")
"""How the items of a list of work say what and whether it is done."""


def of(ground: SessionContext, window: Window, blocks: Sequence[Block]) -> Ledger:
    """Of blocks that are to be summed up, and of those before them that were."""
    before = _before(ground, window)
    said = tuple(block.text for block in blocks if block.kind == "user")
    todo = _todos(window.blocks)
    return Ledger(
        typed=(*before.typed, *said),
        files=tuple(_files(ground, before, blocks)),
        commands=_commands(ground, before, blocks)[-COMMANDS_MAX:],
        open=tuple(text for text, done in todo if not done),
        done=tuple(text for text, done in todo if done),
        stale=tuple(change.path for change in pending.changes(ground, told=True)),
    )


def _before(ground: SessionContext, window: Window) -> Ledger:
    """That of the last summary."""
    made = [row.fact for row in window.rows if isinstance(row.fact, Condensed)]
    if not made or made[-1].text is None:
        return Ledger()
    told = loaded(kept(ground, made[-1].text))["ledger"]
    return Ledger(
        typed=tuple(told["typed"]),
        files=tuple(File(*each) for each in told["files"]),
        commands=tuple(Command(*each) for each in told["commands"]),
    )


def _files(ground: SessionContext, before: Ledger, blocks: Iterable[Block]) -> Iterator[File]:
    """Each file once: what was done to it last, and what is held of it."""
    deeds = {each.path: each.deed for each in before.files}
    for block in blocks:
        for path in (*(e.path for e in block.excerpts), *_read(block)):
            deeds.setdefault(path_of(ground, path) or path, "read")
        for rewrite in block.rewrites:
            deeds[path_of(ground, rewrite.path) or rewrite.path] = "modified"
    known = ground.store.known(ground.session)
    for path in known:
        deeds.setdefault(path, "read")
    for row in along(ground, [Changed, Moved]):
        _deed(deeds, row)
    for path, deed in deeds.items():
        belief = known[path].belief if path in known else None
        yield File(path, deed, belief.text if belief else None, belief.shown if belief else ())


def _read(block: Block) -> tuple[str, ...]:
    return block.paths if block.deed == "read" and not block.error else ()


def _deed(deeds: dict[str, str], row: Recorded) -> None:
    fact = row.fact
    if isinstance(fact, Moved) and fact.cause.kind == "agent":
        deeds[fact.path] = f"moved from {fact.src}"
    elif isinstance(fact, Changed) and fact.cause.kind in ("agent", "command"):
        created = fact.change == "content" and deeds.get(fact.path) == "created"
        if fact.change in ("created", "deleted", "content") and not created:
            deeds[fact.path] = "modified" if fact.change == "content" else fact.change


def _commands(
    ground: SessionContext, before: Ledger, blocks: Iterable[Block]
) -> tuple[Command, ...]:
    """By the record, else by the messages: these do not tell how it ended, only that it failed."""
    begun: dict[str, str] = {}
    found: list[Command] = []
    for row in along(ground, [CommandStarted, CommandEnded]):
        if isinstance(row.fact, CommandStarted):
            begun[row.fact.run] = row.fact.command
        elif isinstance(row.fact, CommandEnded) and row.fact.run in begun:
            found.append(Command(begun.pop(row.fact.run), row.fact.exit_code))
    if found:
        return tuple(found)
    called: dict[str | None, str] = {}
    for block in blocks:
        command = _command(block) if block.kind == "call" else None
        if command is not None:
            called[block.call] = command
        elif block.kind == "result" and block.call in called:
            found.append(Command(called.pop(block.call), failed=block.error))
    return (*before.commands, *found)


def _command(block: Block) -> str | None:
    """The command line in what a tool was given; None where it runs none."""
    told = _json(block.text)
    if not isinstance(told, dict):
        return block.text if block.deed == "run" else None
    line = next((told[key] for key in ("command", "cmd", "script") if key in told), None)
    return " ".join(map(str, line)) if isinstance(line, list) else line and str(line)


def _json(text: str) -> Any:
    """What a text says as JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _todos(blocks: Sequence[Block]) -> list[tuple[str, bool]]:
    """The newest list of work: each text, and whether it is done."""
    plans = [block for block in blocks if block.deed == "plan" and block.kind == "call"]
    told = _json(plans[-1].text) if plans else None
    values = told.values() if isinstance(told, dict) else ()
    listed = next((each for each in values if isinstance(each, list)), [])
    found = []
    for each in listed:
        text = (
            next((each[key] for key in TODO if key in each), None)
            if isinstance(each, dict)
            else None
        )
        if isinstance(text, str):
            found.append((text, each.get("status") in DONE))
    return found
