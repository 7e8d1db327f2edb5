"""Record the files that a host showed its agent, and the changes that its watcher saw."""

from __future__ import annotations

import os
from contextlib import suppress
from time import monotonic

from sightline.changes.attribution import detect_changes
from sightline.changes.session_context import SessionContext
from sightline.errors import FileMissing, PathRefused, Unverifiable
from sightline.guard.reads import saw
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import acknowledge_request
from sightline.model.hook_events import (
    NOTHING,
    Answer,
    ChangedOutside,
    Instructed,
    Reading,
    Searching,
    Shown,
)
from sightline.model.spans import Span
from sightline.model.text import decode, normal, split, unmarked
from sightline.shell_parsing.folder_search import FolderSearch, globs_of, globs_of_type

BY_CALL = ("read", "search", "notebook")
"""Where the text of Shown comes from a call of the agent's."""

SEARCH_S = 1.0
"""Seconds for finding the files below a folder that an ignore file refuses."""

BROKEN = "\ufffd"
"""The character that hosts show in place of bytes that are no UTF-8."""


def reading(context: SessionContext, event: Reading) -> Answer:
    """Refuse to read what an ignore file refuses."""
    why = ignored(context, event.path)
    return Answer(refuse=why) if why else NOTHING


def ignored(context: SessionContext, path: str) -> str:
    """Return the refusal of a path that an ignore file refuses; "" for any other path."""
    try:
        context.workspace.locate(path)
    except PathRefused as error:
        if error.reason == "ignored" and not error.control:
            return words.refused(error)
    except Unverifiable as error:  # for example an ignore file past its limits
        return words.refused(error)
    return ""


def searching(context: SessionContext, event: Searching) -> Answer:
    """Refuse to search files that an ignore file refuses."""
    globs = (*globs_of_type(event.kind), *(each for glob in event.globs for each in globs_of(glob)))
    search = FolderSearch(
        "rg", (event.place,), event.place, ignored=False, globs=globs, by_tool=True
    )
    why = ignored(context, event.place) or refused_search(context, search)
    return Answer(refuse=why) if why else NOTHING


def refused_search(context: SessionContext, search: FolderSearch) -> str:
    """Return the refusal of a search that would read files that an ignore file refuses; "" for any
    other search."""
    entries: dict[str, str] = {}
    root, until = context.workspace.root, monotonic() + SEARCH_S
    tracked: set[str] | None = None
    for folder in map(os.path.realpath, search.folders):
        below = os.path.join(folder, "")
        if os.path.join(root, "").startswith(below):
            under = ""
        elif below.startswith(os.path.join(root, "")):
            under = below[len(os.path.join(root, "")) :].replace(os.sep, "/")
        else:
            continue
        try:
            for file in context.workspace.refused_below(under, until=until):
                if file.entry in entries:
                    continue
                if not search.untracked and tracked is None:
                    tracked = _tracked(context)
                is_open = search.untracked or (tracked is not None and file.path in tracked)
                if is_open and search.reads(folder, f"{root}/{file.path}", file.hidden_by_git):
                    entries[file.entry] = file.rules
        except Unverifiable as error:  # for example an ignore file past its limits
            return words.refused(error)
    return words.refused_search(entries, search.option) if entries else ""


def _tracked(context: SessionContext) -> set[str]:
    found = context.workspace.repository(".")
    return set(found.tracked_paths(SEARCH_S)) if found is not None else set()


def shown(context: SessionContext, event: Shown) -> Answer:
    """Record a text that was shown. A path without stored text (outside the workspace, ignored,
    binary, gone) is passed over. What the last request told counts first, where a call shows the text: the
    model knew of it when it made the call."""
    if event.at is None and event.via in BY_CALL:
        acknowledge_request(context)
    text = event.text
    if text is not None and BROKEN in text:
        if not _is_on_disk(context, event.path, event.lines, text):
            return NOTHING  # nobody knows any more which bytes were shown
        text = None
    if event.lines is None or _has_lines(context, event.path):
        _record(context, event.path, event.lines, text, event.via)
    return NOTHING


def instructed(context: SessionContext, event: Instructed) -> Answer:
    """Record that the whole file is part of the agent's instructions."""
    _record(context, event.path, None, None, "instructions")
    return NOTHING


def changed_outside(context: SessionContext, event: ChangedOutside) -> Answer:
    """Look at a path that a host reports as changed, and record a change."""
    try:
        on_disk = context.look(context.workspace.locate(event.path).path)
    except PathRefused:
        return NOTHING
    blobs = context.keepable(on_disk.path, on_disk.data, on_disk=on_disk)
    changes = detect_changes(context, on_disk)
    context.append(changes, blobs=blobs if changes else (), found=[on_disk])
    return NOTHING


def _record(
    context: SessionContext, path: str, lines: Span | None, text: str | None, via: str
) -> None:
    with suppress(PathRefused, FileMissing):
        saw(context, path, lines, text, via)


def _has_lines(context: SessionContext, path: str) -> bool:
    """Return whether the file on disk may be a text; one that is too large to be kept may."""
    try:
        found = context.look(context.workspace.locate(path).path)
    except PathRefused:
        return False
    return found.why == "too_large" or decode(found.data) is not None


def _data(context: SessionContext, path: str) -> bytes | None:
    try:
        return context.look(context.workspace.locate(path).path).data
    except PathRefused:
        return None


def _is_on_disk(context: SessionContext, path: str, lines: Span | None, text: str) -> bool:
    """Return whether a host would show the file on disk as this text with broken characters."""
    data = _data(context, path)
    if data is None:
        return False
    on_disk = split(unmarked(data.decode("utf-8", "replace")))
    first, last = lines or (1, len(on_disk))
    return "".join(on_disk[first - 1 : last]).removesuffix("\n") == normal(text).removesuffix("\n")
