"""rewind --diff: what a plan does to the text of files, before anything is done."""

import pytest
from tests.cli.test_terminal import at_terminal

TEXT = "one\ntwo\nthree\n"

DIFF_OF_A = """\
--- a/a.py
+++ b/a.py
@@ -1,4 +1,4 @@
 one
-2
+two
 three
 the user's
"""


@pytest.fixture
def edited(sl):
    """Edits of every kind since a checkpoint; its id. The user wrote in a.py, too."""
    for path in ("a.py", "gone.py", "old.py"):
        sl.put(path, TEXT)
        sl("read", path)
    sl.put("pic", b"\0" * 9)
    made = sl("checkpoint", "start", "--json").json["checkpoint"]["id"]
    sl("edit", "a.py", "--old", "two", "--new", "2")
    sl("create", "b.py", stdin="b\n")
    sl("delete", "gone.py")
    sl("move", "old.py", "new.py")
    sl.put("a.py", "one\n2\nthree\nthe user's\n")
    return made


def test_a_dry_run_shows_the_diff_and_last_the_plan(sl, edited):
    shown = sl("rewind", edited, "--dry-run", "--diff")
    assert shown.code == 0
    diff, _, plan = shown.out.partition("A rewind to ")
    assert diff == (
        DIFF_OF_A
        + "--- a/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
        + "--- /dev/null\n+++ b/gone.py\n@@ -0,0 +1,3 @@\n+one\n+two\n+three\n"
    )
    assert plan == sl("rewind", edited, "--dry-run").out.partition("A rewind to ")[2]
    assert (sl.root / "b.py").exists()


def test_what_is_shown_is_what_is_done(sl, edited):
    """The diff of the plan, applied to the tree by hand, is what the rewind leaves."""
    shown = sl("rewind", edited, "--yes", "--diff").out
    assert shown.startswith(DIFF_OF_A)
    assert (sl.root / "a.py").read_text() == "one\ntwo\nthree\nthe user's\n"
    assert (sl.root / "gone.py").read_text() == TEXT
    assert not (sl.root / "b.py").exists()


@pytest.mark.wide
def test_json_has_a_diff_for_each_path(sl, edited):
    found = sl("rewind", edited, "--dry-run", "--json").json["diffs"]
    told = [(each["path"], each["change"], each["added"], each["removed"]) for each in found]
    assert told == [
        ("a.py", "changed", 1, 1),
        ("b.py", "removed", 0, 1),
        ("gone.py", "added", 3, 0),
    ]
    assert found[0]["diff"] == DIFF_OF_A
    assert sl("rewind", edited, "--yes", "--json").json["diffs"] is None


@pytest.mark.wide
def test_the_question_counts_lines_and_shows_the_diff_only_when_asked(sl, edited):
    _, seen = at_terminal(sl, "rewind", edited, answer=b"n\n")
    assert "  merge     a.py (this session's lines go, others' stay)  +1 -1\n" in seen
    assert "  remove    b.py (this session made it)  +0 -1\n" in seen
    assert "+two" not in seen
    _, seen = at_terminal(sl, "rewind", edited, "--diff", answer=b"n\n")
    assert "\x1b[32m+two\x1b[0m" in seen
    assert seen.index("+two") < seen.index("Do this?")
    assert (sl.root / "b.py").exists()


@pytest.mark.wide
def test_a_path_that_is_forced_is_shown_with_its_bytes_of_then(sl, edited):
    sl.put("b.py", "b\nmine\n")
    sl.put("a.py", "rewritten\n")
    words = ("--force-path", "a.py", "--force-path", "b.py", "--json")
    found = sl("rewind", edited, "--dry-run", *words).json["diffs"]
    shown = {each["path"]: each["diff"] for each in found}
    assert "-rewritten\n+one\n+two\n+three\n" in shown["a.py"]
    assert "-b\n-mine\n" in shown["b.py"]
    left = sl("rewind", edited, "--dry-run", "--json").json
    assert {each["path"] for each in left["left_alone"]} == {"b.py"}
    assert [each["path"] for each in left["diffs"]] == ["gone.py"]


@pytest.mark.wide
def test_what_is_no_text_is_named(sl, edited):
    sl("run", "--", "sh", "-c", "printf '\\0x' > pic")
    shown = sl("rewind", edited, "--dry-run", "--diff").out
    assert "pic: changed, no text to compare\n" in shown


@pytest.mark.wide
def test_rights_alone_are_named(sl, edited):
    sl("run", "--", "chmod", "755", "a.py")
    made = sl("checkpoint", "--json").json["checkpoint"]["id"]
    sl("run", "--", "chmod", "700", "a.py")
    shown = sl("rewind", made, "--dry-run", "--diff").out
    assert shown.startswith("a.py: other rights\n")


@pytest.mark.wide
def test_nothing_to_take_back_has_no_diff(sl, edited):
    sl("rewind", edited, "--yes")
    made = sl("checkpoint", "--json").json["checkpoint"]["id"]
    assert sl("rewind", made, "--dry-run", "--diff").out.startswith("There is nothing to take back")
    assert sl("rewind", made, "--dry-run", "--json").json["diffs"] == []


@pytest.mark.wide
def test_with_the_conversation_alone_no_file_changes(sl, edited):
    asked = ("--conversation", "--no-files", "--dry-run", "--json")
    assert sl("rewind", edited, *asked).json["diffs"] == []


@pytest.mark.wide
def test_a_position_serves_as_well(sl, edited):
    to = sl("rewind", edited, "--dry-run", "--json").json["to"]
    assert DIFF_OF_A in sl("rewind", str(to), "--dry-run", "--diff").out


@pytest.mark.wide
def test_symlinks_are_told_by_what_becomes_of_them(sl):
    sl.put("file.py", TEXT)
    sl.put("target.py", TEXT)
    (sl.root / "led").symlink_to("target.py")
    (sl.root / "gone").symlink_to("target.py")
    start = sl("checkpoint", "--json").json["checkpoint"]["id"]
    turns = "ln -sfn file.py led; rm gone file.py; ln -s target.py file.py; ln -s target.py made"
    assert sl.process("run", "--", "sh", "-c", turns).returncode == 0
    shown = sl("rewind", start, "--dry-run", "--diff", "--json").json
    told = {each["path"]: (each["change"], each["diff"]) for each in shown["diffs"]}
    assert told == {
        "file.py": ("kind", None),
        "gone": ("added", None),
        "led": ("changed", None),
        "made": ("removed", None),
    }
