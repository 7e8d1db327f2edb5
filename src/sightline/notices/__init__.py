"""What an agent has not been told yet: pending changes, their delivery, warnings."""

PUBLIC = (
    "delivered",
    "delivery",
    "notice_text",
    "pending",
    "warnings",
    "words",
)

PURE = ("words",)
