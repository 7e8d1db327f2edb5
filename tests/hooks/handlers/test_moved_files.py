"""Files that an agent's command moves: what the agent knows of them goes along."""

import pytest
from tests.hooks.handlers.shell import facts, run

from sightline.hooks.dispatch import attend
from sightline.model.attempts import Replace, WriteWhole
from sightline.model.events import Changed, Moved, TurnBegan
from sightline.model.hook_events import Answered, Attempted

TEN = "".join(f"line {n}\n" for n in range(1, 11))
THEIRS = TEN.replace("line 3", "by the user")
MINE = TEN.replace("line 9", "LINE 9")

WAYS = {
    "mv a.py b.py": "b.py",
    "mkdir d && mv a.py d/": "d/a.py",
    "mkdir d; mv -- a.py d": "d/a.py",
    "git init -q; git add a.py; git mv a.py b.py": "b.py",
    'bash -c "mv a.py b.py"': "b.py",
}


@pytest.fixture(params=["with a checkpoint", "without one"])
def session(place, ten, request):
    if request.param == "with a checkpoint":
        ten._context.append([TurnBegan(1, "")])
    return ten


@pytest.mark.parametrize("command", WAYS)
def test_a_moved_file_stays_known_and_nothing_is_said(place, session, command):
    assert run(place, session, command).context == ""
    assert [(fact.src, fact.path) for fact in facts(session, Moved)] == [("a.py", WAYS[command])]
    assert session.check(WAYS[command]).state == "fresh"
    assert attend(session, Attempted.single(WAYS[command], WriteWhole(MINE), "w")).refuse is None


@pytest.mark.parametrize("command", WAYS)
def test_a_change_of_the_user_from_before_the_move_is_told_once_as_the_users(
    place, session, command
):
    place.put("a.py", THEIRS)
    told = run(place, session, command).context
    assert told.count("+by the user") == 1
    assert "the user or another program" in told
    assert "your command" not in told
    assert "command you ran" not in told
    assert attend(session, Answered()).context == ""
    assert session.check(WAYS[command]).state == "fresh"


def test_a_save_after_the_move_is_merged(place, session):
    run(place, session, "mv a.py b.py")
    place.put("b.py", THEIRS)
    answer = attend(session, Attempted.single("b.py", WriteWhole(MINE), "w"))
    assert answer.refuse is None
    assert answer.contents["b.py"] == MINE.replace("line 3", "by the user")


def test_an_edit_of_other_lines_after_the_move_and_a_save_passes(place, session):
    run(place, session, "mv a.py b.py")
    place.put("b.py", THEIRS)
    assert (
        attend(session, Attempted.single("b.py", Replace("line 9", "LINE 9"), "e")).refuse is None
    )
    assert attend(session, Attempted.single("b.py", Replace("line 3", "x"), "f")).refuse is not None


def test_a_file_that_the_command_changes_behind_its_move_is_its_own(place, session):
    told = run(place, session, "mv a.py b.py && sed -i s/line/LINE/ b.py").context
    assert "by the command you ran" in told
    assert [fact.path for fact in facts(session, Changed)][-1] == "b.py"
    attend(session, Answered())
    assert session.check("b.py").state == "fresh"


def test_a_move_is_taken_back_by_a_rewind(place, ten):
    ten.checkpoint("before")
    ten._context.append([TurnBegan(1, "")])
    run(place, ten, "mv a.py b.py")
    ten.rewind("before")
    assert place.text("a.py") == TEN
    assert not (place.root / "b.py").exists()


def test_a_copy_is_no_move(place, session):
    run(place, session, "cp a.py b.py")
    assert facts(session, Moved) == []
    assert session.check("b.py").state == "unseen"


def test_the_files_of_a_folder_that_moves_stay_known(place, ten):
    place.put("old/x.py", TEN)
    ten.read("old/x.py")
    assert "removed" not in run(place, ten, "mv old new").context
    assert attend(ten, Attempted.single("new/x.py", WriteWhole(MINE), "w")).refuse is None
