"""Baselines that make single messages small, or summarise all of them."""

from __future__ import annotations

from bench.policies.truncating import Truncating
from msgspec import structs

from sightline.audit.policies import NOTHING, Ask, Baseline, Setting
from sightline.messages.blocks import Block, Decision, Tail


class Nanocoder(Baseline):
    """nanocoder's mechanical compression: at 60 % of the window all but the last two messages are
    made small; a result becomes one line. Long typed texts would be cut to 200 characters; here
    they stay. (Nano-Collective/nanocoder, /compact and its automatic form.)"""

    name = "nanocoder"
    part = 0.6

    def decide(self, ask: Ask) -> Decision:
        """All results but the last message's, when it is due."""
        if ask.tokens < self.part * self.setting.window:
            return NOTHING
        last = self.blocks[-1].message
        return self.fold([p for p in self.results if self.blocks[p].message < last], _line)


class DeepAgents(Baseline):
    """deepagents' eviction: a result of more than 20,000 tokens goes to a file at once; its first
    and last five lines stay, each cut to 1,000 characters. (langchain-ai/deepagents, filesystem
    middleware; its summary at 0.85 of the window is left out.)"""

    name = "deepagents"
    largest, lines, width = 20_000, 5, 1_000

    def decide(self, ask: Ask) -> Decision:
        """Return what just came and is too large."""
        step = self.blocks[-1].step if self.blocks else 0
        large = [
            place
            for place in self.results
            if self.blocks[place].step == step and self.blocks[place].tokens > self.largest
        ]
        return self.fold(large, self._preview) if large else NOTHING

    def _preview(self, block: Block) -> str:
        lines = [line[: self.width] for line in block.text.split("\n")]
        ends = [*lines[: self.lines], f"... [{len(lines)} lines] ...", *lines[-self.lines :]]
        return "Tool result too large, it was saved in the filesystem.\n" + "\n".join(ends)


class Codex(Truncating):
    """Codex' compaction: at 0.9 of the window what a person typed stays and a summary follows; all
    else goes. The summary here has a size and says nothing; having it made is paid for. Typed
    texts stay beyond the newest 20,000 tokens, too. (codex-rs/core/src/compact.rs.)"""

    name = "codex"
    part, summary_tokens, spared = 0.9, 2_000, 0

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.read_tokens = self.written_tokens = 0

    def decide(self, ask: Ask) -> Decision:
        """Everything but what was typed, when it is due."""
        if ask.tokens < self.part * self.setting.window or not self.steps:
            return NOTHING
        self.read_tokens += ask.tokens
        self.written_tokens += self.summary_tokens
        tail = Tail(len(self.blocks) - 1, "[A summary of the conversation]", self.summary_tokens)
        return structs.replace(self.without(list(self.steps)), tails=(tail,))


class RangeDedup(Baseline):
    """Before each call, a read whose lines a later read of the file covers becomes a pointer."""

    name = "range-dedup"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.reads: dict[str, list[int]] = {}
        self.again: list[int] = []

    def add(self, block: Block) -> None:
        """A block came."""
        place = len(self.blocks)
        super().add(block)
        if block.kind == "result" and block.deed == "read" and len(block.excerpts) == 1:
            known = self.reads.setdefault(block.excerpts[0].path, [])
            covered = [older for older in known if _covers(block, self.blocks[older])]
            self.again += [older for older in covered if not self.blocks[older].fixed]
            self.reads[block.excerpts[0].path] = [p for p in known if p not in covered] + [place]

    def decide(self, ask: Ask) -> Decision:
        """Fold the results that newer ones cover since the last call."""
        covered, self.again = self.again, []
        return self.fold(covered, _pointer) if covered else NOTHING


def _covers(later: Block, older: Block) -> bool:
    new, old = later.excerpts[0], older.excerpts[0]
    last_new, last_old = (each.first + each.text.count("\n") for each in (new, old))
    return new.whole or (new.first <= old.first and last_old <= last_new)


def _line(block: Block) -> str:
    state = "failed" if block.error else "succeeded"
    return f"[Tool result: {block.tool or 'tool'} {state}]"


def _pointer(block: Block) -> str:
    return f"[{block.excerpts[0].path}: these lines were read again later]"
