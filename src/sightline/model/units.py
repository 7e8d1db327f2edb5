"""Amounts as people type them: "2h" and "30d", "500M"."""

from __future__ import annotations

from msgspec import Struct

SECOND_US = 1_000_000

TIME_UNITS = {
    "s": SECOND_US, "min": 60 * SECOND_US, "m": 60 * SECOND_US, "h": 3_600 * SECOND_US,
    "d": 86_400 * SECOND_US, "w": 7 * 86_400 * SECOND_US,
}  # fmt: skip
"""Unit -> microseconds."""

SIZE_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
"""Unit -> bytes; KB and KiB are taken for K, as most people mean it."""

DURATION_MAX = 100 * 365 * TIME_UNITS["d"]
SIZE_MAX = 1 << 60


class Unit(Struct, frozen=True):
    """A number and the unit it came with."""

    number: float
    name: str


def duration_us(text: str) -> int:
    """How long "90s", "30min", "2h", "30d" or "2w" is, in microseconds. ValueError."""
    read = _split(text)
    if read is None or read.name not in TIME_UNITS:
        raise ValueError(f"{text!r} is no length of time such as 30min, 2h, 30d or 2w")
    return min(round(read.number * TIME_UNITS[read.name]), DURATION_MAX)


def size_bytes(text: str) -> int:
    """How many bytes "500M", "2 GiB" or "1000" are. ValueError."""
    read = _split(text)
    name = read.name.upper() if read else "?"
    name = name.removesuffix("B").removesuffix("I") or name[:1]
    if read is None or name not in SIZE_UNITS:
        raise ValueError(f"{text!r} is no size such as 800K, 500M or 2G")
    return min(round(read.number * SIZE_UNITS[name]), SIZE_MAX)


def _split(text: str) -> Unit | None:
    bare = text.strip()
    digits = len(bare) - len(bare.lstrip("0123456789."))
    number = bare[:digits]
    if not number.isascii() or number.count(".") > 1 or not number.strip("."):
        return None
    return Unit(float(number), bare[digits:].strip())
