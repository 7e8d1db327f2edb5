"""log and why: what happened, and how a verdict comes about, told to a newcomer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest


@pytest.fixture
def story(sl):
    """A file that session cli was shown in part and edited, and that others changed since."""
    sl.put("app.py", "".join(f"line {n}\n" for n in range(1, 21)))
    sl("read", "app.py", "--lines", "1-10")
    sl("edit", "app.py", "--old", "line 3\n", "--new", "line three\n")
    text = (sl.root / "app.py").read_text()
    sl.put("app.py", text.replace("line 5\n", "line five\n").replace("line 20\n", "the end\n"))
    return sl


def test_why_tells_the_whole_chain(story):
    story("edit", "app.py", "--old", "line 5\n", "--new", "mine\n")
    rows = story("why", "app.py").out.splitlines()
    assert rows[0] == "app.py, as session cli knows it:"
    told = [row[30:] for row in rows if row.startswith("     ")]
    assert told == [
        "Lines 1-10 were shown to the agent (read)",
        "edited by this session, which knows the new text",
        "changed by the user or another program",
        "an edit by this session was refused: its lines had changed since they were shown",
    ]
    said = story("why", "app.py").out
    assert "Now: stale. On disk, line 5 is not what was shown." in said
    assert "Shown so far: lines 1-10 of 20, still in the agent's context window." in said
    assert "sightline diff app.py --session cli" in said
    assert all(len(row) <= 79 for row in said.splitlines() if not row.startswith(" "))


def test_why_of_a_file_that_is_as_shown_says_that_nothing_is_to_be_done(story):
    story("read", "app.py")
    said = story("why", "app.py").out
    assert "Now: fresh." in said
    assert "an edit goes through; nothing has to be read again." in said


def test_why_of_a_file_that_others_know_says_whom_to_ask(story):
    story("turn", "--session", "s2")
    said = story("why", "app.py", "--session", "s2").out
    assert "never shown to this session" in said
    assert "It was shown to session cli: sightline why app.py --session cli" in said


def test_why_answers_for_the_session_that_knows_the_file_and_writes_no_fact(sl):
    """A person who asks in a terminal has no session."""
    sl.put("app.py", "a = 1\n")
    sl("read", "app.py", "--session", "s1")
    sl("read", "app.py", "--session", "s2")
    sl.put("app.py", "a = 2\n")
    sl("turn", "--session", "s3")
    before = sl("log", "--json").out
    said = sl("why", "app.py")
    assert said.out.startswith("app.py, as session s2 (cli) knows it:")
    assert "changed by the user or another program" in said.out
    assert "Now: stale." in said.out
    assert "It was also shown to session s1: sightline why app.py --session s1" in said.out
    shape = sl("why", "app.py", "--json").json
    assert (shape["session"], shape["facts"][-1]["position"]) == ("s2", None)
    assert "as session s3 (cli) knows it" in sl("why", "app.py", "--session", "s3").out
    assert sl("log", "--json").out == before


def test_why_of_a_renamed_file_answers_for_the_session_that_knows_it(sl):
    sl.put("app.py", "a = 1\n")
    sl("read", "app.py", "--session", "s1")
    sl("move", "app.py", "b.py", "--session", "s1")
    said = sl("why", "app.py").out
    assert said.startswith("app.py, as session s1 (cli) knows it:")
    assert "was renamed to b.py" in said


def test_why_of_a_file_that_nobody_knows_begins_no_session(sl):
    sl.put("app.py", "a = 1\n")
    assert "never shown to this session" in sl("why", "app.py").out
    assert sl("log", "--json").out == ""


@pytest.mark.wide
def test_why_says_when_the_text_is_not_kept(story):
    [sample] = story.home.glob("workspaces/*/store.db")
    code = (
        "import sys; from sightline.store.sqlite_file import open_file\n"
        "s = open_file(sys.argv[1])\n"
        "s.purge(lambda: [each.revision for each in s.texts()], 'age', session='cli', at=1)\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, str(sample)], check=True, env=environ)
    said = " ".join(story("why", "app.py").out.split())
    assert "cannot tell which lines differ" in said
    assert "sightline diff" not in said


def test_why_as_json_has_what_the_verdict_rests_on(story):
    said = story("why", "app.py", "--json").json
    assert [fact["kind"] for fact in said["facts"]] == ["seen", "changed", "changed"]
    assert said["verdict"]["state"] == "stale"
    assert (said["seen_lines"], said["differing_lines"]) == ([[1, 10]], [[5, 5]])
    assert (said["text_kept"], said["policy"], said["schema"]) == (True, "merge", 1)


def kinds(answer):
    return [json.loads(line)["kind"] for line in answer.out.splitlines()]


def test_log_is_narrowed_by_kind_session_and_position(story):
    story("check", "app.py")
    story("read", "app.py", "--session", "s2")
    assert kinds(story("log", "--json", "--kind", "seen")) == ["seen", "seen"]
    assert kinds(story("log", "--json", "--kind", "seen", "--session", "s2")) == ["seen"]
    assert kinds(story("log", "--json", "--kind", "seen", "--kind", "changed")) == [
        "seen", "changed", "changed", "seen",
    ]  # fmt: skip
    last = json.loads(story("log", "--json").out.splitlines()[-1])["position"]
    assert kinds(story("log", "--json", "--since", str(last - 1))) == ["seen"]
    assert len(kinds(story("log", "--json", "--since", "2h"))) > 4
    assert story("log", "--kind", "git").out == "Nothing is recorded of what you asked for.\n"


def test_log_puts_down_to_nobody_what_a_session_only_found(story):
    story("check", "app.py")
    rows = story("log", "--kind", "changed").out.splitlines()[1:]
    assert [row.split()[2] for row in rows] == ["cli", "-"]
    assert rows[1].endswith("app.py was changed by the user or another program")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--since", "soon"), ("--kind", "never"), ("--newest", "-1")),
        *(("--since", "1" + "0" * 20), ("--newest", "1" + "0" * 20)),
    ],
)
def test_a_wrong_question_is_wrong_usage(sl, option, value):
    done = sl("log", option, value)
    assert done.code == 2
    assert value in done.err


def lines_of(child, number):
    return [json.loads(child.stdout.readline()) for _ in range(number)]


@pytest.mark.wide
def test_follow_tells_what_other_processes_record(story):
    with story.spawn("log", "--follow", "--json", "--newest", "1", own_group=True) as child:
        (before,) = lines_of(child, 1)
        story("read", "app.py", "--session", "s2")
        came = lines_of(child, 4)
        assert before["kind"] == "changed"
        assert {each["session"] for each in came} == {"s2"}
        assert [each["kind"] for each in came if each["kind"] in ("session", "seen")] == [
            "session", "seen",
        ]  # fmt: skip
        positions = [each["position"] for each in (before, *came)]
        assert positions == sorted(set(positions))
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait() == 130
        assert child.stderr.read().strip() == b""


@pytest.mark.wide
def test_follow_begins_with_the_newest_ten_and_keeps_to_what_is_asked(story):
    for _ in range(15):
        story("read", "app.py")
    with story.spawn("log", "-f", "--json", "--kind", "seen", own_group=True) as child:
        assert [each["kind"] for each in lines_of(child, 10)] == ["seen"] * 10
        story("turn")
        story("read", "app.py", "--lines", "2")
        assert lines_of(child, 1)[0]["lines"] == [[2, 2]]
        os.killpg(child.pid, signal.SIGINT)


@pytest.mark.wide
@pytest.mark.skipif(os.name == "nt", reason="only sockets can be waited for there")
def test_follow_ends_with_its_reader_though_nothing_comes(story):
    with story.spawn("log", "--follow", "--newest", "1", own_group=True) as child:
        child.stdout.readline()
        child.stdout.close()
        assert child.wait() == 0
        assert child.stderr.read() == b""


def test_the_log_for_people_leaves_out_where_sessions_run_unless_asked(sl):
    sl.put("a.txt", "one\n")
    sl("read", "a.txt")
    assert [line.split("  ")[-1] for line in sl("log", "-n", "2").out.splitlines()[1:]] == (
        ["session of cli began", "a.txt: line 1 shown (read)"]
    )
    assert "runs on" in sl("log", "--kind", "environment").out
    assert len(sl("log", "--json").out.splitlines()) == 3


@pytest.fixture
def changed_often(sl):
    """A file that a session was shown and changed, then the user, and then somebody deleted it."""
    sl.put("a.txt", "a\nb\nc\n")
    sl("read", "a.txt")
    sl("edit", "a.txt", "--old", "b", "--new", "B")
    sl.put("a.txt", "a\nB\nc\nthe user's\n")
    sl("status")
    sl.put("other.txt", "x\n")
    sl("read", "other.txt")
    (sl.root / "a.txt").unlink()
    sl("status")
    return sl


def test_log_shows_the_history_of_a_file_with_diffs_and_authors(changed_often):
    out = changed_often("log", "-p", "a.txt").out
    ours, users = out.index("-b\n+B\n"), out.index("+the user's\n")
    assert out.index("a.txt was changed by this session") < ours < users
    assert "a.txt was changed by the user or another program" in out[ours:users]
    assert "+++ /dev/null" in out[users:]
    assert "other.txt" not in out
    assert "+B" not in changed_often("log", "a.txt").out


def test_the_history_as_json_has_a_diff_for_each_change(changed_often):
    lines = changed_often("log", "--diffs", "--json", "a.txt").out.splitlines()
    entries = [json.loads(line) for line in lines]
    assert [each["kind"] for each in entries if "diff" in each] == ["changed", "changed", "deleted"]
    assert all(each["diff"].startswith("--- a/a.txt\n") for each in entries if "diff" in each)


def test_a_text_that_is_not_kept_is_said_to_be(sl):
    sl.put(".env", "port = 80\n")
    sl("read", ".env")
    sl("edit", ".env", "--old", "80", "--new", "81")
    assert "(no diff: a text is not kept, or is the same)" in sl("log", "-p", ".env").out


def test_why_leads_to_the_history(changed_often, sl):
    sl.put("b.txt", "b\n")
    sl("read", "b.txt")
    assert "log -p" not in sl("why", "b.txt").out
    assert "sightline log --diffs a.txt" in sl("why", "a.txt").out
