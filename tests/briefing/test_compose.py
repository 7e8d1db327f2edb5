"""What is due before the next turn: in order, within a budget, each thing once."""

from __future__ import annotations

import pytest

from sightline.text.tokens import estimate

TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.fixture
def busy(place, s):
    """A session that read and edited, was warned, and whose file somebody changed."""
    place.put("a.py", TEN)
    place.put("b.py", TEN)
    s.read("a.py")
    s.read("b.py")
    s.edit("b.py", "line 2\n", "two\n")
    place.put("a.py", TEN.replace("line 3", "other"))
    s.warn("mind the lock", ["b.py"])
    return s


def names(told):
    return [part.name for part in told.parts]


def test_all_of_it_stands_in_order(busy):
    told = busy.briefing()
    assert names(told) == ["warnings", "changes", "memory", "registry"]
    text = told.text
    assert text.index("mind the lock") < text.index("+other") < text.index("turns ago")
    assert str(told) == text
    assert told.left_out == ()
    assert 0 < told.tokens <= 4_000


def test_what_was_going_on_is_told_where_the_message_asks_to_go_on(busy):
    assert names(busy.briefing("continue, please")) == [
        "warnings",
        "changes",
        "memory",
        "registry",
    ]
    assert names(busy.briefing("continue with sqlite instead")) == ["warnings", "changes"]


def test_asking_consumes_nothing(busy):
    assert busy.briefing() == busy.briefing()


def test_what_was_acknowledged_is_told_no_more(place, busy):
    told = busy.briefing()
    busy.acknowledge(told)
    again = busy.briefing()
    assert {"warnings", "changes"}.isdisjoint(names(again))
    assert busy.changes() == []
    assert [each.text for each in busy.warnings()] == ["mind the lock"]  # its user has to see it
    busy.acknowledge(again)
    assert busy.briefing().text == ""
    place.put("b.py", "all new\n")
    assert "changes" in names(busy.briefing("and now?"))


def test_it_is_there_after_a_restart(place, busy):
    before = busy.briefing().text
    busy.close()
    again = place.session(busy.id)
    assert again.briefing().text == before


def test_a_rewound_conversation_is_told_again(busy):
    first = busy.conversation.append({"role": "user", "content": "go"})
    told = busy.briefing()
    busy.conversation.append({"role": "assistant", "content": "done"})
    busy.acknowledge(told)
    busy.conversation.rewind(first)
    assert "warnings" in names(busy.briefing())


@pytest.mark.parametrize("budget", [500, 800, 2_000])
def test_it_keeps_to_its_budget_and_names_what_had_no_room(place, s, budget):
    for number in range(60):
        place.put(f"src/module_{number}.py", TEN * 3)
        s.read(f"src/module_{number}.py")
        place.put(f"src/module_{number}.py", TEN * 3 + f"more {number}\n")
    told = s.briefing(budget=budget)
    assert told.tokens <= budget
    assert told.parts
    assert not {*names(told)} & {*told.left_out}


def test_of_nothing_nothing_is_told(s):
    told = s.briefing()
    assert (told.text, told.tokens, told.parts) == ("", 0, ())
    s.acknowledge(told)


@pytest.mark.parametrize("budget", [0, 499, -1, True, "many", None])
def test_a_budget_is_a_number_of_tokens(s, budget):
    with pytest.raises(ValueError, match="500 or more"):
        s.briefing("go on", budget)


def test_what_stands_between_parts_has_its_room_too(busy):
    busy.acknowledge(busy.briefing())
    busy.warn("mind, the, gap! " * 124)
    busy.request_listings(["."])
    *_, last = parts = busy.briefing("look at the docs").parts
    exactly = sum(part.tokens for part in parts)
    told = busy.briefing("look at the docs", exactly)
    assert exactly > 500
    assert estimate(told.text) <= exactly
    assert told.left_out == (last.name,)
