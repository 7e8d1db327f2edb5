"""The line of a command hook, run as any product may run it, with and without its program."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from sightline.agents.claude_code import hook_settings
from sightline.agents.claude_code.hook_command import SESSION, posix_line
from sightline.agents.hook_line import program_of
from sightline.hooks import hook_entry

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a line for sh")

ENTRY = str(hook_entry.__file__)
PLACE = ".claude/settings.local.json of this project"
SHELLS = [
    pytest.param(each, marks=[] if each == "sh" else pytest.mark.wide)
    for each in ("sh", "dash", "bash", "zsh", "busybox")
    if shutil.which(each)
]
COPILOT = json.dumps(
    {
        "hook_event_name": "PreToolUse",
        "session_id": "031794b7-6136-42fc-915a-51eae887c0b6",
        "timestamp": "2026-11-20T10:40:51.812Z",
        "cwd": "/",
        "tool_name": "Read",
        "tool_input": {"path": "/a.py", "forceReadLargeFiles": True, "detach": False, "x": None},
    }
).encode()


@pytest.fixture
def place(tmp_path):
    """A home, a folder for temporary files, and an environment with nothing else."""
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    environ = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}
    return tmp_path, environ | {
        "PATH": os.environ["PATH"],
        "SIGHTLINE_ANSWERER": "off",
        SESSION: "one",
    }


def run(line, environ, raw=b"{}", shell="sh", cwd="/"):
    program = ["busybox", "sh"] if shell == "busybox" else [shell]
    done = subprocess.run(
        [*program, "-c", line], input=raw, env=environ, cwd=cwd, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b""), done
    return json.loads(done.stdout or b"{}")


def gone(folder, *, python=True):
    """A line of which the interpreter, or only the script, is not there any more."""
    program = str(folder / ".venv/bin/python") if python else sys.executable
    return posix_line(program, f"{folder}/sightline/hooks/hook_entry.py", "claude-code", PLACE)


@pytest.mark.wide
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "raw", [COPILOT, b"", pytest.param(b"raise SystemExit(3)", marks=pytest.mark.wide)]
)
def test_it_ends_well_whatever_comes_on_stdin(place, shell, raw):
    """Copilot CLI refuses each call for which a hook ends with another code than 0."""
    _, environ = place
    line = posix_line(sys.executable, ENTRY, "claude-code", PLACE)
    run(line, environ, raw, shell)


@pytest.mark.wide
def test_it_ends_well_without_stdin_or_path_and_in_a_folder_that_is_gone(place):
    folder, environ = place
    bare = {key: environ[key] for key in ("HOME", "TMPDIR")}  # nothing is left outside of them
    lines = [posix_line(sys.executable, ENTRY, "claude-code", PLACE), gone(folder)]
    (folder / "left").mkdir()
    for line in lines:
        for outer in (
            f"{line}",
            f"cd {folder}/left && rmdir ../left && {line}",
            f"exec <&-; {line}",
        ):
            done = subprocess.run(
                ["/bin/sh", "-c", outer], env=bare, stdin=subprocess.DEVNULL, check=False
            )
            assert done.returncode == 0, outer
            (folder / "left").mkdir(exist_ok=True)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", ["it's", 'a "b" $HOME;`id`', "a\\b é", "-n"])
def test_every_name_of_a_folder_is_passed_on_as_it_is(tmp_path, place, shell, name):
    _, environ = place
    script = tmp_path / name / "sightline/hooks/hook_entry.py"
    script.parent.mkdir(parents=True)
    script.write_text("import json,sys;print(json.dumps({'ran':__file__,'as':sys.argv[1:]}))")
    python = tmp_path / name / "python"
    python.symlink_to(sys.executable)
    environ = {**environ, "CLAUDE_PROJECT_DIR": f"/p/{name}"}
    line = posix_line(str(python), str(script), "claude-code", PLACE)
    handed = ["claude-code", f"project=/p/{name}", "session=one", "CLAUDE_CONFIG_DIR="]
    assert run(line, environ, shell=shell) == {"ran": str(script), "as": handed}
    assert program_of(line) == (str(python), str(script))
    script.unlink()
    assert str(python) in run(line, environ, shell=shell)["systemMessage"]


def test_the_interpreter_takes_the_shells_place(tmp_path, place):
    """The hook's parent is the client: where there is no /proc nothing else would tell the two apart."""
    _, environ = place
    script = tmp_path / "hook_entry.py"
    script.write_text("import json, os; print(json.dumps(os.getppid()))")
    assert run(posix_line(sys.executable, str(script), "x"), environ) == os.getpid()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("python", [True, False])
def test_a_program_that_is_gone_is_told_once_in_a_session(place, shell, python):
    folder, environ = place
    line = gone(folder, python=python)
    told = run(line, environ, COPILOT, shell)["systemMessage"]
    for part in ("Sightline", "not guarded", "hook_entry.py", PLACE):
        assert part in told
    assert "\n" not in told
    assert [run(line, environ, COPILOT, shell) for _ in range(3)] == [{}] * 3
    assert "Sightline" in run(line, environ | {SESSION: "two"}, shell=shell)["systemMessage"]


def test_calls_at_once_tell_it_once(place):
    folder, environ = place
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: run(gone(folder), environ), range(16)))
    assert sum(map(bool, answers)) == 1


def test_a_line_without_a_place_is_silent(place):
    folder, environ = place
    line = posix_line(str(folder / "none"), "/none/sightline/hooks/hook_entry.py", "claude-code")
    assert run(line, environ) == {}
    assert os.listdir(folder / "tmp") == []


def test_a_client_that_names_no_session_is_told_once_itself(place):
    folder, environ = place
    del environ[SESSION]
    assert [bool(run(gone(folder), environ)) for _ in range(3)] == [True, False, False]


def test_the_note_is_an_empty_folder_outside_the_workspace_and_follows_no_link(place):
    folder, environ = place
    (folder / "theirs").mkdir()
    note = folder / "tmp" / "sightline-gone-one"
    note.symlink_to(folder / "theirs")
    assert run(gone(folder), environ) == {}
    note.unlink()
    note.symlink_to(folder / "made")  # leads to nothing
    assert run(gone(folder), environ) == {}
    assert not (folder / "made").exists()
    note.unlink()
    assert run(gone(folder), environ, cwd=str(folder / "home"))
    assert stat.S_ISDIR(note.lstat().st_mode)
    assert os.listdir(note) == os.listdir(folder / "theirs") == os.listdir(folder / "home") == []


def test_a_folder_for_temporary_files_that_is_gone_does_not_silence_it(place):
    folder, environ = place
    session = os.path.basename(str(folder)) + str(os.getpid())
    environ |= {"TMPDIR": str(folder / "none"), SESSION: session}
    try:
        assert [bool(run(gone(folder), environ)) for _ in range(2)] == [True, False]
    finally:
        os.rmdir(os.path.join(os.sep, "tmp", f"sightline-gone-{session}"))


def test_only_hooks_whose_answer_is_shown_tell_it():
    hooks = hook_settings.command_hooks("/gone/python", "/gone/sightline/hook_entry.py", PLACE)
    assert {event for event, hook in hooks.items() if PLACE in hook["command"]} == set(
        hook_settings.TELLING
    )
