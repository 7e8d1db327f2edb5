"""up: what a terminal shows of real facts, what a pipe gets, and how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from tests.support.examples import widely
from tools.terminal import Terminal

import sightline
from sightline.api.live import Live
from sightline.cli.exclude import MARK, remove
from sightline.cli.live import loop
from sightline.cli.live.screen import Screen
from sightline.cli.live.view import Head
from sightline.history.session_history import survey
from sightline.testing import FixedClock

SOURCE = str(Path(sightline.__file__).parents[1])
PROGRAM = """
import fcntl, signal, sys, termios
from sightline.cli.entry import main
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C typed there is for us
signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner in the background has it ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and one that is to outlive its terminal this
sys.exit(main())
"""


class Seat:
    """A person at a pseudo-terminal who runs the command and reads what the screen shows."""

    def __init__(self, sl, *args, columns=80, rows=24, env=None):
        self.fd, side = pty.openpty()
        self.name = os.ttyname(side)
        self.size(columns, rows)
        clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        paths = {"PYTHONPATH": SOURCE, "TERM": "xterm", "TZ": "UTC", "HOME": str(sl.home.parent)}
        paths["PATH"] = str(sl.home)  # no agent is installed there
        self.child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *args],
            cwd=sl.root,
            env=clean | paths | (env or {}),
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
        )
        os.close(side)
        self.written = b""

    def size(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.terminal = Terminal(columns, rows)

    def until(self, words):
        """Read on until the screen shows these words: its lines then."""
        while not any(words in line for line in self.terminal.lines()):
            assert self._read(), f"it ended without {words!r}: {self.terminal.lines()}"
        return self.terminal.lines()

    def until_written(self, words):
        """Read on until these words were written, be it that the screen was cleared since."""
        while words not in self.written:
            assert self._read(), f"it ended without {words!r}: {self.written!r}"

    def type(self, keys):
        os.write(self.fd, keys)

    def end(self):
        """Read to the end: the exit code, and the lines that stay."""
        while self._read():
            pass
        return self.child.wait(), self.terminal.lines()

    def _read(self):
        """Take in what was written; False when the other end is closed."""
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # how Linux says so
            return False
        self.written += data
        self.terminal.feed(data)
        return True


@pytest.fixture
def seat(sl):
    """Runs the command at a terminal, and ends it."""
    seats = []

    def sit(*args, **options):
        seats.append(Seat(sl, *args, **options))
        return seats[-1]

    yield sit
    for each in seats:
        if each.child.poll() is None:
            each.child.kill()
        each.child.wait()
        os.close(each.fd)


@pytest.fixture
def agent(sl):
    with sightline.open_session(sl.root, id="s1", agent="claude-code") as session:
        yield session


def test_the_screen_follows_what_happens(sl, seat, agent):
    file = sl.put("src/app.py", "a = 1\nb = 2\nc = 3\n")
    at = seat("up")
    at.until("claude-code s1")
    agent.turn()
    agent.read("src/app.py")
    at.until("fresh      src/app.py")
    file.write_text("a = 9\nb = 2\nc = 3\n")
    lines = at.until("stale      src/app.py")
    assert any(line.startswith("claude-code s1  turn 1, last heard of") for line in lines)
    with pytest.raises(sightline.EditRefused):
        agent.edit("src/app.py", "a = 1", "a = 2")
    at.until("refused   src/app.py  its lines changed since")
    agent.write("src/app.py", "a = 1\nb = 2\nc = 7\n")
    lines = at.until("merged    src/app.py")
    assert max(map(len, lines)) <= 80
    at.type(b"\x03")
    code, lines = at.end()
    assert code == 130
    assert any("merged    src/app.py" in line for line in lines)
    assert lines[-1].startswith("Ended.")
    assert at.terminal.cursor_shown


@pytest.mark.wide
def test_keys_are_not_shown_and_the_terminal_is_given_back(seat):
    at = seat("up")
    before = termios.tcgetattr(at.fd)
    at.until("No agent was shown")
    assert not termios.tcgetattr(at.fd)[3] & termios.ECHO
    at.type(b"abc\n")
    at.child.send_signal(signal.SIGTERM)
    code, lines = at.end()
    assert code == 128 + signal.SIGTERM
    assert termios.tcgetattr(at.fd) == before
    assert not any("abc" in line for line in lines)
    assert at.terminal.cursor_shown


@pytest.mark.wide
def test_a_terminal_that_is_closed_ends_the_view(seat):
    at = seat("up")
    at.until("No agent was shown")
    os.close(at.fd)
    assert at.child.wait() == 128 + signal.SIGHUP
    at.fd = os.open(os.devnull, os.O_RDONLY)


@pytest.mark.wide
def test_another_size_is_drawn_afresh(sl, seat, agent):
    sl.put("packages/server/src/handlers/a_rather_long_name.py", "x\n")
    agent.read("packages/server/src/handlers/a_rather_long_name.py")
    at = seat("up", columns=120)
    at.until("fresh      packages/server/src/handlers/a_rather_long_name.py")
    at.size(50, 24)
    lines = at.until("…/a_rather_long_name.py")
    assert lines[0].startswith("Sightline ")
    assert max(map(len, lines)) <= 50


@pytest.mark.wide
def test_after_a_stop_all_is_drawn_again(seat):
    """Ctrl-Z. A session without a shell cannot be stopped: it is as if it went on at once."""
    at = seat("up")
    at.until("No agent was shown")
    at.terminal = Terminal()
    at.type(b"\x1a")
    at.until("No agent was shown")
    assert b"\x1b[?25h\x1b[?25l\x1b[H\x1b[J" in at.written
    assert not at.terminal.cursor_shown


@pytest.mark.wide
@pytest.mark.parametrize(
    "options", [{}, {"env": {"NO_COLOR": "1"}}, *widely({"args": ["--no-color"]})]
)
def test_colours_are_there_unless_nobody_wants_them(sl, seat, agent, options):
    sl.put("a.py", "x\n")
    agent.read("a.py")
    at = seat("up", *options.get("args", ()), env=options.get("env"))
    at.until("fresh")
    assert (b"\x1b[32mfresh" in at.written) is not bool(options)


def follow(sl, agent, *args, env=None):
    """Run it in a pipe, let something happen, and end it: its exit code and two streams."""
    file = sl.put("app.py", "a\n")
    with sl.spawn("up", *args, own_group=True) as child:
        child.stderr.readline()  # it says that it watches
        agent.read("app.py")
        first = child.stdout.readline()
        file.write_text("b\n")
        second = child.stdout.readline()
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate()
        return child.returncode, (first + second + out).decode(), err.decode()


@pytest.mark.wide
def test_a_pipe_gets_a_line_per_event(sl, agent):
    code, out, err = follow(sl, agent)
    seen, changed = out.splitlines()
    assert seen.endswith("  s1  app.py: line 1 shown (read)")
    assert changed.endswith("  app.py was changed by the user or another program")
    assert code == 130
    assert err.startswith("Ended.")


@pytest.mark.wide
def test_a_pipe_that_nobody_reads_any_more_ends_it(sl, agent):
    with sl.spawn("up", own_group=True) as child:
        child.stderr.readline()  # it says that it watches
        child.stdout.close()
        child.wait()
        assert (child.returncode, child.stderr.read()) == (0, b"")


@pytest.mark.wide
def test_programs_get_an_object_per_event(sl, agent):
    _, out, _ = follow(sl, agent, "--json")
    seen, changed = map(json.loads, out.splitlines())
    assert (seen["kind"], seen["path"], seen["session"]) == ("seen", "app.py", "s1")
    assert (changed["kind"], changed["cause"]["kind"]) == ("changed", "external")
    assert [json.loads(line) for line in sl("log", "--json").out.splitlines()][-2:] == [
        seen,
        changed,
    ]


@pytest.mark.wide
def test_a_terminal_that_cannot_be_drawn_on_gets_lines(sl, seat, agent):
    sl.put("app.py", "a\n")
    at = seat("up", env={"TERM": "dumb"})
    at.until("Watching")
    agent.read("app.py")
    at.until("app.py: line 1 shown (read)")
    assert b"\x1b" not in at.written


class Enough(Exception):
    """Ends a view that would go on for ever."""


def test_nothing_is_written_while_nothing_happens(sl, agent):
    """Driven by hand: the waits between its looks are where things happen."""
    file = sl.put("app.py", "a\n")
    agent.read("app.py")
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    ground = agent._context
    watched = survey(ground.store, ground.workspace, ground.settings, FixedClock())
    sizes: list[int] = []

    def wait(_seconds, _descriptor):
        os.set_blocking(terminal, False)
        try:
            sizes.append(len(os.read(terminal, 65536)))
        except BlockingIOError:
            sizes.append(0)
        if len(sizes) == 10:
            file.write_text("b\n")
        if len(sizes) == 20:
            raise Enough
        return False

    with os.fdopen(side, "w", encoding="utf-8") as stream:
        screen = Screen(stream, lambda: Head("", ""), lambda _at: "12:00:00", colour=True)
        with Live(watched) as live, pytest.raises(Enough):
            loop.run(live, screen, wait)
    assert sizes[0] > 0
    assert sizes[2:10] == [0] * 8
    assert sum(sizes[10:12]) > 0
    assert sizes[13:] == [0] * 7


def test_a_look_that_takes_long_is_followed_by_a_longer_wait(sl, agent, monkeypatch):
    waits: list[tuple[float, int | None]] = []

    def wait(seconds, descriptor):
        waits.append((seconds, descriptor))
        raise Enough

    times = iter([100.0, 100.5])
    monkeypatch.setattr(loop, "monotonic", lambda: next(times))
    ground = agent._context
    watched = survey(ground.store, ground.workspace, ground.settings, FixedClock())
    with Live(watched) as live, pytest.raises(Enough):
        loop.run(live, live_lines(), wait)
    assert waits == [(loop.REST_S, None)]  # not even for what happens meanwhile


def live_lines():
    from sightline.cli.live.lines import Lines

    return Lines(json=True)


def test_once_prints_the_state_and_exits(sl):
    sl.put("new.py", "x\n")
    sl("read", "new.py")
    done = sl("up", "--once")
    assert (done.code, done.err) == (0, "")
    assert str(sl.root) in done.out
    assert "store.db" in done.out
    assert "new.py" in done.out


def test_once_names_the_agents_that_are_connected(sl):
    (sl.root / ".claude").mkdir()
    assert sl("up", "--once", "--json").json["agents"] == []
    assert "none connected" in sl("up", "--once").out
    assert sl("init", "claude-code").code == 0
    assert sl("up", "--once", "--json").json["agents"] == ["claude-code"]


def test_once_in_a_folder_that_is_no_workspace_is_one_error_in_words_of_commands(sl):
    done = sl("up", "--once", "--workspace", "/")
    assert (done.code, done.err.count("cannot be a workspace")) == (2, 1)
    assert "open_session" not in done.err
    assert "--workspace DIR" in done.err


@pytest.fixture
def settings(sl):
    """Where Claude Code, which was used here before, keeps this workspace's own settings."""
    (sl.root / ".claude").mkdir()
    return sl.root / ".claude" / "settings.local.json"


@pytest.mark.wide
def test_an_agent_that_is_found_is_connected_once_the_user_says_so(seat, settings):
    at = seat("up")
    at.until("Connect it? [Y/n]")
    assert not settings.exists()
    at.type(b"\n")
    at.until("Claude Code is connected.")
    assert "hook_entry.py" in settings.read_text()
    at.type(b"\x03")
    assert at.end()[0] == 130
    again = seat("up")
    assert not any("Connect it" in line for line in again.until("Claude Code is connected."))


@pytest.mark.wide
def test_who_does_not_want_it_is_told_how(seat, settings):
    at = seat("up")
    at.until("Connect it? [Y/n]")
    at.type(b"n\n")
    at.until("Claude Code is not connected, its edits are not judged.")
    assert not settings.exists()


@pytest.mark.wide
def test_ctrl_c_at_the_question_is_no_answer(seat, settings):
    at = seat("up")
    at.until("Connect it? [Y/n]")
    at.type(b"\x03\x04")  # one that comes just before input() reads is heeded when it returns
    assert at.end()[0] == 130
    assert not settings.exists()


@pytest.mark.wide
@pytest.mark.parametrize("yes", [True, False])
def test_nobody_is_asked_without_a_terminal(sl, settings, yes):
    with sl.spawn("up", *["--yes"] * yes, own_group=True) as child:
        said = child.stderr.readline().decode()
        said += child.stderr.readline().decode() if yes else ""
        os.killpg(child.pid, signal.SIGINT)
        child.communicate()
    assert settings.exists() is yes
    assert ("Claude Code is connected." in said) is yes
    assert ("Connect it: sightline init" in said) is not yes


@pytest.mark.wide
def test_what_a_hook_tells_is_seen(sl, seat):
    """A real hook process, as the settings name it, while the view runs."""
    file = sl.put("app.py", "a = 1\n")
    at = seat("up")
    at.until("No agent was shown a file here yet.")
    payload = {"session_id": "5e551011-0000", "cwd": str(sl.root), "transcript_path": ""}
    began = {**payload, "hook_event_name": "SessionStart", "source": "startup"}
    text = {"filePath": str(file), "content": "a = 1", "numLines": 1, "startLine": 1}
    read = {
        **payload,
        "hook_event_name": "PostToolUse",
        "tool_name": "Read",
        "tool_use_id": "toolu_1",
        "tool_input": {"file_path": str(file)},
        "tool_response": {"type": "text", "file": {**text, "totalLines": 1}},
    }
    script = Path(SOURCE) / "sightline" / "hooks" / "hook_entry.py"
    for each in (began, read):
        subprocess.run(
            [sys.executable, "-I", "-S", script, "claude-code"],
            input=json.dumps(each).encode(),
            env=os.environ | {"HOME": str(sl.home.parent)},
            check=True,
        )
    at.until("claude-code 5e551011")
    at.until("fresh      app.py")


@pytest.mark.wide
def test_a_second_view_says_that_hooks_are_answered_by_the_first(sl, seat):
    first = seat("up")
    first.until("No agent was shown")
    second = seat("up")
    second.until_written(b"is taken")
    second.until("No agent was shown")


RECORDED = Path(__file__).parents[1] / "agents" / "claude_code" / "data" / "transcript-tools.jsonl"


@pytest.fixture
def recorded(sl, monkeypatch):
    """A conversation that Claude Code recorded in this workspace, with no hook of ours."""
    from sightline.recordings.claude_code.recorded_sessions import folder_name

    text = RECORDED.read_text(encoding="utf-8")
    cwd = json.dumps(str(sl.root))
    rows = [json.loads(line) for line in text.splitlines()]
    old = next(row["cwd"] for row in rows if "cwd" in row)
    folder = sl.home.parent / ".claude" / "projects" / folder_name(str(sl.root))
    folder.mkdir(parents=True)
    (folder / "5e551011.jsonl").write_text(text.replace(json.dumps(old)[1:-1], cwd[1:-1]))
    monkeypatch.setenv("HOME", str(sl.home.parent))


@pytest.mark.wide
def test_recorded_conversations_are_offered_once(sl, seat, recorded):
    at = seat("up", env={"CLAUDE_CONFIG_DIR": str(sl.home.parent / ".claude")})
    at.until("Connect it? [Y/n]")
    at.type(b"n\n")
    at.until("1 conversation of Claude Code recorded here before")
    at.until("Read them in, to look at? [y/N]")
    at.type(b"y\n")
    at.until("Read in: 1 conversation,")
    at.until("No agent was shown a file here yet.")
    again = seat("up")
    again.until("Connect it? [Y/n]")
    again.type(b"n\n")
    assert not any("recorded here" in line for line in again.until("No agent was shown"))
    assert [s["id"] for s in sl("session", "list", "--json").json["sessions"]] == [
        "archive:5e551011"
    ]


@pytest.mark.wide
def test_recorded_conversations_are_read_in_on_request_and_only_once(sl, recorded):
    first = sl("up", "--once", "--import")
    assert first.code == 0
    assert first.err.startswith("Read in: 1 conversation, ")
    assert "archive:5e551011" in first.out
    assert "Read in: 0 conversations, 0 facts" in sl("up", "--once", "--import").err


def test_a_recording_read_in_stores_no_text_of_a_hard_link_to_a_secret(sl, recorded):
    def stored():
        with sightline.open_session(sl.root, id="archive:5e551011") as session:
            store = session._context.store
            known = store.known(session.id)
            return {path: store.blob(row.belief.text) is not None for path, row in known.items()}

    sl.put(".env", "TOKEN=hunter2\n")
    os.link(sl.root / ".env", sl.root / "notes.txt")
    assert sl("up", "--once", "--import").code == 0
    found = stored()
    assert not found.pop("notes.txt")
    assert all(found.values())


def test_nothing_recorded_is_said(sl, monkeypatch):
    monkeypatch.setenv("HOME", str(sl.home.parent))
    assert "No conversation was recorded here" in sl("up", "--once", "--import").err


@pytest.mark.wide
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("command", "Edits go on being judged"),
        pytest.param("http", "edits are not judged", marks=pytest.mark.wide),
    ],
)
def test_the_last_line_says_what_is_guarded_from_now_on(sl, settings, kind, said):
    assert sl("init", "claude-code", "--kind", kind).code == 0
    with sl.spawn("up", own_group=True) as child:
        child.stderr.readline()
        os.killpg(child.pid, signal.SIGINT)
        err = child.communicate()[1].decode()
    assert said in err


@pytest.mark.wide
def test_keys_lead_to_a_file_and_to_the_facts_behind_its_state(sl, seat, agent):
    for path in ("a.py", "b.py"):
        sl.put(path, "x\n")
        agent.read(path)
    sl.put("b.py", "y\n")
    at = seat("up", env={"NO_COLOR": "1"})
    before = termios.tcgetattr(at.fd)
    assert at.until("stale      b.py")[0].endswith("? keys, q ends")
    at.type(b"\x1b[B")
    at.until("> stale      b.py")
    at.type(b"j")
    at.until("> fresh      a.py")
    at.type(b"k\r")
    lines = at.until("Now: stale.")
    assert any(line.startswith("b.py, as session s1 (claude-code) knows it:") for line in lines)
    assert len(lines) <= 24
    at.type(b"\x1b")
    at.until("> stale      b.py")
    at.type(b"?")
    at.until("q, Ctrl-C       end this view")
    at.type(b"?")
    at.until("> stale      b.py")
    assert b"\x1b[3" not in at.written
    at.type(b"q")
    code, lines = at.end()
    assert code == 0
    assert lines[-1].startswith("Ended.")
    assert termios.tcgetattr(at.fd) == before
    assert at.terminal.cursor_shown


@pytest.mark.wide
def test_without_an_agent_it_says_how_to_connect_one(seat):
    at = seat("up")
    at.until("No agent found. To connect Claude Code: sightline init claude-code")


@pytest.mark.wide
def test_a_hook_that_failed_is_the_first_line(sl, seat, agent):
    from sightline.hooks.fault_log import note

    note(str(sl.home), "claude-code", "PreToolUse", "elsewhere", "of another workspace")
    note(str(sl.home), "claude-code", "PreToolUse", agent.id, "the disk is full")
    at = seat("up")
    lines = at.until("The guard failed at ")
    assert lines[0].endswith("(PreToolUse): the disk is full")
    assert lines[1] == "See what to do: sightline doctor"


def git(sl, *words):
    return subprocess.run(["git", "-C", sl.root, *words], capture_output=True, check=True).stdout


@pytest.fixture
def repository(sl, settings):
    """The workspace as a real repository."""
    os.rmdir(sl.root / ".git")
    git(sl, "init", "-q")
    return sl.root / ".git" / "info" / "exclude"


@pytest.mark.wide
def test_what_it_writes_is_kept_out_of_git_if_the_user_agrees(sl, seat, settings, repository):
    was = repository.read_bytes()
    settings.write_text("{}\n")
    at = seat("up", env={"PATH": os.environ["PATH"]})
    at.until("Connect it? [Y/n]")
    at.type(b"\n")
    at.until("git would add it")
    at.until("Exclude it in")
    at.type(b"\n")
    at.until("Claude Code is connected.")
    assert git(sl, "status", "--porcelain", "-uall") == b""
    assert sl("init", "claude-code", "--remove").code == 0
    assert repository.read_bytes() == was
    at.type(b"q")
    assert at.end()[0] == 0


@pytest.mark.wide
def test_yes_takes_it_and_a_worktree_has_it_in_the_common_folder(
    sl, settings, repository, tmp_path
):
    git(sl, "commit", "-q", "--allow-empty", "-m", "first")
    tree = tmp_path / "tree"
    git(sl, "worktree", "add", "-q", str(tree))
    (tree / ".claude").mkdir()
    repository.write_bytes(b"*.log")  # without a newline at its end
    with sl.spawn("--workspace", str(tree), "up", "--yes", own_group=True) as child:
        said = b"".join(child.stderr.readline() for _ in range(3)).decode()
        os.killpg(child.pid, signal.SIGINT)
        child.communicate()
    assert "git leaves .claude/settings.local.json alone." in said
    lines = repository.read_text().splitlines()
    assert (lines[0], lines[2]) == ("*.log", "/.claude/settings.local.json")
    assert not (tree / ".gitignore").exists()
    assert sl("--workspace", str(tree), "init", "claude-code", "--remove").code == 0
    assert repository.read_text() == "*.log\n"


def test_an_exclude_file_that_is_a_link_stays_one(sl, settings, repository, tmp_path):
    own = tmp_path / "exclude"
    own.write_bytes(b"*.log\n" + os.fsencode(f"{MARK}\n/.claude/settings.local.json\n"))
    repository.unlink()
    repository.symlink_to(own)
    assert remove(str(sl.root), [".claude/settings.local.json"])
    assert repository.is_symlink()
    assert own.read_text() == "*.log\n"
