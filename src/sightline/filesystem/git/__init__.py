"""What git records of a tree: its logs, its commits, its patches. No hook of git is ever run."""

PUBLIC = (
    "binary_patch",
    "branch_commit",
    "reflog",
    "rename_history",
    "repository",
    "show",
)

PURE = ("reflog",)
