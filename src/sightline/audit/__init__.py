"""Recorded sessions played through folding policies: what each costs and what it loses."""

PUBLIC = (
    "comparison",
    "costs",
    "policies",
    "run_sessions",
    "words",
)

PURE = (
    "comparison",
    "costs",
    "engine",
    "policies",
    "record",
)
