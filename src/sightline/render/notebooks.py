"""Words on edits of a notebook's cells."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAMED = 20
"""Cells at most in one answer."""


def refusal(path: str, cell: str | None, reason: str, who: str) -> tuple[str, str]:
    """Why a cell may not be changed, and the next step. who: changed the file."""
    again = f"Read {path} again, then make the edit."
    name = f"Cell {cell} of {path}"
    return {
        "unseen": (f"{name} was never shown to you.", f"Read {path}, then make the edit."),
        "stale": (f"{name} was changed since it was shown, by {who}.", again),
        "deleted": (f"{name} is gone; {who} took it away.", again),
        "not_found": (f"{path} has no cell {cell}.", f"Read {path} for the names of its cells."),
        "binary": (
            f"{path} is no notebook that can be read: it is not JSON with a list of cells.",
            "Ask the user about it, or look at its text.",
        ),
    }[reason]


def no_file(path: str, reason: str) -> tuple[str, str]:
    """There is no notebook to change at a path."""
    return {
        "deleted": (f"{path} was deleted since it was shown.", "Ask the user, or create it anew."),
        "not_found": (f"{path} does not exist.", "List its folder, or create it."),
        "unverifiable": (f"{path} cannot be read now.", "Try again later."),
        "kind_changed": (f"{path} is not a regular file.", "Choose another path."),
    }[reason]


def changed_cells(path: str, cells: Sequence[str], diff: str) -> str:
    """Cells other than the edited one, or by policy that one too, that others changed."""
    names = ", ".join(cells[:NAMED])
    more = f" and {len(cells) - NAMED} more" if len(cells) > NAMED else ""
    said = f"Sightline: in {path}, cells changed since they were shown to you: {names}{more}."
    return f"{said} Read it again before you edit them." + (f"\n{diff}" if diff else "")
