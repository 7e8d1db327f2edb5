"""The briefing before an agent's next turn: registry, memory, bundle, mentioned files."""

PUBLIC = (
    "compose",
    "mentions",
    "registry",
    "words",
)

PURE = ("mention_parser",)
