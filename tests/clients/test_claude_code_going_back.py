"""Claude Code's own `/rewind` and summaries: what the model knows is what its conversation holds."""

import pytest
from tests.clients.acting import TEXT, changed, done, edit, read, saves, write
from tests.clients.terminal import CLEAR_LINE, terminal
from tests.support.examples import fully

pytestmark = pytest.mark.client

THEIRS = "line 28, says the user"
USERS = changed(l28=THEIRS)
CLIENTS_OWN = "either by the user or by a linter"
"""The client refuses the edit first now and then: it has seen that it put the file back."""

TAKEN_BACK = "your edit was taken back"


@pytest.fixture
def file(guarded):
    return guarded.put("notes.txt", TEXT)


def back_to_an_empty_prompt(screen, prompt):
    """The client puts the prompt that it went back to into the line."""
    screen.see(f"\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}\N{NO-BREAK SPACE}{prompt}")
    screen.press(CLEAR_LINE)


@pytest.mark.full
def test_a_model_that_no_longer_has_a_save_may_not_write_over_it(guarded, model, file):
    model.script("First look", read(file), done())
    model.script("Look again", read(file), done())
    model.script("Write over", write(file, "mine\n"), done())
    with terminal(guarded) as screen:
        screen.say("First look")
        guarded.put("notes.txt", USERS)
        screen.say("Look again")
        screen.rewind("Restore conversation", code=False)
        back_to_an_empty_prompt(screen, "Look again")
        screen.say("Write over")
    assert guarded.text("notes.txt") == USERS
    assert f"+{THEIRS}" in model.sent(1, "Write over")


@pytest.mark.full
def test_the_same_in_a_conversation_that_is_resumed_at_an_older_message(guarded, model, file):
    model.script("First look", read(file), done())
    model.script("Look again", read(file), done())
    model.script("Write over", write(file, "mine\n"), done())
    saved = guarded.run("First look")
    guarded.put("notes.txt", USERS)
    first = guarded.run("Look again", args=("--resume", saved.session))
    answers = [row["uuid"] for row in saved.rows if row["type"] == "assistant"]
    guarded.run("Write over", args=("--resume", first.session, "--resume-session-at", answers[-1]))
    assert guarded.text("notes.txt") == USERS
    assert f"+{THEIRS}" in model.sent(1, "Write over")


@pytest.mark.full
def test_the_news_of_a_save_that_was_taken_out_does_not_count(guarded, model, file):
    other = guarded.put("other.txt", "other\n")
    model.script("First look", read(file), done())
    model.script("Look elsewhere", read(other), done())
    model.script("Write over", write(file, "mine\n"), done())
    with terminal(guarded) as screen:
        screen.say("First look")
        guarded.put("notes.txt", USERS)
        screen.say("Look elsewhere")
        screen.rewind("Restore conversation", code=False)
        back_to_an_empty_prompt(screen, "Look elsewhere")
        screen.say("Write over")
    assert f"+{THEIRS}" in model.sent(0, "Look elsewhere")
    assert guarded.text("notes.txt") == USERS
    refused = model.sent(1, "Write over")
    assert f"+{THEIRS}" in refused or "modified since read" in refused  # by the client's own guard


@pytest.mark.full
def test_what_the_rest_of_the_conversation_holds_stays_known(guarded, model, file):
    other = guarded.put("other.txt", "other\n")
    model.script("First look", read(file), done())
    model.script("Look elsewhere", read(other), done())
    model.script("Write both", write(file, "mine\n"), write(other, "mine, too\n"), done())
    with terminal(guarded) as screen:
        screen.say("First look")
        screen.say("Look elsewhere")
        screen.rewind("Restore conversation", code=False)
        back_to_an_empty_prompt(screen, "Look elsewhere")
        screen.say("Write both")
    assert guarded.text("notes.txt") == "mine\n"
    assert guarded.text("other.txt") == "other\n"  # the rest of the conversation lacks it
    [refused] = guarded.log("refused")
    assert refused["path"] == "other.txt"


@pytest.mark.full
def test_with_the_code_restored_nothing_is_told_of_edits_that_are_gone(guarded, model, file):
    model.script("First look", read(file), done())
    model.script("Change it", edit(file, "line 3\n", "three\n"), done())
    model.script("And now", read(guarded.put("other.txt", "other\n")), done())
    theirs = saves(guarded, "notes.txt", USERS)
    model.script("Write over", write(file, "mine\n", theirs), done())
    with terminal(guarded) as screen:
        screen.say("First look")
        screen.say("Change it")
        screen.rewind("Restore code and conversation")
        back_to_an_empty_prompt(screen, "Change it")
        assert guarded.text("notes.txt") == TEXT
        screen.say("And now")
        screen.say("Write over")
    told = model.sent(0, "And now") + model.sent(1, "And now")
    assert TAKEN_BACK not in told
    assert "notes.txt" not in told
    said = model.sent(0, "Write over") + model.sent(1, "Write over")
    assert TAKEN_BACK not in said
    assert f"+{THEIRS}" in said
    assert guarded.text("notes.txt") == USERS


@pytest.mark.full
def test_with_the_code_alone_restored_the_edit_is_told_as_taken_back(guarded, model, file):
    model.script("First look", read(file), done())
    model.script("Change it", edit(file, "line 3\n", "three\n"), done())
    model.script("Go on", edit(file, "three\n", "3\n"), done())
    with terminal(guarded) as screen:
        screen.say("First look")
        screen.say("Change it")
        screen.rewind("Restore code")
        screen.say("Go on")
    assert guarded.text("notes.txt") == TEXT
    told = model.sent(0, "Go on") + model.sent(1, "Go on")
    assert "-three\n+line 3" in told
    back = "by the user or another program: put back as it was before the edit"
    assert "by the user" not in told.replace(CLIENTS_OWN, "").replace(back, "")


@pytest.mark.parametrize("choice", ["Summarize from here", *fully("Summarize up to here")])
def test_after_a_summary_a_save_that_was_never_shown_stays(guarded, model, file, choice):
    model.script("First look", read(file), done())
    model.script("Say something", done())
    theirs = saves(guarded, "notes.txt", USERS)
    model.script("Write over", write(file, changed(l3="three"), theirs), done())
    with terminal(guarded) as screen:
        screen.say("First look")
        screen.say("Say something")
        screen.rewind(choice, code=False)
        screen.see("Summarized")
        screen.press(CLEAR_LINE)
        screen.say("Write over")
    assert guarded.text("notes.txt") in (USERS, changed(l3="three", l28=THEIRS))
    assert f"+{THEIRS}" in model.sent(0, "Write over") + model.sent(1, "Write over")


@pytest.mark.full
@pytest.mark.parametrize("told_by", ["notice", *fully("read")])
def test_the_old_text_that_stays_before_a_summary_is_what_the_model_has(
    guarded, model, file, told_by
):
    """Summarize from here: the notice, or a newer look, is summarised, and the first look stays."""
    model.script("First look", read(file), done())
    model.script("Say something", *([read(file)] if told_by == "read" else []), done())
    model.script("Write over", write(file, changed(l3="three")), done())
    with terminal(guarded) as screen:
        screen.say("First look")
        guarded.put("notes.txt", USERS)
        screen.say("Say something")
        screen.rewind("Summarize from here", code=False)
        screen.see("Summarized")
        screen.press(CLEAR_LINE)
        screen.say("Write over")
    if f"+{THEIRS}" not in model.sent(0, "Write over"):  # else the model dropped the line knowingly
        assert f"+{THEIRS}" in model.sent(1, "Write over")
        assert guarded.text("notes.txt") in (USERS, changed(l3="three", l28=THEIRS))


def test_after_a_compaction_a_save_that_was_never_shown_stays(guarded, model, file):
    model.script("First look", read(file), done())
    theirs = saves(guarded, "notes.txt", USERS)
    model.script("Write over", write(file, changed(l3="three"), theirs), done())
    guarded.run("First look", "/compact", "Write over")
    assert guarded.text("notes.txt") in (USERS, changed(l3="three", l28=THEIRS))
    assert f"+{THEIRS}" in model.sent(1, "Write over")
