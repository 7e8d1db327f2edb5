"""What would be folded out of a history now, and what it would be then. Nothing is changed."""

from __future__ import annotations

from sightline.services.window.planning import Folded, Plan, plan
from sightline.services.window.reading import History, read, recorded

__all__ = ["Folded", "History", "Plan", "plan", "read", "recorded"]
