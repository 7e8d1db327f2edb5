"""Store the timeline behind one port: facts, the views folded from them, and the texts they name."""

PUBLIC = (
    "event_index",
    "identity",
    "memory",
    "opening",
    "port",
    "retention",
    "sqlite",
    "sqlite_file",
    "workspace_files",
)

PURE = ("event_index", "retention", "view_rows")
