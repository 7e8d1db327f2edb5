"""Sightline keeps a coding agent's view of its files true."""
