"""What is due before the next turn, through real hook calls."""

from __future__ import annotations

import pytest

from sightline.filesystem.ignore.rules import WILDCARDS_MAX
from sightline.hooks.handlers.answer_delivery import deliver_briefing


def context(said):
    return said.get("hookSpecificOutput", {}).get("additionalContext", "")


def prompt(host, text):
    return context(host.ask(host.payload("UserPromptSubmit", prompt=text)))


def start(host, source):
    return context(host.ask(host.payload("SessionStart", source=source)))


@pytest.fixture
def busy(host):
    """A conversation whose agent read two files and edited one, which another imports."""
    start(host, "startup")
    app = host.put("app.py", "import prices\n\nTAX = 1\n")
    host.put("prices.py", "PRICE = 2\n")
    host.put("test_app.py", "import app\n\n\ndef test(): ...\n")
    host.ask(host.shown(app, "import prices\n\nTAX = 1\n"))
    with host.session() as session:
        session.edit("app.py", "TAX = 1", "TAX = 3")
    return host


def test_what_belongs_to_an_edit_is_named_once_and_not_shown(busy):
    said = prompt(busy, "and the docs?")
    assert said.startswith("Files related to those you edited (app.py)")
    assert "prices.py, 1 line: " in said
    assert "test_app.py, 4 lines: " in said
    assert "PRICE" not in said
    busy.ask(busy.payload("Stop"))
    assert prompt(busy, "and the docs?") == ""
    assert busy.faults() == []


def test_a_message_that_asks_to_go_on_brings_what_was_going_on(busy):
    prompt(busy, "and the docs?")
    busy.ask(busy.payload("Stop"))
    said = prompt(busy, "weiter")
    assert "modified app.py" in said
    busy.ask(busy.payload("Stop"))
    assert prompt(busy, "weiter") == ""


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_conversation_that_goes_on_is_told_where_it_stands(busy, source):
    busy.put("app.py", "import prices\n\nTAX = 4\n")
    said = start(busy, source)
    assert "+TAX = 4" in said
    assert "modified app.py" in said
    assert "app.py was changed" not in said
    assert "turns ago" not in said
    assert "read them again" not in said
    assert len(said) < 9_000
    assert busy.faults() == []


def test_after_a_summary_it_is_told_again_where_the_work_stands(busy):
    said = start(busy, "resume")
    assert "modified app.py" in said
    busy.ask(busy.payload("Stop"))
    assert start(busy, "resume") == ""
    busy.ask(busy.payload("PreCompact", trigger="auto"))
    assert "modified app.py" in start(busy, "compact")


def test_a_summary_names_no_change_that_the_next_prompt_shows(busy):
    """What notices had told is told again with the prompt, and not beside it."""
    busy.put("app.py", "import prices\n\nTAX = 4\n")
    assert "+TAX = 4" in prompt(busy, "and the docs?")
    busy.ask(busy.payload("Stop"))
    busy.ask(busy.payload("PreCompact", trigger="auto"))
    assert "read them again" not in start(busy, "compact")
    said = prompt(busy, "and now the tests")
    assert "+TAX = 4" in said
    assert said.count("app.py") == 1


def test_a_new_conversation_is_told_nothing(host):
    host.put("app.py", "x\n")
    assert start(host, "startup") == start(host, "resume") == ""


def test_a_listing_that_was_asked_for_comes_with_the_next_prompt(busy):
    with busy.session() as session:
        session.request_listings(["."])
    said = prompt(busy, "and the docs?")
    assert said.index("The listing of . that you asked for:\napp.py") < said.index("Files related")


def test_a_tree_that_cannot_be_listed_keeps_nothing_else_back(busy):
    busy.put("app.py", "import prices\n\nTAX = 4\n")
    busy.put(".rooignore", "a*b*c\n" * (WILDCARDS_MAX + 1))
    said = prompt(busy, "weiter")
    assert "+TAX = 4" in said
    assert "modified app.py" in said
    assert "Files related" not in said
    busy.ask(busy.payload("Stop"))
    busy.put(".rooignore", "")
    assert "Files related" in prompt(busy, "and the docs?")


def test_what_takes_too_long_is_not_recorded_as_handed_over_and_comes_later(busy):
    with busy.session("s1") as session:
        ground = session._context
        assert deliver_briefing(ground, "weiter", 4_000, within_s=0) == ""
        assert "This prompt got no listings" in ground.missed
    busy.ask(busy.payload("Stop"))
    assert "Files related" in prompt(busy, "and the docs?")


def test_changes_are_recorded_as_handed_over_when_all_of_the_answer_is_made(busy):
    """Else they were lost where a process was killed while it made the rest."""
    prompt(busy, "and the docs?")
    busy.put("app.py", "import prices\n\nTAX = 4\n")
    said = prompt(busy, "weiter")
    assert "+TAX = 4" in said
    assert "modified app.py" in said
    handed = [each.fact.notice for each in busy.facts() if hasattr(each.fact, "told")]
    assert handed[-2].startswith("host:part:memory")
    assert not handed[-1].startswith("host:part:")
