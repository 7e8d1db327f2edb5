"""The sessions of a workspace: who is present, what they claim, what they run on, how they end."""

PUBLIC = (
    "affected",
    "claims",
    "lifecycle",
    "path_patterns",
    "presence",
    "usage",
    "words",
)

PURE = ("words",)
