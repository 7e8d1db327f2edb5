"""Taking back what one session did: planned, covered by a safety checkpoint, applied."""

PUBLIC = (
    "recovery",
    "rewinder",
    "words",
)

PURE = (
    "reverse_merge",
    "undo_plan",
    "words",
)
