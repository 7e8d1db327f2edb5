"""Messages of every provider and framework as blocks, and decisions applied to messages."""

PUBLIC = ("exchanges", "format", "parts", "problems")

PURE = (
    "anthropic",
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
