"""Put the bytes that are no text back into an agent's attempt.

What is shown has U+FFFD in place of each such byte (`model.marks`), and the agent sends that
mark back. Lines and texts that it kept have their own bytes again; a mark with no place of its own
is refused, since the byte that it stands for is not known.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from sightline.guard.edit_case import EditCase
from sightline.model.attempts import Attempt, Patch, Replace, ReplaceLines, WriteWhole
from sightline.model.locate import block_places, offsets_of
from sightline.model.marks import has_lone, sendable
from sightline.model.patches import PatchHunk
from sightline.model.text import OPAQUE, joined, normal, restored, split


def as_kept(case: EditCase, attempt: Attempt) -> Attempt | None:
    """Return an attempt with the bytes that its marks stand for; None where that is not certain."""
    both = [text for text in (case.base, case.disk) if text is not None]
    if not any(text.has_lone for text in both):
        return attempt
    texts = [text.plain for text in both]
    try:
        if isinstance(attempt, WriteWhole) and not attempt.raw:
            content = restored(normal(attempt.content), texts[0])
            return structs.replace(attempt, content=content)
        if isinstance(attempt, Replace):
            return _replacement(case, attempt, texts)
        if isinstance(attempt, ReplaceLines) and case.held is not None:
            lines = joined(case.held.lines[attempt.first - 1 : attempt.last])
            return structs.replace(attempt, new=restored(normal(attempt.new), lines))
        if isinstance(attempt, Patch):
            hunks = tuple(_hunk(hunk, texts) for hunk in attempt.hunks)
            return structs.replace(attempt, hunks=hunks)
    except ValueError:
        return None
    return attempt


def _replacement(case: EditCase, attempt: Replace, texts: Iterable[str]) -> Replace | None:
    old, new = normal(attempt.old), normal(attempt.new)
    for plain in texts:
        offsets = offsets_of(sendable(plain), old)
        if case.disk_text.encoding == OPAQUE and any(_is_within(plain, at) for at in offsets):
            return None
        found = {plain[at : at + len(old)] for at in offsets}
        if len(found) == 1:
            [own] = found
            return structs.replace(attempt, old=own, new=restored(new, own))
    return attempt


def _is_within(plain: str, at: int) -> bool:
    """Return whether the character at an offset may be the second byte of another one."""
    return at > 0 and has_lone(plain[at - 1]) and "0" <= plain[at] <= "~"


def _hunk(hunk: PatchHunk, texts: Iterable[str]) -> PatchHunk:
    for plain in texts:
        lines = split(plain)
        places = block_places(hunk.old, [sendable(line) for line in lines])
        found = {tuple(lines[at : at + len(hunk.old)]) for at in places}
        if len(found) == 1:
            [own] = found
            new = restored(joined(hunk.new), joined(own))
            return structs.replace(hunk, old=own, new=tuple(split(new)))
    return hunk
