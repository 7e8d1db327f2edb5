"""The context window: which blocks may be folded, what that costs, what it loses."""

PUBLIC = (
    "blocks",
    "file_index",
    "folding",
    "folding_plan",
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
    "folding_plan",
    "prices",
    "rebase",
    "token_usage",
    "words",
)
