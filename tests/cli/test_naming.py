"""Names at a shell: sessions by id, beginning and name; whose view an answer shows; no ghosts."""

from __future__ import annotations

import pytest

import sightline

TEXT = "one\ntwo\nthree\n"
MADE_UP = "3f2b8c1e-0000-4000-8000-000000000000"


@pytest.fixture
def shown(sl):
    """Two files, and three sessions that were shown them; one of them has a title, and one a made-up id."""
    for path in ("a.py", "b.py"):
        sl.put(path, TEXT)
    for session, path in (("ada-1", "a.py"), ("ada-2", "b.py"), (MADE_UP, "b.py")):
        sl("read", path, "--session", session)
    return sl


def ids(sl):
    """The sessions that the store has, present or not."""
    with sightline.open_workspace(sl.root) as workspace:
        return sorted(each.id for each in workspace.sessions())


GHOSTS = [
    ("check",), ("check", "a.py"), ("diff", "a.py"), ("changes",), ("changes", "--since", "2h"),
    ("find", "a.py"), ("list",), ("related", "a.py"), ("registry",), ("briefing",), ("prompts",),
    ("task", "list"), ("claim", "release", "--all"), ("ack",), ("rewind", "0", "--dry-run"),
]  # fmt: skip
"""Commands that look, and that left a session behind once."""

OTHERS = [
    ("status",), ("diff",), ("changes", "--for-agent"), ("changes", "--since", "2h", "--mine"),
    ("log",), ("why", "a.py"), ("briefing", "--message", "see @a.py"), ("stats",), ("models",),
    ("warnings",), ("schema",), ("task",), ("task", "graph"), ("task", "show", "x"), ("claim", "list"),
    ("checkpoint", "list"), ("checkpoint", "label"), ("checkpoint", "delete", "x"),
    ("session", "list"), ("session", "show", "ada-1"), ("undo", "--dry-run"), ("up", "--once"),
]  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [*GHOSTS, *(pytest.param(each, marks=pytest.mark.wide) for each in OTHERS)],
    ids=" ".join,
)
def test_no_command_that_looks_begins_a_session(sl, command):
    sl.put("a.py", TEXT)
    sl("read", "a.py", "--session", "ada-1")
    sl(*command)
    assert ids(sl) == ["ada-1"]


def test_a_session_that_shares_the_readers_name_is_not_the_reader(sl):
    sl.put("a.py", TEXT)
    reader, writer = MADE_UP, MADE_UP.replace("3f2b", "4a5b")
    sl("read", "a.py", "--session", reader)
    sl("edit", "a.py", "--old", "one", "--new", "1", "--session", writer)
    said = sl("status", "--session", reader).out
    assert "stale" in said
    assert "this session" not in said


@pytest.mark.parametrize("command", ["status", "check", "log"])
def test_a_name_that_fits_no_session_is_an_error_with_the_nearest(shown, command):
    refused = shown(command, "--session", "adda-1")
    assert refused.code == 2
    assert "There is no session 'adda-1'. Nearest: ada-1" in refused.err
    assert "sightline session list" in refused.err
    assert len(ids(shown)) == 3


def test_a_beginning_names_a_session_where_it_fits_one_only(shown):
    assert "b.py" in shown("check", "--session", "3f2b").out
    several = shown("check", "--session", "ada")
    assert several.code == 2
    assert "'ada' fits 2 sessions: ada-1, ada-2." in several.err


def test_the_name_that_status_shows_names_a_session(shown):
    name = next(
        line.removeprefix("The ").partition(",")[0]
        for line in shown("status").out.splitlines()
        if line.startswith("The cli session of")
    )
    assert "b.py" in shown("check", "--session", name).out
    assert shown("read", "a.py", "--session", f"the {name}").code == 0
    assert len(ids(shown)) == 3


@pytest.mark.wide
def test_work_begins_a_session_of_an_id_that_begins_another(shown):
    """Else the work of ada would be that of ada-1 as soon as that is the only one."""
    assert shown("read", "a.py", "--session", "ada").code == 0
    assert "ada" in ids(shown)
    assert shown("read", "a.py", "--session", "3f2b8c1e").code == 0
    assert len(ids(shown)) == 4


def test_a_rewind_of_a_session_that_there_is_not_begins_none(shown):
    shown("checkpoint", "start")
    assert shown("rewind", "start", "--session", "adda-1", "--yes").code == 2
    assert len(ids(shown)) == 3


def test_checkpoints_are_found_by_the_beginning_of_id_and_label(sl):
    sl.put("a.py", TEXT)
    made = sl("checkpoint", "before lunch", "--json").json["checkpoint"]["id"]
    sl("checkpoint", "before tea")
    for name in (made[:9], "before l"):
        assert sl("rewind", name, "--dry-run", "--json").json["checkpoint"] == made
    several = sl("rewind", "before", "--dry-run")
    assert "fits 2 checkpoints: before tea, before lunch." in several.err
    assert "Nearest: before lunch" in sl("rewind", "befor lunch", "--dry-run").err


@pytest.mark.wide
def test_claims_are_found_by_path_and_by_the_beginning_of_their_id(sl):
    for path in ("a.py", "b.py"):
        sl("claim", path)
    made = sl("claim", "list", "--json").json["claims"][1]["id"]
    assert sl("claim", "release", "a.py").code == 0
    assert sl("claim", "release", made[:6]).code == 0
    assert sl("claim", "list", "--json").json["claims"] == []


def test_subtasks_are_found_by_the_beginning_of_id_and_goal(place):
    tasks = place.session().subtasks
    tasks.propose([{"id": "api", "goal": "Write the API"}, {"id": "apt", "goal": "Pack it"}])
    assert tasks.show("write").task.id == tasks.show("api").task.id == "api"
    assert tasks.skip("pack").id == "apt"
    with pytest.raises(sightline.SubtaskError, match="'ap' fits 2 sub-tasks: api, apt"):
        tasks.show("ap")
    with pytest.raises(sightline.SubtaskError, match=r"'apo'\. Nearest: ap"):
        tasks.show("apo")


def test_a_question_about_a_file_is_about_the_session_that_knows_it(shown):
    shown.put("a.py", TEXT.upper())
    for command in ("check", "diff"):
        asked = shown(command, "a.py")
        assert asked.code == 1
        assert "As session ada-1 knows it." in asked.err
    assert shown("check", "a.py", "--json").json["files"][0]["session"] == "ada-1"
    asked = shown("check", "b.py")
    assert "Others know it, too: --session" in asked.err


@pytest.mark.wide
def test_a_question_about_no_file_is_about_all_present_sessions_by_name(shown):
    shown.put("a.py", TEXT.upper())
    shown.put("b.py", TEXT.upper())
    for command in ("check", "diff", "changes"):
        out = shown(command).out
        assert "Session ada-1:\n" in out
        assert "Session ada-2:\n" in out
        assert "The cli session of " in out
    both = shown("diff", "--json").json["files"]
    assert sorted(each["path"] for each in both) == ["a.py", "b.py", "b.py"]
    assert shown("changes", "--json").json["changes"][0]["session"] in ids(shown)


def test_diff_without_a_path_is_a_yes_where_nothing_is_stale(shown):
    same = shown("diff")
    assert (same.code, same.out) == (0, "")
    assert "Every file is as it was shown." in same.err
