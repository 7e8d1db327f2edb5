"""Move a file: its bytes stay, its path changes, nothing is overwritten."""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.guard.edit import apply_all
from sightline.model.results import EditResult


def move(context: SessionContext, src: str, dst: str) -> EditResult:
    """Rename a file. EditRefused when dst exists, or when src is not as this session knows it."""
    [result] = apply_all(context, [], {src: dst})
    return result
