"""Going back at a shell: whose work a person's checkpoint takes back, and how much of it."""

from __future__ import annotations

import pytest
from tests.cli.test_terminal import at_terminal

TEXT = "".join(f"line {n}\n" for n in range(1, 10))


@pytest.fixture
def worked(sl):
    """A person's checkpoint, then the work of two agents and of the person; the id of the checkpoint."""
    for path in ("a.py", "b.py", "c.py"):
        sl.put(path, TEXT)
    made = sl("checkpoint", "start", "--json").json["checkpoint"]["id"]
    for path, agent, line in (("a.py", "ada", 2), ("b.py", "bob", 2), ("a.py", "bob", 5)):
        sl("read", path, "--session", agent)
        new = ("--old", f"line {line}\n", "--new", f"{agent} {line}\n")
        assert sl("edit", path, *new, "--session", agent).code == 0
    sl.put("a.py", (sl.root / "a.py").read_text() + "the user's\n")
    sl.put("c.py", "the user's\n")
    return made


def texts(sl):
    return {each.name: each.read_text() for each in sl.root.glob("*.py")}


AFTER = {"a.py": f"{TEXT}the user's\n", "b.py": TEXT, "c.py": "the user's\n"}


def test_a_persons_checkpoint_takes_back_what_all_sessions_did(sl, worked):
    before = texts(sl)
    done = sl("rewind", "start", "--yes")
    assert (done.code, texts(sl)) == (0, AFTER)
    assert "a.py (the lines of session bob and session ada go, others' stay)" in done.out
    assert "b.py (its earlier text; session bob changed it)" in done.out
    back = done.out.splitlines()[-1].removeprefix("To take this rewind back: sightline ").split()
    assert sl(*back, "--yes").code == 0
    assert texts(sl) == before


def test_a_persons_checkpoint_belongs_to_no_session(sl, worked):
    listed = [each["id"] for each in sl("session", "list", "--json").json["sessions"]]
    assert sorted(listed) == ["ada", "bob"]
    assert "the workspace's" in sl("checkpoint", "list").out


@pytest.mark.wide
def test_one_session_goes_back_to_a_persons_checkpoint_alone(sl, worked):
    assert sl("rewind", "start", "--session", "bob", "--yes").code == 0
    assert texts(sl)["b.py"] == TEXT
    assert "ada 2" in texts(sl)["a.py"]
    assert "bob 5" not in texts(sl)["a.py"]


def test_one_file_goes_back_alone_and_the_rest_can_go_later(sl, worked):
    before = texts(sl)
    assert sl("rewind", "start", "b.py", "--yes").code == 0
    assert texts(sl) == {**before, "b.py": TEXT}
    assert sl("rewind", "start", "--yes").code == 0
    assert texts(sl) == AFTER


def test_in_a_pipe_the_answer_says_what_to_pass(sl, worked):
    before = texts(sl)
    asked = sl("rewind", "start")
    assert asked.code == 2
    assert "1  Session bob" in asked.out
    assert "2  Session ada" in asked.out
    for each in ("--yes", "--session", "files", "--dry-run"):
        assert each in asked.err
    assert texts(sl) == before


def test_a_sessions_own_checkpoint_takes_back_its_work_only(sl):
    sl.put("a.py", TEXT)
    for agent in ("ada", "bob"):
        sl("read", "a.py", "--session", agent)
    sl("checkpoint", "mine", "--session", "ada")
    for agent, line in (("ada", 2), ("bob", 6)):
        new = ("--old", f"line {line}\n", "--new", f"{agent}\n")
        assert sl("edit", "a.py", *new, "--session", agent).code == 0
    done = sl("rewind", "mine", "--yes")
    assert "Session ada took that checkpoint" in done.err
    assert texts(sl)["a.py"] == TEXT.replace("line 6\n", "bob\n")
    refused = sl("rewind", "mine", "--yes", "--session", "bob")
    assert refused.code == 1
    assert "belongs to session ada" in refused.err


def test_status_credits_the_session_whose_work_was_taken_back(sl, worked):
    sl("rewind", "start", "--yes")
    shown = sl("status").out
    assert f"changed by the rewind to {worked}, which took back work of this session" in shown
    assert f"changed by the rewind to {worked}, which took back work of several sessions" in shown


@pytest.mark.wide
def test_undo_finds_what_a_rewind_of_all_left(sl, worked):
    sl("rewind", "start", "b.py", "--yes")
    undone = sl("undo", "--yes", "--session", "bob")
    assert undone.code == 0
    assert "a.py" in undone.out
    sl("rewind", "start", "--yes")
    assert sl("undo", "--yes").code == 1


def test_undo_of_one_file_takes_the_session_that_changed_it_last(sl, worked):
    before = texts(sl)
    assert "session bob" in sl("undo", "b.py", "--yes").err
    assert texts(sl) == {**before, "b.py": TEXT}


@pytest.mark.wide
@pytest.mark.parametrize(
    ("answers", "gone"),
    [
        (b"a\ny\n", {"ada 2", "bob 2", "bob 5"}),
        (b"1\ny\n", {"bob 2", "bob 5"}),
        (b"a.py\ny\n", {"ada 2", "bob 5"}),
        (b"nobody\n\n", set()),
        (b"a\nn\n", set()),
    ],
)
def test_on_a_terminal_the_person_chooses_how_much(sl, worked, answers, gone):
    code, seen = at_terminal(sl, "rewind", "start", answer=answers)
    assert code == (0 if gone else 1), seen
    assert "2 sessions changed files" in seen
    text = "".join(texts(sl).values())
    assert {each for each in ("ada 2", "bob 2", "bob 5") if each not in text} == gone
