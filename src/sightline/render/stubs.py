"""The words that stand in a conversation where a text was folded away.

They never change once they stand there, so they say nothing that would be other words later: the
step is a number, and whether a file changed is as of when it was folded.
"""

from __future__ import annotations

from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.window.blocks import Block, Excerpt

NAME_LENGTH = 12
"""Digits that name a text: two of 100,000 texts share them in one of 50,000 conversations."""

TITLE_MAX, LAST_MAX = 80, 200
"""Characters of what a call was given, and of the last lines of an error, that a stub repeats."""


def named(text: str) -> str:
    """The short name of a folded text, by which it can be had again."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_LENGTH]


def stub(block: Block, changed: bool = False) -> str:  # noqa: FBT001, FBT002
    """The words for a block. changed: its file was changed by the agent since."""
    since = " You changed the file since." if changed else ""
    last = f" It ended: {_last(block.text)}" if block.error else ""
    return (
        f"[{_what(block)}, at step {block.step}, was removed to save context.{since}{last}"
        f" To see it again: expand {named(block.text)}]"
    )


def _what(block: Block) -> str:
    if block.excerpts:
        shown = ", ".join(_lines(each) for each in block.excerpts[:3])
        more = len(block.excerpts) - 3
        return f"What {_tool(block)} showed of {shown}" + (f" and {more} more" if more > 0 else "")
    lines = block.text.count("\n") + 1
    size = "1 line" if lines == 1 else f"{lines} lines"
    if block.kind == "call":
        paths = ", ".join(dict.fromkeys(each.path for each in block.rewrites)) or "a command"
        return f"What you gave {_tool(block)} for {paths}, {size}"
    about = f" for {_short(', '.join(block.paths))}" if block.paths else ""
    return f"The answer of {_tool(block)}{about}, {size}"


def _lines(excerpt: Excerpt) -> str:
    if excerpt.whole:
        return f"{excerpt.path} (all of it)"
    return f"{excerpt.path} lines {excerpt.first}-{excerpt.last}"


def _tool(block: Block) -> str:
    return block.tool or "a tool"


def _short(text: str) -> str:
    return text if len(text) <= TITLE_MAX else f"{text[: TITLE_MAX - 1]}…"


def _last(text: str) -> str:
    """The end of a text, in one line."""
    return " ".join(text[-LAST_MAX:].split())
