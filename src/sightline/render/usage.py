"""What an agent runs on, in words: its model, and its place."""

from __future__ import annotations


def model(name: str, provider: str | None, mode: str | None) -> str:
    """A model with whose it is and the mode it is used in, as far as these were told."""
    more = ", ".join(each for each in (provider, mode) if each)
    return f"{name} ({more})" if more else name


def environment(system: str, python: str, host: str | None, version: str | None) -> str:
    """A system, a Python, and the application where that was told."""
    where = f"{system}, Python {python}"
    return f"{' '.join(filter(None, (host, version)))} on {where}" if host else where
