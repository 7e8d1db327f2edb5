"""One folder or file per agent product: its hook dialect, transcripts, settings."""

PUBLIC = (
    "connection",
    "hook_events",
    "hook_line",
    "product",
    "products",
    "readers",
    "recorded_sessions",
    "settings_file",
)
