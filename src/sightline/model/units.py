"""Times as values, and times and sizes as people type them: "2h", "30d", "500M"."""

from __future__ import annotations

from datetime import UTC, datetime

SECOND_US = 1_000_000

TIME_UNITS = {
    "s": SECOND_US, "min": 60 * SECOND_US, "m": 60 * SECOND_US, "h": 3_600 * SECOND_US,
    "d": 86_400 * SECOND_US, "w": 7 * 86_400 * SECOND_US,
}  # fmt: skip
"""Unit -> microseconds."""

SIZE_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
"""Unit -> bytes. KB and KiB mean K."""

DURATION_MAX = 100 * 365 * TIME_UNITS["d"]
SIZE_MAX = 1 << 60


def moment(at: int) -> datetime:
    """Return microseconds since 1970 as an aware UTC datetime."""
    return datetime.fromtimestamp(at / 1_000_000, UTC)


def duration_us(text: str) -> int:
    """Return the microseconds of "90s", "30min", "2h", "30d" or "2w". ValueError."""
    number, unit = _split(text)
    if unit not in TIME_UNITS:
        raise ValueError(f"{text!r} is not a length of time such as 30min, 2h, 30d or 2w")
    return min(round(number * TIME_UNITS[unit]), DURATION_MAX)


def size_bytes(text: str) -> int:
    """Return the bytes of "500M", "2 GiB" or "1000". ValueError."""
    number, unit = _split(text)
    unit = unit.upper().removesuffix("B").removesuffix("I") or unit[:1].upper()
    if unit not in SIZE_UNITS:
        raise ValueError(f"{text!r} is not a size such as 800K, 500M or 2G")
    return min(round(number * SIZE_UNITS[unit]), SIZE_MAX)


def _split(text: str) -> tuple[float, str]:
    """Return the number and the unit of a text; the unit "?" where there is no number."""
    bare = text.strip()
    digits = len(bare) - len(bare.lstrip("0123456789."))
    number = bare[:digits]
    if not number.isascii() or number.count(".") > 1 or not number.strip("."):
        return 0, "?"
    return float(number), bare[digits:].strip()
