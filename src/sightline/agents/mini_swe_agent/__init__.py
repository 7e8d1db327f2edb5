"""mini-swe-agent: its recordings."""
