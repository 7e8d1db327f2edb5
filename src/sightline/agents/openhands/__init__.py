"""OpenHands: its recordings."""
