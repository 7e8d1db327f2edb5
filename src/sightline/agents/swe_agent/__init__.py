"""SWE-agent: its recordings."""
