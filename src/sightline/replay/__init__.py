"""Recorded sessions played through folding policies: what each costs and what it loses."""

PUBLIC = (
    "comparison",
    "costs",
    "page",
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
    "page",
    "played",
    "policy",
    "protecting",
    "record",
    "request_view",
    "words",
)
