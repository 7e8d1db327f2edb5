"""A point in the past, as people and programs name it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sightline.checkpoints.time_points import since
from sightline.model.timeline import Since

NOW = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (42, Since(position=42)),
        ("42", Since(position=42)),
        ("2h", Since(at=NOW - 2 * HOUR)),
        (timedelta(hours=2), Since(at=NOW - 2 * HOUR)),
        ("2026-01-01T02:00+02:00", Since(at=NOW)),
        ("2026-01-01T00:00:00Z", Since(at=NOW)),
        (datetime(2026, 1, 1, 1, tzinfo=UTC), Since(at=NOW + HOUR)),
    ],
)
def test_positions_times_and_lengths_of_time(when, expected):
    assert since(when, NOW) == expected


def test_a_date_is_the_readers_own():
    local = datetime(2026, 1, 1).astimezone()
    assert since("2026-01-01", NOW) == since(local, NOW)


@pytest.mark.parametrize("when", ["", "soon", "2026-13-01", "-4", -4, datetime(2026, 1, 1)])  # noqa: DTZ001
def test_what_names_no_point_is_refused(when):
    with pytest.raises(ValueError, match=r"position|zone"):
        since(when, NOW)
