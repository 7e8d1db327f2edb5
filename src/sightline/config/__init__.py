"""Settings: their schema, their sources, and what a workspace may only tighten."""

PUBLIC = ("settings",)

PURE = ("schema",)
