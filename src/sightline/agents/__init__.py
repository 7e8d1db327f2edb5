"""One folder or file per agent product: its hook dialect, transcripts, settings."""

PUBLIC = (
    "dialect",
    "hook_events",
    "readers",
    "settings_file",
    "settings_text",
)
