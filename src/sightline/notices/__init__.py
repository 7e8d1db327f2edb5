"""Tell an agent what it does not know: pending changes, notices, warnings and their delivery."""

PUBLIC = (
    "delivery",
    "notice_text",
    "pending",
    "summaries",
    "warnings",
    "words",
)

PURE = ("words",)
