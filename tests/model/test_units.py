"""Amounts as people type them."""

from __future__ import annotations

import pytest

from sightline.model.units import DURATION_MAX, SIZE_MAX, duration_us, size_bytes

HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("text", "us"),
    [
        *[("2h", 2 * HOUR), ("90s", HOUR // 40), ("30min", HOUR // 2), ("30m", HOUR // 2)],
        *[("1.5h", HOUR * 3 // 2), ("1 d", 24 * HOUR), ("2w", 14 * 24 * HOUR), ("0d", 0)],
        ("99999999999w", DURATION_MAX),
    ],
)
def test_lengths_of_time(text, us):
    assert duration_us(text) == us


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *[("500M", 500 << 20), ("2 GiB", 2 << 30), ("800k", 800 << 10), ("1000", 1000)],
        *[("7B", 7), ("1.5MB", 3 << 19), ("0", 0), ("99999999T", SIZE_MAX)],
    ],
)
def test_sizes(text, size):
    assert size_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "h", "2", "2 years", "-2h", "1.2.3h", ".h", "٢h", "2026-01-01"]
)
def test_what_is_no_length_of_time_is_refused(text):
    with pytest.raises(ValueError, match="not a length of time"):
        duration_us(text)


@pytest.mark.parametrize("text", ["", "M", "-5M", "five", "5X", "5 M M", "1..2M", "²M"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="not a size"):
        size_bytes(text)
