"""Messages of every provider and framework as blocks, and decisions back into them."""

PUBLIC = (
    "authorship",
    "format",
    "parts",
)

PURE = (
    "across",
    "anthropic",
    "authorship",
    "chat",
    "file_excerpts",
    "file_writes",
    "format",
    "gemini",
    "langchain",
    "pairing",
    "parse_blocks",
    "parts",
    "problems",
    "projection",
    "pydantic_ai",
    "removal",
    "repair",
    "responses",
    "shell_work",
    "tool_effects",
)
