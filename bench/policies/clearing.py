"""A control that clears every result of a tool before the model sees it."""

from __future__ import annotations

from sightline.audit.policies import Ask, Baseline, removed
from sightline.messages.blocks import Decision


class Everything(Baseline):
    """A control: every result is cleared before the model sees it."""

    name = "all"

    def decide(self, ask: Ask) -> Decision:
        """All that stand."""
        return self.fold(list(self.results), removed)
