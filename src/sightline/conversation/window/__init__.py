"""The context window: which blocks may be folded, what that costs, what it loses."""

PUBLIC = (
    "blocks",
    "file_index",
    "folding",
    "history_reader",
    "prices",
    "rebase",
    "words",
)

PURE = (
    "blocks",
    "calibration",
    "file_index",
    "folding",
    "prices",
    "rebase",
    "token_usage",
    "words",
)
