"""The structured answer of a model: read, judged as one batch, applied, and remembered."""

PUBLIC = (
    "answer",
    "apply_answer",
    "json_schema",
    "prompts",
    "reading",
    "words",
)
