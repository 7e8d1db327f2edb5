"""What a shell command reads and writes, as far as its text and its output tell."""

PUBLIC = (
    "command_line",
    "file_effects",
    "printed_lines",
    "read_only",
)

PURE = (
    "command_line",
    "file_effects",
    "printed_lines",
    "read_only",
    "readers",
)
