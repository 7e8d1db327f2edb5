"""Read messages that a host deleted from a conversation: their ids, and the files that they wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from stat import S_ISDIR

from sightline.changes.session_context import SessionContext
from sightline.errors import PathRefused
from sightline.messages.tool_calls import calls, field, is_mapping
from sightline.messages.written_files import files_written
from sightline.model.results import Deleted, UnreadCall


def read_deleted(context: SessionContext, messages: Iterable[object]) -> Deleted:
    """Read deleted messages, each an id, or a message as its host holds it. ValueError for any other
    value."""
    is_single = isinstance(messages, str) or is_mapping(messages)
    ids: set[str] = set()
    paths: dict[str, None] = {}
    unread: list[UnreadCall] = []
    for number, message in enumerate([messages] if is_single else messages, 1):
        ids.update(_ids(message, number))
        if isinstance(message, str):
            continue
        cwd = field(message, "cwd")  # as transcripts have it
        folder = cwd if isinstance(cwd, str) and cwd else context.workspace.root
        for call in calls(message):
            written = files_written(call, folder)
            if written is None:
                unread.append(UnreadCall(number, call.name, call.id))
            paths |= dict.fromkeys(_workspace_files(context, written or ()))
    return Deleted(frozenset(ids), tuple(paths), tuple(unread))


def _ids(message: object, number: int) -> Iterator[str]:
    """Return the ids under which a message may be recorded. ValueError."""
    if isinstance(message, str):
        yield message
        return
    if not (is_mapping(message) or hasattr(message, "__dict__")):
        raise ValueError(
            f"deleted message {number} is of type {type(message).__name__}: give its id, or the"
            " message as its host holds it"
        )
    inner = field(message, "message")
    ids = (field(message, "id"), field(message, "uuid"), field(inner, "id"))
    yield from (value for value in ids if isinstance(value, str))


def _workspace_files(context: SessionContext, paths: Iterable[str]) -> Iterator[str]:
    """Return the paths that are, or may have been, files of the workspace."""
    for spelling in paths:
        try:
            path = context.workspace.locate(spelling).path
        except PathRefused:
            continue
        stat = context.workspace.stat(path)
        if stat is None or not S_ISDIR(stat.mode):
            yield path
