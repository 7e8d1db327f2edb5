"""What is judged, as values: what may be known of a path, and what may be said of an attempt."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, structs

from sightline.model.belief import Held
from sightline.model.diff import diff
from sightline.model.events import Belief
from sightline.model.nearest import Nearest
from sightline.model.spans import Hunk, Spans, touched
from sightline.model.text import Text, decode

State = Literal["fresh", "stale", "deleted", "moved", "kind_changed", "unseen", "unverifiable"]
Decision = Literal["allow", "notice", "merge", "refuse"]


class Evidence(Struct, frozen=True):
    """All that judge may know of one path. kind, disk and why as filesystem.file_state.FileState says them;
    believed: the bytes of belief.text where they are kept; retargeted: the path was a symlink
    when it was seen and leads elsewhere now."""

    kind: str
    disk: bytes | None = None
    belief: Belief | None = None
    believed: bytes | None = None
    why: str | None = None
    retargeted: bool = False


class Rules(Struct, frozen=True):
    """policy: block warn refresh or merge (ask is the caller's); unseen: what a replace of
    matching text in lines never shown gets, "notice" or "refuse"."""

    policy: str = "merge"
    unseen: str = "notice"


class Ruling(Struct, frozen=True):
    """What may be done. new: the bytes to put there (None: nothing stands there afterwards);
    after: what the agent then holds. changes: others' hunks (base -> disk) to what it was shown.
    lines: of the disk's text, what the reason is about. conflicts: (ours, theirs) hunk pairs.
    encoding: of a file that cannot hold the new text."""

    decision: Decision
    state: State
    reason: str | None = None
    new: bytes | None = None
    after: Held | None = None
    changes: tuple[Hunk, ...] = ()
    lines: Spans = ()
    near: Nearest | None = None
    near_shown: bool = False
    conflicts: tuple[tuple[Hunk, Hunk], ...] = ()
    found: int = 0
    endings_only: bool = False
    encoding: str | None = None


class EditCase:
    """A sight and the rules it is judged by, decoded once. Line lists and hunks are of `plain`
    text (model.text); base is what the agent believes, None where it holds no text."""

    def __init__(self, sight: Evidence, rules: Rules) -> None:
        self.sight = sight
        self.rules = rules
        self.disk = decode(sight.disk) if sight.disk is not None else None
        self.base = self._base()
        belief = sight.belief
        self.held = (
            Held(tuple(self.base.lines), belief.shown, belief.held)
            if (self.base and belief)
            else None
        )
        self.same = bool(self.base and self.disk and self.base.plain == self.disk.plain)
        self._theirs: list[Hunk] | None = [] if self.same else None

    def _base(self) -> Text | None:
        sight = self.sight
        if sight.belief is None or sight.believed is None:
            return None
        return self.disk if sight.believed == sight.disk else decode(sight.believed)

    @property
    def theirs(self) -> list[Hunk]:
        """Others' hunks, base -> disk."""
        if self._theirs is None:
            assert self.base is not None
            assert self.disk is not None
            self._theirs = diff(self.base.lines, self.disk.lines)
        return self._theirs

    @property
    def changes(self) -> tuple[Hunk, ...]:
        """Others' hunks to lines that were shown."""
        if self.held is None or self.disk is None:
            return ()
        return touched(self.held.shown, self.theirs, len(self.held.lines))

    @property
    def endings_only(self) -> bool:
        """Whether the bytes differ in nothing but line ends or BOM."""
        return self.same and self.sight.believed != self.sight.disk

    @property
    def state(self) -> State:
        if self.sight.belief is None:
            return "unseen"
        if self.disk is None and self.sight.disk is not None:  # it was text when it was shown
            return "kind_changed"
        if self.disk is None or self.base is None:  # no text is kept
            return "stale"
        return "stale" if self.changes else "fresh"

    def allow(self, new: bytes | None, after: Held | None) -> Ruling:
        told = bool(self.changes) or self.endings_only
        return Ruling(
            "notice" if told else "allow",
            self.state,
            new=new,
            after=after,
            changes=self.changes,
            endings_only=self.endings_only,
        )

    def refuse(self, reason: str, **details: object) -> Ruling:
        made = Ruling("refuse", self.state, reason, endings_only=self.endings_only)
        return structs.replace(structs.replace(made, changes=self.changes), **details)
