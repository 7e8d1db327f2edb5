"""Messages that were taken out of a conversation: which they are, and which files they wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from stat import S_ISDIR

from sightline.changes.session_context import SessionContext
from sightline.conversation.tool_calls import calls, field, is_mapping
from sightline.conversation.written_files import written
from sightline.errors import PathRefused
from sightline.model.results import Deleted, UnreadCall


def deleted(ground: SessionContext, messages: Iterable[object]) -> Deleted:
    """What is known of messages, each an id, or a message as its host holds it. ValueError for
    what is neither."""
    given = [messages] if isinstance(messages, str) or is_mapping(messages) else list(messages)
    ids: set[str] = set()
    paths: dict[str, None] = {}
    unread: list[UnreadCall] = []
    for number, message in enumerate(given, 1):
        ids.update(_ids(message, number))
        for call in () if isinstance(message, str) else calls(message):
            found = written(call, _folder(ground, message))
            if found is None:
                unread.append(UnreadCall(number, call.name, call.id))
            paths |= dict.fromkeys(_located(ground, found or ()))
    return Deleted(frozenset(ids), tuple(paths), tuple(unread))


def _ids(message: object, number: int) -> Iterator[str]:
    """The names under which a message may be on record. ValueError."""
    if isinstance(message, str):
        yield message
    elif not (is_mapping(message) or hasattr(message, "__dict__")):
        raise ValueError(
            f"deleted message {number} is of type {type(message).__name__}: give its id, or the"
            " message as its host holds it"
        )
    else:
        told = [
            field(message, "id"),
            field(message, "uuid"),
            field(field(message, "message"), "id"),
        ]
        yield from (each for each in told if isinstance(each, str))


def _folder(ground: SessionContext, message: object) -> str:
    """Where relative paths of a message begin: transcripts say it, or it is the workspace."""
    told = field(message, "cwd")
    return told if isinstance(told, str) and told else ground.workspace.root


def _located(ground: SessionContext, paths: Iterable[str]) -> Iterator[str]:
    """Those that are files of the workspace, or may have been; folders are none."""
    for each in paths:
        try:
            path = ground.workspace.locate(each).path
        except PathRefused:
            continue
        there = ground.workspace.stat(path)
        if there is None or not S_ISDIR(there.mode):
            yield path
