"""Gemini CLI: its recordings."""
