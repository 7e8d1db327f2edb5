"""Record what the tools of other programs do to files, such as those of MCP servers.

Nobody knows what such a tool does. So a call is treated as a shell command is: the turn's checkpoint
is taken before it, and what changed during the call is the call's. A file counts as shown where the
result has its text; the input only names the files to look in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sightline.changes.command_evidence import EndedCommand, call_ended
from sightline.changes.command_texts import suspected
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import after_change
from sightline.errors import PathRefused, Unverifiable
from sightline.guard.reads import believed
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import acknowledge_request, deliver_pending
from sightline.hooks.handlers.blind_edits import refused_once
from sightline.hooks.handlers.file_reads import ignored
from sightline.hooks.handlers.shell_commands import (
    RUN_FILES,
    Pages,
    effects_of,
    note_beginning,
    overwritten,
    record_lines,
    started_call,
    unsearched,
)
from sightline.hooks.host import Host
from sightline.model.events import CommandStarted
from sightline.model.hook_events import NOTHING, Answer, CallBegan, CallEnded
from sightline.model.spans import Spans, union
from sightline.model.text import normal
from sightline.model.timeline import Recorded
from sightline.shell_parsing.blind_writes import BlindWrite
from sightline.shell_parsing.printed_lines import result_spans

NAME_MAX = 1_000
"""Characters of a text that may name a file."""

URI = "file://"


def began(context: SessionContext, event: CallBegan, host: Host) -> Answer:
    """Record changes from before the call, and that it begins. Refuse a call that names a file which
    an ignore file refuses."""
    for path in _named(event):
        if os.path.exists(path) and (why := ignored(context, path)):
            return Answer(refuse=why)
    acknowledge_request(context)
    name = f"{event.tool}\0{event.given}"
    if why := refused_once(context, name, _blind(context, event), host):
        return Answer(refuse=why)
    name = _name(context, event)
    note_beginning(context, name, event.call, is_harmless=False, tool=event.tool)
    return NOTHING


def _blind(context: SessionContext, event: CallBegan) -> list[BlindWrite]:
    """Return the writes of whole files that a call may be: one text of its input, and no other, has lines
    that the agent knows of a file which the input names, and has most of them."""
    writes: list[BlindWrite] = []
    for path in _named(event):
        known = {line for line in (_known_text(context, path) or "").split("\n") if line.strip()}
        texts = map(normal, event.given)
        alike = {text: len(known.intersection(text.split("\n"))) for text in texts}
        alike = {text: size for text, size in alike.items() if size}
        if len(alike) == 1 and 2 * sum(alike.values()) > len(known):
            writes.append(BlindWrite(path, None, (*alike,)))
    return writes


def _known_text(context: SessionContext, path: str) -> str | None:
    try:
        return believed(context, path) if os.path.isfile(path) else None
    except (PathRefused, Unverifiable):
        return None


def ended(context: SessionContext, event: CallEnded, host: Host) -> Answer:
    """Record the call's changes and the lines that its result shows. Return the changes of known
    files that the agent was not told."""
    started = started_call(context, event.call)
    command = None if started is None else _ended_call(context, event, started)
    effects = effects_of(context, event.tool, started, command)
    changed = effects.changed
    whole = tuple(map(normal, event.given))
    lost = overwritten(context, changed, event.tool, host.limits.diff, whole)
    end = effects.end(event.call, 1 if event.has_failed else 0)
    changed.record(context, *unsearched(context, changed), end)
    pages = Pages(context)
    shown = {path: _shown(pages.lines(path), event) for path in _files(event)}
    given = {path: _written(pages, path, event) for path in _files(event)}
    record_lines(context, pages, {path: lines for path, lines in shown.items() if lines}, "tool")
    record_lines(context, pages, {path: lines for path, lines in given.items() if lines}, "tool")
    after_change(context, *effects.touched)
    told = "\n\n".join(filter(None, [lost.context, deliver_pending(context, host)]))
    return Answer(context=told, tell=lost.tell)


def _ended_call(context: SessionContext, event: CallEnded, started: Recorded) -> EndedCommand:
    assert isinstance(started.fact, CommandStarted)
    guess = suspected(context.session, started.fact.command)
    took_us = context.clock() - started.happened_at
    texts = tuple(map(normal, event.given))
    return call_ended(
        guess, tuple(_named(event)), texts, has_failed=event.has_failed, took_us=took_us
    )


def _name(context: SessionContext, event: CallBegan | CallEnded) -> str:
    """Name a call by its tool and the file in the workspace that it is about, as facts do."""
    root = os.path.join(context.workspace.root, "")
    inside = [real for path in _named(event) if (real := os.path.realpath(path)).startswith(root)]
    paths = [path for path in inside if os.path.isfile(path)]
    return words.short(" ".join([event.tool, *(path.removeprefix(root) for path in paths[:1])]))


def _named(event: CallBegan | CallEnded) -> Iterator[str]:
    """Yield the absolute paths that the texts of a call's input may mean."""
    for text in event.given:
        if text and len(text) <= NAME_MAX and text.isprintable():
            yield os.path.join(event.cwd, text.removeprefix(URI))


def _files(event: CallEnded) -> list[str]:
    files = dict.fromkeys(path for path in _named(event) if os.path.isfile(path))
    return list(files)[:RUN_FILES]


def _shown(lines: list[str], event: CallEnded) -> Spans:
    """Return the lines of a file that the result of a call shows."""
    seen: Spans = ()
    for text in event.texts:
        seen = union(seen, result_spans(lines, normal(text)))
    return seen


def _written(pages: Pages, path: str, event: CallEnded) -> Spans:
    """Return all lines of a file whose whole text the agent gave."""
    text = pages.text(path)
    is_given = text is not None and text.plain in map(normal, event.given)
    return ((1, len(text.lines)),) if text is not None and is_given and text.lines else ()
