"""One folder or file per agent product: its hook dialect, transcripts, settings."""

PUBLIC = (
    "connection",
    "hook_line",
    "product",
    "products",
    "settings_file",
)
