"""Which texts may be forgotten: what facts name, and who goes first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.facts import EXAMPLES, A, B, C

from sightline.model import events
from sightline.model.events import FACTS, Belief, BlobPurged, Cause, Changed, GitMoved, Rewritten
from sightline.model.revision import MISSING
from sightline.model.timeline import Recorded
from sightline.store.retention import AGE, SIZE, TEXTS, KeptText, Mention, Mentions, going, named

HOLDING = ("Revision", "Belief", "Told", "Rewritten")


def test_every_field_that_can_hold_a_revision_is_looked_into():
    for kind in FACTS.values():
        if kind is BlobPurged:
            continue
        for field in kind.__struct_fields__:
            noted = kind.__annotations__[field].removesuffix(" | None")
            if any(word in noted for word in HOLDING):
                assert noted in TEXTS, f"{kind.__name__}.{field}"


@pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
def test_a_fact_names_the_texts_it_holds_and_no_others(fact):
    if isinstance(
        fact, (BlobPurged, events.Delivered, events.Imported, events.PartHanded)
    ):  # of no text that we keep
        assert list(named(fact)) == []
        return
    written = repr(fact)
    assert set(named(fact)) == {each for each in (A, B, C) if each in written}


def test_a_move_of_gits_names_texts_and_no_commits():
    moved = GitMoved("1" * 40, "2" * 40, "checkout", ("x",), (Rewritten("x", A, MISSING),))
    assert list(named(moved)) == [A]


def recorded(position, fact, at):
    return Recorded(position, "s1", 0, at, fact)


def test_the_newest_mention_counts_and_the_time_it_was_recorded():
    mentions = Mentions()
    belief = Belief(A, ((1, 1),), (), 1)
    mentions.learn(recorded(1, events.Seen("a", A, ((1, 1),), "read", belief), 5))
    mentions.learn(recorded(2, Changed("b", A, B, "content", Cause("agent", "s1")), 9))
    mentions.learn(recorded(3, Changed("b", B, C, "content", Cause("external")), 11))
    assert mentions.newest[A] == Mention(9, "b")
    assert mentions.replaced == {"b": (A, 9)}


sizes = st.integers(1, 50)
texts = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(sizes, st.integers(0, 20)))


@given(texts, st.sets(st.sampled_from("abcdefgh")), st.integers(0, 21), st.integers(0, 200))
def test_the_oldest_go_first_the_needed_never_and_no_more_than_has_to(made, needed, before, room):
    kept = [KeptText(name, size) for name, (size, _) in made.items()]
    mentions = {name: Mention(at, None) for name, (_, at) in made.items()}
    gone = going(kept, mentions, needed, before=before, room=room, came_at=lambda _: 0)
    assert not {each.revision for each in gone} & needed
    assert [each.at for each in gone] == sorted(each.at for each in gone)
    old = {name for name, (_, at) in made.items() if at < before} - needed
    assert old == {each.revision for each in gone if each.why == AGE}
    left = sum(each.size for each in kept) - sum(each.size for each in gone)
    stay = {each.revision for each in kept} - {each.revision for each in gone}
    assert left <= room or stay <= needed
    for_room = [each for each in gone if each.why == SIZE]
    assert not for_room or left + for_room[-1].size > room


def test_a_text_kept_ahead_of_its_fact_is_as_young_as_what_came_before_it():
    kept = [KeptText("a", 1, since=7), KeptText("b", 1)]
    gone = going(kept, {}, set(), before=50, room=99, came_at={7: 60}.__getitem__)
    assert [each.revision for each in gone] == ["b"]
