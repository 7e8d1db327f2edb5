"""A share of the bench of encodings: what it plays, and that it sees lost bytes."""

from __future__ import annotations

import pytest

from bench import encodings


@pytest.mark.parametrize(
    ("way", "encoding", "article"),
    [
        ("edit", "koi8-r", 5),
        ("write", "gbk", 7),
        ("patch", "utf-16", 2),
        ("tool", "shift_jis", 8),
        ("tool without a hook", "euc-kr", 9),
    ],
)
def test_bytes_stay_or_the_edit_is_refused(tmp_path, way, encoding, article):
    (tmp_path / "ws").mkdir()
    text = encodings.FRAMES[0].format(encodings.ARTICLES[article], "end")
    found = encodings.played(tmp_path / "ws", str(tmp_path / "state"), encoding, text, way)
    assert found == ("refused" if way == "tool" else "kept")


def test_a_tool_that_destroys_bytes_unseen_is_seen(tmp_path, monkeypatch):
    (tmp_path / "ws").mkdir()
    monkeypatch.setattr(
        encodings, "_edit", lambda session, file, shown, way: file.write_text(shown + "more")
    )
    text = encodings.FRAMES[0].format(encodings.ARTICLES[5], "end")
    found = encodings.played(tmp_path / "ws", str(tmp_path / "state"), "koi8-r", text, "edit")
    assert found == "bytes lost"
