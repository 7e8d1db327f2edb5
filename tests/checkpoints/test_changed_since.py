"""What was edited since a moment, by whom."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.support.places import TEN

import sightline
from sightline.checkpoints.changed_since import about_rewind
from sightline.model.events import CheckpointTaken, MessageAppended
from sightline.testing import FixedClock

TAKEN = sightline.Checkpoint(
    id="c1",
    label="",
    at=datetime(2026, 1, 1, tzinfo=UTC),
    session="s",
    turn=0,
    position=0,
    manifest="m",
    files=0,
    not_covered=(),
    message=None,
)


@pytest.fixture
def two(place, s):
    """Two files that were shown."""
    for name in ("a.py", "b.py"):
        place.put(name, TEN)
        s.read(name)
    return s


def paths(found):
    return [each.path for each in found]


def test_it_tells_mine_from_others_and_asking_empties_nothing(place, two):
    two.edit("a.py", "line 5\n", "five\n")
    place.put("b.py", TEN.replace("line 9\n", "nine\n"))
    found = two.edited_since()
    assert [(f.path, f.mine, f.others, f.lines) for f in found] == [
        ("a.py", True, False, ((5, 5),)),
        ("b.py", False, True, ((9, 9),)),
    ]
    assert (found[0].by.kind, found[1].by.kind) == ("agent", "external")
    assert two.edited_since() == found


def test_a_file_that_both_edited_is_of_both(place, two):
    two.edit("a.py", "line 5\n", "five\n")
    place.put("a.py", place.text("a.py").replace("line 9\n", "nine\n"))
    [found] = two.edited_since()
    assert (found.mine, found.others, found.lines) == (True, True, ((5, 5), (9, 9)))


def test_a_file_that_is_as_it_was_is_left_out(place, two):
    two.edit("a.py", "line 5\n", "five\n")
    place.put("a.py", TEN)
    assert two.edited_since() == []


def test_what_nobody_was_there_to_see_is_found(place, two):
    two.close()
    place.put("a.py", TEN + "more\n")
    again = place.session()
    assert paths(again.edited_since()) == ["a.py"]


def test_since_the_last_checkpoint_or_any_other(two):
    context = two._context
    two.edit("a.py", "line 5\n", "five\n")
    context.append([CheckpointTaken("c1", "", "m")])
    two.edit("b.py", "line 5\n", "five\n")
    assert paths(two.edited_since()) == paths(two.edited_since("c1")) == ["b.py"]
    assert paths(two.edited_since(TAKEN)) == ["b.py"]
    assert paths(two.edited_since(0)) == ["a.py", "b.py"]


def test_since_the_newest_checkpoint_of_a_label(two):
    two.checkpoint("begin")
    two.edit("a.py", "line 5\n", "five\n")
    two.checkpoint("begin")
    two.edit("b.py", "line 5\n", "five\n")
    two.checkpoint("end")
    assert paths(two.edited_since("begin")) == ["b.py"]


def test_since_a_time(place):
    clock = FixedClock()
    s = place.session(clock=clock)
    place.put("a.py", TEN)
    s.read("a.py")
    clock.advance(seconds=60)
    s.edit("a.py", "line 5\n", "five\n")
    at = s.edited_since(0)[0].at
    assert paths(s.edited_since(at)) == []
    assert paths(s.edited_since(datetime.fromtimestamp(at.timestamp() - 1, UTC))) == ["a.py"]
    assert paths(s.edited_since("1970-01-02T00:00:00Z")) == ["a.py"]


def test_messages_taken_out_of_the_conversation_widen_it(two):
    context = two._context
    context.append([MessageAppended("m1", None, "user")])
    two.edit("a.py", "line 5\n", "five\n")
    context.append([CheckpointTaken("c1", "", "m")])
    assert two.edited_since() == []
    assert paths(two.edited_since(deleted_messages=["m1"])) == ["a.py"]


def test_deleted_renamed_and_made_files_are_told(two):
    two.delete("a.py")
    two.move("b.py", "c.py")
    two.create("d.py", "x\n")
    assert paths(two.edited_since()) == ["a.py", "b.py", "c.py", "d.py"]


@pytest.mark.parametrize("when", ["no such", TAKEN])
def test_a_checkpoint_that_is_none_is_answered_as_such(two, when):
    with pytest.raises(sightline.UnknownName, match="checkpoint"):
        two.edited_since(when)


def test_a_time_without_its_zone_is_refused(two):
    with pytest.raises(ValueError, match="time zone"):
        two.edited_since(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point


def test_what_a_command_only_probably_changed_is_neither_mine_nor_others(place, two):
    with two.ran("sh build.sh"):
        place.put("a.py", TEN.replace("line 5\n", "five\n"))
    [found] = two.edited_since()
    assert (found.mine, found.probable, found.others) == (False, True, False)
    assert found.by.confidence == "likely"
    two.edit("a.py", "line 9\n", "nine\n")
    [found] = two.edited_since()
    assert (found.mine, found.probable, found.others) == (True, True, False)


def test_what_a_command_names_is_mine(place, two):
    with two.ran("sed -i 's/line 5/five/' a.py"):
        place.put("a.py", TEN.replace("line 5\n", "five\n"))
    with two.ran("mv b.py c.py"):
        (place.root / "b.py").rename(place.root / "c.py")
    found = two.edited_since()
    assert [(f.path, f.mine, f.probable) for f in found] == [
        *(("a.py", True, False), ("b.py", True, False), ("c.py", True, False)),
    ]


def test_a_layout_changed_behind_an_edit_is_probable_and_one_seen_to_be_a_formatters_is_mine(
    place, two
):
    two.edit("a.py", "line 5\n", "f( 1,2 )\n")
    place.put("a.py", TEN.replace("line 5\n", "f(1, 2)\n"))
    [found] = two.edited_since()
    assert (found.mine, found.probable, found.others) == (True, True, False)
    since = two._context.store.position()
    with two.writing("b.py", TEN.replace("line 5\n", "f( 1,2 )\n")):
        place.put("b.py", TEN.replace("line 5\n", "f(1, 2)\n"))
    [found] = two.edited_since(since)
    assert (found.mine, found.probable, found.others) == (True, False, False)


def test_a_warning_names_what_is_probably_this_agents(place, two):
    at = two._context.store.position()
    with two.ran("sh build.sh"):
        place.put("a.py", TEN.replace("line 5\n", "five\n"))
    warned = about_rewind(two._context, at)
    assert warned is not None
    assert "probably by this agent: a.py" in warned.text
