"""How far two files of a tree are from each other: what decides between several of a name."""

from __future__ import annotations


def distance(path: str, other: str) -> tuple[int, int, str]:
    """What to order other files by: the more folders they share with a path the nearer, then the
    less deep."""
    return -shared(path, other), other.count("/"), other


def shared(path: str, other: str) -> int:
    """How many leading folders two paths have in common."""
    count = 0
    for mine, theirs in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if mine != theirs:
            break
        count += 1
    return count
