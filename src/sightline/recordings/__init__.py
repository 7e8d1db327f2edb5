"""Readers of the sessions that agent products recorded."""

PUBLIC = (
    "product_readers",
    "read_recordings",
    "reader",
    "recorded_conversation",
)

PURE = ("reader", "recorded_conversation")
