"""Edits of Claude Code as they are judged: the real client, our hooks, a scripted model.

Each test asks three witnesses: what stands on disk, what the model was sent, and what Sightline
recorded. The files are small; what a user does meanwhile is done just before the model answers.
"""

import json
import sys

import pytest
from tests.clients.acting import (
    TEXT,
    TWO_AT_ONCE,
    bash,
    cell,
    changed,
    done,
    edit,
    notebook,
    read,
    saves,
    write,
)
from tests.clients.stub import Step
from tests.support.examples import fully

pytestmark = pytest.mark.client


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
    assert "+ 10  line 10, says the user" in told  # the nearest match, white space visible
    assert guarded.text("notes.txt") == theirs
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"  # it was told


MINE = changed(l28="line 28, says the agent")
THEIRS = changed(l3="line 3, says the user")


def write_over_a_save(guarded, model):
    """Have the agent write a whole file that the user saves meanwhile, with a change elsewhere."""
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "other\n")
    model.script(
        "Fix it",
        bash(TWO_AT_ONCE),
        write(file, MINE, saves(guarded, "notes.txt", THEIRS)),
        done(),
    )


def test_a_whole_write_over_a_changed_file_keeps_both_changes(guarded, model):
    write_over_a_save(guarded, model)
    run = guarded.run("Fix it")
    assert guarded.text("notes.txt") == MINE.replace("line 3\n", "line 3, says the user\n")
    assert "merged" in model.sent(2)
    assert "+line 3, says the user" in model.sent(2)
    assert [row["path"] for row in guarded.log("merged")] == ["notes.txt"]
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"


@pytest.mark.full
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


@pytest.mark.parametrize("look", [read, *fully(lambda _: bash(TWO_AT_ONCE))], ids=["read", "shell"])
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


@pytest.mark.full
def test_a_file_that_was_refused_is_written_once_it_was_read(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    model.script("Write it", write(file, "mine\n"), read(file), write(file, "mine\n"), done())
    guarded.run("Write it")
    assert guarded.text("notes.txt") == "mine\n"


@pytest.mark.full
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


@pytest.mark.full
def test_an_agent_that_was_told_of_a_users_line_writes_it_with_a_change(guarded, model):
    """Told after a batch and with a prompt. What the shell printed the client itself lets pass."""
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "other\n")
    first = changed(l3="line 3, says the user, and the agent")
    second = changed(l3="line 3, says the agent alone")
    model.script(
        "Fix it",
        bash(TWO_AT_ONCE),
        Step(
            tools=bash("true").tools,
            before=saves(guarded, "notes.txt", changed(l3="line 3, says the user")),
        ),
        write(file, first),
        done(saves(guarded, "notes.txt", changed(l3="line 3, says the user again"))),
    )
    model.script("Go on", write(file, second), done())
    guarded.run("Fix it", "Go on")
    assert "+line 3, says the user" in model.sent(2, "Fix it")
    assert "+line 3, says the user again" in model.sent(0, "Go on")
    assert guarded.text("notes.txt") == second
    assert not guarded.log("refused")
    assert not guarded.log("merged")


FORMATTER = """
import re, sys
from pathlib import Path
for path in sys.argv[1:]:
    text = Path(path).read_text()
    for name in re.findall(r"^import (\\w+)$", text, re.M):
        if f"{name}." not in text:
            text = text.replace(f"import {name}\\n", "")
    Path(path).write_text(text)
"""
"""Takes unused imports out, as many projects have it done after each edit."""


def format_after_edits(claude):
    """Have the user's own hook format the project's files after each of the agent's edits."""
    claude.put(".claude/format.py", FORMATTER)
    command = f"sleep 0.3; {sys.executable} -I -S .claude/format.py *.py"  # after our own look
    hook = {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": command}]}
    claude.put(".claude/settings.json", json.dumps({"hooks": {"PostToolUse": [hook]}}))


@pytest.mark.full
def test_what_a_formatter_took_out_comes_back_with_its_use(guarded, model):
    file = guarded.put("a.py", "import re\n\nx = re.I\n")
    used = "import os\nimport re\n\nx = re.I\ny = os.sep\n"
    format_after_edits(guarded)
    model.script(
        "Fix it",
        bash("cat a.py; true"),
        write(file, "import os\nimport re\n\nx = re.I\n"),
        write(file, used),
        done(),
    )
    guarded.run("Fix it")
    assert "-import os" in model.sent(2)
    assert guarded.text("a.py") == used
    assert not guarded.log("merged")


@pytest.mark.full
def test_what_a_formatter_changed_is_told_once(guarded, model):
    file = guarded.put("a.py", "import re\n\nx = re.I\n")
    names = ("os", "json", "sys")
    format_after_edits(guarded)
    new = [f"import {name}\nimport re\n" for name in names]
    edits = [edit(file, "import re\n", text) for text in new]
    model.script("Fix it", read(file), *edits, done())
    guarded.run("Fix it")
    told = "\n".join(model.sent(step) for step in range(len(names) + 2))
    assert [told.count(f"-import {name}") for name in names] == [1, 1, 1]
    assert guarded.text("a.py") == "import re\n\nx = re.I\n"


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
    assert "notes.txt was deleted by the user or another program" in model.sent(2)
    assert guarded.text("notes.txt") == "mine\n"


@pytest.mark.full
def test_an_edit_of_nothing_makes_a_file_or_fills_an_empty_one(guarded, model):
    new, empty = str(guarded.root / "new.txt"), guarded.put("empty.txt", "")
    model.script("Fill", edit(new, "", "a\n"), edit(empty, "", "b\n"), edit(new, "a", "c"), done())
    run = guarded.run("Fill")
    assert (guarded.text("new.txt"), guarded.text("empty.txt")) == ("c\n", "b\n")
    assert not guarded.log("refused")
    known = guarded.status()[run.session]
    assert (known["new.txt"]["state"], known["empty.txt"]["state"]) == ("fresh", "fresh")


@pytest.mark.full
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


@pytest.mark.full
def test_a_merge_that_was_not_written_is_not_told_as_written(guarded, model):
    """The user does not allow the write."""
    write_over_a_save(guarded, model)
    run = guarded.run("Fix it", args=("--permission-mode", "default"))
    assert guarded.text("notes.txt") == THEIRS
    assert "merged" not in model.sent(2)
    assert not guarded.log("merged")
    assert not [hook for hook in run.hooks if "systemMessage" in hook["stdout"]]


def test_the_user_is_told_of_a_merge(guarded, model):
    write_over_a_save(guarded, model)
    run = guarded.run("Fix it")
    answers = [json.loads(hook["stdout"]) for hook in run.hooks if hook["stdout"].startswith("{")]
    (told,) = [each["systemMessage"] for each in answers if "systemMessage" in each]
    assert "notes.txt" in told
    assert "merged" in told
    assert "was merged" in guarded.sightline("log", "notes.txt")


@pytest.mark.full
@pytest.mark.parametrize("line", [3, 28])
def test_a_diff_is_told_once_to_calls_of_one_batch(guarded, model, line):
    """Line 3: edits that are refused; line 28: an edit and a merge that go through."""
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "other\n")
    theirs = changed(l3="line 3, says the user")
    calls = (
        *edit(file, f"line {line}\n", "mine\n").tools,
        *edit(file, f"line {line + 1}\nline {line + 2}\n", "mine\n").tools,
        *write(file, changed(**{f"l{line}": "mine"})).tools,
    )
    model.script(
        "Fix it",
        bash(TWO_AT_ONCE),
        Step(tools=calls, before=saves(guarded, "notes.txt", theirs)),
        done(),
    )
    model.script("Go on", done())
    run = guarded.run("Fix it", "Go on")
    answers = "".join(hook["stdout"] for hook in run.hooks)
    assert answers.count("+line 3, says the user") == 1


def test_a_diff_that_explains_a_failed_write_is_not_in_the_notice_of_its_batch(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    theirs = changed(l3="line 3, says the user")
    mine = changed(l28="line 28, says the agent")
    model.script(
        "Fix it", read(file), write(file, mine, saves(guarded, "notes.txt", theirs)), done()
    )
    run = guarded.run("Fix it")
    answers = "".join(hook["stdout"] for hook in run.hooks)
    assert answers.count("+line 3, says the user") == 1


@pytest.mark.wide
@pytest.mark.parametrize(
    "answer", [{"decision": "block", "reason": "no"}, *fully({"continue": False})]
)
def test_a_save_that_only_a_stopped_prompt_told_is_kept(guarded, model, answer):
    """A hook of the user's stops the prompt, so the model has nothing of what was added to it."""
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "other\n")
    theirs = changed(l3="line 3, says the user")
    hook = guarded.home / "stops.py"
    hook.write_text(
        "import json, sys\n"
        f"if json.load(sys.stdin)['prompt'] == 'Stop this': print({json.dumps(answer)!r})\n"
    )
    command = {"type": "command", "command": f"{sys.executable} -I -S {hook}"}
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [command]}]}}
    guarded.put(".claude/settings.json", json.dumps(hooks))
    model.script("Look", bash(TWO_AT_ONCE), done(saves(guarded, "notes.txt", theirs)))
    model.script("Stop this", done())
    model.script("Fix it", write(file, changed(l28="line 28, says the agent")), done())
    run = guarded.run("Look", "Stop this", "Fix it")
    added = [hook["stdout"] for hook in run.hooks if "says the user" in hook["stdout"]]
    assert "UserPromptSubmit" in added[0]
    if "says the user" in model.sent(0, "Fix it"):
        assert model.sent(0, "Fix it").startswith("Stop this")
        return  # on a busy machine the client keeps a stopped prompt with our words: the model has them
    both = changed(l3="line 3, says the user", l28="line 28, says the agent")
    assert guarded.text("notes.txt") == both
    assert "says the user" in model.sent(1, "Fix it")


def test_what_the_client_says_of_a_changed_file_is_not_said_again(guarded, model):
    """Its answer to an Edit says that the file changed and that the edit is in; ours says who, and what."""
    file = guarded.put("notes.txt", TEXT)
    save = saves(guarded, "notes.txt", changed(l9="nine, says the user"))
    model.script("Fix it", read(file), edit(file, "line 20\n", "twenty\n", before=save), done())
    guarded.run("Fix it")
    told = model.sent(2)
    assert told.count("modified on disk since you last read it") == 1
    assert (
        "Sightline: notes.txt was changed by the user or another program. What is new to you:"
        in told
    )
    assert "+nine, says the user" in told
    assert "Your edit is in the file" not in told
