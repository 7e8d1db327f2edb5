"""Recorded sessions played through folding policies: what each costs and what it loses."""

PUBLIC = (
    "comparison",
    "costs",
    "played",
    "policies",
    "run_sessions",
    "words",
)

PURE = (
    "comparison",
    "costs",
    "engine",
    "played",
    "policies",
    "record",
    "request_view",
    "words",
)
