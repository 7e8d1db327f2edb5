"""One hook call: where it belongs, what it is answered, and that no fault blocks an agent."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hooks.hooking import Host, refusal
from tests.support.examples import widely

from sightline.config.settings import load_settings
from sightline.filesystem import process
from sightline.hooks import fault_log
from sightline.hooks.call import Call
from sightline.hooks.protocol import PAYLOAD_MAX, state_base
from sightline.hooks.words import HELD, SILENT
from sightline.model.events import (
    Merged,
    Seen,
    SessionStarted,
    TranscriptRead,
    TurnBegan,
    WriteIntended,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files and processes")


def kinds(facts, kind):
    return [each.fact for each in facts if isinstance(each.fact, kind)]


def test_a_write_over_a_file_never_shown_is_refused_by_a_process(host):
    path = host.put("a.py", "a = 1\n")
    assert "never shown" in refusal(host.run(host.write(path, "b = 1\n")))
    assert host.faults() == []


def test_an_edit_of_what_was_shown_goes_on_without_a_word(host):
    path = host.put("a.py", "a = 1\n")
    host.run(host.shown(path, "a = 1\n"))
    assert host.run(host.edit(path, "a = 1", "a = 2")) == {}
    assert kinds(host.facts(), Seen)


@pytest.mark.wide
@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("SessionStart", {"source": "new", "initial_prompt": "fix add"}),
        ("PreToolUse", {"tool_name": "Edit", "tool_input": {"path": "a", "old_str": "b"}}),
        (
            "Stop",
            {"stop_reason": "end_turn", "transcript_path": "/home/me/.copilot/x/events.jsonl"},
        ),
    ],
)
def test_another_product_that_runs_these_hooks_is_let_go_on_and_recorded_nowhere(
    host, event, fields
):
    """Copilot CLI runs them with this product's names and its own inputs."""
    common = {"session_id": "c1", "cwd": str(host.root), "timestamp": "2026-11-27T14:43:48.186Z"}
    assert host.run(json.dumps({"hook_event_name": event, **common, **fields}).encode()) == {}
    assert host.faults() == []
    assert not host.state.exists()


@pytest.mark.wide
def test_the_installed_command_answers_as_the_script_does(host):
    path = host.put("a.py", "a = 1\n")
    code = "import sys; from sightline.cli.entry import main; sys.exit(main())"
    environ = host.environ | {"PYTHONPATH": str(Path(fault_log.__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code, "hook", "claude-code"],
        input=host.write(path, "b = 1\n"),
        capture_output=True,
        env=environ,
        check=True,
    )
    assert "never shown" in refusal(json.loads(done.stdout))


@pytest.mark.wide
def test_the_project_is_what_the_host_says_not_where_the_agent_stands(host):
    inner = host.root / "src" / "deep"
    inner.mkdir(parents=True)
    host.run(host.payload("SessionStart", source="startup", cwd=str(inner)))
    assert kinds(host.facts(), SessionStarted)


@pytest.mark.parametrize("spelling", ["{}", "file://{}", "../a.py", "link/a.py"])
def test_a_file_is_the_same_in_every_spelling_of_its_path(host, spelling):
    path = host.put("a.py", "a = 1\n")
    inner = host.root / "inner"
    inner.mkdir()
    (inner / "link").symlink_to(host.root, target_is_directory=True)
    told = {"file_path": spelling.format(path), "content": "b = 1\n"}
    raw = host.payload(
        "PreToolUse", tool_name="Write", tool_use_id="1", tool_input=told, cwd=str(inner)
    )
    assert "a.py has text that was never shown to this session" in refusal(host.ask(raw))


@pytest.mark.wide
def test_without_that_it_is_the_nearest_marked_folder_of_the_agent(host):
    del host.environ["CLAUDE_PROJECT_DIR"]
    inner = host.root / "src"
    inner.mkdir()
    host.run(host.payload("SessionStart", source="startup", cwd=str(inner)))
    assert kinds(host.facts(), SessionStarted)


def test_a_file_of_another_workspace_goes_to_that_ones_timeline(host):
    other = host.folder("other")
    path = other / "b.py"
    path.write_text("b = 1\n")
    host.ask(host.payload("SessionStart", source="startup"))
    assert "never shown" in refusal(host.ask(host.write(str(path), "c\n")))
    assert [fact.session for fact in host.facts(other)][:1] == ["s1"]
    assert not kinds(host.facts(), WriteIntended)


def test_a_new_folder_of_another_workspace_belongs_to_it_too(host):
    other = host.folder("other")
    host.ask(host.write(str(other / "new" / "deep" / "b.py"), "b = 1\n"))
    assert [fact.path for fact in kinds(host.facts(other), WriteIntended)] == ["new/deep/b.py"]


@posix
@pytest.mark.parametrize("of_folder", [False, True])
def test_a_link_to_a_file_of_another_workspace_goes_to_that_ones_timeline(host, of_folder):
    other = host.folder("other")
    (other / "b.py").write_text("b = 1\n")
    link = host.root / "link"
    link.symlink_to(other if of_folder else other / "b.py")
    path = str(link / "b.py" if of_folder else link)
    assert "never shown" in refusal(host.ask(host.write(path, "c\n")))
    host.ask(host.shown(path, "b = 1\n"))
    assert host.ask(host.write(path, "c\n")) == {}
    assert kinds(host.facts(other), WriteIntended)


@pytest.mark.wide
def test_a_file_in_no_workspace_is_not_judged_and_that_is_said(host):
    loose = host.folder("loose", marked=False) / "x.txt"
    loose.write_text("x\n")
    assert host.run(host.write(str(loose), "y\n")) == {}
    assert host.faults() == [f"{loose} is in no workspace: it was not judged."]


@pytest.mark.wide
@pytest.mark.parametrize("fail", ["open", "closed"])
def test_an_agent_in_the_home_folder_is_let_go_on(host, fail):
    host.environ |= {"SIGHTLINE_FAIL": fail, "CLAUDE_PROJECT_DIR": str(host.home)}
    assert host.run(host.write(str(host.home / "x"), "y")) == {}
    (said,) = host.faults()
    assert "home folder" in said


def test_a_sub_agent_is_a_session_of_its_own_begun_after_its_parent(host):
    host.ask(host.payload("SubagentStart", agent_id="0123456789", agent_type="Explore"))
    started = [
        (each.session, each.fact.parent)
        for each in host.facts()
        if isinstance(each.fact, SessionStarted)
    ]
    assert started == [("s1", None), ("s1/Explore-01234567", "s1")]


@pytest.mark.wide
def test_what_is_let_go_on_is_journalled_for_the_process_that_writes(host):
    path = host.put("a.py", "a = 1\n")
    host.run(host.shown(path, "a = 1\n"))
    host.run(host.edit(path, "a = 1", "a = 2"))
    (intent,) = kinds(host.facts(), WriteIntended)
    assert intent.owner == process.owner()  # this process plays the host: it started the hook


@pytest.mark.wide
@posix
def test_a_shell_between_host_and_hook_is_not_taken_for_the_host(host):
    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    script = f'"{sys.executable}" -I -S "$0" claude-code; true'
    entry = Path(fault_log.__file__).with_name("hook_entry.py")
    raw = host.edit(path, "a = 1", "a = 2")
    subprocess.run(["sh", "-c", script, entry], input=raw, env=host.environ, check=True)
    (intent,) = kinds(host.facts(), WriteIntended)
    assert intent.owner == process.owner()


# What is always asked for


def question(answer):
    """Why the user is asked; "" when nobody is."""
    said = answer.get("hookSpecificOutput", {})
    return said["permissionDecisionReason"] if said.get("permissionDecision") == "ask" else ""


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".git/info/exclude", "sub/.hg/hgrc"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_file_of_version_control_is_asked_for_and_never_denied(host, path, exists):
    file = host.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if exists:
        file.write_text("one\n")
    for raw in (host.write(str(file), "two\n"), host.edit(str(file), "one", "two")):
        asked = question(host.ask(raw))
        assert f"Sightline: {path} is protected (setting `protect`)" in asked
    assert host.faults() == []


@posix
def test_a_link_into_version_control_is_asked_for(host):
    (host.root / "notes").symlink_to(".git/config")
    (host.root / ".git/config").write_text("one\n")
    asked = question(host.ask(host.edit(str(host.root / "notes"), "one", "two")))
    assert ".git/config is protected" in asked


def test_what_an_exception_names_is_left_to_the_host(host):
    config = host.home / ".config" / "sightline"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('protect = ["!.git/info/exclude"]\n')
    assert host.ask(host.write(str(host.root / ".git/info/exclude"), "two\n")) == {}
    assert question(host.ask(host.write(str(host.root / ".git/config"), "two\n")))


def test_what_an_ignore_file_refuses_is_denied_all_the_same(host):
    host.put(".sightlineignore", "kept\n")
    assert "kept" in refusal(host.ask(host.write(str(host.root / "kept"), "two\n")))


# What no hook told of


def transcript(host, *paths):
    """A recording in which these files were read."""
    rows = []
    for number, path in enumerate(paths):
        text = Path(path).read_text()
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Read",
            "input": {"file_path": path},
        }
        file = {"filePath": path, "content": text, "startLine": 1}
        file |= {"numLines": text.count("\n") + 1, "totalLines": text.count("\n") + 1}
        told = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "1\t..."}
        rows += [
            {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
            {
                "type": "user",
                "message": {"role": "user", "content": [told]},
                "toolUseResult": {"type": "text", "file": file},
            },
        ]
    file = host.home / "s1.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_conversation_that_was_not_guarded_is_read_back_when_it_is_resumed(host):
    path = host.put("a.py", "a = 1\n")
    transcript(host, path)
    host.ask(host.payload("SessionStart", source="resume"))
    assert host.ask(host.write(path, "a = 2\n")) == {}


def test_a_new_conversation_is_not_read_back(host):
    path = host.put("a.py", "a = 1\n")
    host.ask(host.payload("SessionStart", source="startup"))
    transcript(host, path)  # hooks would have told of these reads
    assert "never shown" in refusal(host.ask(host.write(path, "a = 2\n")))


def test_a_transcript_is_gone_on_with_where_it_was_left(host):
    path = host.put("a.py", "a = 1\n")
    transcript(host, path)
    host.ask(host.payload("Stop"))
    host.ask(host.payload("Stop"))
    size = (host.home / "s1.jsonl").stat().st_size
    reached = [fact.offset for fact in kinds(host.facts(), TranscriptRead)]
    assert reached == [0, size]


# Faults


BAD = {
    "empty": b"",
    "truncated": b'{"session_id": "s1", "cwd',
    "no object": b"[1, 2]",
    "no text": b"\xff\xfe\x00\x80",
    "no session": b'{"cwd": "/", "hook_event_name": "Stop"}',
    "wrong types": b'{"session_id": 7, "cwd": [], "hook_event_name": {}}',
    "too deep": b"[" * 200_000,
    "wrong input": b'{"session_id": "s1", "cwd": "%s", "hook_event_name": "PreToolUse",'
    b' "tool_name": "Edit", "tool_use_id": "t", "tool_input": {"file_path": 7}}',
    "long id": b'{"session_id": "' + b"x" * 300 + b'", "cwd": "%s", "hook_event_name": "Stop"}',
}


WORST = ("truncated", "wrong input")


@pytest.mark.wide
@pytest.mark.parametrize("name", [*WORST, *widely(*(name for name in BAD if name not in WORST))])
def test_bad_input_lets_the_agent_go_on_and_leaves_one_line(host, name):
    assert host.run(BAD[name].replace(b"%s", str(host.root).encode())) == {}
    assert len(host.faults()) == 1


@pytest.mark.wide
@pytest.mark.parametrize(
    "raw", [b'{"session_id":"s","cwd":"%s","hook_event_name":"Brandnew","x":[{}]}']
)
def test_an_event_nobody_knows_is_of_no_interest(host, raw):
    assert host.run(raw.replace(b"%s", str(host.root).encode())) == {}
    assert host.faults() == []


@given(st.binary() | st.text().map(str.encode) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["session_id", "cwd", "hook_event_name", "tool_name", "tool_input"])
        | st.text(), inner, max_size=5),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_whatever_comes_in_no_exception_comes_out(raw):
    host = Host()
    try:
        host.ask(raw)
    finally:
        host.close()


def poured(pipe, size):
    """Return how many bytes the other end takes."""
    sent = 0
    while sent < size:
        try:
            sent += os.write(pipe, b" " * (1 << 16))
        except BrokenPipeError:
            return sent
    return sent


@pytest.mark.wide
def test_a_huge_payload_is_not_read_whole(host):
    with host.spawn() as child:
        assert child.stdin
        sent = poured(child.stdin.fileno(), 4 * PAYLOAD_MAX)
        assert child.stdout
        assert (child.stdout.read(), child.wait()) == (b"", 0)
    assert sent < 2 * PAYLOAD_MAX
    (said,) = host.faults()
    assert "larger than 64 MiB" in said


@pytest.mark.wide
def test_an_unknown_agent_is_named(host):
    assert host.run(b"{}", "nobody") == {}
    assert "No agent is called 'nobody'" in host.faults()[0]


@pytest.mark.wide
@pytest.mark.parametrize("args", [("--help",), ("claude-code", "Stop", "more")])
def test_wrong_usage_says_so_and_blocks_nothing(host, args):
    with host.spawn(*args) as child:
        out, err = child.communicate(b"")
    assert (child.returncode, out) == (0, b"")
    assert b"Usage: sightline hook" in err


def broken_store(host):
    host.store.write_bytes(b"this is no database" * 100)


def missing_log(host):
    file = host.store
    file.unlink()
    Path(f"{file}-wal").write_bytes(b"left")


def newer_store(host):
    with sqlite3.connect(host.store) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()


def broken_settings(host):
    config = host.home / ".config" / "sightline"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("policy = [")


STORES = [broken_store, missing_log, newer_store, broken_settings]


@pytest.mark.wide
@pytest.mark.parametrize("spoil", STORES)
def test_a_store_or_settings_that_cannot_be_read_open_the_guard(host, spoil):
    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    spoil(host)
    assert set(host.run(host.write(path, "lost\n"))) == {"systemMessage"}
    assert len(host.faults()) == 1


@pytest.mark.wide
@pytest.mark.parametrize(
    "spoil", [broken_store, broken_settings, *widely(missing_log, newer_store)]
)
def test_or_close_it_where_the_user_says_so(host, spoil):
    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    spoil(host)
    host.environ["SIGHTLINE_FAIL"] = "closed"
    said = refusal(host.run(host.write(path, "lost\n")))
    assert "could not judge" in said
    assert "SIGHTLINE_FAIL=open" in said
    assert host.run(host.payload("Stop")) == {}  # only attempts are refused, and the user was told


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_an_event_that_up_took_and_did_not_answer_follows_the_setting(host, fail):
    environ = host.environ | {"SIGHTLINE_FAIL": fail}
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    said = Call("claude-code", environ, str(host.home), given=host.given()).unanswered(raw)
    assert bool(refusal(json.loads(said))) is (fail == "closed")
    assert "could not judge a step" in json.loads(said)["systemMessage"]
    assert host.faults() == [SILENT]


@pytest.mark.wide
def test_a_repository_with_broken_settings_does_not_open_a_closed_guard(host):
    config = host.home / ".config" / "sightline"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('fail = "closed"\nprotect = ["a"]\n')
    (host.root / "sightline.toml").write_text("policy = [")
    path = str(host.root / "a")
    asked = host.run(host.write(path, "b\n"))["hookSpecificOutput"]
    assert asked["permissionDecision"] == "ask", "by the user's own settings"
    host.store.write_bytes(b"this is no database" * 100)
    assert "could not judge" in refusal(host.run(host.write(path, "b\n")))


@pytest.mark.wide
@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_store_that_is_locked_is_waited_for_until_the_deadline(host, fail):
    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    host.environ["SIGHTLINE_DEADLINE_S"] = "0.3"
    host.environ["SIGHTLINE_FAIL"] = fail
    db = sqlite3.connect(host.store, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    try:
        said = host.run(host.edit(path, "a = 1", "a = 2"))
    finally:
        db.close()
    if fail == "open":
        assert refusal(said) == ""
        assert "could not judge this edit" in said["hookSpecificOutput"]["additionalContext"]
    else:
        assert "could not judge this edit" in refusal(said)
    assert host.faults() == [f"The store or the disk did not answer within 0.3 s. {HELD}"]


@pytest.mark.wide
@posix
def test_a_disk_that_hangs_does_not_hang_the_agent(host):
    """A pipe nobody writes to: opening it waits for ever."""
    host.ask(host.payload("SessionStart", source="startup"))
    host.environ["SIGHTLINE_DEADLINE_S"] = "0.3"
    os.mkfifo(host.home / "s1.jsonl")
    assert set(host.run(host.payload("Stop"))) == {"systemMessage"}
    assert host.faults() == ["The store or the disk did not answer within 0.3 s."]


@pytest.mark.wide
@posix
def test_a_full_disk_lets_the_agent_go_on(host):
    """The limit on a file's size stands in for the end of the disk."""
    import resource

    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))

    def limit():
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    with host.spawn(preexec_fn=limit) as child:
        out, _ = child.communicate(host.edit(path, "a = 1", "a = 2"))
    assert child.returncode == 0
    assert "guard is off" in json.loads(out)["systemMessage"]
    assert host.faults()
    assert host.run(host.edit(path, "a = 1", "a = 2")) == {}  # and nothing is broken by it


@pytest.mark.wide
def test_a_log_that_cannot_be_written_is_said_on_stderr(host):
    (host.state / "hooks.log").mkdir(parents=True)
    with host.spawn() as child:
        out, err = child.communicate(b"")
    assert (child.returncode, out) == (0, b"")
    assert b"not a JSON object" in err


def test_a_clock_that_steps_back_changes_no_verdict(host):
    """What is recorded as of tomorrow is before what comes today: positions decide."""
    path = host.put("a.py", "a = 1\n")
    tomorrow = 4_000_000_000_000_000
    with host_session(host, lambda: tomorrow) as session:
        session.read("a.py")
    host.put("a.py", "a = 3\n")
    assert "a = 3" in refusal(host.ask(host.edit(path, "a = 1", "a = 2")))
    assert host.faults() == []


def host_session(host, clock):
    import sightline

    host.ask(host.payload("SessionStart", source="startup"))
    return sightline.open_session(host.root, id="s1", store=f"sqlite://{host.store}", clock=clock)


def test_an_error_nobody_foresaw_leaves_no_text_of_a_file_in_the_log(host):
    """A lone half of a character cannot be stored."""
    raw = host.write(str(host.root / "a.py"), "secret").replace(b"secret", b"secret \\ud800")
    host.ask(raw)
    assert "secret" not in " ".join(host.faults())


# The log


@pytest.mark.wide
def test_the_log_is_private_and_tells_who_and_what(host):
    host.run(b"{", "claude-code", "Stop")
    file = host.state / fault_log.NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(host.state.stat().st_mode) == 0o700
    (fault,) = fault_log.faults(str(host.state))
    assert (fault.agent, fault.event) == ("claude-code", "Stop")


@pytest.mark.wide
def test_the_log_is_cut_at_its_limit_into_one_older_file(tmp_path):
    home = str(tmp_path)
    for number in range(2_500):
        fault_log.note(home, "a", "e", "s", f"{number} " + "x" * 990)
    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert set(sizes) == {"hooks.log", "hooks.log.1", "hooks.log.lock"}
    assert max(sizes.values()) < fault_log.BYTES_MAX + 2_000
    assert [int(f.message.split()[0]) for f in fault_log.faults(home, 3)] == [2497, 2498, 2499]


def test_a_line_that_was_cut_short_hides_no_other(tmp_path):
    fault_log.note(str(tmp_path), "a", "e", "s", "one")
    with (tmp_path / fault_log.NAME).open("a") as file:
        file.write('{"at": "2026\n')
    fault_log.note(str(tmp_path), "a", "e", "s", "two\nlines")
    assert [fault.message for fault in fault_log.faults(str(tmp_path))] == ["one", "two lines"]


# Many at once


@pytest.mark.full
@pytest.mark.wide
def test_hooks_of_eight_processes_at_once_lose_no_fact(host):
    calls, workers = 5, 8
    raws = []
    for worker in range(workers):
        for call in range(calls):
            path = host.put(f"f{worker}_{call}.py", f"x = {call}\n")
            raws.append(host.shown(path, f"x = {call}\n", session=f"s{worker}"))
    raws += [
        host.payload("UserPromptSubmit", f"s{worker}", prompt="x") for worker in range(workers)
    ]
    with ThreadPoolExecutor(workers) as pool:
        assert list(pool.map(host.run, raws)) == [{}] * len(raws)
    facts = host.facts()
    assert host.faults() == []
    assert len(kinds(facts, Seen)) == calls * workers
    assert len(kinds(facts, TurnBegan)) == workers


@given(
    st.dictionaries(
        st.sampled_from(["SIGHTLINE_HOME", "XDG_STATE_HOME", "LOCALAPPDATA"]),
        st.sampled_from(["", "/elsewhere", "~/mine", "relative"]),
    ),
    st.sampled_from(["linux", "darwin", "win32"]),
)
def test_pipes_are_looked_for_where_the_settings_put_the_state(environ, platform):
    if environ.get("SIGHTLINE_HOME") == "relative":
        return  # a fault of the settings
    settings = load_settings(os.devnull, environ=environ, home="/h", platform=platform)
    assert state_base(environ, "/h", platform) == settings.state_home


@posix
@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("by_folder", [True, False])
def test_a_shown_file_that_became_a_symlink_to_outside_is_refused(host, marked, by_folder):
    outside = host.folder("elsewhere", marked=marked)
    (outside / "a.py").write_text("a = 1\n")
    (host.root / "src").mkdir()
    path = host.put("src/a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    Path(path).unlink()
    if by_folder:
        (host.root / "src").rmdir()
        (host.root / "src").symlink_to(outside)
    else:
        Path(path).symlink_to(outside / "a.py")
    assert "left src/a.py alone" in refusal(host.ask(host.edit(path, "a = 1", "a = 2")))
    assert "left src/a.py alone" in refusal(host.ask(host.write(path, "a = 2\n")))


@posix
@pytest.mark.parametrize("marked", [True, False])
def test_a_merge_is_not_claimed_where_a_symlink_to_outside_came_before_the_write(host, marked):
    outside = host.folder("elsewhere", marked=marked) / "a.py"
    path = host.put("a.py", "a = 1\n\n\nb = 1\n")
    host.ask(host.shown(path, "a = 1\n\n\nb = 1\n"))
    host.put("a.py", "a = 7\n\n\nb = 1\n")
    asked = host.ask(host.write(path, "a = 1\n\n\nb = 2\n"))["hookSpecificOutput"]
    merged = asked["updatedInput"]["content"]
    assert merged == "a = 7\n\n\nb = 2\n"
    outside.write_text("elsewhere\n")
    Path(path).unlink()
    Path(path).symlink_to(outside)
    outside.write_text(merged)  # the host follows the symlink
    given = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": asked["updatedInput"]}
    told = {"filePath": path, "type": "update", "content": merged, "originalFile": "elsewhere\n"}
    told["structuredPatch"] = []
    after = host.payload("PostToolUse", **given, tool_response=told)
    answers = [host.ask(after), host.ask(host.payload("UserPromptSubmit", prompt="go on"))]
    assert "both" not in json.dumps(answers)
    timelines = [host.root, outside.parent] if marked else [host.root]
    assert [kinds(host.facts(root), Merged) for root in timelines] == [[]] * len(timelines)


@posix
def test_a_link_to_outside_that_was_there_all_the_time_is_guarded_by_its_own_workspace(host):
    outside = host.folder("elsewhere")
    (outside / "a.py").write_text("a = 1\n")
    (host.root / "a.py").symlink_to(outside / "a.py")
    path = str(host.root / "a.py")
    host.ask(host.shown(path, "a = 1\n"))
    assert host.ask(host.edit(path, "a = 1", "a = 2")) == {}
    (outside / "a.py").write_text("a = 7\n")
    assert "changed" in refusal(host.ask(host.edit(path, "a = 1", "a = 2")))


def test_a_pattern_that_is_left_out_is_told_once_and_the_guard_goes_on(host):
    (host.root / ".gitignore").write_text("*a" * 500_000)
    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    (host.root / "a.py").write_text("a = 7\n")
    host.ask(host.payload("UserPromptSubmit", prompt="go on"))
    assert "+ 1  a = 7" in refusal(host.ask(host.edit(path, "a = 1", "a = 2")))
    told = [host.ask(host.payload("UserPromptSubmit", prompt="go on")) for _ in range(3)]
    assert ["left out" in json.dumps(each) for each in told] == [True, False, False]
    assert host.faults() == []
