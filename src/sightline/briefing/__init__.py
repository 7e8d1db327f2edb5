"""What an agent is given before its next turn: registry, memory, bundle, mentioned files."""

PUBLIC = (
    "compose",
    "mentions",
    "registry",
    "words",
)

PURE = (
    "continuation",
    "mention_parser",
)
