"""The context window: what of a conversation may be folded away, what that costs, what it loses."""
