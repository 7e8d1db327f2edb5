"""Recorded sessions played through folding policies: what each costs and what it loses."""

PUBLIC = (
    "comparison",
    "costs",
    "played",
    "policies",
    "policy",
    "recording_reader",
    "recording_search",
    "run_sessions",
    "window_plan",
    "words",
)

PURE = (
    "comparison",
    "costs",
    "engine",
    "haystack",
    "outcome",
    "played",
    "policy",
    "record",
    "request_view",
    "words",
)
