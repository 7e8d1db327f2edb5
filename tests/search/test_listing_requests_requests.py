"""Listings that were asked for come with the next briefing, once."""

import pytest

from sightline.search.listing_requests import PER_TURN


@pytest.fixture
def tree(place, s):
    for name in ("src/a.py", "src/b.txt", "src/deep/c.py", "docs/d.md"):
        place.put(name, "x\n")
    return s


def listed(session, **options):
    parts = {part.name: part.text for part in session.briefing("and now?", **options).parts}
    return parts.get("listings", "")


def test_what_was_asked_for_comes_with_the_next_briefing_once(tree):
    tree.request_listings({"listings": [{"path": "src"}, {"path": "docs"}]})
    told = tree.briefing("and now?")
    assert "The listing of src/ that you asked for:\nsrc/a.py  2 bytes" in told.text
    assert "docs/d.md" in told.text
    tree.acknowledge(told)
    assert listed(tree) == ""


def test_it_is_as_the_folder_is_when_it_is_delivered(place, tree):
    tree.request_listings([{"path": "src", "recursive": True, "filter": "*.py"}])
    place.put("src/deep/new.py", "x\n")
    said = listed(tree)
    assert "The listing of src/, *.py that you asked for:" in said
    assert "src/deep/new.py" in said
    assert "src/b.txt" not in said


def test_it_waits_until_it_arrived_and_over_a_restart(place, tree):
    tree.request_listings(["src"])
    assert listed(tree) == listed(tree) != ""
    before = listed(tree)
    tree.close()
    assert listed(place.session(tree.id)) == before


def test_asked_twice_it_comes_once(tree):
    tree.request_listings(["src"])
    tree.request_listings(["src", "docs"])
    told = tree.briefing("and now?")
    assert told.text.count("The listing of src/") == 1
    tree.acknowledge(told)
    assert listed(tree) == ""


def test_a_turn_delivers_so_many_and_names_the_rest(place, tree):
    for number in range(PER_TURN + 2):
        place.put(f"part_{number}/a.py", "x\n")
    tree.request_listings([f"part_{number}" for number in range(PER_TURN + 2)])
    said = listed(tree)
    assert said.count("that you asked for:") == PER_TURN
    assert f"part_{PER_TURN} is not listed, as you asked: 5 listings are made for one turn" in said
    tree.acknowledge(tree.briefing("and now?"))
    assert listed(tree) == ""


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"path": "../elsewhere"}, "outside"),
        ({"path": "none"}, "does not exist"),
        ({"path": "src/a.py"}, "no folder"),
        ({"path": "src", "filter": "../*"}, "not listed"),
    ],
)
def test_what_cannot_be_listed_says_why(tree, asked, words):
    tree.request_listings([asked])
    told = tree.briefing("and now?")
    assert words in told.text
    tree.acknowledge(told)
    assert listed(tree) == ""


def test_a_long_listing_is_cut_to_the_room_and_says_so(place, tree):
    for number in range(500):
        place.put(f"many/file_with_a_long_name_{number:04}.py", "")
    tree.request_listings([{"path": "many", "limit": 500}, "src"])
    told = tree.briefing("and now?", budget=1_000)
    assert told.tokens <= 1_000
    assert "more left out" in told.text
    assert "src/a.py" in told.text


def test_for_what_there_is_no_room_is_told_next_time(place, tree):
    for number in range(PER_TURN):
        for each in range(60):
            place.put(f"many_{number}/file_with_a_very_long_name_indeed_{each:04}.py", "")
    tree.request_listings([f"many_{number}" for number in range(PER_TURN)])
    seen = []
    for _ in range(PER_TURN):
        told = tree.briefing("and now?", budget=1_000)
        seen += [line for line in told.text.split("\n") if line.endswith("that you asked for:")]
        assert told.tokens <= 1_000
        tree.acknowledge(told)
    assert len(seen) == len(set(seen)) == PER_TURN


def test_what_was_asked_for_in_a_rewound_turn_is_not_due(tree):
    first = tree.conversation.append({"role": "user", "content": "go"})
    tree.conversation.append({"role": "assistant", "content": "listing"})
    tree.request_listings(["src"])
    tree.conversation.rewind(first)
    assert listed(tree) == ""
