"""JSON as Sightline stores and prints it: without spaces, and in ASCII."""

from __future__ import annotations

import json
from typing import Any

from msgspec import json as fast_json

compact_json = json.JSONEncoder(separators=(",", ":")).encode
"""Return the JSON of a value. ASCII lets any string be stored and printed, lone surrogates too."""


def json_bytes(value: Any) -> bytes:
    """Return the JSON of a value in UTF-8, for values of many megabytes: it takes a tenth of the time, in which
    no other thread runs. A value with lone surrogates is in ASCII, as compact_json makes it."""
    try:
        return fast_json.encode(value)
    except UnicodeEncodeError:
        return compact_json(value).encode()
