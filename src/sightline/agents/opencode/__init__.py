"""opencode: its recordings."""
