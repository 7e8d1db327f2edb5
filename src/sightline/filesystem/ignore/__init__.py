"""Ignore files: which paths of a tree they hide, answered as git answers."""

PUBLIC = (
    "gitignore",
    "rules",
    "wildmatch",
)

PURE = ("wildmatch",)
