"""The diff of a recorded change of a file, from the kept texts."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.model.diff import diff, unified
from sightline.model.log_entries import Entry
from sightline.model.path import quoted
from sightline.model.revision import MISSING
from sightline.model.text import lines_of
from sightline.store.port import Texts


def diff_of(texts: Texts, entry: Entry) -> str | None:
    """Return what a fact changed in the text of its file, as a unified diff: "" where the texts are the same,
    or one of them is no text or not kept. None for a fact that changed no file."""
    if entry.kind not in ("changed", "deleted") or entry.path is None:
        return None
    old, new = (_lines(texts, revision) for revision in (entry.before, entry.after))
    if old is None or new is None:
        return ""
    hunks = diff(old, new)
    before = "/dev/null" if entry.before == MISSING else quoted(f"a/{entry.path}")
    after = "/dev/null" if entry.after == MISSING else quoted(f"b/{entry.path}")
    return unified(old, new, hunks, old=before, new=after) if hunks else ""


def _lines(texts: Texts, revision: str | None) -> Sequence[str] | None:
    """Return the lines of a revision; [] for no file, None where there is no text of it."""
    return [] if revision in (None, MISSING) else lines_of(texts.blob(revision))
