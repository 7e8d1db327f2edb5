"""Baselines that clear old results of tools, all but the last few, before each call."""

from __future__ import annotations

from bench.policies.baseline import NOTHING, Baseline, removed

from sightline.conversation.window.blocks import Block, Decision
from sightline.replay.policies import Ask, Setting


class Everything(Baseline):
    """A control: every result is cleared before the model sees it."""

    name = "all"

    def decide(self, ask: Ask) -> Decision:
        """All that stand."""
        return self.fold(list(self.results), removed)


class Recent(Baseline):
    """What goes by how many results came since. came: places of all, standing or not."""

    def __init__(self, setting: Setting, keep: int) -> None:
        super().__init__(setting)
        self.keep = keep
        self.came: list[int] = []

    def add(self, block: Block) -> None:
        """A block came."""
        if block.kind == "result":
            self.came.append(len(self.blocks))
        super().add(block)

    def older(self, keep: int) -> list[int]:
        """Places of results that stand, but for those among the last `keep` of all."""
        if not keep:
            return list(self.results)
        first_kept = self.came[-keep] if keep <= len(self.came) else 0
        return [place for place in self.results if place < first_kept]


class Anthropic(Recent):
    """Anthropic's clear_tool_uses_20250919 by its defaults, and LangChain's ClearToolUsesEdit, which
    copies it: above 100,000 tokens all but the last 3 results, whatever that saves. The history
    stays whole with the client, so once above it, every call is. (Anthropic's documentation of
    context editing; langchain.agents.middleware.context_editing.)"""

    name = "anthropic"

    def __init__(self, setting: Setting, keep: int = 3, trigger: int = 100_000) -> None:
        super().__init__(setting, keep)
        self.trigger = trigger

    def decide(self, ask: Ask) -> Decision:
        """All but the last, above the trigger."""
        if self.tokens <= self.trigger:
            return NOTHING
        return self.fold(self.older(self.keep), removed)


class Masking(Recent):
    """SWE-agent's last_n_observations: all but the last n observations, each replaced by how many
    lines it had; with polling, the oldest that is kept moves on every so many results only.
    (sweagent.agent.history_processors.) n = 10 without polling is the masking of "The Complexity
    Trap" (arXiv 2508.21433)."""

    name = "mask"

    def __init__(self, setting: Setting, keep: int, polling: int = 1) -> None:
        super().__init__(setting, keep)
        self.polling = polling

    def decide(self, ask: Ask) -> Decision:
        """All but the last n to n + polling - 1."""
        keep = self.keep + (len(self.came) - self.keep) % self.polling
        return self.fold(self.older(keep), _omitted)


def _omitted(block: Block) -> str:
    lines = block.text.count("\n") + 1
    return f"Old environment output: ({lines} lines omitted)"
