"""A user's program under pyright, which infers attributes in its own way: it needs the extra `types`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import sightline
from typing import assert_type

def refused(error: sightline.EditRefused, path: sightline.PathRefused, task: sightline.SubtaskError) -> bool:
    assert_type(error.reason, sightline.RefusalReason)
    assert_type(path.reason, sightline.PathReason)
    misspelled = error.reason == "notfound"
    misspelled = path.reason == "outsider"
    return misspelled or task.kind == "cycles"

async def program(session: sightline.Session) -> None:
    async with session.aio as same:
        view = await same.read("a.py")
        assert_type(view, sightline.FileView)
        for one in await same.subtasks.graph():
            assert_type(one.goal, str)
    verdict = session.check("a.py")
    misspelled = verdict.state == "stall"
    misspelled = verdict.decision == "denied"
"""

CONFIG = {"typeCheckingMode": "strict", "reportUnusedVariable": "none"}


@pytest.mark.wide
def test_pyright_knows_the_reasons_and_finds_each_misspelled_one(tmp_path):
    pytest.importorskip("pyright", reason="the extra types is not installed")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(CONFIG))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, "program.py"], cwd=tmp_path, capture_output=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    lines = PROGRAM.split("\n")
    told = [(each["rule"], lines[each["range"]["start"]["line"]].strip()) for each in found]
    assert told == [
        ("reportUnnecessaryComparison", line.strip()) for line in lines if "==" in line
    ], told
