"""git's records of a tree: logs, commits, patches. No hook of git is ever run."""

PUBLIC = (
    "binary_patch",
    "branch_commit",
    "reflog",
    "rename_history",
    "repository",
    "show",
)

PURE = ("reflog",)
