"""The history of a workspace, for people: log, why, overview, the past as of a position, health."""

PUBLIC = (
    "as_of",
    "asked_sessions",
    "doctor",
    "file_diffs",
    "overview",
    "session_history",
    "watching",
    "why",
    "workspace_status",
    "words",
)

PURE = ("words",)
