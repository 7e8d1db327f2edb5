"""What a hook needs of json and hashlib, without importing them.

A hook process starts on every tool call of an agent. Importing json and hashlib takes it as long
as its work, because they bring re, enum and OpenSSL with them, and what is needed of them is a
few functions that are written in C anyway. Where an interpreter lacks such a function, the module
itself stands in.
"""

from __future__ import annotations

from typing import Any

LOADED_AFTER = 1 << 20
"""Bytes after whose digests OpenSSL, five times as fast, has been worth loading."""

SPACE = " \t\n\r"


def loads(text: str | bytes) -> Any:
    """json.loads, of UTF-8 where it is bytes. ValueError as json raises it; RecursionError."""
    told = text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
    told = told.removeprefix("\ufeff") if isinstance(text, bytes) else told
    try:
        value, end = _scan(told, len(told) - len(told.lstrip(SPACE)))
    except (StopIteration, SystemError):  # its error is json's, which it cannot raise unloaded
        return _as_json_does(told)
    return _as_json_does(told) if told[end:].strip(SPACE) else value


def dumps(value: Any) -> str:
    """json.dumps without spaces; in ASCII, so that any string can be bound and printed."""
    return "".join(_encode(value, 0))


def digest(data: bytes) -> str:
    """The SHA-256 of these bytes in hexadecimal."""
    global _sha256, _left  # noqa: PLW0603 - how much a process hashes shows while it does
    _left -= len(data)
    if _left < 0:
        from hashlib import sha256

        _sha256, _left = sha256, 1 << 62
    made: str = _sha256(data).hexdigest()
    return made


def _as_json_does(text: str) -> Any:
    """What json itself says is wrong with a text, and where."""
    import json

    return json.loads(text)


def _refused(value: object) -> object:
    raise TypeError(f"{type(value).__name__} has no form in JSON")


class _Reading:
    """What the scanner asks of a json.JSONDecoder."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = {name: float(name) for name in ("-Infinity", "Infinity", "NaN")}.__getitem__


_scan: Any
_encode: Any
try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner
except ImportError:
    from json import JSONDecoder, JSONEncoder

    _scan = JSONDecoder().raw_decode
    _encode = JSONEncoder(separators=(",", ":")).iterencode
else:
    reading: Any = _Reading
    _scan = make_scanner(reading)
    _encode = make_encoder(
        *(None, _refused, encode_basestring_ascii, None, ":", ",", False, False, True)
    )

_sha256: Any
try:
    from _sha2 import sha256 as _small  # type: ignore[import-not-found]  # from Python 3.12 on
except ImportError:
    try:
        from _sha256 import sha256 as _small  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256 as _small

_sha256, _left = _small, LOADED_AFTER
