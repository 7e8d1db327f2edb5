"""The part of a conversation that a model is sent: folded, condensed, and recovered when it is full."""

PUBLIC = (
    "condense",
    "display",
    "file_index",
    "folding",
    "folding_plan",
    "model_summarizer",
    "overflow",
    "overflow_recovery",
    "plan_words",
    "prices",
    "repeated_calls",
    "sent_view",
    "words",
)

PURE = (
    "calibration",
    "file_index",
    "folding",
    "folding_plan",
    "overflow",
    "plan_words",
    "prices",
    "repeated_calls",
    "words",
)
