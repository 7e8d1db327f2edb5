"""Notices: once per change, together by cause, as short as it can be said, and lost by nobody."""

from __future__ import annotations

import pytest
from tests.support.places import TEN

from sightline import EditRefused, UnknownName
from sightline.model.events import GitMoved, NoticeAcknowledged, Rewritten
from sightline.model.revision import revision_of


def put_line(place, number, text, path="a.py"):
    lines = place.text(path).splitlines(keepends=True)
    lines[number - 1] = text
    place.put(path, "".join(lines))


def test_where_nothing_is_new_there_is_no_notice(ten):
    assert ten.notice() is None


def test_asking_changes_nothing_and_acknowledging_counts_what_was_printed(place, ten):
    put_line(place, 5, "five\n")
    first = ten.notice()
    position = ten._context.store.position()
    assert ten.notice() == first
    assert ten._context.store.position() == position
    assert "+five" in first.text
    assert ten.check("a.py").state == "stale"
    ten.acknowledge(first)
    assert ten.check("a.py").state == "fresh"
    assert ten.notice() is None
    ten.acknowledge(first)  # a second time is of no use, and no harm


def test_a_second_change_before_the_first_was_acknowledged_is_told_with_it(place, ten):
    put_line(place, 2, "two\n")
    first = ten.notice()
    put_line(place, 8, "eight\n")
    second = ten.notice()
    assert "+two" in second.text
    assert "+eight" in second.text
    assert second.text.count("a.py:") == 1
    ten.acknowledge(first)
    left = ten.notice()
    assert "+eight" in left.text
    assert "+two" not in left.text


def test_all_who_changed_a_file_since_it_was_shown_are_named(place, ten):
    other = place.session("other")
    other.read("a.py")
    put_line(place, 8, "eight\n")
    other.edit("a.py", old="line 2\n", new="two\n")
    both = "agent session other; before that the user or another program"
    told = ten.notice()
    assert told.text.startswith(f"changed on disk since you were shown it, by {both}:")
    assert told.changes[0].changed_by.who == "other"
    with pytest.raises(EditRefused, match=both):
        ten.edit("a.py", old="line 8\n", new="x\n")
    ten.acknowledge(told)
    put_line(place, 5, "five\n")
    assert ten.notice().text.startswith(
        "changed on disk since you were shown it, by the user or another program:"
    )
    assert "other" not in other.notice().text.split("\n")[0].replace("another", "")


def test_of_many_who_changed_a_file_the_last_three_are_named(place, ten):
    for number in range(1, 6):
        other = place.session(f"s{number}")
        other.read("a.py")
        other.edit("a.py", old=f"line {number}\n", new="x\n")
    heading = ten.notice().text.split("\n")[0]
    assert heading.endswith(
        "by agent session s5; before that agent session s4, agent session s3 and others:"
    )


def test_only_lines_that_were_shown_are_told(place, s):
    place.put("a.py", TEN + TEN)
    s.read("a.py", (1, 3))
    put_line(place, 15, "nine\n")
    assert s.notice() is None
    put_line(place, 2, "two\n")
    told = s.notice().text
    assert "+two" in told
    assert "nine" not in told


def test_an_id_is_enough_while_it_is_the_present_notice(place, ten):
    put_line(place, 5, "five\n")
    told = ten.notice()
    ten.acknowledge(told.id)
    assert ten.notice() is None
    with pytest.raises(UnknownName, match="no notice with the id nothing"):
        ten.acknowledge("nothing")


def test_changes_with_one_cause_are_one_block(place, s):
    names = [f"f{n:02}.py" for n in range(14)]
    for name in names:
        place.put(name, TEN)
        s.read(name)
    place.put("own.py", TEN)
    s.read("own.py")
    changes = []
    for name in names:
        old = revision_of(place.bytes(name))
        put_line(place, 3, "three of the branch\n", name)
        changes.append(Rewritten(name, old, revision_of(place.bytes(name))))
    moved = GitMoved("a" * 40, "b" * 40, "checkout", tuple(names), tuple(changes), "main to topic")
    context = s._context
    context.append([moved], blobs=[place.bytes("f00.py")])
    put_line(place, 3, "three of the user\n", "own.py")
    told = s.notice(4_000)
    assert told.text.count("changed on disk") == 2
    assert "(14 files)" in told.text
    assert "aaaaaaa..bbbbbbb" in told.text
    assert sorted(change.path for change in told.changes) == [*names, "own.py"]


def test_a_block_of_moved_lines_is_told_by_its_place(place, s):
    lines = [f"line {n}\n" for n in range(1, 61)]
    place.put("a.py", "".join(lines))
    s.read("a.py")
    place.put("a.py", "".join([*lines[:9], *lines[39:], *lines[9:39]]))
    told = s.notice()
    [change] = told.changes
    assert change.diff == ""
    assert ((10, 39), (31, 60)) in change.moved_lines or ((40, 60), (10, 30)) in change.moved_lines
    assert " stand at " in told.text
    assert "+line" not in told.text
    s.acknowledge(told)
    assert s.check("a.py").state == "fresh"
    assert s.believed("a.py") == place.text("a.py")


def test_nothing_around_moved_lines_counts_as_shown(place, s):
    lines = [f"line {n}\n" for n in range(1, 41)]
    place.put("a.py", "".join(lines))
    s.read("a.py", (10, 14))
    place.put("a.py", "".join([*lines[:9], *lines[14:30], *lines[9:14], *lines[30:]]))
    told = s.notice()
    s.acknowledge(told)
    assert s.check("a.py").seen_lines == ((26, 30),)


def test_lines_that_others_shifted_are_told_with_the_change(place, ten):
    place.put("a.py", "new\nnew\n" + TEN)
    assert "lines 1-10 stand at 3-12 now." in ten.notice().text
    assert (
        "Lines 1-8 stand at 3-10, line 10 stands at 12 now."
        in ten.edit("a.py", "line 9\n", "x\n").notice.text
    )


@pytest.mark.parametrize(
    "data", [TEN.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + TEN.encode()]
)
def test_line_ends_and_byte_order_mark_are_named_as_such_once(place, ten, data):
    place.put("a.py", data)
    told = ten.notice()
    assert "only line endings or the byte order mark" in told.text
    assert [(c.what, c.state, c.diff) for c in told.changes] == [("endings", "fresh", "")]
    ten.acknowledge(told)
    assert ten.notice() is None


def test_an_edit_that_was_taken_back_is_called_that(place, ten):
    ten.edit("a.py", "line 5\n", "five\n")
    place.put("a.py", TEN)  # an editor saves what it still held
    told = ten.notice()
    assert told.changes[0].what == "taken_back"
    assert "a.py: your edit was taken back" in told.text
    assert "-five" in told.text
    assert "your edit was taken back" in ten.changes()[0].summary


def test_a_file_that_is_gone_renamed_or_another_thing_is_told_once(place, s):
    for name in ("gone", "away", "folder"):
        place.put(name, f"{name}\n{TEN}")
        s.read(name)
    (place.root / "gone").unlink()
    (place.root / "away").rename(place.root / "there")
    (place.root / "folder").unlink()
    (place.root / "folder").mkdir()
    told = s.notice()
    assert "gone was deleted." in told.text
    assert "away was renamed to there." in told.text
    assert "folder is no longer a regular text file." in told.text
    s.acknowledge(told)
    assert s.notice() is None
    assert len(s.changes(told=True)) == 3
    place.put("gone", "again\n")
    assert [change.path for change in s.changes()] == ["gone"]


@pytest.mark.wide
def test_what_has_no_room_is_named_and_what_cannot_be_named_comes_next(place, s):
    names = [f"{n:02}-{'x' * 40}.py" for n in range(30)]
    for name in names:
        place.put(name, TEN)
        s.read(name)
        place.put(name, TEN.replace("line 5", "five " + "y" * 300))
    seen = []
    for _ in range(30):
        told = s.notice(200)
        if told is None:
            break
        assert len(told.text) <= 800
        s.acknowledge(told)
        seen += [change.path for change in told.changes]
    assert sorted(seen) == sorted(names), "each of them once"


def test_of_a_long_diff_the_rest_is_named_by_its_lines(place, s):
    place.put("a.py", "".join(f"line {n}\n" for n in range(1, 401)))
    s.read("a.py")
    place.put("a.py", "".join(f"{'LINE' if n % 20 == 0 else 'line'} {n}\n" for n in range(1, 401)))
    told = s.notice(300)
    assert "+LINE 20\n" in told.text
    assert "more changes: lines " in told.text
    assert "400" in told.text
    s.acknowledge(told)
    assert s.notice() is None
    with pytest.raises(Exception, match="that you are editing"):
        s.edit("a.py", "line 400\n", "x\n")


def test_what_was_told_and_not_printed_is_told_again_with_an_edit_of_that_file(place, s):
    place.put("a.py", "mine\n" + "".join(f"{n} of the old\n" for n in range(300)))
    s.read("a.py")
    place.put("a.py", "mine\n" + "".join(f"{n} of the user\n" for n in range(300)))
    s.acknowledge(s.notice(150))
    assert s.notice() is None
    assert "of the user" in s.edit("a.py", "mine\n", "mine!\n").notice.text


def test_a_change_recorded_between_notice_and_acknowledgement_is_not_swallowed(place, s):
    place.put("a.py", "old\n" * 500)
    s.read("a.py")
    place.put("a.py", "".join(f"new {n}\n" for n in range(500)))
    told = s.notice(150)
    place.put("a.py", "".join(f"newer {n}\n" for n in range(500)))
    other = place.session("other")
    other.read("a.py")  # records the change
    s.acknowledge(told)
    assert s.notice() is not None


def test_another_sessions_acknowledgement_is_its_own(place, ten):
    other = place.session("other")
    other.read("a.py")
    put_line(place, 5, "five\n")
    ten.acknowledge(ten.notice())
    assert "+five" in other.notice().text


def test_what_a_person_asked_for_does_not_count_when_a_host_says_that_all_arrived(place, ten):
    from sightline.hooks.dispatch import attend
    from sightline.model.hook_events import Answered
    from sightline.notices.delivery import hand_over

    put_line(place, 5, "five\n")
    told = ten.notice()
    hand_over(ten._context, told)  # as the command does, for whoever sits there
    attend(ten, Answered())
    kinds = [NoticeAcknowledged]
    assert list(ten._context.store.timeline(session="s", kinds=kinds)) == []


def test_a_budget_is_a_number_of_tokens(ten):
    with pytest.raises(ValueError, match="budget"):
        ten.notice(0)


def test_a_change_of_many_lines_is_shown_as_far_as_there_is_room(place, s):
    place.put("a.py", "".join(f"line {n}\n" for n in range(1, 501)))
    s.read("a.py")
    place.put("a.py", "".join(f"changed {n}\n" for n in range(1, 501)))
    notice = s.notice(budget=300)
    assert "too long to show" not in notice.text
    assert "-line 1\n" in notice.text
    shown = sum(row.startswith(("+", "-")) for row in notice.text.split("\n"))
    assert f"… {1_000 - shown} more changed lines" in notice.text
    assert len(notice.text) <= 1_200
    s.acknowledge(notice)
    assert s.check("a.py").state == "stale"  # a beginning does not count as shown


def test_only_a_line_that_is_long_by_itself_is_too_long_to_show(place, s):
    place.put("a.py", "x\n")
    s.read("a.py")
    place.put("a.py", "y" * 9_000 + "\n")
    assert "-x\n" in s.notice().text
    place.put("b.py", "x" * 9_000 + "\n")
    s.read("b.py")
    place.put("b.py", "y" * 9_000 + "\n")
    assert "… too long to show: line 1" in s.notice().text
