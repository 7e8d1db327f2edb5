"""status, check, diff, read, saw: what a reader is told, and what is recorded of it."""

from __future__ import annotations

import io
import json
import os

import pytest
from tests.filesystem.doubles import as_nobody, open_way_to

import sightline
from sightline.cli import output
from sightline.text.terminal_cells import columns_of


@pytest.fixture
def shown(sl):
    """A file of three lines that session cli was shown."""
    sl.put("app.py", "a = 1\nb = 2\nc = 3\n")
    assert sl("read", "app.py").code == 0
    return sl


def test_reading_prints_the_text_and_says_how_much_it_was(sl):
    sl.put("app.py", "one\ntwo\nthree\n")
    done = sl("read", "app.py", "--lines", "2")
    assert done.out == "two\n"
    assert "line 2 of 3 shown" in done.err
    assert "sightline read app.py --lines 3-" in done.err


def test_a_quiet_read_prints_the_text_only(sl):
    sl.put("app.py", "one\n")
    assert sl("read", "app.py", "--quiet") == (0, "one\n", "")


def test_a_second_read_says_what_changed(shown):
    shown.put("app.py", "a = 1\nb = 0\nc = 3\n")
    assert "-b = 2\n+b = 0" in shown("read", "app.py").err
    assert "unchanged since they were shown" in shown("read", "app.py").err


def test_read_as_json_has_the_library_fields(shown):
    said = shown("read", "app.py", "--json", "--lines", "1-2").json
    assert said["text"] == "a = 1\nb = 2\n"
    assert said["unchanged"] is True
    assert (said["schema"], said["lines"], said["total_lines"]) == (1, [1, 2], 3)


def test_check_answers_with_its_exit_code(shown):
    assert shown("check", "app.py") == (0, "fresh  app.py is as it was shown.\n", "")
    shown.put("app.py", "a = 9\n")
    assert shown("check", "app.py").code == 1
    assert shown("check", "app.py", "--quiet") == (1, "", "")


def test_check_as_json_is_the_documented_object(shown):
    shown.put("app.py", "a = 9\nb = 2\nc = 3\n")
    shown.put("other.py", "")
    done = shown("--json", "check", "app.py", "other.py")
    stale, unseen = done.json["files"]
    assert done.code == 1
    assert list(stale) == [
        *("path", "state", "decision", "reason", "diff", "changed_by"),
        *("in_window", "seen_lines", "complete", "session"),
    ]
    assert (stale["path"], stale["state"], stale["decision"]) == ("app.py", "stale", "refuse")
    assert "+a = 9" in stale["diff"]
    assert stale["changed_by"] | {"at": ""} == {"kind": "external", "who": None, "at": ""}
    assert (unseen["path"], unseen["state"], unseen["changed_by"]) == ("other.py", "unseen", None)


def test_a_touch_is_no_change(shown):
    """The same bytes saved again are what was shown, whatever the clock says."""
    (shown.root / "app.py").write_bytes((shown.root / "app.py").read_bytes())
    assert shown("check", "app.py").code == 0


def test_what_cannot_be_read_is_not_guessed(shown, tmp_path, monkeypatch):
    """Asked by a user without root's powers, who owns the file and the home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (shown.root / "app.py").chmod(0)
    open_way_to(tmp_path)
    if os.geteuid() == 0:
        for path in (tmp_path, *tmp_path.rglob("*")):
            os.chown(path, 65534, 65534, follow_symlinks=False)

    def ask():
        assert shown("check", "app.py").code == 3

    as_nobody(ask)


def test_a_known_no_outweighs_a_doubt():
    from sightline.cli.failures import Answered
    from sightline.cli.looking import answer
    from sightline.model.results import Verdict

    def verdict(state):
        return Verdict("a", state, "refuse", None, "", None, False, (), False)

    answer([verdict("fresh")])
    for states, code in {"unverifiable fresh": 3, "unverifiable stale": 1, "unseen": 1}.items():
        with pytest.raises(Answered) as answered:
            answer([verdict(state) for state in states.split()])
        assert answered.value.code == code


def test_diff_prints_a_patch_that_other_tools_take(shown):
    shown.put("app.py", "a = 1\nb = 0\nc = 3\n")
    done = shown("diff", "app.py")
    assert done.code == 1
    assert done.out.startswith("--- a/app.py\n+++ b/app.py\n@@ -1,3 +1,3 @@\n")
    assert "changed by the user or another program" in done.err
    shown("read", "app.py")
    assert shown("diff", "app.py").out == ""


def test_diff_as_json(shown):
    shown.put("app.py", "a = 1\n")
    said = shown("diff", "app.py", "--json").json
    assert list(said) == ["schema", "path", "state", "diff", "changed_by", "session"]


def test_asking_consumes_nothing(shown):
    shown.put("app.py", "a = 9\n")
    first = shown("check", "app.py", "--json").out
    shown("diff", "app.py")
    shown("status")
    assert shown("check", "app.py", "--json").out == first


def test_status_has_each_session_with_its_files(shown):
    with sightline.open_session(shown.root, id="s1", agent="claude-code") as session:
        session.read("app.py", lines=(1, 2))
        session.turn()
    shown.put("app.py", "a = 9\nb = 2\nc = 3\n")
    said = shown("status", "--json").json
    assert said["workspace"] == str(shown.root)
    cli, other = said["sessions"]
    assert (cli["id"], cli["agent"]) == ("cli", "cli")
    assert (other["id"], other["agent"], other["turn"]) == ("s1", "claude-code", 1)
    assert other["started"].endswith("Z")
    (file,) = other["files"]
    assert (file["path"], file["state"], file["via"]) == ("app.py", "stale", "read")
    assert (file["seen_lines"], file["total_lines"], file["aged"]) == ([[1, 2]], 3, 1)
    assert file["last_agent_edit"] is None
    assert file["revision_seen"] != file["revision_on_disk"]
    assert file["changed_by"]["kind"] == "external"


def test_status_in_words_fits_a_terminal(shown):
    shown.put("app.py", "a = 9\n")
    out = shown("status").out
    assert "  stale  app.py, all 3 lines\n" in out
    assert "changed by the user or another program, just now" in out
    assert "sightline diff app.py --session cli" in out
    assert max(map(len, out.splitlines()[1:])) <= 80


def test_looking_begins_no_session(sl):
    for command in (["status"], ["log"], ["session", "list"], ["up", "--once"]):
        assert sl(*command).code == 0
    assert sl("session", "list", "--json").json["sessions"] == []


def test_a_session_is_named_before_or_after_the_verb_or_by_the_environment(shown, monkeypatch):
    assert shown("--session", "s2", "check", "app.py").code == 2
    shown("read", "app.py", "--session", "s2")
    assert shown("--session", "s2", "check", "app.py").code == 0
    shown("turn", "--session", "s3")
    assert shown("--session", "cli", "check", "app.py", "--session", "s3").code == 1
    monkeypatch.setenv("SIGHTLINE_SESSION", "s3")
    assert shown("check", "app.py").code == 1


def test_a_session_of_another_agent_is_resumed_as_that_agents(sl):
    sl.put("app.py", "a\n")
    with sightline.open_session(sl.root, id="s1", agent="claude-code") as session:
        session.read("app.py")
    assert sl("check", "app.py", "--session", "s1").code == 0
    assert [s["agent"] for s in sl("session", "list", "--json").json["sessions"]] == ["claude-code"]


def test_paths_are_relative_to_the_current_folder_or_to_the_workspace_given(shown, monkeypatch):
    shown.put("sub/mod.py", "x\n")
    monkeypatch.chdir(shown.root / "sub")
    assert shown("read", "mod.py", "--json").json["path"] == "sub/mod.py"
    assert shown("check", "../app.py").code == 0
    monkeypatch.chdir(shown.home.parent)
    assert shown("--workspace", str(shown.root), "check", "sub/mod.py").code == 0


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        (["--lines", "2-3"], [[2, 3]]),
        ([], [[1, 3]]),
        (["--lines", "2", "--text-file", "-"], [[2, 2]]),
    ],
    ids=str,
)
def test_what_another_tool_showed_is_recorded(sl, args, lines):
    sl.put("app.py", "a\nb\nc\n")
    done = sl("saw", "app.py", "--via", "search", "--json", *args, stdin="b\n")
    assert (done.json["seen_lines"], done.json["state"]) == (lines, "fresh")
    assert json.loads(sl("log", "app.py", "--json").out)["cause"]["detail"] == "search"


def test_what_another_tool_showed_may_be_stale_already(sl):
    sl.put("app.py", "new\n")
    assert sl("saw", "app.py", "--text-file", "-", "--json", stdin="old\n").json["state"] == "stale"


def test_a_missing_file_is_a_no_with_an_object_for_programs(sl):
    done = sl("read", "gone.py", "--json")
    assert (done.code, done.json["error"]["kind"]) == (1, "FileMissing")
    assert done.err.startswith("Error: gone.py does not exist.\nHint: ")


@pytest.mark.parametrize("args", [[], ["--lines", "2-"], ["--lines", "1-4"]], ids=str)
def test_a_read_that_a_limit_cuts_short_says_so_even_when_quiet(sl, monkeypatch, args):
    monkeypatch.setenv("SIGHTLINE_READ_MAX_LINES", "2")
    sl.put("a.txt", "1\n2\n3\n4\n5\n")
    assert "Cut at line" in sl("read", "a.txt", "--quiet", *args).err


def test_a_read_of_what_was_asked_is_not_cut(sl):
    sl.put("a.txt", "1\n2\n3\n")
    assert sl("read", "a.txt", "--quiet", "--lines", "1-2").err == ""


def test_paths_are_told_as_the_workspace_has_them(sl, monkeypatch):
    sl.put("sub/a.txt", "x\n")
    monkeypatch.chdir(sl.root / "sub")
    assert sl("saw", "gone.txt", "--json").err.startswith("Error: sub/gone.txt does not exist.")
    assert sl("edit", "a.txt", "--old", "y", "--new", "z", "--json").json["path"] == "sub/a.txt"
    assert sl("check", str(sl.root / "sub" / "a.txt"), "--json").json["files"][0]["path"] == (
        "sub/a.txt"
    )


class Terminal(io.StringIO):
    """A stream of a terminal."""

    def isatty(self):
        return True


def test_lines_of_a_narrow_terminal_break_between_words(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    stream = Terminal()
    line = "  \x1b[32mfresh\x1b[0m  src/a.py, lines 1-20 of 40 shown to the agent"
    lines = output.fitted(f"Short.\n{line}", stream).split("\n")
    assert lines[0] == "Short."
    assert max(columns_of(each) for each in lines) <= 30
    assert " ".join(" ".join(lines[1:]).split()) == " ".join(line.split())
    assert all(each.startswith("    ") for each in lines[2:])
    assert output.fitted(line, io.StringIO()) == line


def test_an_error_at_a_narrow_terminal_breaks_between_words(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    output.failure(output.Call(), "word " * 30, "sentence " * 20)
    lines = stream.getvalue().splitlines()
    assert max(columns_of(each) for each in lines) <= 60
    assert all(word in ("word", "sentence") for each in lines for word in each.split()[1:])
