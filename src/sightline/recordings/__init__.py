"""Readers of the sessions that agent products recorded."""

PUBLIC = (
    "reader",
    "product_readers",
    "recorded_conversation",
    "recording_reader",
)

PURE = ("reader", "recorded_conversation")
