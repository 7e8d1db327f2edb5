"""The context window: which blocks may be folded, the price of folding, and the plan of a policy."""

PUBLIC = PURE = (
    "blocks",
    "file_index",
    "folding",
    "folding_plan",
    "history_reader",
    "prices",
    "words",
)
