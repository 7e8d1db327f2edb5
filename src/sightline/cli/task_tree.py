"""The tree of sub-tasks as lines, for commands and for the live view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sightline.subtasks.subtask import Branch, Graph, SubTask
from sightline.text.phrases import joined
from sightline.text.printable import one_line, printable
from sightline.text.terminal_cells import cells, shortened

COLOURS = {
    "proposed": "magenta", "pending": "white", "ready": "cyan", "running": "yellow",
    "completed": "green", "failed": "red", "skipped": "white", "cancelled": "white",
}  # fmt: skip

MARKS = {
    "proposed": "?", "pending": "·", "ready": "○", "running": "●", "completed": "✓", "failed": "✗",
    "skipped": "-", "cancelled": "-",
}  # fmt: skip

STATE = 9
"""Letters of the longest state."""

NAMES = 24
"""Columns of branches and ids that goals stand behind. A longer id moves its own goal."""

DEEPEST = 4
"""Levels that are drawn. What is deeper stands at that level."""

GOAL_MIN = 24
"""Columns that a goal needs to stand behind its id. Else it stands below."""


def tree_lines(graph: Graph, style: Callable[[str, str], str], width: int | None) -> list[str]:
    """Return a graph as lines: each sub-task with its state and its goal, below the last that it waits for,
    and behind that what became of it. style: puts words in a colour. width: columns of a line; None to cut
    nothing."""
    branches = graph.tree()
    stems = _stems(branches)
    names = [f"{stem}{printable(each.task.id)}" for stem, each in zip(stems, branches, strict=True)]
    room = max((cells(name) for name in names if cells(name) <= NAMES), default=0)
    lines = []
    for branch, name in zip(branches, names, strict=True):
        task = branch.task
        state = style(f"{MARKS[task.state]} {task.state:<{STATE}}", COLOURS[task.state])
        used = STATE + 4 + max(room, cells(name)) + 2
        said = [_goal(branch), *outcome(task)]
        left = None if width is None else width - used
        if left is not None and left < GOAL_MIN:
            indent = " " * (STATE + 4)
            said = [_cut(each, (width or 0) - STATE - 4) for each in said]
            lines += [f"{state}  {name}", *(f"{indent}{each}" for each in said)]
            continue
        said = [_cut(each, left) for each in said]
        padding = " " * (max(room - cells(name), 0) + 2)
        lines.append(f"{state}  {name}{padding}{said[0]}")
        lines += [f"{' ' * (STATE + 4 + room + 2)}{each}" for each in said[1:]]
    return lines


def outcome(task: SubTask) -> list[str]:
    """Return what became of a sub-task in at most one line, behind an arrow."""
    said = task.reason if task.state != "completed" else task.result
    return [f"→ {printable(one_line(said))}"] if said else []


def _goal(branch: Branch) -> str:
    also = f" (also after {joined(branch.also)})" if branch.also else ""
    return f"{printable(one_line(branch.task.goal))}{also}"


def _cut(text: str, room: int | None) -> str:
    return text if room is None else shortened(text, room)


def _stems(branches: Sequence[Branch]) -> list[str]:
    """Return what is drawn before each id."""
    stems: list[str] = []
    goes_on: dict[int, bool] = {}
    for branch in reversed(branches):
        depth = min(branch.depth, DEEPEST)
        for deeper in [level for level in goes_on if level > depth]:
            del goes_on[deeper]
        above = "".join("│  " if goes_on.get(level) else "   " for level in range(1, depth))
        stems.append(f"{above}{'├─ ' if goes_on.get(depth) else '└─ '}" if depth else "")
        goes_on[depth] = True
    return stems[::-1]
