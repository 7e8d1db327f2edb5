"""claim, its list, release and hand-over, and the sessions they are about."""

from __future__ import annotations

import os

import pytest

from sightline.filesystem import process

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def two(sl):
    """A file that two sessions were shown."""
    sl.put("src/a.py", TEXT)
    sl("read", "src/a.py")
    sl("read", "src/a.py", "--session", "b")
    return sl


def test_a_claim_is_listed_told_and_released(two):
    made = two("claim", "src", "*.md", "--ttl", "10m", "--session", "b", "--json").json["claim"]
    assert (made["paths"], made["exclusive"], made["session"]) == (["*.md", "src"], True, "b")
    assert two("claim", "list", "--json").json["claims"] == [made]
    assert "b        cli    " in two("claim", "list").out
    edit = two("edit", "src/a.py", "--old", "one", "--new", "1", "--json")
    assert "claimed by agent session b" in edit.json["notice"]
    assert two("claim", "release", made["id"], "--session", "b").out == f"Released {made['id']}.\n"
    assert two("claim", "list").out == "Nothing is claimed.\n"


def test_a_claim_that_meets_another_is_refused(two):
    two("claim", "src", "--session", "b")
    refused = two("claim", "src/a.py")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("Error: src/a.py is claimed by agent session b until ")
    assert two("claim", "src/a.py", "--json").json["error"]["kind"] == "ClaimRefused"


def test_enforced_claims_refuse_a_write(two, monkeypatch):
    monkeypatch.setenv("SIGHTLINE_CLAIMS", "enforce")
    two("claim", "src", "--session", "b")
    refused = two("edit", "src/a.py", "--old", "one", "--new", "1", "--json")
    assert (refused.code, refused.json["reason"]) == (1, "claimed")
    assert (two.root / "src/a.py").read_text() == TEXT


def test_a_workspace_may_only_tighten_claims(two, monkeypatch):
    two.put("sightline.toml", 'claims = "enforce"\n')
    two("claim", "src", "--session", "b")
    assert two("edit", "src/a.py", "--old", "one", "--new", "1").code == 1
    two.put("sightline.toml", 'claims = "advise"\n')
    monkeypatch.setenv("SIGHTLINE_CLAIMS", "enforce")
    assert two("edit", "src/a.py", "--old", "one", "--new", "1").code == 1


def test_a_claim_is_renewed_by_its_id(two):
    made = two("claim", "src", "--ttl", "60s", "--json").json["claim"]
    renewed = two("claim", "--renew", made["id"], "--ttl", "2h", "--json").json["claim"]
    assert renewed["expires_at"] > made["expires_at"]


def test_all_claims_of_a_session_are_released_and_no_others(two):
    two("claim", "src", "--session", "b")
    two("claim", "a", "--json")
    two("claim", "b", "--json")
    assert len(two("claim", "release", "--all", "--json").json["released"]) == 2
    assert two("claim", "release", "--all").out == "This session has no claim.\n"
    assert [each["session"] for each in two("claim", "list", "--json").json["claims"]] == ["b"]


@pytest.mark.parametrize(
    "args",
    [
        ("claim",),
        ("claim", "a", "--renew", "c-1"),
        ("claim", "a", "--ttl", "0s"),
        ("claim", "a", "--ttl", "60"),
        ("claim", "a", "--ttl", "-5"),
        ("claim", "a", "--ttl", "365d"),
        ("claim", "a", "--ttl", "soon"),
        ("claim", *["a"] * 101),
        (
            "claim",
            "release",
        ),
        ("claim", "release", "c-1", "--all"),
        ("claim", "hand-over", "b", "--lines", "1-2"),
        (
            "claim",
            "hand-over",
        ),
    ],
)
def test_wrong_usage(sl, args):
    answer = sl(*args)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("Error: ")


@pytest.mark.parametrize(
    "args",
    [
        ("claim", "../x"),
        ("claim", ""),
        ("claim", "!x"),
        ("claim", "--renew", "c-1"),
        ("claim", "release", "c-1"),
        ("session", "show", "nobody"),
        ("session", "delete", "nobody"),
        ("session", "fork", "nobody"),
    ],
)
def test_what_cannot_be_is_answered_with_no(sl, args):
    answer = sl(*args)
    assert (answer.code, answer.out) == (1, "")
    assert "Hint: " in answer.err


def test_a_pattern_is_of_all_below_the_folder_one_stands_in(sl, monkeypatch):
    sl.put("src/deep/a.py", "x")
    monkeypatch.chdir(sl.root / "src")
    assert sl("claim", "*.py", "--json").json["claim"]["paths"] == ["src/**/*.py"]
    assert sl("claim", "deep", "--json").json["claim"]["paths"] == ["src/deep"]
    sl.put("src/[id].py", "x")
    sl.put("b.py", "x")
    assert sl("claim", "[id].py", "--json").json["claim"]["paths"] == [r"src/\[id].py"]
    assert sl("claim", "../b.py", "--json").json["claim"]["paths"] == ["b.py"]


def test_a_scope_is_named_from_the_folder_one_stands_in(sl, monkeypatch):
    sl.put("src/a.py", "x")
    monkeypatch.chdir(sl.root / "src")
    scopes = [argument for name in ("a.py", "*.ts", "../b.py") for argument in ("--scope", name)]
    [task] = sl("task", "propose", "a", "Do it", *scopes, "--json").json["tasks"]
    assert task["scope"] == ["src/a.py", "src/**/*.ts", "b.py"]


def test_a_claim_on_a_network_folder_says_how_far_it_reaches(sl, monkeypatch):
    table = f"server:/export {os.path.realpath(sl.root)} nfs4 rw 0 0\n"
    monkeypatch.setattr("sightline.cli.claims.mounts", lambda: table)
    made = sl("claim", "a")
    assert made.code == 0
    assert "on a network (nfs4): agents on other machines do not learn of the claim" in made.err


def test_an_edit_says_whom_it_made_stale(two):
    answer = two("edit", "src/a.py", "--old", "two", "--new", "2")
    assert answer.err == "Your write made agent session b stale on src/a.py line 2.\n"
    again = two("edit", "src/a.py", "--old", "three", "--new", "3", "--json").json
    assert again["affected"] == [
        {"session": "b", "agent": "cli", "path": "src/a.py", "lines": [[3, 3]]}
    ]


def test_sessions_say_who_is_there_and_who_holds_them(two):
    first, second = two("session", "list", "--json").json["sessions"]
    holder = process.owner_of(process.holder_of(os.getppid()))
    assert (first["presence"], first["holder"]) == ("present", holder)
    assert second["last_sign"] >= second["started"]
    assert "present" in two("session", "list").out
    shown = two("session", "show", "b")
    assert "It is present since " in shown.out
    assert f"held by process {holder.split(':')[1]}" in shown.out
    found = two("session", "show", "b", "--json").json["session"]
    assert (found["presence"], found["claims"], len(found["files"])) == ("present", [], 1)


def test_asking_for_another_agents_view_does_not_take_it_over(sl):
    import sightline

    sl.put("a.py", TEXT)
    with sightline.open_session(sl.root, id="agent", agent="editor") as session:
        session.read("a.py")
    sl("check", "a.py", "--session", "agent")
    (found,) = sl("session", "list", "--json").json["sessions"]
    assert found["holder"] == process.owner()


def test_status_says_what_is_claimed(two):
    two("claim", "docs", "src", "--session", "c")
    out = two("status").out
    assert "Session c (cli), 0 files" in out
    assert "  claims docs, src until " in out
    (claiming,) = [
        each["claims"] for each in two("status", "--json").json["sessions"] if each["claims"]
    ]
    assert claiming[0]["paths"] == ["docs", "src"]


def test_a_fork_knows_what_its_parent_knows(two):
    assert two("session", "fork", "b", "--as", "b2", "--json").json["session"] == "b2"
    assert two("check", "src/a.py", "--session", "b2").code == 0
    again = two("session", "fork", "b", "--as", "b2")
    assert (again.code, "already" in again.err) == (2, True)


def test_a_deleted_session_has_to_read_again(two):
    refused = two("session", "delete", "b")
    assert (refused.code, "--force" in refused.err) == (2, True)
    gone = two("session", "delete", "b", "--force", "--json").json
    assert gone == {"schema": 1, "deleted": "b", "files": 1, "claims": 0}
    assert two("session", "list", "--json").json["sessions"][1]["presence"] == "ended"
    assert two("check", "src/a.py", "--session", "b").code == 1


def test_text_is_handed_over_to_a_fork_and_not_to_a_stranger(two):
    two.put("b.md", "b\n")
    two("session", "fork", "cli", "--as", "f")
    two("read", "b.md")
    given = two("claim", "hand-over", "f", "b.md", "--json").json
    assert given == {"schema": 1, "to": "f", "files": [{"path": "b.md", "lines": [[1, 1]]}]}
    assert two("check", "b.md", "--session", "f").code == 0
    assert two("claim", "hand-over", "f").out.startswith(
        "f was given:\nb.md: line 1\nsrc/a.py: lines 1-3"
    )
    assert two("claim", "hand-over", "b", "b.md").code == 2


@pytest.mark.wide
def test_a_shells_claim_outlives_the_command_and_ends_with_the_shell(sl):
    """Two commands of one script share its claim, and when who ran it has ended it stands no more."""
    import subprocess
    import sys

    from tests.support.command_line import PROGRAM, SOURCE

    script = f"""
import subprocess, sys
run = [sys.executable, "-c", {PROGRAM!r}]
subprocess.run([*run, "claim", "src", "--session", "script"], check=True)
subprocess.run([*run, "claim", "list"], check=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=sl.root,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    assert "script" in done.stdout.splitlines()[-1]
    assert sl("claim", "list").out == "Nothing is claimed.\n"
