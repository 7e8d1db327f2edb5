"""JSON as Sightline stores and prints it: without spaces, and in ASCII."""

from __future__ import annotations

import json
from typing import Any

_ENCODER = json.JSONEncoder(separators=(",", ":"))


def compact_json(value: Any) -> str:
    """Return a value's JSON. ASCII lets any string be stored and printed, lone surrogates too."""
    return _ENCODER.encode(value)
