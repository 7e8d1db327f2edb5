"""Policies that clear results of tools by their number alone."""

from __future__ import annotations

from sightline.audit.policies import Ask, Baseline, NewestResults, Setting, omitted, removed
from sightline.messages.blocks import Decision


class Everything(Baseline):
    """A control: every result is cleared before the model sees it."""

    name = "all"

    def decide(self, ask: Ask) -> Decision:
        """All that stand."""
        return self.fold(list(self.results), removed)


class BatchedMasking(NewestResults):
    """SWE-agent's last_n_observations with polling: mask all but the last n to 2 n - 1 results, after
    every n-th result."""

    def __init__(self, setting: Setting, keep: int) -> None:
        super().__init__(setting, "mask", keep, omitted)
        self.least = keep

    def decide(self, ask: Ask) -> Decision:
        """Mask in steps of n."""
        self.keep = self.least + (len(self.came) - self.least) % self.least
        return super().decide(ask)
