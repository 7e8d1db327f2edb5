"""Edits of a notebook, judged by its cells: what the agent was shown of one, and what it is now.

A notebook is JSON, and every program that saves one lays it out anew. So lines say little of it;
what an agent reads and replaces is the source of a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import loads
from typing import Any

from msgspec import Struct, structs

from sightline.guard.edit_case import Decision, EditCase
from sightline.guard.verdict import judge
from sightline.model.diff import diff, unified
from sightline.model.text import split
from sightline.text.phrases import named

INDEX = "cell-"
"""Before the number of a cell, counted from 0, that has no id of its own."""


class Cell(Struct, frozen=True):
    """A cell by the name an agent is shown it by; named: it is its own id, not its place."""

    name: str
    source: str
    named: bool = True


class CellRuling(Struct, frozen=True):
    """What may be done. reason: as for any refusal; diff: of the cell's source, believed to disk;
    others: names of further cells whose source is not what was shown."""

    decision: Decision
    reason: str | None = None
    diff: str = ""
    others: tuple[str, ...] = ()


def cells(plain: str) -> tuple[Cell, ...] | None:
    """The cells of a notebook (nbformat 4) in order; None when the text is none."""
    try:
        read = loads(plain)
    except (ValueError, RecursionError):
        return None
    listed = read.get("cells") if isinstance(read, dict) else None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        return None
    return tuple(_cell(at, each) for at, each in enumerate(listed))


def find(some: Sequence[Cell], name: str) -> Cell | None:
    """A cell by its id, or by its place where no cell has that id."""
    for cell in some:
        if cell.name == name:
            return cell
    place = name.removeprefix(INDEX)
    if name == place or not (place.isascii() and place.isdigit()) or len(place) > 9:
        return None
    return structs.replace(some[int(place)], named=False) if int(place) < len(some) else None


def judge_cell(case: EditCase, name: str | None, mode: str) -> CellRuling:
    """Whether a cell may be replaced or deleted, or one be put behind it (insert; name None: before
    all others)."""
    standing = judge(case, None)
    if case.sight.kind != "file" or case.sight.why == "too_large":
        return CellRuling("refuse", standing.reason)
    now = cells(case.disk.plain) if case.disk else None
    if now is None:
        return CellRuling("refuse", "binary")
    if case.sight.belief is None or (case.held is not None and not case.held.complete):
        return CellRuling("refuse", "unseen")
    was = cells(case.base.plain) if case.base else None
    if was is None or (case.sight.retargeted and not case.same):
        return CellRuling("refuse", "stale")
    ruling = _judged(was, now, name, mode)
    if ruling.reason == "stale" and case.rules.policy == "warn":
        return CellRuling("notice", None, ruling.diff, (name or "", *ruling.others))
    return ruling


def _judged(was: Sequence[Cell], now: Sequence[Cell], name: str | None, mode: str) -> CellRuling:
    others = tuple(each for each in _differing(was, now) if each != name)
    fine = CellRuling("notice" if others else "allow", others=others)
    if name is None:  # at the very beginning, or turned down by the host itself
        return fine
    shown, there = find(was, name), find(now, name)
    if there is None:
        return CellRuling("refuse", "not_found" if shown is None else "deleted")
    if shown is None:
        return CellRuling("refuse", "unseen")
    if shown.source == there.source or (mode == "insert" and shown.named and there.named):
        return fine
    return CellRuling("refuse", "stale", _diff(shown, there), others)


def _differing(was: Sequence[Cell], now: Sequence[Cell]) -> list[str]:
    """Cells that came, went or have another source, in the order of the notebook."""
    before = {cell.name: cell.source for cell in was}
    after = {cell.name: cell.source for cell in now}
    gone = [name for name in before if name not in after]
    return [name for name in after if before.get(name) != after[name]] + gone


def _diff(shown: Cell, there: Cell) -> str:
    old, new = split(shown.source), split(there.source)
    name = there.name
    return unified(old, new, diff(old, new), old=f"a/{name}", new=f"b/{name}")


def _cell(at: int, raw: dict[str, Any]) -> Cell:
    name, source = raw.get("id"), raw.get("source")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
    return Cell(name, text) if isinstance(name, str) else Cell(f"{INDEX}{at}", text, named=False)


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
    names = named(cells, NAMED)
    said = f"Sightline: in {path}, cells changed since they were shown to you: {names}."
    return f"{said} Read it again before you edit them." + (f"\n{diff}" if diff else "")
