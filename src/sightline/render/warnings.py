"""Warnings in words: for the agent that has to mind them, and for people."""

from __future__ import annotations

from sightline.render.views import count, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Warned(Protocol):
        """services.results.FileWarning."""

        @property
        def id(self) -> str: ...
        @property
        def text(self) -> str: ...
        @property
        def paths(self) -> tuple[str, ...]: ...
        @property
        def session(self) -> str: ...


PATHS_NAMED = 10
"""Paths that one sentence names; of the others the number is told."""

PATHS_WIDTH = 600
"""Characters for them."""

AGENT_MAX = 2_900
"""Characters for the agent in one answer: one warning at least, and a notice has its room beside
it. Further ones are told with the next prompt."""


def went_back(files: int, mine: Sequence[str], others: Sequence[str]) -> str:
    """The conversation went back and the files did not. mine, others: edited since by the agent
    itself, and by anybody else."""
    by = [
        f"{whose}: {_listed(paths)}"
        for whose, paths in (("by this agent", mine), ("by others", others))
        if paths
    ]
    were, them = ("was", "it") if files == 1 else ("were", "them")
    return (
        f"The conversation went back, and the files did not: {count(files, 'file')} {were} edited"
        f" after that point ({'; '.join(by)}). What the conversation says of {them} is older than"
        f" what stands on disk: read {them} again before relying on {them}."
    )


def for_agent(found: Sequence[Warned]) -> list[str]:
    """Warnings as an agent is told them, each with what it is about: as many as fit."""
    said: list[str] = []
    room = AGENT_MAX
    for each in found:
        words = f"Sightline warns you: {each.text}{_about(each)}"
        room -= len(words)
        if said and room < 0:
            break
        said.append(words)
    return said


def unknown(name: str) -> tuple[str, str]:
    """The message and the hint for an id that is no warning's."""
    return f"There is no warning {name}.", "List those that stand: sightline warnings."


def raised(warned: Warned) -> str:
    """A warning that was raised just now, for people."""
    return f"Warning {warned.id}: {in_line(warned)}"


def in_line(warned: Warned) -> str:
    """A warning for people, on one line."""
    return one_line(f"{warned.text}{_about(warned)}")


def _about(warned: Warned) -> str:
    """The files it is about, where its text does not name them all itself."""
    if all(path in warned.text for path in warned.paths):
        return ""
    return f" ({_listed(warned.paths)})"


def _listed(paths: Sequence[str]) -> str:
    named: list[str] = []
    room = PATHS_WIDTH
    for path in paths[:PATHS_NAMED]:
        room -= len(path) + 2
        if named and room < 0:
            break
        named.append(path)
    more = len(paths) - len(named)
    return f"{', '.join(named)}{f' and {more} more' if more else ''}"
