"""Baselines that clear old results of tools in batches, by what stands behind a protected end."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.audit.policies import NOTHING, Ask, Baseline, Setting, removed
from sightline.messages.blocks import Block, Decision

EDGE = 250
"""Characters that Gemini CLI leaves at each end of what it masks."""


class Gemini(Baseline):
    """Gemini CLI's masking: the newest 50,000 tokens of results and the last turn stay; of what is
    older all is masked, once that gives back 30,000; head and tail of 250 characters are left and
    the whole goes to a file. (toolOutputMaskingService of google-gemini/gemini-cli; results of
    its skill, plan and question tools are exempt.)"""

    name = "gemini"
    protected, batch = 50_000, 30_000

    def decide(self, ask: Ask) -> Decision:
        """Return what stands behind the newest, if it is enough."""
        step = self.blocks[-1].step if self.blocks else 0
        passed = 0
        old: list[int] = []
        for place in reversed(self.results):
            block = self.blocks[place]
            if block.step == step or block.deed == "plan":
                continue
            passed += block.tokens
            if passed > self.protected and len(block.text) > 2 * EDGE:
                old.append(place)
        if sum(self.blocks[place].tokens for place in old) < self.batch:
            return NOTHING
        return self.fold(reversed(old), _masked)


class OpenCode(Baseline):
    """opencode's prune: at the end of a turn, walking back, the last two of the user's turns and
    then 40,000 tokens of results stay; what is older goes, if it is more than 20,000. It stops
    at what it pruned before. (session/compaction.ts of opencode; what summarises is left out.)"""

    name = "opencode"
    protected, batch, turns = 40_000, 20_000, 2

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.prompts: list[int] = []
        self.looked = 0

    def add(self, block: Block) -> None:
        """A block came."""
        if block.kind == "user":
            self.prompts.append(len(self.blocks))
        super().add(block)

    def decide(self, ask: Ask) -> Decision:
        """Once for each of the user's turns, when it begins: the one before has ended."""
        if len(self.prompts) == self.looked:
            return NOTHING
        self.looked = len(self.prompts)
        old = list(self._old())
        if sum(self.blocks[place].tokens for place in old) <= self.batch:
            return NOTHING
        return self.fold(reversed(old), removed)

    def _old(self) -> Iterator[int]:
        # The prompt that was just typed is not among the two: prune ran before it.
        if len(self.prompts) <= self.turns:
            return
        border = self.prompts[-self.turns - 1]
        passed = 0
        for place in reversed(self.results):
            if place < border:
                passed += self.blocks[place].tokens
                if passed > self.protected:
                    yield place


class Trimmer(Baseline):
    """OpenAI Agents' ToolOutputTrimmer: before each call, outputs of more than 500 characters are
    cut to a preview of 200, but for those of the user's last two turns. (agents.extensions.)"""

    name = "openai-trimmer"
    longest, preview, turns = 500, 200, 2

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.prompts: list[int] = []

    def add(self, block: Block) -> None:
        """A block came."""
        if block.kind == "user":
            self.prompts.append(len(self.blocks))
        super().add(block)

    def decide(self, ask: Ask) -> Decision:
        """The outputs of older turns."""
        if len(self.prompts) <= self.turns:
            return NOTHING
        border = self.prompts[-self.turns]
        long = [p for p in self.results if p < border and len(self.blocks[p].text) > self.longest]
        return self.fold(long, self._cut) if long else NOTHING

    def _cut(self, block: Block) -> str:
        size = len(block.text)
        return f"[Trimmed: {block.tool} output, {size} chars]\n{block.text[: self.preview]}..."


def _masked(block: Block) -> str:
    text = block.text
    left = f"{text[:EDGE]}\n[... {len(text)} characters in a file ...]\n{text[-EDGE:]}"
    return f"<tool_output_masked>\n{left}\n</tool_output_masked>"
