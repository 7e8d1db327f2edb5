"""The forms that the bytes of one text are kept in: as they are, or packed by zlib."""

from __future__ import annotations

import zlib

from sightline.model.deflate import deflated
from sightline.model.revision import Revision
from sightline.model.value import Value

LARGE_BYTES = 1 << 20
"""What is larger than this once packed is a file."""

MUCH = 32 << 10
"""Bytes that are worth loading what packs faster."""

WORTH_PACKING = 128
"""Bytes below which packing cannot win."""


class Packed(Value):
    """Bytes as they are stored. form: raw or zlib; body None: they stand in a file."""

    revision: Revision
    data: bytes
    form: str | None = None
    body: bytes | None = None


def smaller(data: bytes) -> tuple[str, bytes]:
    """The form that takes less room: zlib where it saves a tenth."""
    if len(data) >= WORTH_PACKING:
        body = _deflated(data)
        if len(body) < len(data) * 0.9:
            return "zlib", body
    return "raw", data


def _deflated(data: bytes) -> bytes:
    if len(data) >= MUCH:
        return deflated(data)

    return zlib.compress(data, 1)


def unpacked(form: str, body: bytes) -> bytes | None:
    """The bytes of a body; None when it is damaged."""
    if form == "raw":
        return body

    try:
        return zlib.decompress(body)
    except zlib.error:
        return None
