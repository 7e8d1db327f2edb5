"""Cline, and Roo Code, which came from it: its recordings."""
