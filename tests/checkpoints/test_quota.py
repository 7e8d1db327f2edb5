"""Which checkpoints are dropped to make room."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.checkpoints.quota import Held, dropping

SIZES = {"a": 10, "b": 20, "c": 30, "d": 40}


def held(name, texts, *, stays=False, unasked=False):
    return Held(name, frozenset(texts), stays, unasked)


def test_the_oldest_go_until_the_others_fit():
    every = [held("1", "a"), held("2", "b"), held("3", "c"), held("4", "d")]
    assert dropping(every, SIZES, 100) == []
    assert dropping(every, SIZES, 90) == ["1"]
    assert dropping(every, SIZES, 75) == ["1", "2"]


def test_a_labelled_one_and_the_newest_stay():
    every = [held("1", "a"), held("2", "b", stays=True), held("3", "c"), held("4", "d")]
    assert dropping(every, SIZES, 0) == ["1", "3"]
    assert dropping([held("1", "a")], SIZES, 0) == []
    assert dropping([], SIZES, 0) == []


def test_a_text_that_a_younger_one_needs_frees_nothing():
    every = [held("1", "ad"), held("2", "ab"), held("3", "a")]
    assert dropping(every, SIZES, 35) == ["1"]
    assert dropping(every, SIZES, 25) == ["1", "2"]


def test_texts_that_are_not_kept_take_nothing():
    assert dropping([held("1", "xyz"), held("2", "a")], SIZES, 10) == []


def test_those_that_nobody_asked_for_go_before_older_ones():
    every = [held("1", "a"), held("2", "b", unasked=True), held("3", "c"), held("4", "d")]
    assert dropping(every, SIZES, 80) == ["2"]
    assert dropping(every, SIZES, 75) == ["2", "1"]


def test_a_text_of_one_that_goes_first_and_of_one_that_goes_later_frees_nothing():
    every = [held("1", "b"), held("2", "b", unasked=True), held("3", "c")]
    assert dropping(every, SIZES, 45) == ["2", "1"]
    assert dropping([held("1", "b", stays=True), *every[1:]], SIZES, 45) == ["2"]


kinds = st.sampled_from([{}, {"stays": True}, {"unasked": True}])
chains = st.lists(st.tuples(st.frozensets(st.sampled_from("abcd")), kinds), max_size=8)


@given(chains, st.integers(0, 110))
def test_what_is_left_fits_or_none_of_it_may_go(chain, room):
    every = [held(str(n), texts, **kind) for n, (texts, kind) in enumerate(chain)]
    gone = dropping(every, SIZES, room)
    left = [each for each in every if each.checkpoint not in gone]
    taken = sum(SIZES[text] for text in set().union(*(each.texts for each in left)))
    assert taken <= room or all(each.stays for each in left[:-1])
    may_go = [each for each in every[:-1] if not each.stays]
    first = [each.checkpoint for each in may_go if each.unasked]
    then = [each.checkpoint for each in may_go if not each.unasked]
    assert gone == [*first, *then][: len(gone)]
    if gone:  # one less would not have done
        fewer = [each for each in every if each.checkpoint not in gone[:-1]]
        assert sum(SIZES[t] for t in set().union(*(each.texts for each in fewer))) > room
