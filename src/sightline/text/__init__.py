"""Helpers of wording: counts, plurals, terminal cells, line numbers, safe printing, token estimates."""

PUBLIC = (
    "phrases",
    "terminal_cells",
    "tokens",
)

PURE = (
    "phrases",
    "terminal_cells",
    "tokens",
)
