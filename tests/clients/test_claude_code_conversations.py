"""Conversations of Claude Code: resumed, forked, compacted, and shared with sub-agents."""

from threading import Event

import pytest
from tests.clients.acting import TEXT, changed, delegate, done, edit, meet, read, write
from tests.clients.stub import Step

pytestmark = pytest.mark.client

THEIRS = changed(l9="line 9, says the user")


def test_a_sub_agent_and_the_main_agent_hear_of_each_other_by_name(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    sub_edited, main_edited = Event(), Event()
    model.script(
        "Share the work",
        read(file),
        delegate("Take the first half"),
        edit(file, "line 28\n", "line 28, says main\n", lambda: meet(sub_edited)),
        done(main_edited.set),
    )
    model.script(
        "Take the first half",
        read(file),
        edit(file, "line 3\n", "line 3, says sub\n"),
        edit(file, "line 5\n", "line 5, says sub\n", lambda: meet(sub_edited, main_edited)),
        done(),
    )
    run = guarded.run("Share the work")
    sub = next(each for each in guarded.status() if each != run.session)
    assert sub.startswith(f"{run.session}/general-purpose-")
    assert guarded.text("notes.txt") == changed(
        l3="line 3, says sub", l5="line 5, says sub", l28="line 28, says main"
    )
    to_main, to_sub = model.sent(3, "Share the work"), model.sent(3, "Take the first half")
    assert "+line 3, says sub" in to_main
    assert f"your sub-agent {sub.rpartition('/')[2]}" in to_main
    assert "+line 28, says main" in to_sub
    assert "the agent that started you" in to_sub


def test_a_resumed_conversation_is_told_at_its_first_prompt_what_changed(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Look at it", read(file), done())
    first = guarded.run("Look at it")
    guarded.put("notes.txt", changed(l3="line 3, says the user"))
    assert guarded.status()[first.session]["notes.txt"]["state"] == "stale"
    model.script("Good morning", done())
    second = guarded.run("Good morning", args=("--resume", first.session))
    assert second.session == first.session
    assert "-line 3\n+line 3, says the user" in model.sent(0, "Good morning")
    assert guarded.status()[first.session]["notes.txt"]["state"] == "fresh"


def test_after_a_compaction_a_file_is_read_again_and_is_in_the_window(guarded, model):
    """The client itself puts some of the files back into the window, and not all."""
    files = {f"notes{at}.txt": f"text of file {at}\n" for at in range(1, 10)}
    looks = [read(guarded.put(path, text)) for path, text in files.items()]
    folded = []
    again = Step(
        tools=tuple(tool for look in looks for tool in look.tools),
        before=lambda: folded.append(guarded.status()),
    )
    model.script("Look at them", *looks, done())
    model.script("Look again", again, done())
    run = guarded.run("Look at them", "/compact", "Look again")
    known = folded[0][run.session]
    sent = {path: text in model.sent(0, "Look again") for path, text in files.items()}
    assert set(sent.values()) == {True, False}
    assert {path: known[path]["in_window"] for path in files} == sent
    assert {known[path]["state"] for path in files} == {"fresh"}
    assert all(text in model.sent(1, "Look again") for text in files.values())
    assert all(file["in_window"] for file in guarded.status()[run.session].values())


def test_a_fork_knows_what_the_conversation_it_left_was_shown_and_told(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Look at it", read(file), done(lambda: guarded.put("notes.txt", THEIRS)))
    model.script("Go on with it", done())
    first = guarded.run("Look at it", "Go on with it")
    assert "+line 9, says the user" in model.sent(0, "Go on with it")
    model.script(
        "Fix it",
        edit(file, "line 3\n", "three\n"),
        edit(file, "line 9, says the user\n", "nine\n"),
        write(file, "mine\n"),
        done(),
    )
    second = guarded.run("Fix it", args=("--resume", first.session, "--fork-session"))
    assert second.session != first.session
    told = "".join(model.sent(step, "Fix it") for step in range(4))
    assert "never shown" not in told
    assert "says the user" not in told
    assert guarded.text("notes.txt") == "mine\n"
    assert not guarded.log("refused")
    assert guarded.status()[first.session]["notes.txt"]["state"] == "stale"


@pytest.mark.full
def test_a_conversation_from_before_the_guard_goes_on_without_a_false_alarm(claude, model):
    file = claude.put("notes.txt", TEXT)
    model.script("Look at it", read(file), edit(file, "line 3\n", "three\n"), done())
    first = claude.run("Look at it")
    claude.sightline("init", "claude-code")
    model.script("Rewrite it", write(file, "mine\n"), done())
    claude.run("Rewrite it", args=("--resume", first.session))
    assert claude.text("notes.txt") == "mine\n"
    assert not claude.log("refused")


@pytest.mark.full
def test_what_is_due_comes_with_the_next_prompt_and_where_a_conversation_goes_on(guarded, model):
    """What belongs to an edit, named; after a compaction, where the work stands."""
    app = guarded.put("app.py", "import prices\n\nTAX = 1\n")
    guarded.put("prices.py", "PRICE = 2\n")
    model.script("Raise the tax", read(app), edit(app, "TAX = 1", "TAX = 2"), done())
    model.script("And the docs", done())
    model.script("go on", done())
    guarded.run("Raise the tax", "And the docs", "/compact", "go on")
    named = "prices.py, 1 line:"
    assert "Files related to those you edited (app.py)" not in model.sent(2, "Raise the tax")
    assert model.sent(0, "And the docs").count(named) == 1
    said = model.sent(0, "go on")
    assert "- modified app.py" in said
    assert "turn 1 (1 turn ago)" in said
