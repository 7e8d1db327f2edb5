"""Folding policies of other systems, each by its documented rule."""

PUBLIC = ("catalog",)

PURE = (
    "baseline",
    "batches",
    "catalog",
    "clearing",
    "oracle",
    "pruning",
    "shrinking",
    "truncating",
)
