"""Claude Code: its hooks, settings, transcripts and recordings, behind one value (product.PRODUCT)."""

PUBLIC: tuple[str, ...] = ()
