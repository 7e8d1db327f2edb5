"""`sightline doctor`: what it finds wrong, what it says to do, and what it sets right itself."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hooks.daemons import DaemonHost
from tests.support.hook_server import serving

from sightline.agents.claude_code import health, hook_settings
from sightline.agents.products import PRODUCTS
from sightline.cli import checkup, connect
from sightline.config.settings import user_settings_file
from sightline.filesystem.process import running_in
from sightline.history import doctor
from sightline.hooks import fault_log
from sightline.model.events import SightLost
from sightline.store.port import Append
from sightline.store.sqlite_file import open_file

LOCAL = ".claude/settings.local.json"


@pytest.fixture(autouse=True)
def few_runs(monkeypatch):
    """A measurement is two runs of the hook: the figures are of no interest here."""
    monkeypatch.setattr(checkup, "RUNS", 1)


def checks(sl, *args, code=0):
    """Name -> the check; of several with one name the worst."""
    done = sl("doctor", "--json", *args)
    assert done.code == code, done.out
    order = ["ok", "warning", "unknown", "problem"]
    found = done.json["checks"]
    assert all(list(each) == ["name", "state", "message", "hint"] for each in found)
    return {each["name"]: each for each in sorted(found, key=lambda c: order.index(c["state"]))}


def client(tmp_path, script):
    """A program called claude on PATH."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_all_is_well_after_init(at):
    at("init", "claude-code")
    found = checks(at)
    for name in ("sightline", "python", "sqlite", "settings", "fail", "store", "hooks"):
        assert found[name]["state"] == "ok", found[name]
    assert found["latency"]["state"] in ("ok", "warning")  # a busy machine is a slow one
    assert found["latency"]["message"].startswith("A hook takes ")
    assert found["hooks"]["message"] == "local: 14 events call Sightline (command)."
    assert found["python"]["message"].endswith(sys.executable)


@pytest.mark.wide
def test_a_product_that_is_neither_here_nor_connected_is_passed_over(at, monkeypatch):
    monkeypatch.setitem(PRODUCTS, "toy", "tests.support.toy_product")
    at("init", "claude-code")
    assert checks(at)["hooks"]["state"] == "ok"
    made = at("init", "toy", "--scope", "project")
    assert made.code == 0, made.err + made.out
    scopes = [
        each["message"] for each in at("doctor", "--json").json["checks"] if each["name"] == "hooks"
    ]
    assert len(scopes) == 2


def test_that_nobody_is_guarded_is_said_with_the_way_there(at):
    hooks = checks(at)["hooks"]
    assert (hooks["state"], hooks["hint"]) == ("warning", "Run: sightline init claude-code")


@pytest.mark.wide
def test_it_reads_aloud_in_a_terminal(at):
    at("init", "claude-code")
    said = at("doctor", "--verbose")
    rows = said.out.replace(str(at.root), "/p").splitlines()
    assert rows[0].startswith("ok       sightline    0.")
    assert all(len(row) <= 80 for row in rows if "/" not in row)


def test_quiet_says_what_is_not_well_only(at):
    said = at("doctor", "--quiet").out
    assert "hooks" in said
    assert "ok " not in said


@pytest.mark.wide
def test_it_prints_what_is_wrong_and_that_all_else_is_well(at):
    *wrong, last = at("doctor").out.splitlines()
    assert not any(line.startswith("ok ") for line in wrong)
    assert wrong[-1].split() == ["Run:", "sightline", "init", "claude-code"]
    assert last.startswith("All else is well (")
    at("init", "claude-code")
    rows = at("doctor", "--json").json["checks"]
    last = at("doctor").out.splitlines()[-1]
    counted = re.fullmatch(
        r"All else is well \((\d+) checks\)\. To see every check: sightline doctor --verbose", last
    )
    assert counted is not None
    well = sum(row["state"] == "ok" for row in rows)
    assert abs(int(counted[1]) - well) <= 1  # the speed of a hook may be well in one run of two
    assert len(at("doctor", "--verbose").out.splitlines()) >= len(rows)


@pytest.mark.wide
def test_a_vanished_interpreter_is_a_problem_that_can_be_fixed(at, tmp_path):
    """A virtual environment was removed, or Python was updated."""
    at("init", "claude-code")
    file = at.root / LOCAL
    gone = str(tmp_path / "old" / "python")
    file.write_text(file.read_text().replace(sys.executable, gone))
    hooks = checks(at, code=1)["hooks"]
    assert f"run {gone}, which does not exist" in hooks["message"]
    assert "sightline doctor --fix" in hooks["hint"]
    assert checks(at, "--fix")["hooks"]["state"] == "ok"
    assert gone not in file.read_text()


@pytest.mark.wide
def test_hooks_of_another_version_are_a_problem_that_can_be_fixed(at):
    at("init", "claude-code")
    file = at.root / LOCAL
    table = json.loads(file.read_text())
    del table["hooks"]["PostToolBatch"]
    file.write_text(json.dumps(table))
    assert checks(at, code=1)["hooks"]["state"] == "problem"
    assert checks(at, "--fix")["hooks"]["state"] == "ok"


@pytest.mark.wide
def test_hooks_of_another_installation_are_left_as_they_are(at, tmp_path):
    at("init", "claude-code")
    (tmp_path / "other").symlink_to(sys.prefix)  # with the packages that Sightline needs
    other = tmp_path / "other" / Path(sys.executable).relative_to(sys.prefix)
    file = at.root / LOCAL
    file.write_text(file.read_text().replace(sys.executable, str(other)))
    assert checks(at, "--fix")["hooks"]["state"] == "warning"
    assert str(other) in file.read_text()


def test_settings_that_are_no_json_are_named_with_the_place(at):
    at.put(LOCAL, '{"a": 1,}')
    hooks = checks(at, code=1)["hooks"]
    assert f"{at.root / LOCAL} is not valid: line 1, column 9" in hooks["message"]


@pytest.mark.wide
def test_hooks_that_are_switched_off_are_a_problem(at):
    at("init", "claude-code")
    at.put(".claude/settings.json", '{"disableAllHooks": true}')
    assert "switches all hooks off" in checks(at, code=1)["hooks"]["message"]


@pytest.mark.parametrize(
    "text",
    [
        '{"allowManagedHooksOnly": true}',
        '{"strictPluginOnlyCustomization": true}',
        '{"strictPluginOnlyCustomization": ["skills", "hooks"]}',
    ],
)
def test_what_an_administrator_switches_off_is_a_problem(at, tmp_path, monkeypatch, text):
    monkeypatch.setattr(hook_settings, "MANAGED", {sys.platform: str(tmp_path / "managed")})
    more = tmp_path / "managed/managed-settings.d"
    more.mkdir(parents=True)
    (more / "10.json").write_text(text)
    assert "switches all hooks off" in checks(at, code=1)["hooks"]["message"]
    (more / "10.json").write_text('{"strictPluginOnlyCustomization": ["skills"]}')
    assert checks(at)["hooks"]["state"] == "warning", "no agent is connected"


@pytest.mark.parametrize(("value", "code"), [("1", 1), ("0", 0), ("", 0)])
def test_a_variable_without_hooks_is_a_problem(at, monkeypatch, value, code):
    monkeypatch.setenv("CLAUDE_CODE_SIMPLE", value)
    assert ("unset CLAUDE_CODE_SIMPLE" in checks(at, code=code)["hooks"]["hint"]) is bool(code)


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--bare", "-p"], "--bare"),
        (["--setting-sources", "user"], "--setting-sources user"),
        (["--setting-sources="], "--setting-sources "),
        (["--settings", '{"disableAllHooks":true}'], "--settings, whose disableAllHooks is true"),
        (["--setting-sources", "user, local"], None),
        (["--settings", '{"disableAllHooks":false}'], None),
        (["--continue"], None),
    ],
)
def test_an_option_without_hooks_is_named(arguments, option):
    found = [*health.started_without([(7, ["claude", *arguments])], ["local"])]
    assert [each.facts["option"] for each in found] == ([] if option is None else [option])


def test_a_program_that_works_in_the_folder_is_found(at):
    command = [sys.executable, "-c", "print(flush=True); input()", "--bare"]
    with subprocess.Popen(
        command, cwd=at.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout
        child.stdout.readline()
        name = os.path.basename(sys.executable)
        assert (child.pid, command) in running_in(str(at.root), name)
        assert running_in(str(at.root / "below"), name) == []
        child.communicate(b"\n")


@pytest.mark.wide
def test_two_scopes_at_once_are_said(at):
    at("init", "claude-code")
    at("init", "claude-code", "--scope", "project")
    assert "project and local" in checks(at)["hooks"]["message"]


def test_a_broken_hook_command_is_a_problem(at, tmp_path):
    at("init", "claude-code")
    file = at.root / LOCAL
    broken = tmp_path / "sightline" / "hook_entry.py"
    broken.parent.mkdir()
    broken.write_text("raise SystemExit('broken on purpose')")
    file.write_text(file.read_text().replace(connect.entry_script(), str(broken)))
    found = checks(at, code=1)["latency"]
    assert found["message"] == "The hook command fails: exit code 1, broken on purpose."


@pytest.mark.wide
def test_asking_leaves_the_users_own_sessions_alone(at):
    at("init", "claude-code")
    checks(at)
    assert at("session", "list", "--json").json["sessions"] == []


def test_what_others_may_read_is_closed_when_asked(at, monkeypatch, tmp_path):
    at("status")
    (store,) = at.home.glob("workspaces/*/store.db")
    store.chmod(0o644)
    store.parent.chmod(0o755)
    found = checks(at)["state"]
    assert found["state"] == "warning"
    assert "2 such paths in all" in found["message"]
    assert checks(at, "--fix")["state"]["state"] == "ok"
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.parent.stat().st_mode) == 0o700


def test_what_else_is_in_a_folder_that_the_user_named_is_not_touched(at):
    other = at.home / "mine.txt"
    at("status")
    other.write_text("mine")
    other.chmod(0o644)
    checks(at, "--fix")
    assert stat.S_IMODE(other.stat().st_mode) == 0o644


def test_a_damaged_store_is_a_problem_and_stays_as_it_is(at):
    at("status")
    (store,) = at.home.glob("workspaces/*/store.db")
    store.write_bytes(b"no database at all " * 300)
    found = checks(at, "--fix", code=1)["store"]
    assert "is not a Sightline store" in found["message"]
    assert found["hint"]
    assert store.read_bytes().startswith(b"no database")


def test_a_store_that_lies_is_a_problem(at):
    at.put("a.py", "a = 1\n")
    at("read", "a.py")
    (store,) = at.home.glob("workspaces/*/store.db")
    with sqlite3.connect(store) as base:
        base.execute("DELETE FROM knowledge")
    base.close()
    assert "differ from its timeline" in checks(at, code=1)["store"]["message"]


def test_broken_settings_of_ours_are_named(at):
    users_settings().parent.mkdir(parents=True, exist_ok=True)
    users_settings().write_text("policy = \n")
    found = checks(at, code=1)
    assert f"{users_settings()}: not valid TOML" in found["settings"]["message"]
    assert "store" not in found


def test_what_is_left_out_of_a_workspaces_settings_is_a_problem_and_the_guard_is_on(at):
    at.put("sightline.toml", 'unseen = "refuse"\npolices = 1\n')
    found = checks(at, code=1)
    assert "sightline.toml, line 2: there is no setting 'polices'" in found["settings"]["message"]
    assert "policies" in found["settings"]["hint"]
    assert found["store"]["state"] == "ok"
    assert "guard" not in found


def test_an_ignore_file_that_is_not_read_is_named(at):
    (at.root / "sub").mkdir()
    (at.root / "sub/.gitignore").mkdir()
    found = checks(at)["ignore files"]
    assert found["state"] == "warning"
    assert "sub/.gitignore is not read" in found["message"]
    at("checkpoint")
    assert "sub/.gitignore is not read" in at("status").out


def test_ignore_files_of_agents_are_named_with_what_they_do(at):
    at.put(".claudeignore", "key.txt\n")
    assert ".claudeignore: what these hide is left out" in checks(at)["ignore files"]["message"]
    at.put(".newagentignore", "key.txt\n")
    at.put(".dockerignore", "key.txt\n")
    found = checks(at)["ignore files"]["message"]
    assert ".newagentignore: Sightline does not know these" in found
    assert "docker" not in found


def test_what_hooks_failed_at_is_told(at):
    fault_log.note(str(at.home), "claude-code", "PreToolUse", "s", "The store is locked.")
    found = checks(at)["faults"]
    assert found["state"] == "warning"
    assert "(PreToolUse): The store is locked." in found["message"]


def test_the_client_is_asked_for_its_version(at, tmp_path):
    client(tmp_path, "echo '2.1.329 (Claude Code)'")
    assert checks(at)["claude-code"]["message"].startswith("2.1.329 (Claude Code), ")


@pytest.mark.parametrize(
    ("version", "state"), [("2.1.197", "warning"), ("2.1.1000", "ok"), ("x", "ok")]
)
def test_a_client_below_the_lowest_version_is_a_warning(tmp_path, monkeypatch, version, state):
    client(tmp_path, f"echo '{version} (Claude Code)'")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = health.client()
    assert found.state == state
    page = (Path(__file__).parents[2] / "docs/how-to/claude-code.md").read_text(encoding="utf-8")
    assert f"Claude Code {'.'.join(map(str, health.LOWEST))} or newer" in page


def test_a_client_that_cannot_say_its_version_is_a_doubt(at, tmp_path):
    client(tmp_path, "exit 7")
    assert "exit code 7" in checks(at, code=3)["claude-code"]["message"]


def test_the_newest_transcript_is_read(at, tmp_path):
    name = "".join(char if char.isalnum() else "-" for char in str(at.root))
    folder = tmp_path / "home" / ".claude" / "projects" / name
    folder.mkdir(parents=True)
    (folder / "old.jsonl").write_text("")
    row = {
        "type": "attachment",
        "attachment": {"type": "nested_memory", "path": str(at.root / "a")},
    }
    newest = folder / "new.jsonl"
    newest.write_text(json.dumps(row) + "\n")
    os.utime(folder / "old.jsonl", (1, 1))
    assert checks(at)["transcript"]["message"].startswith(str(newest))


def test_a_running_up_is_seen_and_is_told_nothing(at, tmp_path):
    assert "does not run" in checks(at)["up"]["message"]
    with serving(str(at.root), environ=os.environ, home=str(tmp_path / "home")) as server:
        assert "runs for this folder" in checks(at)["up"]["message"]
        assert server.calls == 0


def daemon(host, monkeypatch):
    """Return what doctor says of the daemon, asked with the environment of a host's hooks."""
    for key in ("SIGHTLINE_HOME", "SIGHTLINE_ANSWERER"):
        monkeypatch.delenv(key, raising=False)
    for key, value in host.environ.items():
        monkeypatch.setenv(key, value)
    return {each.name: each for each in checkup.hook_findings(str(host.root), "auto")}["answerer"]


@pytest.fixture
def staying():
    host = DaemonHost()
    yield host
    host.close()


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
@pytest.mark.parametrize("script", [None, "exit 3"])
def test_a_daemon_that_cannot_run_git_is_a_warning(staying, monkeypatch, tmp_path, script):
    if script:
        (tmp_path / "git").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "git").chmod(0o755)
    staying.environ["PATH"] = str(tmp_path)
    installation = staying.begin().installation
    monkeypatch.setattr(checkup, "stamp", lambda: installation)
    found = daemon(staying, monkeypatch)
    assert (found.state, found.case) == ("warning", "no git")
    assert found.facts["why"] == ("ends with exit code 3" if script else "is not on its PATH")


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_who_answers_is_named_with_what_it_did(staying, monkeypatch):
    assert daemon(staying, monkeypatch).case == "not running"
    pid = staying.begin().pid
    staying.run(staying.payload("UserPromptSubmit", prompt="x"))
    assert daemon(staying, monkeypatch).case == "outdated"  # of another installation than ours
    installation = staying.started().installation
    monkeypatch.setattr(checkup, "stamp", lambda: installation)
    found = daemon(staying, monkeypatch)
    assert (found.case, found.facts["pid"], found.facts["calls"]) == ("running", pid, "1")


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_one_that_says_nothing_is_a_warning_with_its_number(staying, monkeypatch):
    pid = int(staying.begin().pid)
    os.kill(pid, signal.SIGSTOP)
    found = daemon(staying, monkeypatch)
    os.kill(pid, signal.SIGCONT)
    assert (found.state, found.case, found.facts) == ("warning", "silent", {"pid": pid})


def test_whether_one_is_wanted_is_said(at, monkeypatch):
    assert "each hook does the work itself" in checks(at)["answerer"]["message"]
    monkeypatch.delenv("SIGHTLINE_ANSWERER")
    assert "The first hook of a conversation starts one" in checks(at)["answerer"]["message"]


@pytest.mark.wide
def test_http_hooks_without_a_running_up_guard_nothing(at, tmp_path):
    at("init", "claude-code", "--kind", "http")
    assert "does not run: nothing is guarded" in checks(at, code=1)["latency"]["message"]
    with serving(str(at.root), environ=os.environ, home=str(tmp_path / "home")):
        assert "answers a hook in" in checks(at)["latency"]["message"]
        assert at("session", "list", "--json").json["sessions"] == []
        file = at.root / LOCAL
        file.write_text(file.read_text().replace("Bearer ", "Bearer x"))
        assert "answers 401" in checks(at, code=1)["latency"]["message"]
        assert "answers a hook in" in checks(at, "--fix")["latency"]["message"]


def test_few_watches_are_a_warning(tmp_path):
    limit = tmp_path / "max_user_watches"
    limit.write_text("8192\n")
    found = doctor.watcher(str(limit))
    assert found is None or found.state == "warning"


def test_percentiles_are_of_real_calls():
    found = checkup.timed([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 90])
    assert (found.facts["p50"], found.facts["p95"], found.state) == (15, 90, "ok")
    assert checkup.timed([500.0] * 11).case == "slow"
    assert checkup.timed([500.0] * 11, "alone").case == "slow alone"


def test_a_busy_machine_is_no_fault_of_the_hooks():
    found = checkup.timed([500.0] * 11, "measured", 200.0)
    assert (found.state, found.case, found.facts["bare"]) == ("ok", "busy", 200)


@pytest.mark.wide
@pytest.mark.parametrize("answerer", ["auto", "off"])
def test_a_hook_is_measured_with_a_daemon_unless_the_user_wants_none(at, monkeypatch, answerer):
    monkeypatch.setenv("SIGHTLINE_ANSWERER", answerer)
    monkeypatch.setattr(checkup, "SLOW_MS", 1e9)
    monkeypatch.setattr(checkup, "BUSY_MS", 1e9)
    at("init", "claude-code")
    said = checks(at)["latency"]["message"]
    assert ("The first one of a conversation takes" in said) is (answerer == "auto")
    assert ("because no process stays to answer" in said) is (answerer == "off")


def test_what_the_tracker_counted_is_said(at):
    at.put("a.py", "a = 1\n")
    at("read", "a.py")
    at.put("a.py", "a = 2\n")
    assert at("edit", "a.py", "--old", "a = 1", "--new", "a = 3").code == 1
    found = checks(at)
    assert "1 seen" in found["facts"]["message"]
    assert found["sessions"]["message"].startswith("1 present, 0 ended")
    assert found["edits"]["message"].startswith("1 refused, 0 merged")
    assert found["sight"]["message"].startswith("No gap")
    assert found["room"]["state"] == "ok"


def test_the_counters_are_numbers_in_json(at):
    at.put("a.py", "a = 1\n")
    at("read", "a.py")
    counted = at("doctor", "--json").json["tracker"]
    names = ["facts", "sessions", "edits", "checkpoints", "sight", "watching", "room"]
    assert list(counted) == names
    assert (counted["watching"]["mode"], counted["watching"]["folders"]) == ("events", 2)
    assert counted["facts"]["seen"] == 1
    assert counted["sessions"] == {"present": 1, "gone": 0, "ended": 0, "archived": 0}
    assert counted["room"]["total"] > counted["room"]["facts"] > 0


def test_gaps_in_sight_are_counted_with_the_last_reason(at):
    at.put("a.py", "a = 1\n")
    at("read", "a.py")
    (file,) = at.home.glob("workspaces/*/store.db")
    store = open_file(str(file))
    store.append(Append("cli", [SightLost("the watcher overflowed")], at=1_767_225_600_000_000))
    store.close()
    said = checks(at)["sight"]
    assert said["message"].startswith("Lost once, the last time ")
    assert "(the watcher overflowed)" in said["message"]


def test_a_checkpoint_that_could_not_be_kept_is_a_warning_until_one_is(at, monkeypatch):
    from sightline.filesystem import tree_index

    at.put("a.py", "a = 1\n")
    at("read", "a.py")
    assert checks(at)["checkpoints"]["message"] == "You can rewind to 0 checkpoints."
    at("turn")
    with monkeypatch.context() as patched:
        patched.setattr(tree_index, "monotonic", lambda: 1e18)
        at("edit", "a.py", "--old", "a = 1", "--new", "a = 2")
    said = checks(at)["checkpoints"]
    assert said["state"] == "warning"
    assert "there was no time to look at the whole tree" in said["message"]
    assert "sightline checkpoint" in said["hint"]
    at("checkpoint")
    said = checks(at)["checkpoints"]
    assert said["message"] == "You can rewind to 1 checkpoint; 1 more could not be taken when due."
    assert said["state"] == "ok"


def test_texts_beyond_their_room_are_a_warning_that_leads_to_gc(at, monkeypatch):
    at.put("a.py", "a = 1\n")
    at("read", "a.py")
    monkeypatch.setenv("SIGHTLINE_KEEP_BYTES", "3")
    said = checks(at)["room"]
    assert said["state"] == "warning"
    assert "sightline gc --dry-run" in said["hint"]


def users_settings():
    return Path(user_settings_file(os.environ, os.path.expanduser("~"), sys.platform))


def broken_settings(at):
    users_settings().parent.mkdir(parents=True, exist_ok=True)
    users_settings().write_text("policy = [")


def damaged_store(at):
    store(at).write_bytes(b"this is no database" * 100)


def full_disk(at, monkeypatch):
    monkeypatch.setattr(doctor, "FREE_MIN", 1 << 70)


def store(at):
    at("read", "a.py")
    return next(Path(os.environ["SIGHTLINE_HOME"]).glob("workspaces/*/store.db"))


@pytest.mark.parametrize("spoil", [broken_settings, damaged_store])
@pytest.mark.parametrize("command", [("doctor",), ("up", "--once")])
def test_that_the_guard_is_off_is_said_first(at, spoil, command):
    spoil(at)
    done = at(*command)
    assert done.code != 0
    assert "The guard is off: edits are not judged." in (done.out or done.err).splitlines()[0]


def test_a_full_disk_and_a_held_store_are_problems(at, monkeypatch):
    db = sqlite3.connect(store(at), isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    assert "holds the store" in checks(at, code=1)["guard"]["message"]
    db.close()
    full_disk(at, monkeypatch)
    assert "is full" in checks(at, code=1)["guard"]["message"]
