"""What a fact is, the facts of a conversation, and of files that are asked for. core.events has all
of them."""

from __future__ import annotations

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from sightline.core.revision import Revision


class Fact(Value):
    """Base of all facts. `path` names the file it is about, where it is about one."""

    version: ClassVar[int] = 1


class MessageAppended(Fact):
    """A message of the conversation. message: its id, by what it says and the one before it;
    parent: the id of that one. role: system, user, model or tool. text: of its JSON. side: the
    chain of a sub-agent, "" for the session's own. formats: of which all messages up to it may be.
    media: pictures and documents that were taken out of its JSON, in the order they stood there."""

    message: str
    parent: str | None
    role: str
    text: Revision | None = None
    side: str = ""
    formats: tuple[str, ...] = ()
    media: tuple[Revision, ...] = ()


class Folded(Fact):
    """What is folded from here on, decided when `message` was the newest. blocks: how they are
    counted since the last Condensed; text: of the decision's JSON."""

    message: str
    blocks: tuple[int, ...]
    text: Revision | None = None
    side: str = ""


class Condensed(Fact):
    """A summary stands for the messages first..last from here on. summary: its id; text: of its
    JSON."""

    summary: str
    first: str
    last: str
    text: Revision | None = None
    side: str = ""


class CondenseFailed(Fact):
    """A summary that was asked for could not be had, or was not taken."""

    reason: str
    side: str = ""


class FilesSought(Fact):
    """Files were looked for by a chain of patterns, from exact to broad. won: which of them matched,
    from 1 on, 0 for none; tried: how many were; matches: how many files the winner matched;
    offered: the paths that may have been meant, where none did."""

    patterns: tuple[str, ...]
    won: int
    tried: int
    matches: int = 0
    offered: tuple[str, ...] = ()


class ListingRequested(Fact):
    """The agent asked for the listing of a folder, to have it before its next turn. folder: as it
    wrote it; the rest as in core.requesting.ListingRequest."""

    folder: str
    recursive: bool = False
    filter: str | None = None
    depth: int = 3
    limit: int = 200
