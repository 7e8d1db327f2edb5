"""Record the shell commands whose output a host puts into the text of a slash command or a skill.

The host reports that such a command begins, and nothing more: it has ended when the next event of
another kind arrives. Its output stands only in the transcript, within the text around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from sightline.changes.command_evidence import ended_command
from sightline.changes.command_texts import suspected, text_of_command
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import after_change
from sightline.errors import PathRefused, Unverifiable
from sightline.hooks import words
from sightline.hooks.handlers.shell_commands import (
    FILES_MAX,
    Pages,
    effects_of,
    note_beginning,
    note_shown,
    overwritten,
    refused_command,
    started_call,
    unsearched,
)
from sightline.model.events import CommandEnded, CommandStarted, Fact, TurnBegan
from sightline.model.hook_events import NOTHING, Answer, Inserted, InsertionBegan, Printed
from sightline.model.projections import Knowledge
from sightline.model.revision import Revision
from sightline.model.text import normal
from sightline.model.timeline import newest_first, of_kind
from sightline.shell_parsing.command_line import start_folders
from sightline.shell_parsing.file_effects import readings
from sightline.shell_parsing.printed_lines import set_apart
from sightline.shell_parsing.read_only import only_reads

INSERTION = "insertion "
"""The start of CommandStarted.run for such a command."""

KINDS: list[type[Fact]] = [CommandStarted, CommandEnded, TurnBegan]


def began(context: SessionContext, event: InsertionBegan) -> Answer:
    """Record changes from before the command, and that it begins; one that only reads has no effect to
    wait for. Refuse a command that prints, or searches, a file that an ignore file refuses. The user wrote the
    command, so nothing else is refused."""
    if why := refused_command(context, event.command, event.cwd):
        return Answer(refuse=why)
    is_harmless = only_reads(event.command, event.cwd)
    run = f"{INSERTION}{event.call}"
    note_beginning(context, words.inserted(event.command), run, is_harmless=is_harmless)
    if is_harmless:
        context.append([CommandEnded(run, None, stood=_stood(context, event))])
    return NOTHING


def _stood(context: SessionContext, event: InsertionBegan) -> tuple[tuple[str, Revision], ...]:
    """Keep the texts of the files that a command prints, and return their revisions: others may change them
    before the transcript has the output."""
    stood: dict[str, Revision] = {}
    for folder in start_folders(event.command, event.cwd):
        for each in readings(event.command, folder):
            with suppress(PathRefused, Unverifiable):
                path = context.workspace.locate(each.path).path
                if path not in stood and len(stood) < FILES_MAX:
                    on_disk = context.look(path)
                    context.store.keep(context.keepable(path, on_disk.data, on_disk=on_disk))
                    stood[path] = on_disk.revision
    return tuple(stood.items())


def end_insertions(context: SessionContext, room: int) -> str:
    """Record the end of the session's insertions under way, and what changed meanwhile. Return the changes of
    others that are gone; "" for none. room: characters of their diffs."""
    if not has_insertions(context):
        return ""
    begun = context.store.running([context.session])
    runs = [fact.run for fact in of_kind(CommandStarted, begun) if _is_insertion(fact)]
    return "\n\n".join(filter(None, [_end(context, run, room) for run in runs]))


def has_insertions(context: SessionContext) -> bool:
    """Return whether the newest command of the session's turn is an insertion."""
    kinds: list[type[Fact]] = [CommandStarted, TurnBegan]
    newest = context.store.timeline(session=context.session, kinds=kinds, newest=1)
    return any(_is_insertion(each.fact) for each in newest)


def _is_insertion(fact: Fact) -> bool:
    return isinstance(fact, CommandStarted) and fact.run.startswith(INSERTION)


def _end(context: SessionContext, run: str, room: int) -> str:
    started = started_call(context, run)
    assert started is not None
    assert isinstance(started.fact, CommandStarted)
    command = text_of_command(context.store, started.fact.command)
    took_us = context.clock() - started.happened_at
    folders = start_folders(command, context.workspace.root)
    guess = suspected(context.session, started.fact.command)
    evidence = ended_command(guess, command, folders, exit_code=None, took_us=took_us)
    effects = effects_of(context, command, started, evidence)
    changed = effects.changed
    lost = overwritten(context, changed, command, room).context
    changed.record(context, *unsearched(context, changed), effects.end(run, None))
    after_change(context, *effects.touched)
    return lost


def inserted(context: SessionContext, event: Inserted) -> Answer:
    """Record the lines of files that the text shows. Of a file that the agent has read or changed since, it
    knows newer text."""

    def knows_newer(knowledge: Knowledge) -> bool:
        return max(knowledge.last_read, knowledge.last_agent_edit or 0) > event.at

    for command, stood in _commands_of_turn(context, event.at):
        text, pages = normal(event.text), Pages(context, dict(stood))
        for folder in start_folders(command, event.cwd):
            for each in readings(command, folder):
                lines = pages.lines(each.path)
                printed = [lines[number - 1] for number in each.lines(len(lines))]
                text = set_apart(text, "\n".join(printed).rstrip())
        note_shown(context, Printed(command, event.cwd, text), pages, skips=knows_newer)
    return NOTHING


def _commands_of_turn(
    context: SessionContext, at: int
) -> Iterator[tuple[str, tuple[tuple[str, Revision], ...]]]:
    """Yield the insertions of the turn that began before a time, each once, with the printed text of their files if
    known."""
    begun: list[CommandStarted] = []
    stood: dict[str, tuple[tuple[str, Revision], ...]] = {}
    for recorded in newest_first(context.store.timeline, session=context.session, kinds=KINDS):
        fact = recorded.fact
        if isinstance(fact, CommandEnded):
            stood.setdefault(fact.run, fact.stood)
        elif recorded.happened_at <= at and isinstance(fact, TurnBegan):
            break
        elif recorded.happened_at <= at and isinstance(fact, CommandStarted):
            begun.append(fact)
    for run, command in {f.run: f.command for f in reversed(begun) if _is_insertion(f)}.items():
        yield text_of_command(context.store, command), stood.get(run, ())
