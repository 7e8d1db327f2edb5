"""One current view of a file, in place of all that showed it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.audit.histories import Talk, count, words
from tests.support.examples import examples
from tests.window.foldings import MUCH, RULES, WITH_VIEWS, folding_of, short

from sightline.messages.blocks import Decision

LINES = [f"{words(9, letter)} end" for letter in "abcdefgh"]
TEXT = "\n".join(LINES)
OLD, NEW = words(30, "old"), words(30, "new")


def worked(talk: Talk) -> Talk:
    """A search whose answer may go, a read and two edits of a file, and something newer."""
    talk.typed("go").ran("grep", words(60)).read("a.py", TEXT)
    talk.edit("a.py", "\n".join(LINES[:4]), OLD).edit("a.py", OLD, NEW)
    return talk.ran("date", "x")


def decided(talk: Talk, rules=WITH_VIEWS) -> Decision:
    return folding_of(talk, rules).decide(MUCH)


def folded(decision: Decision) -> dict[int, str]:
    return {fold.block: fold.tier for fold in decision.folds}


def test_a_view_stands_at_the_end_in_place_of_all_that_showed_the_file():
    talk = worked(Talk())
    decision = decided(talk)
    assert folded(decision) == {2: "again", **dict.fromkeys((4, 5, 7), "superseded")}
    (tail,) = decision.tails
    assert tail.after == len(talk.blocks) - 1
    current = "\n".join([NEW, *LINES[4:]])
    assert tail.text == f"[a.py from line 1, with your edits until step 5]\n{current}\n"
    assert tail.tokens == count(tail.text)


def test_without_views_what_showed_the_file_stays():
    assert folded(decided(worked(Talk()), RULES)) == {2: "again"}
    assert decided(worked(Talk()), RULES).tails == ()


def test_a_view_comes_only_with_a_clear():
    talk = Talk().typed("go").read("a.py", TEXT).edit("a.py", LINES[0], "new").ran("date", "x")
    assert decided(talk) == Decision()


def test_a_file_that_was_not_edited_is_shown_by_what_showed_it():
    talk = Talk().typed("go").ran("grep", words(60)).read("a.py", TEXT).ran("date", "x")
    assert folded(decided(talk)) == {2: "again"}


def test_a_view_that_takes_about_as_much_as_it_frees_is_not_put():
    talk = Talk().typed("go").ran("grep", words(60)).read("a.py", TEXT)
    talk.edit("a.py", LINES[0], NEW).ran("date", "x")
    assert folded(decided(talk)) == {2: "again"}
    assert decided(talk).tails == ()


def test_what_could_not_be_brought_together_with_an_edit_stays():
    """An edit of text that nothing showed: what was read before is not in the view."""
    talk = worked(Talk()).edit("a.py", "text that nothing showed", "x").ran("date", "x")
    assert folded(decided(talk)) == {2: "again"}
    assert decided(talk).tails == ()


def test_what_came_before_such_an_edit_stays_when_a_view_of_the_rest_is_put():
    talk = worked(Talk()).edit("a.py", "text that nothing showed", "x")
    talk.read("a.py", "\n".join(LINES[4:]), first=50)
    talk.edit("a.py", "\n".join(LINES[4:]), OLD).edit("a.py", OLD, NEW).ran("date", "x")
    decision = folding_of(talk, WITH_VIEWS, words=short).decide(MUCH)
    (tail,) = decision.tails
    assert LINES[0] not in tail.text
    gone = {place for place, tier in folded(decision).items() if tier == "superseded"}
    assert gone
    assert min(gone) > 10


def test_a_result_that_shows_another_file_too_stays():
    talk = worked(Talk())
    shown = talk.blocks[4].excerpts[0]
    talk.blocks[4] = structs.replace(
        talk.blocks[4], excerpts=(shown, structs.replace(shown, path="b.py"))
    )
    assert 4 not in folded(decided(talk))


def test_the_last_results_stay_beside_the_view():
    assert folded(decided(worked(Talk()), structs.replace(WITH_VIEWS, keep=4))) == {2: "again"}


EDITS = st.lists(
    st.tuples(st.integers(0, 7), st.integers(1, 3), st.sampled_from(["new", "new\nmore", ""])),
    max_size=5,
)


@settings(max_examples=examples(100))
@given(EDITS, st.integers(0, 7), st.integers(1, 3), st.booleans())
def test_a_view_holds_the_old_text_of_every_edit_that_may_come(edits, at, size, partly):
    """Whatever lines of the file the agent replaces next, if it could read them before the clear."""
    talk = Talk().typed("go").ran("grep", words(60))
    file = list(LINES)
    talk.read("a.py", TEXT)
    talk.read("a.py", "\n".join(LINES[2:6]) if partly else TEXT, first=3 if partly else 1)
    for number, (first, lines, new) in enumerate(edits):
        old = "\n".join(file[first : first + lines])
        if not old:
            continue
        put = f"{new} {number}" if new else ""
        talk.edit("a.py", f"{old}\n", f"{put}\n" if put else "")
        file[first : first + lines] = put.split("\n") if put else []
    decision = folding_of(talk.ran("date", "x"), WITH_VIEWS, words=short).decide(MUCH)
    gone = folded(decision)
    left = [block for place, block in enumerate(talk.blocks) if place not in gone]
    wanted = file[at : at + size]
    if decision.tails:
        assert "\n".join(wanted) in decision.tails[0].text
    shown = {line for block in left for each in block.excerpts for line in each.text.split("\n")}
    shown |= {line for block in left for each in block.rewrites for line in each.new.split("\n")}
    assert decision.tails or shown.issuperset(wanted)
