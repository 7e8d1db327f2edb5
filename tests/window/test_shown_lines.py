"""Which blocks show lines that no newer one shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sightline.model.spans import covers, spans
from sightline.window.file_index import ERAS_MAX, ShownLines


def shown(*entries) -> ShownLines:
    """entries: (place, first, last), "whole" behind it where that is all; a number: an edit."""
    made = ShownLines()
    for each in entries:
        if isinstance(each, int):
            made.move(each)
        else:
            made.show(each[0], [(each[1], each[2])], whole="whole" in each)
    return made


def test_one_block_or_several_may_show_its_lines():
    assert shown((1, 10, 20), (2, 1, 30)).is_superseded(1)
    assert shown((1, 10, 20), (2, 1, 15), (3, 16, 30)).is_superseded(1)
    assert not shown((1, 10, 20), (2, 1, 15), (3, 17, 30)).is_superseded(1)


def test_the_newest_is_never_superseded_nor_one_in_the_middle_of_it():
    showing = shown((1, 10, 20), (2, 13, 15))
    assert not showing.is_superseded(1)
    assert not showing.is_superseded(2)


def test_a_folded_block_shows_nothing():
    showing = shown((1, 10, 20), (2, 1, 30))
    showing.hide(2)
    assert not showing.is_superseded(1)
    assert showing.is_superseded(2)


def test_a_whole_file_supersedes_what_showed_more_lines():
    assert shown((1, 1, 30), (2, 1, 20, "whole")).is_superseded(1)
    assert not shown((1, 1, 30), (2, 1, 20)).is_superseded(1)
    showing = shown((1, 1, 30), (2, 1, 20, "whole"))
    showing.hide(2)
    assert not showing.is_superseded(1)


def test_a_whole_write_supersedes_what_was_shown_before_it_for_good():
    showing = shown((1, 1, 30), (4, 1, 5))
    showing.rewrite(3)
    assert showing.is_superseded(1)
    assert not showing.is_superseded(4)
    showing.hide(4)
    assert showing.is_superseded(1)


def test_of_a_file_with_an_earlier_text_every_block_may_show_it_until_the_whole_file_is_read():
    showing = shown((1, 1, 30), (2, 1, 40, "whole"), (4, 1, 40, "whole"))
    showing.rewrite(3)
    showing.restore()
    assert not any(map(showing.is_superseded, (1, 2, 4)))
    showing.show(5, [(1, 40)], whole=False)
    assert not any(map(showing.is_superseded, (1, 2, 4, 5)))
    showing.hide(2)
    showing.restore()
    assert [showing.is_superseded(place) for place in (1, 2, 4)] == [False, True, False]
    showing.show(6, [(1, 40)], whole=True)
    assert all(map(showing.is_superseded, (1, 2, 4, 5)))


def test_lines_that_an_edit_may_have_moved_must_be_shown_wherever_they_are():
    assert not shown((1, 10, 20), 5, (2, 10, 20)).is_superseded(1)
    assert not shown((1, 10, 20), 5, (2, 15, 25)).is_superseded(1)
    assert shown((1, 10, 20), 5, (2, 10, 25)).is_superseded(1)
    assert shown((1, 10, 20), -5, (2, 5, 20)).is_superseded(1)
    assert not shown((1, 10, 20), 5, -5, (2, 10, 20)).is_superseded(1)
    assert shown((1, 10, 20), 5, -5, (2, 5, 25)).is_superseded(1)
    assert shown((1, 1, 20), -5, (2, 1, 20)).is_superseded(1)
    assert shown((1, 10, 20), 5, (2, 1, 12, "whole")).is_superseded(1)


def test_after_many_moves_only_the_whole_file_will_do():
    entries = []
    for place in range(1, ERAS_MAX + 3):
        entries += [(place, 10 * place, 10 * place + 5), 1]
    assert not shown(*entries, (99, 1, 999)).is_superseded(1)
    assert shown(*entries, (99, 1, 999)).is_superseded(3)
    assert shown(*entries, (99, 1, 5, "whole")).is_superseded(1)


LINES = st.tuples(st.integers(1, 12), st.integers(0, 6))


@given(st.lists(LINES, min_size=1, max_size=10), st.sets(st.integers(0, 9)))
def test_a_block_is_superseded_exactly_when_newer_ones_cover_it(drawn, gone):
    blocks = [(first, first + more) for first, more in drawn]
    showing = shown(*((place, *span) for place, span in enumerate(blocks)))
    for place in gone:
        showing.hide(place)
    for place, span in enumerate(blocks):
        if place in gone:
            continue
        newer = spans(blocks[at] for at in range(place + 1, len(blocks)) if at not in gone)
        assert showing.is_superseded(place) is covers(newer, spans([span]))


@given(st.lists(LINES | st.integers(-3, 3), min_size=1, max_size=12), st.integers(0, 20))
def test_what_is_superseded_is_shown_wherever_the_edits_were(drawn, where):
    """A file of numbered lines; each edit puts lines in, or takes them out, at one place."""
    file = [f"line {n}" for n in range(40)]
    showing = ShownLines()
    held: dict[int, set[str]] = {}
    for place, each in enumerate(drawn):
        if isinstance(each, int):
            if each < 0:
                del file[where : where - each]
            else:
                file[where:where] = [f"new {place}.{n}" for n in range(each)]
            showing.move(each)
        else:
            first, last = each[0], each[0] + each[1]
            held[place] = set(file[first - 1 : last])
            showing.show(place, [(first, last)], whole=False)
    for place, lines in held.items():
        if showing.is_superseded(place):
            later = set().union(*(held[at] for at in held if at > place))
            assert lines & set(file) <= later
