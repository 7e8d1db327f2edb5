"""Claude Code: its hooks, settings, transcripts and recordings."""

PUBLIC = (
    "connect",
    "health",
    "hook_settings",
    "recordings",
    "settings",
)
