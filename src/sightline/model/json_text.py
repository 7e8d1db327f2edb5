"""JSON as Sightline stores and prints it: without spaces, and in ASCII."""

from __future__ import annotations

import json

compact_json = json.JSONEncoder(separators=(",", ":")).encode
"""Return the JSON of a value. ASCII lets any string be stored and printed, lone surrogates too."""
