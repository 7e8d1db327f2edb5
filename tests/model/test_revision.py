import pytest
from msgspec import structs

from sightline.model.revision import (
    MISSING,
    UNKNOWN,
    Stamp,
    StatSignature,
    compare,
    known,
    revision_of,
)

TICK = 10
OLD = StatSignature(size=3, mtime_ns=1_000, ctime_ns=1_000, dev=1, ino=2, mode=0o100644)
STAMP = Stamp(OLD, revision_of(b"abc"), 1_021)


def test_a_revision_names_content():
    assert revision_of(b"a") == revision_of(b"a") != revision_of(b"b")
    assert known(revision_of(b""))
    assert not known(MISSING)
    assert not known(UNKNOWN)


@pytest.mark.parametrize(
    ("now", "answer"),
    [
        (OLD, "same"),
        (structs.replace(OLD, size=4), "differs"),
        (structs.replace(OLD, mtime_ns=999), "cannot_tell"),
        (structs.replace(OLD, ctime_ns=1_001), "cannot_tell"),
        (structs.replace(OLD, ino=3), "cannot_tell"),
        (structs.replace(OLD, mode=0o100755), "cannot_tell"),
    ],
)
def test_what_a_stat_alone_can_say(now, answer):
    assert compare(STAMP, now, TICK) == answer


@pytest.mark.parametrize(
    ("read_at", "answer"), [(1_000, "cannot_tell"), (1_020, "cannot_tell"), (1_021, "same")]
)
def test_within_two_ticks_of_its_own_stamp_a_file_is_racy(read_at, answer):
    assert compare(structs.replace(STAMP, read_at_ns=read_at), OLD, TICK) == answer


def test_the_later_of_both_times_counts():
    for field in ("mtime_ns", "ctime_ns"):
        young = structs.replace(OLD, **{field: 1_005})
        assert compare(structs.replace(STAMP, signature=young), young, TICK) == "cannot_tell"
