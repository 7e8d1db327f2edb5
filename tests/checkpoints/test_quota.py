"""Which checkpoints are dropped to make room."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.checkpoints.gc import Candidate, choose_dropped

SIZES = {"a": 10, "b": 20, "c": 30, "d": 40}


def candidate(name, texts, *, stays=False, automatic=False):
    return Candidate(name, frozenset(texts), stays, automatic)


def test_the_oldest_go_until_the_others_fit():
    every = [candidate("1", "a"), candidate("2", "b"), candidate("3", "c"), candidate("4", "d")]
    assert choose_dropped(every, SIZES, 100) == []
    assert choose_dropped(every, SIZES, 90) == ["1"]
    assert choose_dropped(every, SIZES, 75) == ["1", "2"]


def test_a_labelled_one_and_the_newest_stay():
    every = [
        candidate("1", "a"),
        candidate("2", "b", stays=True),
        candidate("3", "c"),
        candidate("4", "d"),
    ]
    assert choose_dropped(every, SIZES, 0) == ["1", "3"]
    assert choose_dropped([candidate("1", "a")], SIZES, 0) == []
    assert choose_dropped([], SIZES, 0) == []


def test_a_text_that_a_younger_one_needs_frees_nothing():
    every = [candidate("1", "ad"), candidate("2", "ab"), candidate("3", "a")]
    assert choose_dropped(every, SIZES, 35) == ["1"]
    assert choose_dropped(every, SIZES, 25) == ["1", "2"]


def test_texts_that_are_not_kept_take_nothing():
    assert choose_dropped([candidate("1", "xyz"), candidate("2", "a")], SIZES, 10) == []


def test_those_that_nobody_asked_for_go_before_older_ones():
    every = [
        candidate("1", "a"),
        candidate("2", "b", automatic=True),
        candidate("3", "c"),
        candidate("4", "d"),
    ]
    assert choose_dropped(every, SIZES, 80) == ["2"]
    assert choose_dropped(every, SIZES, 75) == ["2", "1"]


def test_a_text_of_one_that_goes_first_and_of_one_that_goes_later_frees_nothing():
    every = [candidate("1", "b"), candidate("2", "b", automatic=True), candidate("3", "c")]
    assert choose_dropped(every, SIZES, 45) == ["2", "1"]
    assert choose_dropped([candidate("1", "b", stays=True), *every[1:]], SIZES, 45) == ["2"]


kinds = st.sampled_from([{}, {"stays": True}, {"automatic": True}])
chains = st.lists(st.tuples(st.frozensets(st.sampled_from("abcd")), kinds), max_size=8)


@given(chains, st.integers(0, 110))
def test_what_is_left_fits_or_none_of_it_may_go(chain, room):
    every = [candidate(str(n), texts, **kind) for n, (texts, kind) in enumerate(chain)]
    gone = choose_dropped(every, SIZES, room)
    stay = [each for each in every if each.checkpoint not in gone]
    size = sum(SIZES[text] for text in set().union(*(each.texts for each in stay)))
    assert size <= room or all(each.stays for each in stay[:-1])
    may_go = [each for each in every[:-1] if not each.stays]
    first = [each.checkpoint for each in may_go if each.automatic]
    then = [each.checkpoint for each in may_go if not each.automatic]
    assert gone == [*first, *then][: len(gone)]
    if gone:  # one less would not have done
        fewer = [each for each in every if each.checkpoint not in gone[:-1]]
        assert sum(SIZES[t] for t in set().union(*(each.texts for each in fewer))) > room
