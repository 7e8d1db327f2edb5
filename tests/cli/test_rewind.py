"""rewind at a shell: the plan, the question, what it prints."""

from __future__ import annotations

import pytest

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def edited(sl):
    """A checkpoint, and edits of the session and of the user behind it; its id."""
    sl.put("a.py", TEXT)
    sl("read", "a.py")
    made = sl("checkpoint", "start", "--json").json
    sl("edit", "a.py", "--old", "two", "--new", "2")
    sl("create", "b.py", stdin="b\n")
    sl.put("a.py", "one\n2\nthree\nthe user's\n")
    return (made.get("checkpoint") or made)["id"]


def test_a_dry_run_says_what_would_be_done_and_does_nothing(sl, edited):
    plan = sl("rewind", edited, "--dry-run")
    assert plan.code == 0
    assert plan.out == (
        f"A rewind to {edited} would change 2 files:\n"
        "  remove    b.py (this session made it)\n"
        "  merge     a.py (this session's lines go, others' stay)\n"
    )
    assert (sl.root / "b.py").exists()


def test_with_yes_it_is_done_and_the_way_back_is_said(sl, edited):
    done = sl("rewind", edited, "--yes")
    assert done.code == 0
    assert (sl.root / "a.py").read_text() == "one\ntwo\nthree\nthe user's\n"
    assert not (sl.root / "b.py").exists()
    back = done.out.splitlines()[-1].removeprefix("To take this rewind back: sightline rewind ")
    assert sl("rewind", back, "--yes").code == 0
    assert (sl.root / "a.py").read_text() == "one\n2\nthree\nthe user's\n"


def test_a_label_names_a_checkpoint_as_well(sl, edited):
    assert sl("rewind", "start", "--yes", "--json").json["checkpoint"] == edited


def test_without_a_terminal_it_wants_to_be_told(sl, edited):
    refused = sl("rewind", edited)
    assert refused.code == 2
    assert "--dry-run" in refused.err
    assert (sl.root / "b.py").exists()


@pytest.mark.wide
def test_where_others_removed_all_of_it_that_is_said_and_is_no_failure(sl, edited):
    (sl.root / "a.py").unlink()
    sl.put("b.py", "the user's\n")
    lines = (
        f"There is nothing to take back: no change of this session since {edited} is still there.\n"
        "No change of this session is left in:\n"
        "  a.py: it was removed since, and not by this session\n"
        "  b.py: something else was put in its place by the user or another program since\n"
    )
    assert sl("rewind", edited, "--dry-run").out == lines
    done = sl("rewind", edited, "--yes", "--json")
    assert done.code == 0
    assert [each["path"] for each in done.json["gone"]] == ["a.py", "b.py"]
    assert done.json["left_alone"] == []
    assert sl("rewind", edited, "--yes", "--force-path", "a.py").code == 0
    assert (sl.root / "a.py").read_text() == TEXT


@pytest.mark.wide
def test_what_is_left_alone_is_listed_and_told_by_the_exit_code(sl, edited):
    sl.put("b.py", "b\nmore\n")
    done = sl("rewind", edited, "--yes")
    assert done.code == 1
    assert "Left alone:\n  b.py: this session created it, and it was changed by" in done.out
    forced = sl("rewind", edited, "--yes", "--force-path", "b.py")
    assert forced.code == 0
    assert not (sl.root / "b.py").exists()


def test_the_shape_of_its_json(sl, edited):
    shape = sl("rewind", edited, "--dry-run", "--json").json
    assert shape["schema"] == 1
    assert (shape["dry_run"], shape["restored"], shape["removed"]) == (True, [], ["b.py"])
    assert (shape["merged"], shape["left_alone"]) == (["a.py"], [])
    assert shape["safety_checkpoint"] is None
    assert [each["path"] for each in shape["lost_edits"]] == ["a.py", "b.py"]


def test_an_unknown_checkpoint_is_a_no(sl):
    refused = sl("rewind", "cp-none", "--yes")
    assert refused.code == 1
    assert refused.err.startswith("Error:")


@pytest.mark.parametrize("time", ["2999-01-31", "2999-01-31T12:00:00Z"])
def test_a_time_to_come_is_refused(sl, edited, time):
    refused = sl("rewind", time, "--yes")
    assert refused.code == 1
    assert f"{time} is still to come." in refused.err
    for line in (["log", "--since", time], ["changes", "--since", time]):
        answer = sl(*line)
        assert (answer.code, answer.out) == (2, "")
        assert f"{time} is still to come." in answer.err


def test_nothing_to_take_back_is_said(sl):
    sl.put("a.py", TEXT)
    sl("read", "a.py")
    made = sl("checkpoint", "--json").json
    done = sl("rewind", (made.get("checkpoint") or made)["id"], "--yes")
    assert done.code == 0
    assert done.out.startswith("There is nothing to take back")


@pytest.mark.wide
def test_on_a_terminal_the_plan_is_shown_and_asked_for(sl, edited):
    from tests.cli.test_terminal import at_terminal

    code, seen = at_terminal(sl, "rewind", edited, answer=b"n\n")
    assert code == 1
    assert "would change 2 files" in seen
    assert "Nothing was changed." in seen
    assert (sl.root / "b.py").exists()
    code, seen = at_terminal(sl, "rewind", edited, answer=b"y\n")
    assert code == 0
    assert f"Rewound to {edited}: 2 files." in seen
    assert not (sl.root / "b.py").exists()


@pytest.mark.wide
def test_what_changed_while_a_command_ran_is_taken_back_when_the_user_agrees(sl, edited):
    from tests.cli.test_terminal import at_terminal

    script = "open(chr(99) + '.py', 'w').write('made\\n')"
    sl("run", "--", "python3", "-c", script)
    warning = "Changed while your agent's command ran; may be yours:"
    code, seen = at_terminal(sl, "rewind", edited, "--commands", answer=b"n\n")
    assert code == 1
    assert warning in seen
    assert seen.index(warning) < seen.index("Do this?")
    assert (sl.root / "c.py").exists()
    alone = sl("rewind", edited, "--yes", "--json")
    assert alone.code == 1
    assert [each["path"] for each in alone.json["left_alone"]] == ["c.py"]
    done = sl("rewind", edited, "--commands", "--yes", "--json")
    assert (done.code, done.json["removed"]) == (0, ["c.py"])
    assert not (sl.root / "c.py").exists()
