"""The structured answer of a model: read, judged as one batch, applied, and remembered."""

PUBLIC = (
    "apply",
    "contents",
    "reading",
    "schema",
    "words",
)
