"""Helpers of wording: counts, plurals, terminal cells, line numbers, safe printing, token estimates."""

PUBLIC = PURE = (
    "causes",
    "characters",
    "command_words",
    "installing",
    "phrases",
    "printable",
    "terminal_cells",
    "tokens",
)
