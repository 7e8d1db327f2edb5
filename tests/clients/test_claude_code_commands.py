"""Shell commands that meet a save, a new name or another form: Claude Code itself."""

import pytest
from tests.clients.acting import TEXT, bash, changed, done, edit, read, saves, write
from tests.clients.stub import Step

pytestmark = pytest.mark.client

SHIFTED = "line 0, says the user\n" + TEXT


def test_an_edit_by_line_number_on_shifted_lines_is_refused_once(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    steps = [
        read(file),
        Step(
            tools=bash("sed -i '20s/line/LINE/' notes.txt").tools,
            before=saves(guarded, "notes.txt", SHIFTED),
        ),
        bash("sed -i '21s/line/LINE/' notes.txt"),
        done(),
    ]
    model.script("Go", *steps)
    guarded.run("Go")
    assert "+line 0, says the user" in model.sent(2)
    assert "your command edits it by line number" in model.sent(2)
    assert guarded.text("notes.txt") == SHIFTED.replace("line 20\n", "LINE 20\n")


def test_a_command_that_is_sent_again_passes(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    command = "cat > notes.txt <<'EOF'\nall new\nEOF"
    save = saves(guarded, "notes.txt", changed(l3="line 3, says the user"))
    steps = [Step(tools=bash(command).tools, before=save), bash(command), done()]
    model.script("Go", read(file), *steps)
    guarded.run("Go")
    assert "+line 3, says the user" in model.sent(2)
    assert guarded.text("notes.txt") == "all new\n"


@pytest.mark.full
def test_a_save_is_told_after_a_command_that_changes_nothing(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    save = saves(guarded, "notes.txt", changed(l3="line 3, says the user"))
    steps = [Step(tools=bash("echo hello").tools, before=save), edit(file, "line 9\n", "LINE 9\n")]
    model.script("Go", read(file), *steps, done())
    guarded.run("Go")
    assert "+line 3, says the user" in model.sent(2)
    assert "line 3, says the user" not in model.sent(3), "once"


@pytest.mark.full
def test_files_in_another_form_may_be_written_over(guarded, model):
    texts = ("alpha\nbeta", "gamma\ndelta\n", "one\ntwo\n", "three\nfour\n")
    files = [guarded.put(f"{name}.txt", text) for name, text in zip("xyab", texts, strict=True)]
    show = "cat x.txt y.txt; echo; cat -A a.txt; awk '{print NR\": \"$0}' b.txt"
    wholes = [tool for file in files for tool in write(file, "mine\n").tools]
    model.script("Go", bash(show), Step(tools=tuple(wholes)), done())
    guarded.run("Go")
    assert guarded.log("refused") == []
    assert [guarded.text(f"{name}.txt") for name in "xyab"] == ["mine\n"] * 4


def test_a_file_that_a_command_moved_keeps_what_is_known_of_it(guarded, model):
    """The user saves it before the move, and again behind it."""
    guarded.put("notes.txt", TEXT)
    moved = str(guarded.root / "moved.txt")
    theirs = changed(l3="line 3, says the user")
    again = changed(l3="line 3, says the user", l5="line 5, too")
    move = Step(
        tools=bash("mv notes.txt moved.txt").tools, before=saves(guarded, "notes.txt", theirs)
    )
    mine = write(moved, changed(l28="line 28, says the agent"), saves(guarded, "moved.txt", again))
    model.script("Go", bash("cat notes.txt"), move, mine, done())
    guarded.run("Go")
    told = model.sent(2)
    assert told.count("+line 3, says the user") == 1
    assert "the user or another program" in told
    assert "your command" not in told
    assert "+line 5, too" in model.sent(3)
    assert guarded.log("refused") == []
    assert guarded.text("moved.txt") == changed(l5="line 5, too", l28="line 28, says the agent")
