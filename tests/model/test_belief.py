"""What is held after a look, line by line: a plain model says of each line where it came from."""

from hypothesis import assume, given
from hypothesis import strategies as st

from sightline.model.belief import Held, first_look, look
from sightline.model.diff import diff
from sightline.model.spans import carry, covers, intersect, spans, touched, whole

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "}\n"]), max_size=9)
some = st.lists(st.tuples(st.integers(1, 10), st.integers(1, 10)), max_size=3).map(spans)


@st.composite
def held(draw):
    lines = draw(texts)
    shown = intersect(draw(some), whole(len(lines)))
    return Held(lines, shown, intersect(draw(some), shown))


def picked(lines, at):
    return [lines[n - 1] for first, last in at for n in range(first, last + 1)]


@given(held(), texts, some)
def test_marks_stay_inside_the_text_and_what_is_held_was_shown(before, now, seen):
    after = look(before, now, intersect(seen, whole(len(now))))
    assert covers(whole(len(after.lines)), after.shown)
    assert covers(after.shown, after.held)


@given(held(), texts)
def test_looking_at_the_whole_text_is_knowing_the_disk(before, now):
    assume(now)  # of an empty text nothing can be looked at
    assert look(before, now, whole(len(now))) == first_look(now, whole(len(now)))


@given(held(), texts)
def test_looking_at_nothing_keeps_every_line_that_was_shown(before, now):
    """Others' changes to lines that were shown stay out, so that they can still be told."""
    after = look(before, now, ())
    assert picked(after.lines, after.shown) == picked(before.lines, before.shown)
    assert picked(after.lines, after.held) == picked(before.lines, before.held)


@given(held(), texts, some)
def test_nothing_never_shown_becomes_shown(before, now, seen):
    """Each line marked as shown was marked before, or stands among the lines looked at."""
    seen = intersect(seen, whole(len(now)))
    after = look(before, now, seen)
    allowed = picked(before.lines, before.shown) + picked(now, seen)
    for line in picked(after.lines, after.shown):
        allowed.remove(line)


@given(held(), texts, some)
def test_the_lines_looked_at_are_held_as_they_are_on_disk(before, now, seen):
    seen = intersect(seen, whole(len(now)))
    after = look(before, now, seen)
    there = carry(seen, diff(now, after.lines))
    if before.lines != now:
        assert covers(after.held, intersect(there, after.held))
    for line in picked(now, seen):
        assert line in after.lines


@given(held(), texts)
def test_being_told_all_changes_leaves_none(before, now):
    told = touched(before.shown, diff(before.lines, now), len(before.lines))
    after = look(before, now, (), told)
    assert list(after.lines) == now
    assert touched(after.shown, diff(after.lines, now), len(after.lines)) == ()


@given(held(), texts, some)
def test_looking_twice_is_looking_once(before, now, seen):
    seen = intersect(seen, whole(len(now)))
    once = look(before, now, seen)
    again = look(once, now, seen)
    assert (again.lines, again.shown) == (once.lines, once.shown)


def test_a_change_beside_the_lines_looked_at_stays_unseen():
    before = first_look(["a\n", "b\n", "c\n", "d\n", "e\n"], whole(5))
    now = ["a\n", "B\n", "c\n", "D\n", "e\n"]
    after = look(before, now, ((3, 5),))
    assert after.lines == ["a\n", "b\n", "c\n", "D\n", "e\n"]
    assert after.complete


def test_a_deletion_is_seen_where_its_neighbours_are():
    before = first_look(["a\n", "b\n", "c\n"], whole(3))
    assert look(before, ["a\n", "c\n"], ((1, 2),)).lines == ["a\n", "c\n"]
    assert look(before, ["a\n", "c\n"], ((1, 1),)).lines == ["a\n", "b\n", "c\n"]
