"""What a view lost, by exact text: told by the record's own future, never by the policy."""

from __future__ import annotations

from collections import Counter

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.replaying.record import Need, Turn
    from sightline.core.replaying.view import View
    from sightline.core.window.blocks import Block, Decision


class Lost(Value):
    """What a call would have missed. edits, references: of those it went by; forced: reads of what
    the view no longer has, which the policy owes; avoidable: reads of what it still has."""

    edits: tuple[Need, ...]
    references: int
    forced: int
    avoidable: int


def lost(turn: Turn, view: View) -> Lost:
    """What of a call's needs the view does not hold."""
    forced = sum(not view.holds(each.text, each.held) for each in turn.reads)
    return Lost(
        tuple(each for each in turn.edits if not view.holds(each.text, each.held)),
        sum(not view.holds(each.text, each.held) for each in turn.references),
        forced,
        len(turn.reads) - forced,
    )


class Intents:
    """What a person typed, and the plan as it was last written: which of it went missing."""

    def __init__(self) -> None:
        self._typed: dict[int, str] = {}
        self._plan: int | None = None
        self._lost: set[int] = set()

    def add(self, place: int, block: Block) -> None:
        """A block came."""
        if block.kind == "user":
            self._typed[place] = block.text
        elif block.kind == "call" and block.deed == "plan":
            self._plan = place

    def look(self, view: View, decision: Decision) -> int:
        """How many are missing by now, verbatim, or ever were."""
        for place in (*(fold.block for fold in decision.folds), *decision.dropped):
            if place in self._typed and not view.holds(self._typed[place], ()):
                self._lost.add(place)
        if self._plan is not None and not view.visible[self._plan]:
            self._lost.add(self._plan)
        return len(self._lost)


class Stale:
    """Files of which a view shows an old text and nothing that says it is old."""

    def __init__(self) -> None:
        self._edits: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._version: Counter[str] = Counter()
        self._shown: dict[str, list[tuple[int, int]]] = {}
        self._told: dict[str, list[int]] = {}

    def add(self, place: int, block: Block) -> None:
        """A block came."""
        if block.kind == "call" and block.rewrites and block.call:
            self._edits[block.call] = place, tuple({each.path for each in block.rewrites})
        elif block.kind == "result" and block.call in self._edits and not block.error:
            began, paths = self._edits[block.call]
            for path in paths:
                self._version[path] += 1
                self._told[path] = [began, place]
        for path in {each.path for each in block.excerpts} if block.deed == "read" else ():
            self._shown.setdefault(path, []).append((place, self._version[path]))
            self._told.setdefault(path, []).append(place)

    def exposed(self, view: View) -> int:
        """How many files the view shows as they no longer are, without a word of it."""
        return sum(self._exposed(path, view.visible) for path in self._version)

    def _exposed(self, path: str, visible: bytearray) -> bool:
        now = self._version[path]
        if not now or any(visible[place] for place in self._told[path]):
            return False
        return any(visible[place] and then < now for place, then in self._shown.get(path, ()))
