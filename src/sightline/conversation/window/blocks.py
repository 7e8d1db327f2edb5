"""Blocks: a conversation as pieces that may be folded away, whatever format its messages have.

conversation.formats.format reads them out of messages and puts stubs in their place; nothing else here knows a
format.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal[
    "system", "user", "text", "thinking", "call", "result", "image", "document", "summary",
    "unknown",
]  # fmt: skip
Deed = Literal["read", "edit", "write", "search", "list", "run", "web", "plan", "other"]


class Excerpt(Struct, frozen=True):
    """Lines of a file that a block shows, as they stand in the file: without the numbers that a
    tool puts before them. path: as the agent spells it; first: 1-based; text: the lines with a
    newline between them, none behind the last; total: the file's lines, where the tool said.
    whole: nothing of the file is missing, but maybe a newline at its end."""

    path: str
    first: int
    text: str
    total: int | None = None
    whole: bool = False

    @property
    def last(self) -> int:
        """The number of its last line."""
        return self.first + self.text.count("\n")


class Rewrite(Struct, frozen=True):
    """What a call puts into a file. old None: all of it is new."""

    path: str
    old: str | None
    new: str


class Block(Struct, frozen=True):
    """A piece of a conversation.

    message, part: where it stands: the index of its message, and of the part in it (adapters give
    them their meaning). kind: system; user: typed by a person; text, thinking: the model's;
    call, result: of a tool; summary: of earlier messages; unknown: passes through as it is.
    text: what the model reads of it (of a call its arguments as JSON). deed: what its tool does.
    paths: files that it names, as they are spelled. step: how many of the model's answers had
    begun when it came, its own counted. at: UTC microseconds. fixed: it may never be changed.
    loose: it may go by itself, without a stub, once the user has spoken again (thinking, where a
    format allows that).
    """

    message: int
    part: int
    kind: Kind
    text: str
    tokens: int = 0
    step: int = 0
    call: str | None = None
    tool: str | None = None
    deed: Deed | None = None
    error: bool = False
    fixed: bool = False
    at: int | None = None
    paths: tuple[str, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    loose: bool = False


class Fold(Struct, frozen=True):
    """A block's text replaced by a stub, for good. block: its place in the list of all blocks;
    tier: which rule chose it."""

    block: int
    stub: str
    tokens: int
    tier: str


class Tail(Struct, frozen=True):
    """A text put at the end of the messages as they were when it was decided, for good; all that
    comes later stands after it. after: the place of the last block before it."""

    after: int
    text: str
    tokens: int


class Decision(Struct, frozen=True):
    """What is folded before one of the model's answers. dropped: blocks that go without a stub
    (closed groups: a call with its result, all of a parallel batch)."""

    folds: tuple[Fold, ...] = ()
    tails: tuple[Tail, ...] = ()
    dropped: tuple[int, ...] = ()
