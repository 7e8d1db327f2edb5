"""GitHub Copilot CLI: its recordings."""
