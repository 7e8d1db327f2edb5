"""bench/memory.py resumes recordings, and notices what a block lacks."""

from __future__ import annotations

import json

import pytest

from bench import memory
from sightline.briefing.contents import Memory


def used(number, name, **given):
    part = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
    return {"role": "assistant", "content": [part]}


def ok(number):
    part = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}
    return {"role": "user", "content": [part]}


TODOS = [
    {"content": "mend it", "status": "in_progress", "activeForm": "mending"},
    {"content": "read it", "status": "completed", "activeForm": "reading"},
]
FOLDER = "/home/user/project/"
TALK = [
    {"role": "user", "content": "Mend it"},
    used(1, "Read", file_path=f"{FOLDER}a.py"),
    ok(1),
    used(2, "Write", file_path=f"{FOLDER}src/b.py", content="x\n"),
    ok(2),
    used(3, "TodoWrite", todos=TODOS),
    ok(3),
    used(4, "Read", file_path=f"{FOLDER}c.py"),
    ok(4),
]


@pytest.fixture
def recording(tmp_path):
    rows = []
    for number, message in enumerate(TALK):
        row = {"type": message["role"], "sessionId": "r", "cwd": FOLDER, "uuid": f"u{number}"}
        row["parentUuid"] = f"u{number - 1}" if number else None
        rows.append(json.dumps({**row, "isSidechain": False, "message": message}))
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_a_recording_is_resumed_and_nothing_is_missing(recording, capsys):
    assert memory.main([recording, "--upto", "1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["changed"], row["pending"], row["stale"]) == ([1, 1], [1, 1], [1, 1])
    assert (row["false_stale"], row["left_out"]) == (0, 0)
    assert 50 < row["tokens"] < 300


def test_a_block_that_lacks_something_is_noticed(recording, capsys, monkeypatch):
    monkeypatch.setattr(memory, "memory", lambda _ground: Memory(tokens=1))
    assert memory.main([recording, "--upto", "1"]) == 1
    assert (
        "MISSING in claude-code r.jsonl: changed (0, 1), to-dos (0, 1)" in capsys.readouterr().out
    )


def test_the_table_has_a_line_for_each_product_and_one_for_all(recording, capsys):
    assert memory.main([recording, "--upto", "1"]) == 0
    head, one, every = capsys.readouterr().out.strip().split("\n")
    assert head.split()[0] == "product"
    assert one.split()[1:6] == every.split()[1:6] == ["1", "1/1", "1", "1/1", "1/1"]


def test_no_recording_is_said(tmp_path, capsys):
    (tmp_path / "none.jsonl").write_text("{}\n", encoding="utf-8")
    assert memory.main([str(tmp_path)]) == 2
    assert "No recording with files" in capsys.readouterr().err
