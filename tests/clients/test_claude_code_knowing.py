"""What Claude Code is known to have been shown, and what its commands did."""

import json
from time import monotonic

import pytest
from tests.clients.acting import TEXT, WAIT_S, bash, changed, done, edit, read, write
from tests.support.examples import fully

pytestmark = pytest.mark.client


def test_a_mentioned_file_may_be_written(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Rewrite @notes.txt", write(file, "mine\n"), done())
    run = guarded.run("Rewrite @notes.txt")
    assert guarded.text("notes.txt") == "mine\n"
    assert not guarded.log("refused")
    assert guarded.log("seen")[0]["path"] == "notes.txt"
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"


def test_a_file_printed_in_the_shell_may_be_edited(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Fix it", bash("cat notes.txt"), edit(file, "line 3\n", "three\n"), done())
    run = guarded.run("Fix it")
    assert guarded.text("notes.txt") == changed(l3="three")
    assert not guarded.log("refused")
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"


@pytest.mark.parametrize(
    "command",
    [*fully("cat {notes,other}.txt", 'for x in *.txt; do cat "$x"; done'), "ls | xargs cat"],
)
def test_files_that_a_shell_printed_without_their_names_may_be_written(guarded, model, command):
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "another file\n")
    model.script("Fix it", bash(command), write(file, changed(l3="three")), done())
    guarded.run("Fix it")
    assert guarded.text("notes.txt") == changed(l3="three")
    assert not guarded.log("refused")


@pytest.mark.full
def test_why_in_a_terminal_answers_for_the_conversation_and_writes_no_fact(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Look", read(file), done())
    run = guarded.run("Look")
    guarded.put("notes.txt", changed(l3="line 3, says the user"))
    before = guarded.log()
    said = guarded.sightline("why", "notes.txt")
    assert run.session in said
    assert "Now: stale. On disk, line 3 is not what was shown." in said
    assert guarded.log() == before


def test_what_an_own_command_changed_is_known_as_its_doing(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    command = "sed -i 's/^line 3$/three/' notes.txt"
    model.script("Fix it", read(file), bash(command), done())
    guarded.run("Fix it")
    causes = [row["cause"] for row in guarded.log("changed") if row["path"] == "notes.txt"]
    assert [(cause["kind"], cause["detail"]) for cause in causes] == [("command", command)]


def test_an_instruction_file_was_shown(guarded, model):
    file = guarded.put("CLAUDE.md", "Be brief.\n")
    model.script("Amend it", write(file, "Be brief and kind.\n"), done())
    run = guarded.run("Amend it")
    assert guarded.text("CLAUDE.md") == "Be brief and kind.\n"
    assert not guarded.log("refused")
    assert guarded.status()[run.session]["CLAUDE.md"]["state"] == "fresh"


@pytest.mark.full
@pytest.mark.parametrize("command", ["mv notes.txt old.txt", *fully("rm notes.txt")])
def test_what_an_own_command_took_away_may_be_written_anew(guarded, model, command):
    file = guarded.put("notes.txt", TEXT)
    model.script("Begin anew", read(file), bash(command), write(file, "mine\n"), done())
    guarded.run("Begin anew")
    assert guarded.text("notes.txt") == "mine\n"
    assert not guarded.log("refused")


def test_a_save_of_a_known_file_is_noticed_as_it_happens(guarded, model):
    """The client watches for us the files that a resumed conversation knows."""
    file = guarded.put("notes.txt", TEXT)
    model.script("Look at it", read(file), done())
    first = guarded.run("Look at it")

    def save_and_see():
        guarded.put("notes.txt", changed(l3="line 3, says the user"))
        deadline = monotonic() + WAIT_S
        while not guarded.log("changed"):
            assert monotonic() < deadline, "the client's watcher told nothing"

    model.script("Go on", bash("true"), done(save_and_see))
    guarded.run("Go on", args=("--resume", first.session))
    (row,) = guarded.log("changed")
    assert (row["path"], row["cause"]["kind"]) == ("notes.txt", "external")


@pytest.mark.full
def test_people_know_a_conversation_by_its_first_words(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script(
        "Mend the notes, please, and do so at once",
        read(file),
        edit(file, "line 3\n", "three\n"),
        done(),
    )
    run = guarded.run("Mend the notes, please, and do so at once")
    name = '"Mend the notes, please, and do so at…"'
    status = guarded.sightline("status")
    assert f"Session {name} (claude-code" in status
    assert f"its id: {run.session[:13]}" in status
    log = guarded.sightline("log", "notes.txt")
    assert name in log
    assert run.session not in log
    assert f"as session {name} (claude-code) knows it" in guarded.sightline(
        "why", "notes.txt"
    ).replace("\n  ", " ")
    assert name in guarded.sightline("up", "--once")
    assert name in guarded.sightline("session", "list")
    (each,) = json.loads(guarded.sightline("status", "--json"))["sessions"]
    assert (each["id"], each["name"]) == (run.session, name.strip('"'))
