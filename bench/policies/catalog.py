"""The policies that ours are measured against, each by its documented rule, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bench.policies.ablations import Order, SameReclaim, oldest
from bench.policies.batches import AgeBatch, Batch, RandomBatch, shuffled
from bench.policies.clearing import BatchedMasking, Everything
from bench.policies.protecting import Protected
from bench.policies.pruning import Gemini, OpenCode, Trimmer
from bench.policies.shrinking import Codex, DeepAgents, Nanocoder, RangeDedup
from bench.policies.truncating import Cline, Roo
from msgspec import structs

from sightline.audit.policies import ANTHROPIC, MASKING, POLICIES, Maker, Ours, Setting
from sightline.window.folding import CAREFUL, DEFAULT, Rules

BASELINES: Mapping[str, Maker] = {
    "anthropic-keep-10": partial(ANTHROPIC, keep=10),
    "mask-10-batched": partial(BatchedMasking, keep=10),
    "mask-20-batched": partial(BatchedMasking, keep=20),
    "last-5": partial(MASKING, keep=5),
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
    "age-batch-50": partial(AgeBatch, batch=Batch(target=0.5)),
    "age-batch-120k": partial(AgeBatch, batch=Batch(120_000, 0.3, 60_000)),
    "age-batch-150k": partial(AgeBatch, batch=Batch(150_000, 0.3, 80_000)),
    "random-batch": RandomBatch,
    "all": Everything,
}
"""What says how much of a result is the rule's, and how much only that something was cleared."""


def _instead(name: str, rules: Rules, order: Order, setting: Setting) -> SameReclaim:
    return SameReclaim(name, Ours(rules, setting), order, setting, rules.keep, rules.least)


_OTHER = {True: "without-views", False: "with-views"}
_TURNED = [
    structs.replace(rules, name=f"{rules.name}-{_OTHER[rules.views]}", views=not rules.views)
    for rules in (DEFAULT, CAREFUL)
]

ABLATIONS: Mapping[str, Maker] = {
    "default-by-age": partial(_instead, "default-by-age", DEFAULT, oldest),
    "default-by-chance": partial(_instead, "default-by-chance", DEFAULT, shuffled),
    "careful-by-age": partial(_instead, "careful-by-age", CAREFUL, oldest),
    **{rules.name: partial(Ours, rules) for rules in _TURNED},
}
"""As much cleared as by ours at the same calls, but the oldest or any results; and ours with a part
more, or less."""

ALL: Mapping[str, Maker] = {
    **POLICIES,
    Protected.name: Protected,
    **ABLATIONS,
    **CONTROLS,
    **BASELINES,
}
"""Every policy that the benchmark plays: our own, an earlier rule, and those above."""
