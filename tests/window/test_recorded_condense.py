"""A condense of recorded sessions, judged by plain walks over their messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.messages.talks import call, result

from bench import condensing

RECORDINGS = [
    *sorted(Path(condensing.ROOT, "tests", "bench", "recordings").glob("*.jsonl")),
    Path(condensing.ROOT, "src", "sightline", "data", "tour", "session.jsonl"),
]


@pytest.mark.wide
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem[:20])
def test_a_condense_without_a_model_keeps_what_must_be_there(path):
    made = condensing.condense(str(path), least=3_000, keep=800)
    assert made is not None
    assert made.missing == ([], [], [], [])
    assert made.invalid == 0
    assert made.after < made.before
    assert any(made.wanted)


def test_what_must_be_there_is_read_by_itself():
    todos = [{"content": "now", "status": "in_progress"}, {"content": "was", "status": "completed"}]
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch"
    messages = [
        {"role": "user", "content": "mend it"},
        {"role": "user", "content": "<system-reminder>no</system-reminder>"},
        call(1, "Edit", {"file_path": "/w/b.py", "old_string": "a", "new_string": "b"}),
        result(1, "ok"),
        call(2, "apply_patch", {"input": patch}),
        result(2, "ok"),
        call(3, "TodoWrite", {"todos": todos}),
        result(3, "ok"),
        call(4, "Bash", {"command": "make  all"}),
        result(4, "Error", error=True),
        call(5, "Write", {"file_path": "/w/c.py", "content": "x"}),
        result(5, "no", error=True),
    ]
    must = condensing.wanted(messages)
    assert must == (["/w/b.py", "a.py"], ["mend it"], ["now"], ["make all"])


def test_a_loss_is_seen(monkeypatch):
    monkeypatch.setattr("sightline.window.words._typed", lambda quoted, left: iter(()))
    made = condensing.condense(str(RECORDINGS[0]), least=3_000, keep=800)
    assert made is not None
    assert made.missing[1]
