"""Codex: its recordings."""
