"""Searches are count_searches by the kind of their patterns, and by whether a guess helped."""

from __future__ import annotations

import pytest
from msgspec import structs

from sightline.model.events import Belief, FilesSought, Seen
from sightline.model.timeline import Recorded
from sightline.search.stats import (
    SEEN_NEXT,
    FailingPattern,
    FindStats,
    KindTally,
    Tally,
    count_searches,
    kind_of,
)

A = "a" * 64


def log(*facts, session="s"):
    return [Recorded(at, session, at, at, fact) for at, fact in enumerate(facts, 1)]


def seen(path):
    return Seen(path, A, (), "read", Belief(A, (), (), 0))


def missed(*offered, patterns=("src/a.ts",)):
    return FilesSought(patterns, 0, len(patterns), 0, offered)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("src/app.py", "path"),
        (r"src\app.py", "path"),
        ("./app.py", "path"),
        ("app.py", "name"),
        ("**/app.py", "name"),
        ("**/app.{py,ts}", "name"),
        ("src/**/app.py", "glob"),
        ("*.py", "ending"),
        ("**/*.{ts,tsx}", "ending"),
        ("src/*.d.ts", "ending"),
        ("**/*app*.py", "glob"),
        ("*", "glob"),
        ("**", "glob"),
        ("/etc/passwd", "outside"),
        (r"C:\app.py", "outside"),
        ("../of/an/older/release", "glob"),
        ("", "glob"),
    ],
)
def test_the_kind_of_a_pattern(text, kind):
    assert kind_of(text) == kind


def by_kind(found):
    return {each.kind: Tally(*structs.astuple(each)[:5]) for each in found.kinds}


def test_a_chain_counts_as_far_as_it_was_tried():
    found = count_searches(log(FilesSought(("src/a.ts", "**/a.ts", "*.ts"), 2, 2, 1)))
    assert found.searches == Tally(1, found_further=1)
    assert by_kind(found) == {
        "path": Tally(1, not_found=1),
        "name": Tally(1, found_further=1),
    }
    assert found.failing == (FailingPattern("src/a.ts", 1),)


def test_the_first_pattern_is_told_from_the_later_ones():
    found = count_searches(
        log(FilesSought(("*.ts",), 1, 1, 7), FilesSought(("*.ts", "*"), 1, 1, 7))
    )
    assert found == FindStats(
        Tally(2, found_first=2), (KindTally(2, found_first=2, kind="ending"),)
    )


def test_a_guess_helped_when_it_was_read_next():
    found = count_searches(
        log(missed("src/a.py", "b.py"), seen("c.py"), seen("b.py"), seen("src/a.py"))
    )
    assert found.searches == Tally(1, helped=1)
    assert by_kind(found) == {"path": Tally(1, helped=1)}


def test_a_guess_that_was_read_much_later_or_by_another_session_did_not_help():
    others = [seen(f"{number}.py") for number in range(SEEN_NEXT)]
    assert count_searches(log(missed("a.py"), *others[1:], seen("a.py"))).searches.helped == 1
    assert count_searches(log(missed("a.py"), *others, seen("a.py"))).searches == Tally(
        1, not_found=1
    )
    elsewhere = [*log(missed("a.py")), *log(seen("a.py"), session="t")]
    assert count_searches(elsewhere).searches == Tally(1, not_found=1)


def test_one_look_can_answer_two_searches():
    found = count_searches(log(missed("a.py"), missed("a.py", "b.py"), seen("a.py"), seen("b.py")))
    assert found.searches == Tally(2, helped=2)


def test_what_time_ran_out_for_was_not_tried():
    found = count_searches(log(FilesSought(("x/y.py", "*.py"), 0, 1)))
    assert (found.timed_out, found.searches) == (1, Tally(1, not_found=1))
    assert by_kind(found) == {"path": Tally(1, not_found=1)}


def test_the_patterns_that_fail_most_come_first_and_are_bounded():
    facts = [missed(patterns=(f"{number:02}.py",)) for number in range(30)]
    found = count_searches(log(*facts, missed(patterns=("20.py",))))
    assert found.failing[:2] == (FailingPattern("20.py", 2), FailingPattern("00.py", 1))
    assert len(found.failing) == 10
    assert found.searches.asked == 31


def test_the_outcomes_add_up():
    facts = [missed("a.py"), FilesSought(("a", "b/c", "*.d"), 3, 3, 1), seen("a.py"), missed()]
    found = count_searches(log(*facts))
    for each in (found.searches, *by_kind(found).values()):
        asked, *ends = structs.astuple(each)
        assert asked == sum(ends)
