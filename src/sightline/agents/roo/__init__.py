"""Roo Code: its recordings."""
