"""The to-dos of an agent, and the reports of its sub-agents."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

State = Literal["proposed", "in_progress", "done", "dropped"]


class Todo(Struct, frozen=True):
    """A to-do. detail: for the model; files: changed for it; turn: of its last change, 0 before the
    first turn."""

    text: str
    state: State = "proposed"
    detail: str = ""
    files: tuple[str, ...] = ()
    turn: int = 0


class Report(Struct, frozen=True):
    """The answer of a sub-agent. about: its task in few words; text: its beginning."""

    about: str
    text: str


class RecordedWork(Struct, frozen=True):
    """todos: the newest list; reports: of the sub-agents that answered last, in order."""

    todos: tuple[Todo, ...] = ()
    reports: tuple[Report, ...] = ()


NO_WORK = RecordedWork()
