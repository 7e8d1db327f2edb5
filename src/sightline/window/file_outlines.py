"""Outline the files that an agent read, as it saw them: the signatures, with line numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sightline.codegraph.outlines import outline
from sightline.messages.blocks import Block
from sightline.model.path import quoted
from sightline.window.file_index import Files

OUTLINE_TOKENS = 4_000
"""Tokens of all outlines in a summary."""

FILE_LINES = 60
"""Signatures of one file."""


def outline_sections(
    blocks: Sequence[Block], count_tokens: Callable[[str], int], room: int = OUTLINE_TOKENS
) -> list[str]:
    """Return one section with the outlines of the files that blocks show, the newest first, by the
    text that stood in the blocks with the agent's own edits; nothing from the disk. No section where
    there is no outline."""
    files = Files()
    for place, block in enumerate(blocks):
        files.add(place, block)
    outlines: list[str] = []
    for path in sorted(files.touched, key=lambda path: -files.touched[path]):
        text = outline_text(path, files.current.runs(path))
        room -= count_tokens(text)
        if room < 0:
            break
        outlines += [text] if text else []
    return (
        ["### Outlines of the files, as you saw them\n\n" + "\n".join(outlines)] if outlines else []
    )


def outline_text(path: str, runs: Sequence[tuple[int, list[str]]]) -> str:
    """Return the outline of a file whose lines are partly known; "" for none. runs: the number of the
    first line and the lines."""
    lines = [
        f"  {first + each.line - 1}: {'  ' * each.depth}{each.text}"
        for first, known in runs
        for each in outline(path, "\n".join(known))
    ]
    if not lines:
        return ""
    more = len(lines) - FILE_LINES
    lines = [*lines[:FILE_LINES], f"  ({more} more left out)"] if more > 0 else lines
    return "\n".join([f"- {quoted(path)}", *lines])
