"""Compare the disk with the timeline: find changes, their authors, git operations and renames."""

PUBLIC = (
    "attribution",
    "authors",
    "command_evidence",
    "command_folders",
    "command_texts",
    "commands",
    "detect",
    "linked_secrets",
    "manifests",
    "observe",
    "renames",
    "session_context",
    "session_names",
    "untracked",
)

PURE = ("layout",)
