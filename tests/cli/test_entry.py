"""The process: exit codes, streams, what is imported, and who is never blocked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.examples import widely

import sightline


@pytest.mark.wide
def test_a_hook_that_cannot_be_judged_lets_the_agent_go_on(sl):
    done = sl.process("hook", "claude-code", stdin=b'{"tool_name": "Edit"}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.wide
def test_a_hook_behind_other_options_passes_too(sl):
    done = sl.process("--debug", "hook", "claude-code", "--event", "x")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Usage: sightline hook AGENT" in done.stderr


@pytest.mark.wide
def test_a_hook_imports_no_click(sl):
    code = (
        "import os, sys; from sightline.cli.entry import main\n"
        "os._exit = lambda code: sys.exit('click' in sys.modules)\n"
        "main(['hook', 'claude-code'])"
    )
    source = str(Path(sightline.__file__).parents[1])
    start = f"import sys; sys.path.insert(0, {source!r})\n"
    command = [sys.executable, "-S", "-c", start + code]
    assert subprocess.run(command, input=b"{}", check=False).returncode == 0


PACKAGES = {file.parent.name for file in Path(sightline.__file__).parent.glob("*/__init__.py")} - {
    "cli"
}
"""All packages below the command line."""

OF_OTHER_VERBS = {
    *("answers", "briefing", "codegraph", "messages", "search", "subtasks", "window"),
    *("agents", "hooks.call", "reference_agent", "api.session", "api.opening", "api.tools"),
}
"""Packages of verbs that a question about the workspace does not call."""

NOT_FOR_A_LOOK = {
    *OF_OTHER_VERBS,
    *("shell_parsing", "changes.attribution", "changes.commands", "changes.git_operations"),
    *("guard.check", "guard.evaluation", "guard.verdict", "guard.words"),
    *("guard.unfinished", "guard.write_journal"),
    *("filesystem.tree_events", "filesystem.watch.choose", "subprocess", "ctypes"),
}
"""What `status` must not import, either: the verdict on an attempt, and what only a changed file, an unfinished
write, git or a watcher needs."""


def loaded_by(*args):
    """Return the modules that a process has loaded when its command has answered, those of Sightline without
    its name."""
    code = (
        "import sys; from sightline.cli.group import cli\n"
        "code = cli.run(sys.argv[1:]); print(*sys.modules); raise SystemExit(code)"
    )
    source = str(Path(sightline.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.removeprefix("sightline.") for name in done.stdout.splitlines()[-1].split()}


def of(packages, loaded):
    return {name for name in loaded if any(f"{name}.".startswith(f"{p}.") for p in packages)}


def test_the_help_imports_no_command():
    loaded = loaded_by("--help")
    ours = ("group", "failures", "options", "output", "completion")
    assert of({"cli"}, loaded) == {"cli", *(f"cli.{name}" for name in ours)}
    assert of({*PACKAGES, "msgspec"}, loaded) == of({"filesystem", "model", "text"}, loaded)


def test_a_look_imports_nothing_that_only_a_change_needs(sl):
    sl.put("a.py", "a = 1\n")
    sl("read", "a.py")
    assert of({*NOT_FOR_A_LOOK, "rapidfuzz"}, loaded_by("status")) == set()


@pytest.mark.parametrize("command", ["gc", "log"])
def test_a_question_about_the_workspace_imports_no_package_of_other_verbs(sl, command):
    sl.put("a.py", "a = 1\n")
    sl("read", "a.py")
    loaded = loaded_by(command)
    assert of({*OF_OTHER_VERBS, "rapidfuzz"}, loaded) == set()
    assert command == "gc" or of(NOT_FOR_A_LOOK, loaded) == set()


def test_a_command_never_looks_for_garbage_among_the_modules_that_it_loads(tmp_path):
    code = (
        "import gc, sys; from sightline.cli.entry import main\n"
        "seen = lambda: [each['collections'] for each in gc.get_stats()]\n"
        "before = seen(); main(['status', *sys.argv[1:]])\n"
        "print('looked', seen() == before and gc.get_freeze_count() > 0)"
    )
    where = ["--workspace", str(tmp_path), "--store", f"sqlite://{tmp_path}/s.db"]
    command = [sys.executable, "-c", code, *where]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "looked True"


MORE_CALLS = [
    ("check new.py", 1),
    ("read missing.py", 1),
    ("edit a.py --old a", 2),
    ("read a.py --lines 9-3", 2),
    ("status --workspace missing", 2),
    ("--version", 0),
    ("check a.py", 0),
    ("nonsense", 2),
]
"""The golden stories hold the codes of many more, called in this process."""


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ("edit a.py --old nowhere --new b", 1),
        ("status --store http://x", 3),
        ("", 0),
        *(pytest.param(*call, marks=pytest.mark.wide) for call in MORE_CALLS),
    ],
)
def test_the_exit_code_says_how_it_went(sl, args, code):
    sl.put("a.py", "a = 1\n")
    sl.put("new.py", "")
    sl("read", "a.py")
    assert sl.process(*args.split()).returncode == code


def test_an_error_is_one_line_with_one_hint_and_no_traceback(sl):
    done = sl.process("read", "missing.py")
    lines = done.stderr.decode().splitlines()
    assert [line.split(":")[0] for line in lines] == ["Error", "Hint"]
    assert done.stdout == b""


@pytest.mark.wide
def test_a_traceback_is_there_for_who_asks(sl):
    assert b"Traceback" in sl.process("read", "missing.py", "--debug").stderr


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupted_command_is_recorded_and_ends_with_130(sl):
    """The user's Ctrl-C reaches the child; what it wrote before is told as the command's."""
    script = "echo made > made.txt; echo ready; exec sleep 60"
    with sl.spawn("run", "--", "sh", "-c", script, own_group=True) as child:
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
        signal_group(child.pid)
        child.communicate()
    assert child.returncode == 130
    assert "made.txt was created by the command you ran: sh -c" in sl("log", "made.txt").out


def signal_group(pid: int) -> None:
    os.killpg(pid, signal.SIGINT)


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_while_waiting_for_text_ends_with_130(sl):
    with sl.spawn("--debug", "write", "a.txt", own_group=True) as child:
        # It reads stdin only once it is there to be interrupted; until then there is nothing to see.
        assert child.stdin
        child.stdin.write(b"x")
        child.stdin.flush()
        wait_until_reading(child.pid)
        signal_group(child.pid)
        child.communicate()
    assert child.returncode == 130


def wait_until_reading(pid: int) -> None:
    """Until the process sleeps in a read of its stdin pipe, as /proc tells where it is."""
    state = Path(f"/proc/{pid}/syscall")
    if not state.exists():
        pytest.skip("needs /proc to see that the process waits")
    while not state.read_text().startswith("0 0x0 "):
        pass


@pytest.mark.wide
def test_a_closed_pipe_ends_the_command_quietly(sl):
    sl.put("a.txt", f"{199 * 'x'}\n" * 1_900)  # more than a pipe holds
    with sl.spawn("read", "a.txt", "--quiet") as child:
        assert child.stdout
        assert child.stderr
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == b""


@pytest.mark.wide
@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfcaf\xe9 \xff\r\n\xc3\xa9\nb",
        *widely(b"caf\xe9\n", b"\xc3\xa9 \xff\n", b"a\r\nb", b"\xef\xbb\xbfx\r\n"),
        *widely("\ufeffa\n".encode("utf-16-le"), b""),
    ],
)
def test_bytes_go_through_as_they_are(sl, data):
    sl.put("a.txt", data)
    assert sl.process("read", "a.txt").stdout == data


@pytest.mark.wide
def test_some_lines_keep_their_own_ends(sl):
    sl.put("mixed.txt", b"one\r\ntwo\nthree\r\nfour")
    assert sl.process("read", "mixed.txt", "--lines", "1-3").stdout == b"one\r\ntwo\nthree\r\n"
    assert sl.process("read", "mixed.txt", "--lines", "3-").stdout == b"three\r\nfour"


@pytest.mark.wide
def test_a_secret_that_is_never_stored_is_still_read_exactly(sl):
    sl.put(".env", b"KEY=\xff\r\n")
    assert sl.process("read", ".env").stdout == b"KEY=\xff\r\n"


@pytest.mark.wide
def test_text_from_stdin_is_written_byte_for_byte(sl):
    data = b"one\r\n\xff two\nthree"
    assert sl.process("write", "new.txt", stdin=data).returncode == 0
    assert (sl.root / "new.txt").read_bytes() == data


@pytest.mark.wide
def test_old_and_new_text_are_literal(sl):
    file = sl.put("a.txt", "a\\nb\n")
    done = sl.process("edit", "a.txt", "--old", "a\\nb", "--new", "$(x)\n\\t", "--quiet")
    assert (done.returncode, file.read_bytes()) == (0, b"$(x)\n\\t\n")
