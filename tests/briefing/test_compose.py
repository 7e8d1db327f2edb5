"""What is due before the next turn: in order, within a budget, each thing once."""

from __future__ import annotations

import pytest

from sightline import open_session
from sightline.text.tokens import estimate

TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.fixture
def busy(place, s):
    """A session that read and edited, was warned, and whose file somebody changed."""
    for name in ("a.py", "b.py", "c.py"):
        place.put(name, TEN)
        s.read(name)
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


@pytest.mark.parametrize(
    "message",
    [
        *(
            "continue",
            "go on",
            "proceed",
            "next",
            "keep going",
            "continue with the tests",
            "go ahead",
        ),
        *(
            "proceed with step 3",
            "go ahead and update the tests",
            "ok, proceed",
            "weiter mit Schritt 3",
        ),
    ],
)
def test_what_was_going_on_is_told_where_the_message_asks_to_go_on(busy, message):
    assert names(busy.briefing(message)) == ["warnings", "changes", "memory", "registry"]


def test_a_new_request_is_told_nothing_of_the_work_so_far(busy):
    assert names(busy.briefing("use sqlite instead")) == ["warnings", "changes"]


def test_the_user_s_own_phrases_ask_to_go_on(place):
    own = place.session(continue_phrases=["përpara"])
    own.answer({"todos": ["Test it"]})
    assert "memory" in names(own.briefing("Përpara me testet"))


def test_a_change_is_told_once_in_all_parts(place, busy):
    """The diff says it. A file that only its name tells of, or that is gone, stands once, too."""
    place.put("d.py", TEN)
    place.put("e.py", "x" * 9_000 + "\n")
    for name in ("d.py", "e.py"):
        busy.read(name)
    (place.root / "d.py").unlink()
    place.put("e.py", "y" * 9_000 + "\n")
    text = busy.briefing().text
    for name in ("a.py", "d.py", "e.py"):
        assert text.count(name) == 1
    assert "+other" in text
    assert "read them again" not in text
    assert text.count("b.py") == 2  # the warning, and what this session changed
    assert text.count("c.py") == 2  # among the files at hand, and in the registry


def test_no_row_has_a_hash(busy):
    text = busy.briefing().text
    revisions = [file.revision_on_disk for file in busy.files()]
    assert not [one for one in revisions if one.rpartition(":")[2][:8] in text]


def test_what_was_told_before_and_left_open_stands_in_the_memory(place, busy):
    """A change that an earlier notice could only name is no part of this one."""
    place.put("e.py", "x" * 9_000 + "\n")
    busy.read("e.py")
    place.put("e.py", "y" * 9_000 + "\n")
    busy.acknowledge(busy.briefing("and the docs?"))
    text = busy.briefing().text
    assert "read them again before you rely on them:\n- e.py was changed" in text
    assert text.count("e.py") == 1


def test_a_briefing_names_what_still_runs_with_its_files(place, busy):
    helper = open_session(
        place.root, id="s/Explore-a1b2", parent="s", agent="x", settings=place.settings("merge")
    )
    place.opened.append(helper)
    place.put("f.py", TEN)
    helper.read("f.py")
    helper.edit("f.py", "line 2\n", "two\n")
    told = busy.briefing()
    assert told.parts[0].name == "running"
    assert told.parts[0].text == (
        "Still running; do not send another agent to the same work:\n"
        "- sub-agent Explore (changed f.py)"
    )
    busy.acknowledge(told)
    assert names(busy.briefing("weiter"))[0] == "running"  # as long as it runs
    assert "running" not in names(busy.briefing("and the docs?"))
    helper.close()


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


@pytest.mark.wide
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
