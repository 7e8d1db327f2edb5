"""Settings: their schema and their sources; a workspace may only tighten them."""

PUBLIC = ("schema", "settings")

PURE = ("schema",)
