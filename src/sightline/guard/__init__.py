"""The verdict on an attempt to change files, and the guarded verbs that carry attempts out."""

PUBLIC = (
    "batch",
    "check",
    "commit",
    "edit",
    "edit_case",
    "evaluation",
    "evidence",
    "file_states",
    "host_writes",
    "lost_writes",
    "move",
    "notebooks",
    "plan",
    "reads",
    "refusals",
    "region_rules",
    "unfinished",
    "verdict",
    "words",
    "write_journal",
)

PURE = (
    "comparison",
    "edit_case",
    "file_rules",
    "lost_writes",
    "notebooks",
    "opaque_bytes",
    "region_rules",
    "verdict",
    "words",
)
