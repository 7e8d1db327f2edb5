"""Files and folders that change places: which effects are undone together, and in what order.

A file goes before a folder takes its place, and all files of a folder go before a file takes the place
of the folder. A folder that holds a file which is not part of the plan never gives way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from stat import S_ISDIR

from msgspec import structs

from sightline.checkpoints.rewind.undo_plan import (
    CurrentState,
    Rename,
    Restore,
    SetMode,
    Skipped,
    Step,
    UndoPlan,
)
from sightline.filesystem.port import Workspace
from sightline.model.path import folders_above
from sightline.model.revision import MISSING


def joined_by_folders(groups: Sequence[Collection[str]]) -> list[list[int]]:
    """Return the numbers of the groups of paths that belong together, because one has a path that is a
    folder above a path of the other; in order."""
    leader = list(range(len(groups)))

    def lead(number: int) -> int:
        while leader[number] != number:
            number = leader[number] = leader[leader[number]]
        return number

    owner = {path: number for number, paths in enumerate(groups) for path in paths}
    for number, paths in enumerate(groups):
        for path in paths:
            for above in _above(path):
                if above in owner:
                    first, second = sorted((lead(number), lead(owner[above])))
                    leader[second] = first
    together: dict[int, list[int]] = {}
    for number in range(len(groups)):
        together.setdefault(lead(number), []).append(number)
    return list(together.values())


def combined(
    workspace: Workspace, plans: Sequence[UndoPlan], current: Mapping[str, CurrentState]
) -> UndoPlan:
    """Return one plan of all these, with its steps in an order that the disk allows. A plan that puts a
    file where others' files are in the way is left out, with the reason."""
    kept = list(plans)
    while True:
        freed = {path for plan in kept for path in _freed(plan)}
        put = {path for plan in kept for path in _put(plan)}
        folders: dict[str, tuple[str, ...]] = {}
        blocked = False
        for number, plan in enumerate(kept):
            first = None
            for path in _put(plan):
                gives_way = workspace.emptied(path, freed) if current[path].is_folder else ()
                if gives_way is None:
                    first = Skipped(path, "folder")
                elif (file := _file_above(workspace, path, freed, put)) is not None:
                    first = Skipped(path, "below_file", other=file)
                else:
                    folders[path] = gives_way
                if first is not None:
                    break
            if first is not None:
                kept[number] = _left_out(plan, first)
                blocked = True
        if not blocked:
            break
    return UndoPlan(
        tuple(_in_order([_giving_way(step, folders) for plan in kept for step in plan.steps])),
        tuple(each for plan in kept for each in plan.skipped),
        tuple(each for plan in kept for each in plan.effects),
        tuple(each for plan in kept for each in plan.gone),
    )


def _left_out(plan: UndoPlan, first: Skipped) -> UndoPlan:
    others = sorted({step.path for step in plan.steps} - {first.path})
    also = [Skipped(path, "moved_since", other=first.path) for path in others]
    return UndoPlan(skipped=(first, *also))


def _file_above(
    workspace: Workspace, path: str, freed: Collection[str], put: Collection[str]
) -> str | None:
    """Return the file that stands, or comes to stand, where a folder above a path would have to be."""
    for above in _above(path):
        if above in put:
            return above
        try:
            found = workspace.stat(above)
        except OSError:
            return None  # the disk will say why
        if found is not None and not S_ISDIR(found.mode):
            return None if above in freed else above
        if found is None:
            return None
    return None


def _above(path: str) -> list[str]:
    return [each[:-1] for each in folders_above(path)]


def _freed(plan: UndoPlan) -> set[str]:
    """Return the paths where no file stands any more once the plan is carried out."""
    freed: set[str] = set()
    for step in plan.steps:
        freed -= {_puts(step) or ""}
        freed |= {_frees(step) or ""}
    return freed - {""}


def _put(plan: UndoPlan) -> list[str]:
    """Return the paths where the plan puts a file that is still there at the end."""
    freed = _freed(plan)
    paths = dict.fromkeys(map(_puts, plan.steps))
    return [path for path in paths if path is not None and path not in freed]


def _puts(step: Step) -> str | None:
    """Return the path where a step puts a file and no file stood before; None for no such path."""
    if isinstance(step, Restore):
        return step.path if step.before == MISSING != step.after else None
    return step.path if isinstance(step, Rename) else None


def _frees(step: Step) -> str | None:
    """Return the path that a step leaves without a file; None for no such path."""
    if isinstance(step, Restore):
        return step.path if step.after == MISSING else None
    return step.src if isinstance(step, Rename) else None


def _giving_way(step: Step, folders: Mapping[str, tuple[str, ...]]) -> Step:
    path = _puts(step)
    if path is None or not folders.get(path) or isinstance(step, SetMode):
        return step
    return structs.replace(step, gives_way=folders[path])


def _in_order(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield steps in their order, but those that free a place before those that need the place."""
    before: list[set[int]] = [set() for _ in steps]
    last: dict[str, int] = {}
    puts: dict[str, list[int]] = {}
    frees: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        for path in {step.path, step.src if isinstance(step, Rename) else step.path}:
            if path in last:
                before[number].add(last[path])
            last[path] = number
        for found, by_path in ((_puts(step), puts), (_frees(step), frees)):
            if found is not None:
                by_path.setdefault(found, []).append(number)
    for path, numbers in puts.items():
        for above in _above(path):
            for number in numbers:
                before[number].update(frees.get(above, ()))
    for path, numbers in frees.items():
        for above in _above(path):
            for number in puts.get(above, ()):
                before[number].update(numbers)
    yield from (steps[number] for number in _sorted(before))


def _sorted(before: Sequence[set[int]]) -> Iterator[int]:
    """Yield numbers so that each follows those of its set, else in order. Where they go in a circle, the
    lowest goes first: the disk decides."""
    waits = [len(some) for some in before]
    behind: dict[int, list[int]] = {}
    for number, some in enumerate(before):
        for each in some:
            behind.setdefault(each, []).append(number)
    ready = [number for number, count in enumerate(waits) if not count]
    heapify(ready)
    left = set(range(len(before)))
    while left:
        number = heappop(ready) if ready else min(left)
        if number not in left:
            continue
        left.discard(number)
        yield number
        for each in behind.get(number, ()):
            waits[each] -= 1
            if not waits[each]:
                heappush(ready, each)
