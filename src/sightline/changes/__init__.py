"""The disk compared with the timeline: what changed, who changed it, what git and commands did."""

PUBLIC = (
    "attribution",
    "authors",
    "cause_rules",
    "commands",
    "detect",
    "manifests",
    "observe",
    "renames",
    "session_context",
    "untracked",
    "words",
)

PURE = (
    "cause_rules",
    "layout",
    "words",
)
