"""Store the timeline behind one port: facts, the views folded from them, and the texts they name."""

PUBLIC = (
    "event_index",
    "forget",
    "identity",
    "opening",
    "port",
    "retention",
    "sqlite",
)

PURE = ("retention",)
