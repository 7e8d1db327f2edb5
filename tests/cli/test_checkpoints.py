"""The commands for checkpoints, as a user meets them."""

import pytest


@pytest.fixture
def edited(sl):
    """A workspace with two checkpoints and edits after each."""
    sl.put("a.py", "one\ntwo\n")
    sl.put("b.py", "b\n")
    sl("checkpoint", "first")
    sl.put("a.py", "one\nTWO\n")
    (sl.root / "b.py").unlink()
    sl("checkpoint", "second")
    sl.put("c.py", "c\n")
    return sl


def test_a_checkpoint_says_what_it_covers_and_what_not(sl):
    sl.put("a.py", "a\n")
    sl.put(".env", "KEY=1\n")
    answer = sl("checkpoint", "before refactoring")
    assert answer.code == 0
    assert answer.out.startswith("Checkpoint cp-")
    assert "(before refactoring): 1 file.\n" in answer.out
    assert "Not covered: .env (its text is never stored).\n" in answer.out


def test_one_that_cannot_be_taken_says_so_loudly(sl):
    sl.put(".gitignore", "*\n")
    answer = sl("checkpoint")
    assert answer.code == 1
    assert "No checkpoint was taken: it would cover nothing" in answer.err
    assert sl("checkpoint", "list", "--json").json["checkpoints"] == []


def test_a_label_is_one_line(sl):
    assert sl("checkpoint", "a\nb").code == 2
    assert sl("checkpoint", "x" * 201).code == 2


def test_checkpoints_read_like_a_story(edited):
    lines = edited("checkpoint", "list").out.splitlines()
    assert lines[0].endswith("  first")
    assert lines[1] == "  just now, the workspace's, 2 files"
    assert lines[2] == "  | a.py changed, b.py gone"
    assert lines[3].endswith("  second")
    assert lines[4] == "  just now, the workspace's, 1 file"


def test_those_that_are_taken_by_themselves_are_told_apart(edited):
    edited("read", "a.py")
    edited("turn")
    edited("edit", "a.py", "--old", "one", "--new", "ONE")
    edited("edit", "a.py", "--old", "ONE", "--new", "1")
    edited("rewind", "before a.py", "--yes")
    lines = edited("checkpoint", "list").out.splitlines()
    assert len(lines) == 11
    assert lines[5] == "  | c.py new"
    assert lines[6].endswith("  before a.py")
    assert lines[7] == "  just now, by itself, session cli, turn 1, 2 files"
    assert lines[8] == "  | a.py changed"
    assert "  before the rewind to cp-" in lines[9]
    assert lines[10] == "  just now, by itself, session cli, turn 1, 2 files"
    told = edited("checkpoint", "list", "--json").json["checkpoints"]
    assert [each["why"] for each in told] == ["asked", "asked", "turn", "rewind"]


def test_one_that_cannot_be_taken_by_itself_is_said_and_the_edit_is_made(edited, monkeypatch):
    from sightline.filesystem import tree_index

    edited("read", "a.py")
    edited("turn")
    monkeypatch.setattr(tree_index, "monotonic", lambda: 1e18)
    answer = edited("edit", "a.py", "--old", "one", "--new", "ONE")
    assert answer.code == 0
    assert answer.err.startswith("No checkpoint was taken: there was no time")
    assert "The change is made all the same" in answer.err
    assert edited("edit", "a.py", "--old", "ONE", "--new", "1").err == "", "said once in a turn"
    assert len(edited("checkpoint", "list", "--json").json["checkpoints"]) == 2
    log = edited("log", "--kind", "checkpoint").out
    assert "no automatic checkpoint was taken: No checkpoint was taken" in log


def test_without_one_the_way_to_take_one_is_named(sl):
    answer = sl("checkpoint", "list")
    assert (answer.code, answer.out) == (0, "")
    assert "sightline checkpoint" in answer.err


def test_checkpoints_as_json_have_the_promised_keys(edited):
    first, second = edited("checkpoint", "list", "--json").json["checkpoints"]
    assert set(first) == {
        *("id", "label", "why", "at", "session", "turn", "position", "files", "not_covered"),
        *("manifest", "message"),
    }
    assert (first["label"], second["files"], first["not_covered"]) == ("first", 1, [])


def test_a_checkpoint_is_compared_with_another_or_with_now(edited):
    answer = edited("checkpoint", "diff", "first", "second")
    assert answer.code == 1
    assert "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n" in answer.out
    assert "--- a/b.py\n+++ /dev/null\n" in answer.out
    now = edited("checkpoint", "diff", "second", "--json")
    assert now.code == 1
    (only,) = now.json["files"]
    assert (only["path"], only["change"], only["before"]) == ("c.py", "added", None)
    assert only["diff"].endswith("+c\n")


def test_a_comparison_can_be_short(edited):
    answer = edited("checkpoint", "diff", "first", "--stat")
    assert answer.out.splitlines() == [
        "changed  a.py  +1 -1",
        "gone     b.py  +0 -1",
        "new      c.py  +1 -0",
        "3 files, 2 lines added, 2 removed",
    ]


def test_nothing_changed_is_exit_code_0(edited):
    edited("checkpoint", "third")
    answer = edited("checkpoint", "diff", "third")
    assert (answer.code, answer.out) == (0, "")
    assert "Nothing changed." in answer.err


def test_other_rights_and_bytes_that_are_no_text_are_told_without_a_diff(edited):
    edited.put("data.bin", b"\0\xff\xfe")
    edited("checkpoint", "third")
    edited.put("data.bin", b"\0\xff\xff")
    (edited.root / "a.py").chmod(0o755)
    answer = edited("checkpoint", "diff", "third")
    assert answer.out.splitlines() == [
        "a.py: other rights",
        "data.bin: changed, no text to compare",
    ]


def test_an_unknown_checkpoint_is_an_error_with_the_next_step(edited):
    answer = edited("checkpoint", "diff", "nope")
    assert answer.code == 1
    assert "There is no checkpoint 'nope'." in answer.err
    assert "sightline checkpoint list" in answer.err


@pytest.mark.parametrize("command", ["diff", "delete"])
def test_each_unknown_checkpoint_is_named(edited, command):
    answer = edited("checkpoint", command, "nope", "none")
    assert answer.code == 1
    assert "There is no checkpoint 'nope'. There is no checkpoint 'none'." in answer.err
    assert answer.err.count("sightline checkpoint list") == 1
