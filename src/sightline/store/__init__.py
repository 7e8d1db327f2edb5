"""Store the timeline behind one port: facts, the views folded from them, and the texts they name."""

PUBLIC = (
    "embedded",
    "event_index",
    "identity",
    "memory",
    "opening",
    "port",
    "retention",
    "sqlite",
    "workspace_files",
)

PURE = ("event_index", "retention", "view_rows")
