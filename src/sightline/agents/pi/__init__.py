"""pi: its recordings."""
