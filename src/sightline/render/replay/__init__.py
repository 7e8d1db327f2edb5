"""What is said of a replay: a table for a terminal, a page for a browser."""

from __future__ import annotations

from sightline.render.replay.page import page
from sightline.render.replay.words import CAVEAT, report

__all__ = ["CAVEAT", "page", "report"]
