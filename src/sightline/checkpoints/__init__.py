"""Checkpoints of a tree: taken, listed, compared, exported, and dropped to keep to their room."""

PUBLIC = (
    "automatic",
    "changed_since",
    "compare",
    "export",
    "gc",
    "take",
    "time_points",
    "words",
)

PURE = ("words",)
