"""The tour is true: what it tells is what the library does with the recording."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import termios
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.test_up import seat

import sightline
from sightline.cli.group import cli
from sightline.cli.tour import SOURCE, Outcome, Stage, load, play

__all__ = ["seat"]

DATA = files("sightline") / "data" / "tour"


def tour(*options):
    return CliRunner().invoke(cli, ["tour", *options])


@pytest.fixture
def steps():
    return json.loads(tour("--json").stdout)["steps"]


def test_every_step_ends_as_told_twice_in_a_row():
    for _ in range(2):
        done = tour()
        assert done.exit_code == 0, done.output
        assert not done.stderr


def test_it_shows_each_kind_of_verdict(steps):
    ends = [step["ended"] for step in steps]
    assert {"refused: stale", "applied, with a notice", "merged", "fresh", "applied"} <= set(ends)
    assert ends[-1] == "identical"


@pytest.mark.wide
def test_the_refusal_comes_with_the_lines_that_changed(steps):
    (refusal,) = [step for step in steps if step["ended"] == "refused: stale"]
    assert '-\tif name == "help" || name == "completion" {\n' in refusal["diff"]
    assert refusal["hint"]


@pytest.mark.wide
def test_the_merge_brings_no_line_back_that_others_took_away(steps):
    (merge,) = [step for step in steps if step["ended"] == "merged"]
    assert "CommandString()" in merge["diff"]
    assert "in_ci" not in merge["diff"]


@pytest.mark.wide
def test_what_the_tour_plays_itself_is_said(steps):
    (saved,) = [step for step in steps if step["ended"] == "fresh"]
    assert "The tour plays the user here" in saved["note"]


@pytest.mark.wide
def test_json_is_one_object_with_the_source_and_the_sessions():
    told = json.loads(tour("--json").stdout)
    assert told["schema"] == 1
    assert told["source"]["licence"] == "MIT"
    states = [file["state"] for file in told["sessions"][0]["files"]]
    assert states == ["fresh", "fresh"]


@pytest.mark.wide
def test_a_screen_of_80_columns_without_colours_or_unicode_is_enough():
    printed = tour().stdout
    python, here = sys.executable, os.getcwd()  # names of this machine
    folder = next(line for line in printed.splitlines() if "Workspace " in line)
    lines = printed.replace(folder, "").replace(python, "python").splitlines()
    assert "".join(lines).isascii()
    assert "\x1b" not in printed
    assert max(len(line) for line in lines if here not in line) < 80


def test_a_step_that_ends_otherwise_is_said_and_exits_1(monkeypatch):
    """The tour is a test of its own: a guard that lets the stale edit through is found out."""
    monkeypatch.setattr(Stage, "edit", lambda *_: Outcome("applied"))
    for options in ((), ("--json",)):
        done = tour(*options)
        assert done.exit_code == 1
        assert "Step 3 was to end with 'refused: stale', not 'applied'" in done.stderr
    assert [step["ended_as_told"] for step in json.loads(done.stdout)["steps"]] == [1, 1, 0]
    assert "Next, " not in tour().stdout


@pytest.mark.wide
def test_a_rewind_keeps_the_changes_of_the_user_and_can_be_taken_back(tmp_path):
    file = load()["telemetry.go"]
    with Stage(str(tmp_path)) as stage:
        on_disk = Path(stage.root, *file.path.split("/"))
        texts = []
        for step in play(stage, load()):  # noqa: B007 - the last one is asked for
            texts.append(on_disk.read_text())
            if len(texts) == 9:
                break
        removed = set(file.reads[0].splitlines()) - set(texts[5].splitlines())
    assert step.verb == "rewind"
    assert any("in_ci" in line for line in removed)
    assert "in_ci" not in texts[7]
    assert 'Set("command", name)' in texts[7]  # as before the agent's first edit
    assert texts[8] == texts[6]


def press(sat, key):
    """Press a key once the tour reads keys; what was typed before is not read."""
    sat.until("Enter goes on, q leaves:")
    side = os.open(sat.name, os.O_RDONLY | os.O_NOCTTY)
    while termios.tcgetattr(side)[3] & termios.ICANON:
        assert sat.child.poll() is None
    os.close(side)
    sat.type(key)


@pytest.mark.wide
def test_on_a_terminal_each_step_waits_for_enter(seat):
    sat = seat("tour", columns=80, rows=60)
    sat.until("First: ")
    press(sat, b"\r")
    lines = sat.until(" 2. The user changes")
    assert not any(" 3. " in line for line in lines)
    assert sum("Enter goes on" in line for line in lines) <= 1
    press(sat, b"q")
    code, lines = sat.end()
    assert code == 0
    assert not any("Enter goes on" in line or " 3. " in line for line in lines)
    assert any(line.endswith("-m sightline up") for line in lines)


@pytest.mark.wide
def test_no_pause_and_a_pipe_play_all_steps(seat):
    code, lines = seat("tour", "--no-pause", columns=80, rows=400).end()
    assert code == 0
    assert any(line.startswith("12. ") for line in lines)
    assert "Enter goes on" not in tour().output


@pytest.mark.wide
@pytest.mark.parametrize("here", ["project", "home"])
def test_the_next_command_works_where_the_user_stands(tmp_path, monkeypatch, here):
    """In the home folder, which cannot be a workspace, the tour says to leave it first."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "")
    for name in ("project", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / here)
    where, command = tour().stdout.rstrip().rsplit("\n", 1)
    assert ("go to a folder of yours" in " ".join(where.split())) is (here == "home")
    monkeypatch.chdir(tmp_path / "project")
    assert shlex.split(command) == [sys.executable, "-m", "sightline", "up"]
    done = subprocess.run(
        [*shlex.split(command), "--once"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.wide
def test_a_lost_byte_is_found_out(tmp_path, monkeypatch):
    write = Stage.write
    monkeypatch.setattr(Stage, "write", lambda self, path, text: write(self, path, text + " "))
    with Stage(str(tmp_path)) as played:
        *_, last = play(played, load())
    assert last.outcome.ended == "different"


@pytest.mark.wide
def test_nothing_of_the_user_is_touched(tmp_path):
    """No file stays behind in the home, the current folder or the temporary one."""
    places = {name: tmp_path / name for name in ("home", "here", "temporary")}
    for place in places.values():
        place.mkdir()
    settings = places["home"] / ".config" / "sightline" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('policy = "warn"\nstore = "memory:"\n')
    home = {name: str(places["home"]) for name in ("HOME", "USERPROFILE", "APPDATA")}
    temporary = {name: str(places["temporary"]) for name in ("TMPDIR", "TEMP", "TMP")}
    source = str(Path(sightline.__file__).parents[1])
    command = "import sys; from sightline.cli.entry import main; sys.exit(main(['tour']))"
    done = subprocess.run(
        [sys.executable, "-c", command],
        cwd=places["here"],
        env=os.environ | home | temporary | {"PYTHONPATH": source, "SIGHTLINE_POLICY": "warn"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [settings]
    assert not list(places["temporary"].iterdir())


def test_the_folder_goes_when_a_step_fails(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("as if")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Stage, "changes", fail)
    assert tour().exit_code == 3
    assert not list(tmp_path.iterdir())


def test_the_recording_is_whole_and_attributed():
    """17 records, as the page beside them says, with the licence that they are under."""
    lines = (DATA / "session.jsonl").read_text(encoding="utf-8").splitlines()
    page = (DATA / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert len(lines) == 17
    assert f"holds {len(lines)} of the 73 records" in page
    for word in ("repository", "commit", "path", "licence", "copyright"):
        assert SOURCE[word] in page
    assert "The above copyright notice and this permission notice shall be included" in page


def test_the_recording_holds_what_the_story_says_of_it():
    code = load()["telemetry.go"]
    assert code.edits[0].refusal.startswith("File has been modified since read")
    assert not any(edit.refusal for edit in code.edits[1:])
    before, later = code.reads
    assert "in_ci" in before
    assert "in_ci" not in later  # no recorded edit took it away
    assert not any("in_ci" in edit.old for edit in code.edits)
