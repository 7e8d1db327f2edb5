"""Blocks: the pieces of a conversation that can be folded, whatever format its messages have.

messages.formats.format parses messages into blocks and writes stubs back into messages. Nothing
in this package knows a wire format.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal[
    "system", "user", "text", "thinking", "call", "result", "image", "document", "summary",
    "unknown",
]  # fmt: skip
Deed = Literal["read", "edit", "write", "search", "list", "run", "web", "plan", "other"]
"""What a tool does."""


class Excerpt(Struct, frozen=True):
    """Lines of a file that a block shows, as they stand in the file, without the line numbers that
    a tool prints.

    path: as the agent spells it; first: 1-based line number; text: the lines joined by newlines,
    without one at the end; total: lines of the file, where the tool names it; whole: the text is
    the whole file, except perhaps for a newline at its end.
    """

    path: str
    first: int
    text: str
    total: int | None = None
    whole: bool = False

    @property
    def last(self) -> int:
        """Return the number of the last line."""
        return self.first + self.text.count("\n")


class Rewrite(Struct, frozen=True):
    """Text that a call writes into a file. old: the text replaced; None: the whole file is new."""

    path: str
    old: str | None
    new: str


class Block(Struct, frozen=True):
    """A piece of a conversation.

    message, part: index of the message, and of the part in the message. kind: system; user: typed
    by a person; text, thinking: written by the model; call, result: of a tool; summary: of earlier
    messages; unknown: sent unchanged. text: the text that the model reads (for a call, its arguments as
    JSON). deed: what the tool does. paths: files that the block names, as the agent spells them.
    step: number of the model's answer, from 1; blocks between two answers have the number of the
    earlier one. at: UTC microseconds. restored: files and folders that a call takes back to their
    committed text. fixed: the block may never be changed. loose: the block may
    be dropped without a stub after the user's next message (thinking, where the format allows it).
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
    restored: tuple[str, ...] = ()
    loose: bool = False


class Fold(Struct, frozen=True):
    """A permanent stub in place of a block's text. block: place in the list of all blocks; tokens:
    of the stub; tier: the rule that chose the block."""

    block: int
    stub: str
    tokens: int
    tier: str


class Tail(Struct, frozen=True):
    """A permanent text at the end of the messages that existed when it was added; later messages
    follow it. after: place of the last block before the text."""

    after: int
    text: str
    tokens: int


class Decision(Struct, frozen=True):
    """The changes to the view before one of the model's answers. dropped: places of blocks that are
    removed without a stub, in closed groups: a call with its result, a whole parallel batch."""

    folds: tuple[Fold, ...] = ()
    tails: tuple[Tail, ...] = ()
    dropped: tuple[int, ...] = ()
