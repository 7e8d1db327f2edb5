"""Helpers of wording: counts, plurals, terminal cells, line numbers, safe printing, token estimates."""

PUBLIC = (
    "line_numbers",
    "phrases",
    "terminal_cells",
    "tokens",
)

PURE = (
    "line_numbers",
    "phrases",
    "terminal_cells",
    "tokens",
)
