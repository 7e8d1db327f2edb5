"""Find out what a shell command reads and writes, from its text and its output."""

PUBLIC = (
    "blind_writes",
    "command_line",
    "file_effects",
    "folder_search",
    "named_files",
    "named_writes",
    "printed_lines",
    "read_only",
    "scripts",
    "secrets",
    "syntax_tree",
)

PURE = (
    "blind_writes",
    "command_line",
    "file_effects",
    "named_files",
    "named_writes",
    "printed_lines",
    "read_only",
    "scripts",
    "secrets",
    "readers",
)
