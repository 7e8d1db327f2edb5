"""The states of a sub-task, and the one function that moves a sub-task from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sightline.errors import SubtaskError

State = Literal[
    "proposed", "pending", "ready", "running", "completed", "failed", "skipped", "cancelled"
]
"""proposed: waits for approval; pending: waits for dependencies; ready: may start; running: an attempt
is under way. The other four are ends. skipped: by a person, or because a dependency did not
complete."""

Move = Literal[
    "approve", "unlock", "start", "return", "complete", "fail", "skip", "cancel", "block", "unblock",
    "retry",
]  # fmt: skip
"""unlock: the last dependency completed; block: a dependency failed, was skipped or was cancelled;
unblock: that dependency is tried again after all; return: an attempt ended without an end of the
sub-task. These four follow from other facts; a person or a runner makes the others."""

OPEN: tuple[State, ...] = ("proposed", "pending", "ready", "running")
ENDS: tuple[State, ...] = ("completed", "failed", "skipped", "cancelled")
STATES = OPEN + ENDS

LOST: frozenset[State] = frozenset(("failed", "skipped", "cancelled"))
"""The ends by which a sub-task blocks those that depend on it."""

MOVES: Mapping[Move, Mapping[State, State]] = {
    "approve": {"proposed": "pending"},
    "unlock": {"pending": "ready"},
    "start": {"ready": "running"},
    "return": {"running": "ready"},
    "complete": dict.fromkeys(("ready", "running", "failed"), "completed"),
    "fail": dict.fromkeys(("ready", "running"), "failed"),
    "skip": dict.fromkeys(("proposed", "pending", "ready"), "skipped"),
    "cancel": dict.fromkeys(("proposed", "pending", "ready", "running"), "cancelled"),
    "block": {"pending": "skipped"},
    "unblock": {"skipped": "pending"},
    "retry": dict.fromkeys(("failed", "skipped", "cancelled"), "pending"),
}
"""Move -> the states that it is legal in, each with the state after it."""


def may_move(state: State, move: Move) -> bool:
    """Return whether a move is legal in a state."""
    return state in MOVES[move]


def transition(state: State, move: Move, subtask: str = "") -> State:
    """Return the state after a move. SubtaskError (kind move) for a move that is not legal in the
    state. subtask: its id, for the error."""
    if state not in MOVES[move]:
        legal = [name for name in MOVES if state in MOVES[name]]
        wanted = [each for each in STATES if each in MOVES[move]]
        raise SubtaskError(
            "move",
            subtask,
            f"Sub-task {subtask!r} is {state}, so {move} is not possible: it has to be {_one_of(wanted)}.",
            f"Possible now: {', '.join(legal)}." if legal else "Nothing more can happen to it.",
        )
    return MOVES[move][state]


def diagram() -> str:
    """Return the states and moves as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> proposed"]
    for state in STATES:
        by_next: dict[State, list[str]] = {}
        for move, table in MOVES.items():
            if state in table:
                by_next.setdefault(table[state], []).append(move)
        lines += [f"    {state} --> {after}: {', '.join(by)}" for after, by in by_next.items()]
    lines += [f"    {state} --> [*]" for state in ENDS]
    return "\n".join(lines)


def _one_of(states: list[State]) -> str:
    return states[0] if len(states) == 1 else f"{', '.join(states[:-1])} or {states[-1]}"
