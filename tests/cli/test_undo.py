"""undo: the agent's last turn goes, and the printed command brings it back."""

from __future__ import annotations

import shlex

import pytest

TEXT = "one\ntwo\nthree\n"
BACK = "To take this rewind back: sightline "


@pytest.fixture
def edited(sl):
    """Two edits by commands, each a turn of its own."""
    sl.put("a.py", TEXT)
    sl("read", "a.py")
    sl("edit", "a.py", "--old", "one", "--new", "1")
    sl("edit", "a.py", "--old", "two", "--new", "2")
    return sl


def text(sl, name="a.py"):
    return (sl.root / name).read_text()


def back(done):
    """The words of the command that takes an undo back."""
    (line,) = [line for line in done.out.splitlines() if line.startswith(BACK)]
    return shlex.split(line.removeprefix(BACK))


def test_each_own_edit_by_a_command_is_a_turn_and_a_second_undo_takes_the_one_before(edited):
    first = edited("undo", "--yes")
    assert (first.code, text(edited)) == (0, "1\ntwo\nthree\n")
    assert first.err == "Undo the last change of session cli, just now.\n"
    assert edited("undo", "--yes").code == 0
    assert text(edited) == TEXT
    done = edited("undo", "--yes")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "Error: There is nothing to undo: no change of a session is still there.",
        "Hint: See what happened: sightline log",
    ]


@pytest.mark.wide
def test_the_printed_command_takes_the_undo_back_and_a_further_undo_takes_the_same_turn(edited):
    first = edited("undo", "--yes")
    second = edited("undo", "--yes")
    assert edited(*back(second), "--yes").code == 0
    assert text(edited) == "1\ntwo\nthree\n"
    assert edited("undo", "--yes").code == 0
    assert text(edited) == TEXT, "the turn that the second undo took back, once more"
    assert edited(*back(first), "--yes").code == 0
    assert text(edited) == "1\n2\nthree\n"
    assert edited("undo", "--yes").code == 0
    assert text(edited) == "1\ntwo\nthree\n"


@pytest.mark.wide
def test_a_rewind_counts_as_well_and_an_edit_after_an_undo_is_the_next_to_go(edited):
    edited("undo", "--yes")
    edited("edit", "a.py", "--old", "three", "--new", "3")
    assert text(edited) == "1\ntwo\n3\n"
    for then in ("1\ntwo\nthree\n", TEXT):
        assert edited("undo", "--yes").code == 0
        assert text(edited) == then
    assert edited("undo", "--yes").code == 1


def test_what_was_edited_in_one_turn_goes_together_and_the_users_lines_stay(sl):
    sl.put("a.py", TEXT)
    sl("read", "a.py")
    sl("turn")
    sl("edit", "a.py", "--old", "one", "--new", "1")
    sl("turn")
    sl("edit", "a.py", "--old", "two", "--new", "2")
    sl("create", "b.py", stdin="b\n")
    sl.put("a.py", "1\n2\nthree\nthe user's\n")
    done = sl("undo", "--yes")
    assert (done.code, done.err) == (0, "Undo turn 2 of session cli, just now.\n")
    assert text(sl) == "1\ntwo\nthree\nthe user's\n"
    assert not (sl.root / "b.py").exists()
    assert sl("undo", "--yes").code == 0
    assert text(sl) == "one\ntwo\nthree\nthe user's\n"


def test_all_files_of_one_patch_go_together(edited):
    diff = "--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-three\n+3\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+n\n"
    assert edited("patch", stdin=diff).code == 0
    told = edited("undo", "--yes", "--json").json
    assert (told["schema"], told["removed"], told["restored"]) == (1, ["n.py"], ["a.py"])
    assert told["session"] == "cli"
    assert text(edited) == "1\n2\nthree\n"


@pytest.mark.wide
def test_the_session_with_the_newest_change_is_meant_and_named_in_the_way_back(edited):
    edited("create", "b.py", "--session", "helper", stdin="b\n")
    done = edited("undo", "--yes")
    assert not (edited.root / "b.py").exists()
    assert back(done)[-2:] == ["--session", "helper"]
    assert edited(*back(done), "--yes").code == 0
    assert text(edited, "b.py") == "b\n"
    assert edited("undo", "--yes", "--session", "cli").code == 0
    assert (text(edited), text(edited, "b.py")) == ("1\ntwo\nthree\n", "b\n")
    assert edited("undo", "--yes", "--session", "nobody").code == 2


def test_options_of_this_call_stand_in_the_way_back(edited):
    done = edited("undo", "--yes", "--workspace", str(edited.root))
    assert back(done)[2:] == ["--workspace", str(edited.root)]


def test_a_file_that_a_command_removed_unread_comes_back_by_the_checkpoint_of_its_turn(sl):
    sl.put("a.py", TEXT)
    sl.put("b.py", "never read\n")
    sl("turn")
    sl("run", "--", "rm", "b.py")
    assert sl("undo", "--yes").code == 0
    assert text(sl, "b.py") == "never read\n"


def test_without_a_terminal_it_wants_to_be_told(edited):
    for words in (("undo",), ("undo", "--json")):
        refused = edited(*words)
        assert refused.code == 2
        assert "--dry-run to preview or --yes" in refused.err
    plan = edited("undo", "--dry-run")
    assert plan.code == 0
    assert "would change 1 file" in plan.out
    assert text(edited) == "1\n2\nthree\n"


def test_nobody_is_asked_about_a_file_with_no_change_to_take_back(edited):
    refused = edited("undo", "nope.py")
    assert refused.code == 1
    assert "There is no file nope.py now." in refused.err
    assert "--yes" not in refused.err


@pytest.mark.wide
def test_on_a_terminal_the_plan_is_shown_and_asked_for(edited):
    from tests.cli.test_terminal import at_terminal

    code, seen = at_terminal(edited, "undo", answer=b"n\n")
    assert (code, text(edited)) == (1, "1\n2\nthree\n")
    assert seen.index("Undo the last change") < seen.index("would change 1 file")
    assert at_terminal(edited, "undo", answer=b"y\n")[0] == 0
    assert text(edited) == "1\ntwo\nthree\n"


@pytest.mark.wide
def test_what_may_be_the_users_is_left_alone_and_the_command_that_takes_it_is_named(edited):
    edited("run", "--", "python3", "-c", "open(chr(99) + '.py', 'w').write('made')")
    done = edited("undo", "--yes")
    assert (done.code, (edited.root / "c.py").exists()) == (1, True)
    line = next(line for line in done.out.splitlines() if "Take one back" in line)
    command = line.partition("sightline ")[2].partition(" --force-path")[0]
    assert edited(*shlex.split(command), "--commands", "--yes").code == 0
    assert not (edited.root / "c.py").exists()
    assert edited("undo", "--yes").code == 0
    assert text(edited) == "1\ntwo\nthree\n"


def test_a_turn_of_which_others_left_nothing_is_passed_over(edited):
    edited("create", "b.py", stdin="b\n")
    (edited.root / "b.py").unlink()
    assert edited("undo", "--yes").code == 0
    assert text(edited) == "1\ntwo\nthree\n"


def test_where_no_session_changed_a_file_there_is_nothing_to_undo(sl):
    sl.put("a.py", TEXT)
    sl("read", "a.py")
    done = sl("undo", "--yes", "--json")
    assert (done.code, done.json["error"]["kind"]) == (1, "RewindRefused")
    assert done.json["error"]["message"] == (
        "There is nothing to undo: no change of a session is still there."
    )
