"""Messages of every provider and framework as blocks, and decisions applied to messages."""

PUBLIC = ("authorship", "format", "parts")

PURE = (
    "anthropic",
    "authorship",
    "chat",
    "exchanges",
    "file_excerpts",
    "file_writes",
    "format",
    "gemini",
    "langchain",
    "parse_blocks",
    "parts",
    "problems",
    "pydantic_ai",
    "responses",
    "shell_effects",
)
