"""Ignore files: which paths of a tree they hide, answered as git answers."""

PUBLIC = (
    "agent_ignores",
    "gitignore",
    "rules",
    "wildmatch",
)

PURE = ("wildmatch",)
