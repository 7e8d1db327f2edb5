"""Checkpoints of a tree: taken, listed, compared, exported, and dropped to keep to their room."""

PUBLIC = (
    "automatic",
    "changed_since",
    "compare",
    "export",
    "gc",
    "swept_texts",
    "take",
    "time_points",
    "words",
)

PURE = (
    "swept_texts",
    "words",
)
