"""The policies that ours are measured against, each by its documented rule, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sightline.replay.baselines.batches import AgeBatch, Batch, RandomBatch
from sightline.replay.baselines.clearing import Anthropic, Everything, Masking, Untouched
from sightline.replay.baselines.oracle import Oracle
from sightline.replay.baselines.pruning import Gemini, OpenCode, Trimmer
from sightline.replay.baselines.shrinking import Codex, DeepAgents, Nanocoder, RangeDedup
from sightline.replay.baselines.truncating import Cline, Roo
from sightline.replay.policy import Policy, Setting

Maker = Callable[[Setting], Policy]

BASELINES: Mapping[str, Maker] = {
    "none": Untouched,
    "anthropic": Anthropic,
    "anthropic-keep-10": lambda s: Anthropic(s, keep=10),
    "mask-10": lambda s: Masking(s, 10),
    "mask-10-batched": lambda s: Masking(s, 10, 10),
    "mask-20-batched": lambda s: Masking(s, 20, 20),
    "last-5": lambda s: Masking(s, 5),
    "roo": Roo,
    "cline": Cline,
    "gemini": Gemini,
    "opencode": OpenCode,
    "openai-trimmer": Trimmer,
    "nanocoder": Nanocoder,
    "deepagents": DeepAgents,
    "codex": Codex,
    "range-dedup": RangeDedup,
}
"""Rules of products, frameworks and papers. Name -> how one is made."""

CONTROLS: Mapping[str, Maker] = {
    "age-batch": AgeBatch,
    "age-batch-50": lambda s: AgeBatch(s, Batch(target=0.5)),
    "age-batch-120k": lambda s: AgeBatch(s, Batch(120_000, 0.3, 60_000)),
    "age-batch-150k": lambda s: AgeBatch(s, Batch(150_000, 0.3, 80_000)),
    "random-batch": RandomBatch,
    "all": Everything,
    "oracle": Oracle,
}
"""What says how much of a result is the rule's, and how much only that something was cleared."""

CHEATS = frozenset({"oracle"})
"""Those that are shown the future."""
