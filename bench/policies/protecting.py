"""Protecting what was modified: an earlier rule for what goes first, kept beside ours.

What the agent wrote never goes, nor does what it read of a file that it changed. What can be had
again by running it goes first and soonest, files go when they were not used for long, and files
that the user named stay twice as long. A stub says path, lines, how it began and how to read it
again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from sightline.audit.policies import Ask, Setting
from sightline.messages.blocks import Block, Decision, Fold
from sightline.window.file_index import FILES, Files

Tier = Literal["again", "other", "stale"]
Count = Callable[[str], int]

AGAIN = ("search", "list", "run", "web")
ORDER: tuple[Tier, ...] = ("again", "other", "stale")
"""Return the places in the order in which they go."""

PREVIEW = 200
"""Characters of a file that its stub repeats."""


class Ages(Struct, frozen=True):
    """After how many of the model's answers a result is old. again: of what can be run again; file:
    of a file that was read, since anything last touched it; mentioned: of one that the user named;
    other: of anything else. soft: tokens of the window above which what is old goes, down to the
    part `target` of it."""

    again: int = 5
    file: int = 10
    mentioned: int = 20
    other: int = 10
    soft: int = 100_000
    target: float = 0.5


class Protecting:
    """The folder of one conversation. count: tokens of a text."""

    name = "protect-modified"

    def __init__(self, count: Count, ages: Ages = Ages()) -> None:  # noqa: B008 - a value
        self._count = count
        self._ages = ages
        self._blocks: list[Block] = []
        self._open: list[int] = []
        self._files = Files()

    def add(self, block: Block) -> None:
        """The next block of the conversation."""
        place = len(self._blocks)
        self._blocks.append(block)
        self._files.add(place, block)
        if block.kind == "result" and not block.fixed and block.deed != "plan":
            self._open.append(place)

    def decide(self, tokens: int) -> Decision:
        """Return what is folded now. tokens: of the window as it stands."""
        ages = self._ages
        if tokens <= ages.soft:
            return Decision()
        over = tokens - int(ages.soft * ages.target)
        folds: list[Fold] = []
        for tier, place in sorted((ORDER.index(tier), place) for place, tier in self._old()):
            if over <= 0:
                break
            block = self._blocks[place]
            words = stub(block, block.step)
            size = self._count(words)
            if size < block.tokens:
                folds.append(Fold(place, words, size, ORDER[tier]))
                over -= block.tokens - size
        gone = {fold.block for fold in folds}
        self._open = [place for place in self._open if place not in gone]
        return Decision(tuple(sorted(folds, key=lambda fold: fold.block)))

    def _old(self) -> list[tuple[int, Tier]]:
        told = ((place, self._tier(place)) for place in self._open)
        return [(place, tier) for place, tier in told if tier is not None]

    def _tier(self, place: int) -> Tier | None:
        """Why a result may go; None while it may not."""
        block, ages = self._blocks[place], self._ages
        age = self._blocks[-1].step - block.step
        if block.deed in AGAIN:
            return "again" if age >= ages.again else None
        if block.deed in ("edit", "write"):
            return None
        if block.deed in FILES and (paths := self._files.paths_of(block)):
            return "stale" if all(self._is_stale(path) for path in paths) else None
        return "other" if age >= ages.other else None

    def _is_stale(self, path: str) -> bool:
        """Return whether a file was not modified, and not used for long."""
        files, ages = self._files, self._ages
        if path in files.edited:
            return False
        longest = ages.mentioned if path in files.mentioned else ages.file
        return self._blocks[-1].step - files.touched.get(path, 0) >= longest


class Protected:
    """The earlier rule, as a policy that can be replayed."""

    name = Protecting.name

    def __init__(self, setting: Setting) -> None:
        soft = Ages().soft if setting.soft_budget is None else setting.soft_budget
        self._folder = Protecting(setting.count, Ages(soft=soft))

    def add(self, block: Block) -> None:
        """A block came."""
        self._folder.add(block)

    def decide(self, ask: Ask) -> Decision:
        """Return what is folded before this call."""
        return self._folder.decide(ask.tokens)


def stub(block: Block, step: int) -> str:
    """The words for a result. step: at which it came; how long ago that is would change."""
    lines = block.text.count("\n") + 1
    if block.deed != "read" or not block.paths:
        return f"[Output of {block.tool or 'a tool'} ({lines} lines) - truncated, run it again]"
    shown = block.excerpts[0].text if block.excerpts else block.text
    return (
        f"[File: {block.paths[0]} ({lines} lines) - content truncated, use {block.tool} to re-read."
        f" Last read: step {step}. It began: {' '.join(shown[:PREVIEW].split())}]"
    )
