"""Claude Code: its hooks, settings, transcripts and recordings."""

PUBLIC = (
    "health",
    "hook_command",
    "hook_settings",
    "recordings",
    "settings",
)
