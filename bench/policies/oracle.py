"""A policy that is shown the future, for headroom only. It is no baseline: it cheats."""

from __future__ import annotations

from collections.abc import Sequence

from bench.policies.batches import AgeBatch

from sightline.audit.policies import Setting
from sightline.audit.record import Record

HORIZON = 60
"""Calls that it looks ahead."""


class Oracle(AgeBatch):
    """As age-batch, but what will be edited by in the next calls and stands nowhere else stays."""

    name = "oracle"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.needed: list[tuple[int, tuple[int, ...]]] = []

    def foresee(self, record: Record) -> None:
        """Return the texts that each call will need."""
        self.needed = [
            (turn.first, need.holders)
            for turn in record.turns
            for need in (*turn.edits, *turn.reads)
        ]
        self.ends = [turn.first for turn in record.turns]

    def ordered(self, places: Sequence[int]) -> Sequence[int]:
        """Return what nobody will need soon, the oldest first."""
        here = len(self.blocks)
        ahead = [first for first in self.ends if first >= here][:HORIZON]
        until = ahead[-1] if ahead else here
        going = set(places)
        spared: set[int] = set()
        for first, held in self.needed:
            if here <= first <= until:
                standing = [p for p in held if p < here and self.full[p]]
                if standing and spared.isdisjoint(standing) and going.issuperset(standing):
                    spared.add(standing[-1])
        return [place for place in places if place not in spared]
