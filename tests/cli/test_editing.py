"""The guarded verbs at a shell: applied, merged, or refused with the diff."""

from __future__ import annotations

import json

import pytest

TEXT = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\nh = 8\n"


@pytest.fixture
def shown(sl):
    sl.put("app.py", TEXT)
    sl("read", "app.py")
    return sl


def on_disk(sl, name="app.py"):
    return (sl.root / name).read_text()


def test_an_edit_prints_what_it_changed(shown):
    done = shown("edit", "app.py", "--old", "b = 2", "--new", "b = 3")
    assert (done.code, done.err) == (0, "")
    assert "-b = 2\n+b = 3\n" in done.out
    assert on_disk(shown) == TEXT.replace("b = 2", "b = 3")


def test_an_edit_as_json_is_the_documented_object(shown):
    said = shown("edit", "app.py", "--old", "b = 2", "--new", "b = 3", "--json").json
    assert list(said) == [
        "schema", "applied", "merged", "path", "revision", "notice", "diff",
    ]  # fmt: skip
    assert (said["schema"], said["applied"], said["merged"], said["notice"]) == (
        1,
        True,
        False,
        None,
    )
    assert (said["path"], len(said["revision"])) == ("app.py", 64)


def test_a_change_elsewhere_comes_as_a_notice(shown):
    shown.put("app.py", TEXT.replace("h = 8", "h = 0"))
    said = shown("edit", "app.py", "--old", "b = 2", "--new", "b = 3", "--json").json
    assert "+h = 0" in said["notice"]
    assert on_disk(shown) == TEXT.replace("h = 8", "h = 0").replace("b = 2", "b = 3")


def test_a_stale_edit_is_refused_with_its_diff_between_error_and_hint(shown):
    shown.put("app.py", TEXT.replace("b = 2", "b = 0"))
    done = shown("edit", "app.py", "--old", "b = 2", "--new", "b = 3")
    assert done.code == 1
    assert "-b = 2\n+b = 0\n" in done.out
    assert [line.split(":")[0] for line in done.err.splitlines()] == ["Error", "Hint"]
    assert on_disk(shown) == TEXT.replace("b = 2", "b = 0")


def test_a_refusal_as_json_is_the_documented_object(shown):
    shown.put("app.py", TEXT.replace("b = 2", "b = 0"))
    done = shown("edit", "app.py", "--old", "b = 2", "--new", "b = 3", "--json")
    said = done.json
    assert done.code == 1
    assert (said["schema"], said["applied"], said["reason"]) == (1, False, "stale")
    assert "+b = 0" in said["diff"]
    assert said["hint"]


@pytest.mark.parametrize(
    ("path", "reason"), [("../out.py", "outside"), ("new/..", "no"), ("folder", "kind_changed")]
)
def test_a_path_that_cannot_be_edited_is_a_refusal_too(sl, path, reason):
    (sl.root / "folder").mkdir()
    done = sl("edit", path, "--old", "a", "--new", "b", "--json")
    assert done.code == 1
    assert done.json["applied"] is False
    assert reason == "no" or done.json["reason"] == reason


def test_the_refresh_policy_gives_the_fresh_text(shown, monkeypatch):
    monkeypatch.setenv("SIGHTLINE_POLICY", "refresh")
    shown.put("app.py", "b = 0\n")
    args = ("edit", "app.py", "--old", "b = 2", "--new", "b = 3")
    assert shown(*args, "--json").json["text"] == "b = 0\n"


def test_all_occurrences_or_so_many(sl):
    sl.put("a.txt", "x\nx\n")
    sl("read", "a.txt")
    assert sl("edit", "a.txt", "--old", "x", "--new", "y").code == 1
    assert sl("edit", "a.txt", "--old", "x", "--new", "y", "--count", "2").code == 0
    assert sl("edit", "a.txt", "--old", "y", "--new", "", "--count", "all").code == 0
    assert on_disk(sl, "a.txt") == "\n\n"


def test_long_texts_come_from_files_or_stdin(shown, tmp_path):
    (tmp_path / "old").write_text("a = 1\nb = 2\n")
    args = ("--old-file", str(tmp_path / "old"), "--new-file", "-")
    assert shown("edit", "app.py", *args, stdin="z\n").code == 0
    assert on_disk(shown).startswith("z\nc = 3\n")


@pytest.mark.parametrize(
    "args",
    [
        *("--old a", "--old a --old-file f --new b", "--old-file missing --new b"),
        *("--count 0 --new b", "--lines 1-2 --old a --new b", "--lines 1-2 --count 2 --new b"),
        *(
            "--lines 1-2 --new a --new-file b",
            "--lines 2 --new-file missing",
            "--lines 3-1 --new a",
        ),
    ],
)
def test_half_an_edit_is_wrong_usage(shown, args):
    done = shown("edit", "app.py", *args.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: ")
    assert on_disk(shown) == TEXT


def test_lines_are_replaced_and_inserted(shown):
    assert shown("edit", "app.py", "--lines", "2-3", "--new", "two\n").code == 0
    assert shown("edit", "app.py", "--lines", "1-0", stdin="zero\n").code == 0
    assert shown("edit", "app.py", "--lines", "1", "--new-file", "-", stdin="nil\n").code == 0
    assert on_disk(shown).startswith("nil\na = 1\ntwo\nd = 4\n")


def test_a_whole_write_merges_what_others_changed(shown):
    shown.put("app.py", TEXT.replace("h = 8", "h = 0"))
    done = shown("write", "app.py", stdin=TEXT.replace("a = 1", "a = 9"))
    assert done.code == 0
    assert "Merged with what others changed in app.py." in done.err
    assert on_disk(shown) == TEXT.replace("h = 8", "h = 0").replace("a = 1", "a = 9")


def test_a_whole_write_over_an_unseen_file_is_refused(sl):
    sl.put("app.py", TEXT)
    done = sl("write", "app.py", "--json", stdin="mine\n")
    assert (done.code, done.json["reason"]) == (1, "unseen")
    assert on_disk(sl) == TEXT


def test_a_patch_of_two_files_is_all_or_nothing(shown):
    shown.put("other.py", "x\n")
    shown("read", "other.py")
    both = (
        "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
        "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-{}\n+y\n"
    )
    assert shown("patch", stdin=both.format("wrong")).code == 1
    assert on_disk(shown) == TEXT
    said = shown("patch", "--json", stdin=both.format("x")).json
    assert [said["path"], *(other["path"] for other in said["others"])] == ["app.py", "other.py"]
    assert (on_disk(shown)[:5], on_disk(shown, "other.py")) == ("a = 2", "y\n")


def test_files_are_created_moved_and_deleted(sl):
    assert sl("create", "sub/new.py", stdin="x\n").code == 0
    assert sl("create", "sub/new.py", stdin="y\n").code == 1
    assert sl("move", "sub/new.py", "moved.py").code == 0
    assert on_disk(sl, "moved.py") == "x\n"
    sl.put("in_the_way.py", "")
    assert sl("move", "moved.py", "in_the_way.py", "--json").json["reason"] == "exists"
    assert sl("delete", "moved.py").code == 0
    assert not (sl.root / "moved.py").exists()


def test_a_protected_file_needs_a_person(sl):
    """Nobody sits at a pipe, so nobody can say yes."""
    done = sl("write", "sightline.toml", "--json", stdin="x = 1\n")
    assert (done.code, done.json["reason"]) == (1, "scope")
    assert not (sl.root / "sightline.toml").exists()


@pytest.mark.wide
def test_a_command_is_blamed_for_what_it_changed(shown):
    done = shown.process("run", "--", "sh", "-c", "echo new > app.py; exit 7")
    assert done.returncode == 7
    assert b"It changed 1 file: app.py." in done.stderr
    (file,) = shown("check", "app.py", "--json").json["files"]
    assert (file["state"], file["changed_by"]["kind"]) == ("stale", "command")
    assert file["changed_by"]["detail"].startswith("sh -c")


@pytest.mark.wide
def test_run_as_json_keeps_stdout_for_the_object(shown):
    done = shown.process("run", "--json", "--", "sh", "-c", "echo loud")
    assert done.stderr == b"loud\n"
    assert done.stdout == (
        b'{"schema": 1, "command": "sh -c \'echo loud\'", "exit_code": 0, "changed": [], '
        b'"removed": []}\n'
    )


@pytest.mark.wide
def test_options_behind_the_command_are_the_commands_own(sl):
    assert sl.process("run", "echo", "--json", "--quiet").stdout == b"--json --quiet\n"


@pytest.mark.wide
def test_what_cannot_be_run_says_so(sl):
    done = sl.process("run", "no-such-program")
    assert done.returncode == 127
    assert done.stderr.startswith(b"Error: no-such-program cannot be run")


def test_lines_beyond_the_end_are_told_as_such(shown):
    done = shown("edit", "app.py", "--lines", "20-21", "--new", "x")
    assert done.err.startswith("Error: app.py has only 8 lines in the version you read.")


def test_a_text_that_stands_less_often_than_asked_is_told_as_such(shown):
    done = shown("edit", "app.py", "--old", "b = 2", "--new", "x", "--count", "2")
    assert done.err.startswith("Error: The text occurs once in app.py")


@pytest.mark.wide
def test_run_tells_of_a_file_that_nobody_had_looked_at_and_it_removed(sl):
    first, second = sl.put("first.txt", "x\n"), sl.put("second.txt", "x\n")
    assert "It changed 1 file: first.txt." in sl("run", "--", "rm", str(first)).err
    told = json.loads(sl.process("run", "--json", "--", "rm", str(second)).stdout)
    assert (told["changed"], told["removed"]) == ([], ["second.txt"])


@pytest.mark.parametrize("args", [["patch", "-"], ["patch", "change.diff"]])
def test_a_command_that_is_called_wrongly_is_answered_with_an_example(shown, args):
    refused = shown(*args)
    assert refused.code == 2
    assert refused.err.endswith("For example: sightline patch < change.diff\n")
