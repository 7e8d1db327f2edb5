"""Claude Code guarded end to end: the real client, our hooks, a scripted model.

Each test asks three witnesses: what stands on disk, what the model was sent, and what Sightline
recorded. The files are small; what a user does meanwhile is done just before the model answers.
"""

import json
import os
import sys
from threading import Event
from time import monotonic

import pytest
from tests.clients.stub import Step

import sightline

pytestmark = pytest.mark.client

LINES = [f"line {number}\n" for number in range(1, 31)]
TEXT = "".join(LINES)
TWO_AT_ONCE = "cat notes.txt other.txt"
"""Of files printed like this the client's own guard knows nothing: it asks our hook."""

WAIT_S = 60
"""How long one agent waits for the other before the test fails."""


def read(path, before=None):
    return Step(tools=(("Read", {"file_path": path}),), before=before)


def edit(path, old, new, before=None):
    return Step(
        tools=(("Edit", {"file_path": path, "old_string": old, "new_string": new}),), before=before
    )


def write(path, content, before=None):
    return Step(tools=(("Write", {"file_path": path, "content": content}),), before=before)


def bash(command):
    return Step(tools=(("Bash", {"command": command}),))


def cell(path, id, source, before=None):
    given = {"notebook_path": path, "cell_id": id, "new_source": source}
    return Step(tools=(("NotebookEdit", given),), before=before)


def notebook(**sources):
    """A notebook of code cells by their ids."""
    code: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    cells = [{**code, "id": name, "source": [text]} for name, text in sources.items()]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def delegate(prompt):
    given = {"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"}
    return Step(tools=(("Agent", given),))


def done(before=None):
    return Step("Done.", before=before)


def changed(**lines):
    """The text with some lines changed: changed(l3="three")."""
    new = {int(name[1:]): f"{text}\n" for name, text in lines.items()}
    return "".join(new.get(at, line) for at, line in enumerate(LINES, 1))


def saves(claude, path, text):
    """What a user does in an editor, for a step to be preceded by."""
    return lambda: claude.put(path, text)


def meet(*events):
    """Say that all but the last have come, and wait for the last."""
    *said, awaited = events
    for event in said:
        event.set()
    assert awaited.wait(WAIT_S), "the other agent did not come so far"


def test_an_edit_whose_text_the_user_changed_is_answered_by_what_stands_there(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    theirs = changed(l10="line 10, says the user")
    model.script(
        "Fix it",
        read(file),
        edit(file, "line 10\n", "line ten\n", saves(guarded, "notes.txt", theirs)),
        done(),
    )
    run = guarded.run("Fix it")
    told = model.sent(2)
    assert "-line 10\n+line 10, says the user" in told
    assert "the user or another program" in told
    assert "line·10,·says·the·user" in told  # the nearest match, white space visible
    assert guarded.text("notes.txt") == theirs
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"  # it was told


def test_a_whole_write_over_a_changed_file_keeps_both_changes(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "other\n")
    mine = changed(l28="line 28, says the agent")
    theirs = changed(l3="line 3, says the user")
    model.script(
        "Rewrite it",
        bash(TWO_AT_ONCE),
        write(file, mine, saves(guarded, "notes.txt", theirs)),
        done(),
    )
    run = guarded.run("Rewrite it")
    assert guarded.text("notes.txt") == mine.replace("line 3\n", "line 3, says the user\n")
    assert "merged" in model.sent(2)
    assert "+line 3, says the user" in model.sent(2)
    assert [row["path"] for row in guarded.log("merged")] == ["notes.txt"]
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"


def test_a_whole_write_that_the_client_turns_down_costs_one_look(guarded, model):
    """It calls no hook when a file changed since its own tool read it."""
    file = guarded.put("notes.txt", TEXT)
    theirs = changed(l3="line 3, says the user")
    both = theirs.replace("line 28\n", "line 28, says the agent\n")
    model.script(
        "Rewrite it",
        read(file),
        write(file, changed(l28="line 28, says the agent"), saves(guarded, "notes.txt", theirs)),
        read(file),
        write(file, both),
        done(),
    )
    run = guarded.run("Rewrite it")
    assert guarded.text("notes.txt") == both
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"


@pytest.mark.parametrize("look", [read, lambda _: bash(TWO_AT_ONCE)], ids=["read", "shell"])
def test_a_whole_write_in_conflict_is_refused_with_only_its_hunks(guarded, model, look):
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "other\n")
    theirs = changed(l3="line 3, says the user", l28="line 28, says the user")
    model.script(
        "Rewrite it",
        look(file),
        write(file, changed(l28="line 28, says the agent"), saves(guarded, "notes.txt", theirs)),
        done(),
    )
    guarded.run("Rewrite it")
    assert guarded.text("notes.txt") == theirs
    assert "+line 28, says the user" in model.sent(2)
    assert "line 3, says the user" not in model.sent(2)
    assert [row["path"] for row in guarded.log("refused")] == ["notes.txt"]


def test_an_edit_elsewhere_goes_through_with_a_notice(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script(
        "Fix it",
        read(file),
        edit(
            file,
            "line 28\n",
            "line 28, says the agent\n",
            saves(guarded, "notes.txt", changed(l3="line 3, says the user")),
        ),
        done(),
    )
    run = guarded.run("Fix it")
    both = changed(l3="line 3, says the user", l28="line 28, says the agent")
    assert guarded.text("notes.txt") == both
    assert "-line 3\n+line 3, says the user" in model.sent(2)
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"
    assert not guarded.log("refused")


def test_a_write_over_a_file_never_read_is_refused(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Write it", write(file, "mine\n"), done())
    guarded.run("Write it")
    assert guarded.text("notes.txt") == TEXT
    assert "never shown" in model.sent(1)
    assert guarded.log("refused")


def test_a_file_that_was_refused_is_written_once_it_was_read(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Write it", write(file, "mine\n"), read(file), write(file, "mine\n"), done())
    guarded.run("Write it")
    assert guarded.text("notes.txt") == "mine\n"


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


def test_settings_removed_again_are_as_they_were_and_no_hook_fires(claude, model):
    theirs = '{ "env": {"A":"1"},\n\t"hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "true"}]} ]}}'
    settings = ".claude/settings.local.json"
    claude.put(settings, theirs)
    file = claude.put("notes.txt", TEXT)
    model.script("Look at it", read(file), done())
    claude.sightline("init", "claude-code")
    assert json.loads(claude.text(settings))["env"] == {"A": "1"}
    claude.run("Look at it")
    told = claude.log()
    assert "seen" in {row["kind"] for row in told}
    claude.sightline("init", "claude-code", "--remove")
    assert claude.text(settings) == theirs
    assert [hook["hook_event"] for hook in claude.run("Look at it").hooks] == ["Stop"]
    assert claude.log() == told


@pytest.mark.parametrize("kind", ["command", "http"])
def test_a_running_up_answers_as_well_and_shows_what_happens(claude, model, kind):
    claude.sightline("init", "claude-code", "--kind", kind)
    file = claude.put("notes.txt", TEXT)
    theirs = changed(l3="line 3, says the user")
    model.script(
        "Fix it",
        read(file),
        edit(file, "line 28\n", "line 28, says the agent\n", saves(claude, "notes.txt", theirs)),
        edit(file, "line 3, says", "line 3, said", saves(claude, "notes.txt", TEXT)),
        done(),
    )
    with claude.up() as printed:
        run = claude.run("Fix it")
        assert any("notes.txt was changed by the user" in line for line in printed)
    assert claude.faults == ""
    assert "-line 3\n+line 3, says the user" in model.sent(2)
    assert "-line 3, says the user\n+line 3" in model.sent(3)
    assert claude.text("notes.txt") == TEXT
    over_http = {hook["hook_event"] for hook in run.hooks if hook["exit_code"] == 200}
    assert ("PreToolUse" in over_http) == (kind == "http")


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


def test_what_an_own_command_changed_is_known_as_its_doing(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    command = "sed -i 's/^line 3$/three/' notes.txt"
    model.script("Fix it", read(file), bash(command), done())
    guarded.run("Fix it")
    causes = [row["cause"] for row in guarded.log("changed") if row["path"] == "notes.txt"]
    assert [(cause["kind"], cause["detail"]) for cause in causes] == [("command", command)]


def test_the_notice_of_one_call_does_not_wave_the_next_of_its_batch_through(guarded, model):
    """The write was thought up before the notice: it is merged, and takes nothing back."""
    file = guarded.put("notes.txt", TEXT)
    mine = changed(l15="line 15, says the agent", l28="line 28, says the agent")
    model.script(
        "Fix both",
        read(file),
        Step(
            tools=(
                *edit(file, "line 15\n", "line 15, says the agent\n").tools,
                *write(file, mine).tools,
            ),
            before=saves(guarded, "notes.txt", changed(l3="line 3, says the user")),
        ),
        done(),
    )
    guarded.run("Fix both")
    assert guarded.text("notes.txt") == mine.replace("line 3\n", "line 3, says the user\n")
    assert [row["path"] for row in guarded.log("merged")] == ["notes.txt"]


def test_a_store_that_cannot_be_read_lets_the_agent_go_on_and_is_logged(connected, model):
    file = connected.put("notes.txt", TEXT)
    connected.sightline("saw", "notes.txt")
    (store,) = connected.state.rglob("*.db")
    store.write_bytes(b"no database" * 1000)
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), done())
    assert connected.run("Fix it").code == 0
    assert connected.text("notes.txt") == changed(l3="three")
    assert store.read_bytes() == b"no database" * 1000
    assert "PreToolUse" in connected.faults
    assert "hooks" in connected.sightline("doctor", code=1)


def test_a_guard_that_is_to_fail_closed_refuses_what_it_cannot_judge(connected, model):
    file = connected.put("notes.txt", TEXT)
    connected.sightline("saw", "notes.txt")
    (store,) = connected.state.rglob("*.db")
    store.write_bytes(b"no database" * 1000)
    connected.settings["SIGHTLINE_FAIL"] = "closed"
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), done())
    assert connected.run("Fix it").code == 0
    assert connected.text("notes.txt") == TEXT
    assert "SIGHTLINE_FAIL" in model.sent(2)


def test_http_hooks_without_up_let_the_agent_go_on_and_doctor_says_so(claude, model):
    claude.sightline("init", "claude-code", "--kind", "http")
    file = claude.put("notes.txt", TEXT)
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), done())
    assert claude.run("Fix it").code == 0
    assert claude.text("notes.txt") == changed(l3="three")
    assert "sightline up" in claude.sightline("doctor", code=1)


@pytest.mark.parametrize("gone", [sys.executable, os.path.dirname(sightline.__file__)])
def test_what_a_hook_needs_and_is_gone_lets_the_agent_go_on(connected, model, gone):
    """A script that Python cannot open ends it with 2, by which the client means: refuse."""
    file = connected.put("notes.txt", TEXT)
    settings = ".claude/settings.local.json"
    assert gone in connected.text(settings)
    connected.put(settings, connected.text(settings).replace(gone, "/gone/sightline"))
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), done())
    assert connected.run("Fix it").code == 0
    assert connected.text("notes.txt") == changed(l3="three")
    assert "/gone" in connected.sightline("doctor", code=1)


def test_a_fork_knows_what_the_conversation_it_left_was_shown(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Look at it", read(file), done())
    first = guarded.run("Look at it")
    model.script("Fix it", edit(file, "line 3\n", "three\n"), write(file, "mine\n"), done())
    second = guarded.run("Fix it", args=("--resume", first.session, "--fork-session"))
    assert second.session != first.session
    assert guarded.text("notes.txt") == "mine\n"
    assert not guarded.log("refused")
    assert guarded.status()[first.session]["notes.txt"]["state"] == "stale"


def test_a_conversation_from_before_the_guard_goes_on_without_a_false_alarm(claude, model):
    file = claude.put("notes.txt", TEXT)
    model.script("Look at it", read(file), edit(file, "line 3\n", "three\n"), done())
    first = claude.run("Look at it")
    claude.sightline("init", "claude-code")
    model.script("Rewrite it", write(file, "mine\n"), done())
    claude.run("Rewrite it", args=("--resume", first.session))
    assert claude.text("notes.txt") == "mine\n"
    assert not claude.log("refused")


def test_an_instruction_file_was_shown(guarded, model):
    file = guarded.put("CLAUDE.md", "Be brief.\n")
    model.script("Amend it", write(file, "Be brief and kind.\n"), done())
    run = guarded.run("Amend it")
    assert guarded.text("CLAUDE.md") == "Be brief and kind.\n"
    assert not guarded.log("refused")
    assert guarded.status()[run.session]["CLAUDE.md"]["state"] == "fresh"


def test_a_file_the_user_deleted_is_written_again_only_by_an_agent_that_knows(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    stood = []
    model.script(
        "Rewrite it",
        read(file),
        write(file, "mine\n", (guarded.root / "notes.txt").unlink),
        write(file, "mine\n", lambda: stood.append((guarded.root / "notes.txt").exists())),
        done(),
    )
    guarded.run("Rewrite it")
    assert stood == [False]
    assert "was deleted since" in model.sent(2)
    assert guarded.text("notes.txt") == "mine\n"


def test_an_edit_of_nothing_makes_a_file_or_fills_an_empty_one(guarded, model):
    new, empty = str(guarded.root / "new.txt"), guarded.put("empty.txt", "")
    model.script("Fill", edit(new, "", "a\n"), edit(empty, "", "b\n"), edit(new, "a", "c"), done())
    run = guarded.run("Fill")
    assert (guarded.text("new.txt"), guarded.text("empty.txt")) == ("c\n", "b\n")
    assert not guarded.log("refused")
    known = guarded.status()[run.session]
    assert (known["new.txt"]["state"], known["empty.txt"]["state"]) == ("fresh", "fresh")


@pytest.mark.parametrize("command", ["rm notes.txt", "mv notes.txt old.txt"])
def test_what_an_own_command_took_away_may_be_written_anew(guarded, model, command):
    file = guarded.put("notes.txt", TEXT)
    model.script("Begin anew", read(file), bash(command), write(file, "mine\n"), done())
    guarded.run("Begin anew")
    assert guarded.text("notes.txt") == "mine\n"
    assert not guarded.log("refused")


def test_a_file_with_a_mark_and_line_ends_of_windows_is_the_agents_own(guarded, model):
    """The client writes a whole file with "\\n", whatever it had before."""
    file = guarded.put("notes.txt", "\ufeff" + TEXT.replace("\n", "\r\n"))
    new = changed(l3="three", l28="last")
    model.script("Fix it", read(file), edit(file, "line 3\n", "three\n"), write(file, new), done())
    run = guarded.run("Fix it")
    assert guarded.text("notes.txt").removeprefix("\ufeff").replace("\r", "") == new
    assert {row["cause"]["kind"] for row in guarded.log("changed")} == {"agent"}
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"


def test_a_notebook_is_edited_cell_by_cell(guarded, model):
    """The client itself turns down an edit of a notebook that changed; a new look lets it go on."""
    file = guarded.put("study.ipynb", notebook(c1="a = 1", c2="b = 2"))
    theirs = notebook(c1="a = 9", c2="b = 2")
    model.script(
        "Fix it",
        read(file),
        cell(file, "c2", "b = 3", saves(guarded, "study.ipynb", theirs)),
        read(file),
        cell(file, "c2", "b = 4"),
        done(),
    )
    guarded.run("Fix it")
    sources = [each["source"] for each in json.loads(guarded.text("study.ipynb"))["cells"]]
    assert ["".join(each) for each in sources] == ["a = 9", "b = 4"]


def test_a_hook_never_answers_for_the_user(guarded, model):
    """What the user has not allowed is not allowed by us: the edit is merged, not permitted."""
    file = guarded.put("notes.txt", TEXT)
    mine = changed(l28="line 28, says the agent")
    theirs = changed(l3="line 3, says the user")
    model.script(
        "Fix it", read(file), write(file, mine, saves(guarded, "notes.txt", theirs)), done()
    )
    guarded.run("Fix it", args=("--permission-mode", "default"))
    assert guarded.text("notes.txt") == theirs


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
