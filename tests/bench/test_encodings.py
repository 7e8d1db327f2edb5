"""A share of the bench of encodings: what it plays, and that it sees lost bytes."""

from __future__ import annotations

import pytest

from bench import encodings


def play(name: str, encoding: str, seed: int = 2) -> encodings.Play:
    text = (encodings.DOCUMENTS / f"{name}.txt").read_text("utf-8")
    return encodings.play_of(name, encoding, text, seed)


@pytest.mark.parametrize(
    ("way", "encoding", "name"),
    [
        ("edit", "koi8-r", "tldr.ru"),
        ("write", "gbk", "menu.zh_CN"),
        ("patch", "utf-16", "tldr.fr"),
        ("tool", "shift_jis", "docutils.ja"),
        ("tool, unread", "cp1252", "tutor.es"),
        ("tool without a hook", "euc-kr", "docutils.ko"),
    ],
)
def test_bytes_stay_or_the_edit_is_refused(tmp_path, way, encoding, name):
    (tmp_path / "ws").mkdir()
    found = encodings.played(tmp_path / "ws", str(tmp_path / "state"), play(name, encoding), way)
    refused = {"tool without a hook": "damaged, and brought back"}
    assert found == ("refused" if way in ("tool", "tool, unread") else refused.get(way, "kept"))


def test_a_tool_that_destroys_bytes_unseen_is_seen(tmp_path, monkeypatch):
    (tmp_path / "ws").mkdir()

    def spoil(session, file, shown, play, way):
        file.write_text(shown + "more")
        return ""

    monkeypatch.setattr(encodings, "edit", spoil)
    state = str(tmp_path / "state")
    found = encodings.played(tmp_path / "ws", state, play("tldr.ru", "koi8-r"), "edit")
    assert found == "bytes lost"


def test_fifty_texts_are_played_in_forty_encodings():
    assert len(encodings.ENCODINGS) == len(set(encodings.ENCODINGS)) == 40
    assert len([*encodings.DOCUMENTS.glob("*.txt")]) == 50
