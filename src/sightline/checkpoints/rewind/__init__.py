"""Rewind: undo what one session did, as a plan, a safety checkpoint and its application."""

PUBLIC = (
    "interrupted",
    "recovery",
    "rewinder",
    "words",
)

PURE = (
    "reverse_merge",
    "undo_plan",
    "words",
)
