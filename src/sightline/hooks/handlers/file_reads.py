"""What a host put before its agent, and what its own watcher saw."""

from __future__ import annotations

from sightline.agents.hook_events import NOTHING, Answer, ChangedOutside, Instructed, Shown
from sightline.changes.attribution import detect_changes
from sightline.changes.session_context import SessionContext
from sightline.errors import FileMissing, PathRefused
from sightline.guard.reads import saw
from sightline.model.spans import Span
from sightline.model.text import decode, normal, split, unmarked

BROKEN = "\ufffd"
"""What hosts show in place of bytes that are no UTF-8; the file itself tells which they are."""


def shown(ground: SessionContext, event: Shown) -> Answer:
    """Record what was shown. A path that we keep no text of (outside the workspace, ignored,
    binary, gone) is of no interest."""
    text = event.text
    if text is not None and BROKEN in text:
        if not _stands(ground, event.path, event.lines, text):
            return NOTHING  # which bytes were shown cannot be told any more
        text = None
    if event.lines is None or _is_text(ground, event.path):
        _record(ground, event.path, event.lines, text, event.via)
    return NOTHING


def instructed(ground: SessionContext, event: Instructed) -> Answer:
    """Record a file that became part of the instructions, whole."""
    _record(ground, event.path, None, None, "instructions")
    return NOTHING


def changed_outside(ground: SessionContext, event: ChangedOutside) -> Answer:
    """Look at a path that is said to have changed, and record it if it did."""
    try:
        found = ground.look(ground.workspace.locate(event.path).path)
    except PathRefused:
        return NOTHING
    blobs = ground.keepable(found.path, found.data)
    news = detect_changes(ground, found)
    ground.append(news, blobs=blobs if news else (), found=[found])
    return NOTHING


def _record(
    ground: SessionContext, path: str, lines: tuple[int, int] | None, text: str | None, via: str
) -> None:
    try:
        saw(ground, path, lines, text, via)
    except (PathRefused, FileMissing):
        return


def _stands(ground: SessionContext, path: str, lines: Span | None, text: str) -> bool:
    """Whether a text with such marks is what the file on disk is shown as."""
    try:
        data = ground.look(ground.workspace.locate(path).path).data
    except PathRefused:
        return False
    if data is None:
        return False
    there = split(unmarked(data.decode("utf-8", "replace")))
    first, last = lines or (1, len(there))
    return "".join(there[first - 1 : last]).removesuffix("\n") == normal(text).removesuffix("\n")


def _is_text(ground: SessionContext, path: str) -> bool:
    """Whether there is a text that some lines can have their place in."""
    try:
        data = ground.look(ground.workspace.locate(path).path).data
    except PathRefused:
        return False
    return data is not None and decode(data) is not None
