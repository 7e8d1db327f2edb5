"""Find the changes of one batch that cannot all be done, before the first file is written.

Left to the disk, the second of two such changes finds that somebody changed its file: the batch
itself. A change that clashes is refused, and the refusal names the other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sightline.guard import words
from sightline.guard.evaluation import Evaluation
from sightline.model.revision import MISSING


class Placing(Struct, frozen=True):
    """A file that a batch moves. name, target: as the caller names the new path, and canonical."""

    plan: Evaluation
    name: str
    target: str


def in_order(moves: Sequence[Placing]) -> tuple[list[int], list[int]]:
    """Return the indexes of moves, sorted so that a move that frees a path precedes the move to this
    path; and the indexes of moves that no order helps, as these moves take each other's paths."""
    by_source = {move.plan.path: number for number, move in enumerate(moves)}
    order: list[int] = []
    circling: list[int] = []
    for first in range(len(moves)):
        way = [first]
        while (ahead := by_source.get(moves[way[-1]].target)) is not None and ahead not in order:
            if ahead in way:
                circling += [number for number in way[way.index(ahead) :] if number not in circling]
                break
            way.append(ahead)
        order += [number for number in reversed(way) if number not in order]
    return order, circling


def find_clashes(
    plans: Sequence[Evaluation], moves: Sequence[Placing], circling: Sequence[int]
) -> Mapping[int, tuple[str, str]]:
    """Return message and hint of each change that cannot be done together with an earlier one, by its
    index among the plans and then the moves. circling: moves that take each other's paths."""
    found: dict[int, tuple[str, str]] = {}
    files: dict[str, str] = {}  # path -> the name of each file that will be there
    names_of: dict[tuple[int, int], str] = {}
    sources = {move.plan.path for move in moves}
    for number, plan in enumerate(plans):
        if plan.after == MISSING:
            continue
        stamp = plan.on_disk.signature
        if stamp is not None and plan.on_disk.names > 1:
            first = names_of.setdefault((stamp.dev, stamp.ino), plan.shown_path)
            if first != plan.shown_path:
                found[number] = words.another_name(plan.shown_path, first)
        if plan.path not in sources:
            files[plan.path] = plan.shown_path
            _note_folder(found, number, files, plan.path, plan.shown_path)
    moved: dict[str, str] = {}
    for number, move in enumerate(moves, len(plans)):
        source = move.plan.shown_path
        if move.target in moved:
            found[number] = words.same_target(source, move.name, moved[move.target])
        elif move.target in files:
            found[number] = words.written_target(source, move.name)
        else:
            moved[move.target] = source
            files[move.target] = move.name
            _note_folder(found, number, files, move.target, move.name)
    if circling:
        paths = [moves[number].plan.shown_path for number in circling]
        is_one = len(paths) == 1
        found[len(plans) + circling[-1]] = (
            words.onto_itself(paths[0]) if is_one else words.circle(sorted(paths))
        )
    return found


def _note_folder(
    found: dict[int, tuple[str, str]], number: int, files: Mapping[str, str], path: str, name: str
) -> None:
    """Note that one of two files would have to be a folder for the other one."""
    for other, shown in files.items():
        if other.startswith(f"{path}/"):
            found[number] = words.file_and_folder(name, shown)
        elif path.startswith(f"{other}/"):
            found[number] = words.file_and_folder(shown, name)
