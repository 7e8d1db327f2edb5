"""Judge edits of notebook cells: compare each cell's source with what the agent was shown.

A notebook is JSON, and every program that saves one formats it anew. So lines say little about a
notebook; an agent reads and replaces the source of a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import loads
from typing import Any

from msgspec import Struct, structs

from sightline.errors import fenced
from sightline.guard.edit_case import EditCase, Ruling
from sightline.guard.words import MISSING
from sightline.model.attempts import CellEdit
from sightline.model.diff import diff, unified
from sightline.model.path import quoted
from sightline.model.text import split
from sightline.text.phrases import by, named

INDEX = "cell-"
"""Prefix of the number, from 0, that names a cell without an id."""

NAMED = 20
"""Cells at most that one answer names."""


class Cell(Struct, frozen=True):
    """A cell under the name that agents see. named: the name is the cell's own id."""

    name: str
    source: str
    named: bool = True


def cells(plain: str) -> tuple[Cell, ...] | None:
    """Return the cells of a notebook (nbformat 4) in order; None when the text is no notebook."""
    try:
        notebook = loads(plain)
    except (ValueError, RecursionError):
        return None
    raw_cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(raw_cells, list) or not all(isinstance(raw, dict) for raw in raw_cells):
        return None
    return tuple(_cell(at, raw) for at, raw in enumerate(raw_cells))


def _cell(at: int, raw: dict[str, Any]) -> Cell:
    name, source = raw.get("id"), raw.get("source")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
    return Cell(name, text) if isinstance(name, str) else Cell(f"{INDEX}{at}", text, named=False)


def find(cells: Sequence[Cell], name: str) -> Cell | None:
    """Return a cell by its id, or by its number where no cell has that id."""
    for cell in cells:
        if cell.name == name:
            return cell
    number = name.removeprefix(INDEX)
    if name == number or not (number.isascii() and number.isdigit()) or len(number) > 9:
        return None
    return structs.replace(cells[int(number)], named=False) if int(number) < len(cells) else None


def judge_cell(case: EditCase, edit: CellEdit) -> Ruling:
    """Return whether a cell of a file with content may be replaced or deleted, or a new cell inserted
    behind it."""
    now = cells(case.disk.plain) if case.disk else None
    if now is None:
        return case.refuse("binary")
    if case.sight.belief is None or (case.held is not None and not case.held.complete):
        return case.refuse("unseen")
    was = cells(case.base.plain) if case.base else None
    if was is None:
        return case.refuse("stale")
    ruling = _judged(case, was, now, edit)
    if ruling.reason == "stale" and case.rules.policy == "warn":
        names = edit.cell or "", *ruling.cells
        return structs.replace(ruling, decision="notice", reason=None, cells=names)
    return ruling


def _judged(case: EditCase, was: Sequence[Cell], now: Sequence[Cell], edit: CellEdit) -> Ruling:
    name = edit.cell
    before = {cell.name: cell.source for cell in was}
    after = {cell.name: cell.source for cell in now}
    differing = [cell for cell in after if before.get(cell) != after[cell]]
    others = tuple(
        cell
        for cell in [*differing, *(gone for gone in before if gone not in after)]
        if cell != name
    )
    fine = Ruling("notice" if others else "allow", case.state, cells=others)
    if name is None:  # at the beginning; the host itself refuses what does not fit
        return fine
    shown, current = find(was, name), find(now, name)
    if current is None:
        return case.refuse("not_found" if shown is None else "deleted")
    if shown is None:
        return case.refuse("unseen")
    if shown.source == current.source or (edit.mode == "insert" and shown.named and current.named):
        return fine
    old, new = split(shown.source), split(current.source)
    change = unified(
        old, new, diff(old, new), old=quoted(f"a/{current.name}"), new=quoted(f"b/{current.name}")
    )
    return case.refuse("stale", cells=others, cell_diff=change)


def is_carried_out(was: str, now: str, edits: Sequence[tuple[str | None, str, str]]) -> bool:
    """Return whether a notebook's text is another one with exactly these edits, whatever the layout.
    edits: cell, mode and source of each, as judge_cell takes them."""
    if cells(was) is None or cells(now) is None or _without_cells(was) != _without_cells(now):
        return False
    # A Cell stands for an edited cell, of which only the source counts.
    expected: list[dict[str, Any] | Cell] = loads(was)["cells"]
    for name, mode, source in edits:
        there = [_place(at, each) for at, each in enumerate(expected)]
        cell = find(there, name) if name is not None else None
        if cell is None and (name is not None or mode != "insert"):
            return False
        at = -1 if cell is None else [each.name for each in there].index(cell.name)
        if mode == "insert":
            expected.insert(at + 1, Cell("", source, named=False))
        elif cell is not None:
            edited = structs.replace(there[at], source=source)
            expected[at : at + 1] = [] if mode == "delete" else [edited]
    found = loads(now)["cells"]
    return len(found) == len(expected) and all(
        _cell(at, raw).source == each.source if isinstance(each, Cell) else raw == each
        for at, (raw, each) in enumerate(zip(found, expected, strict=True))
    )


def _place(at: int, cell: dict[str, Any] | Cell) -> Cell:
    """Return a cell under the name that its place gives it."""
    if not isinstance(cell, Cell):
        return _cell(at, cell)
    return cell if cell.named else structs.replace(cell, name=f"{INDEX}{at}")


def _without_cells(notebook: str) -> dict[str, Any]:
    return {key: part for key, part in loads(notebook).items() if key != "cells"}


def refusal(path: str, cell: str | None, reason: str, who: str) -> tuple[str, str]:
    """Return why a cell may not be changed, and the next step. who: changed the file."""
    again = f"Read {quoted(path)} again, then make the edit."
    name = f"Cell {cell} of {quoted(path)}"
    return {
        "unseen": (f"{name} was never shown to you.", f"Read {quoted(path)}, then make the edit."),
        "stale": (f"{name} was changed {by(who)} after you read it.", again),
        "deleted": (f"{name} is gone: it was removed {by(who)}.", again),
        "not_found": (
            f"{quoted(path)} has no cell {cell}.",
            f"Read {quoted(path)} for the names of its cells.",
        ),
        "binary": (
            f"{quoted(path)} cannot be read as a notebook: it is not JSON with a list of cells.",
            "Ask the user about it, or look at its text.",
        ),
    }[reason]


def no_file(path: str, reason: str) -> tuple[str, str]:
    """Return message and hint where a path has no notebook to change."""
    return {
        "deleted": (
            f"{quoted(path)} was deleted after you read it.",
            "Ask the user, or create it again.",
        ),
        "not_found": (f"{quoted(path)} does not exist.", MISSING),
        "unverifiable": (f"{quoted(path)} cannot be read now.", "Try again later."),
        "kind_changed": (f"{quoted(path)} is not a regular file.", "Choose another path."),
    }[reason]


def changed_cells(path: str, cells: Sequence[str], diff: str) -> str:
    """Return the notice on cells that others changed, apart from the edited one unless the policy
    only warns."""
    names = named([quoted(cell) for cell in cells], NAMED)
    text = f"Sightline: in {quoted(path)}, cells changed after you read them: {names}."
    again = f"{text} Read {quoted(path)} again before you edit them."
    return f"{again}\n{fenced(diff, 'diff')}" if diff else again
