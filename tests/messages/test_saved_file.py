"""A saved conversation is a file of messages as their provider takes them, and opens again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sightline.errors import HistoryError
from sightline.recordings.read_recordings import read_messages
from sightline.testing import MemoryWorkspace, make_session


def talk(session, *words):
    for word in words:
        session.conversation.append({"role": "user", "content": word})
    return session.conversation


@pytest.fixture
def file(place):
    return str(place.home / "talk.jsonl")


def test_what_is_saved_is_loaded_and_any_program_can_read_it(place, s, file):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGkg" * 400}}  # fmt: skip
    ours = talk(s, "one", "two ä \udcff \u2028")
    ours.append({"role": "user", "content": [picture]})
    saved = ours.save(file)
    assert (saved.messages, saved.added) == (3, 3)
    lines = Path(file).read_bytes().splitlines()
    assert [json.loads(line) for line in lines] == ours.messages()
    assert list(read_messages(file).messages) == ours.messages()
    theirs = place.session("other").conversation
    loaded = theirs.load(file)
    assert (loaded.messages, loaded.there, loaded.warnings) == (3, 3, ())
    assert theirs.messages() == ours.messages()
    assert [each.id for each in theirs.display()] == [each.id for each in ours.display()]
    assert theirs.load(file).messages == 0
    assert os.stat(file).st_mode & 0o777 == 0o600


def test_a_chain_beside_is_saved_by_itself(place, s, file):
    talk(s, "one")
    ours = s.conversation.side("explore")
    ours.append({"role": "user", "content": "look"})
    assert ours.save(file).messages == 1
    other = place.session("other")
    talk(other, "one")
    theirs = other.conversation.side("explore")
    assert theirs.load(file).messages == 1
    assert theirs.messages() == ours.messages()
    assert [each.id for each in theirs.display()] == [each.id for each in ours.display()]


def test_saving_and_loading_again_takes_what_is_new(place, s, file):
    ours = talk(s, "one", "two")
    ours.save(file)
    assert ours.save(file).added == 0
    theirs = place.session("other").conversation
    theirs.load(file)
    talk(s, "three")
    assert ours.save(file).added == 1
    assert theirs.load(file).messages == 1
    assert theirs.messages() == ours.messages()


def test_after_a_rewind_the_file_is_what_the_conversation_is(place, s, file):
    ours = talk(s, "one", "two", "three")
    ours.save(file)
    ours.rewind(ours.display()[1].id)
    talk(s, "four")
    ours.save(file)
    theirs = place.session("other").conversation
    theirs.load(file)
    assert theirs.messages() == ours.messages()


def test_a_save_that_is_stopped_leaves_the_old_file(s, file, monkeypatch):
    talk(s, "one").save(file)
    old = Path(file).read_bytes()

    def stopped(*_):
        raise KeyboardInterrupt

    ours = talk(s, "two")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", stopped)
        with pytest.raises(KeyboardInterrupt):
            ours.save(file)
    assert Path(file).read_bytes() == old
    assert [name for name in os.listdir(os.path.dirname(file)) if "talk" in name] == ["talk.jsonl"]


@pytest.mark.parametrize("data", [b"[7]", b'{"role": "wizard"}\n', b"\0" * 100, b"\xff\xfe\n"])
def test_what_is_no_conversation_is_neither_loaded_nor_written_over(s, file, data):
    Path(file).write_bytes(data)
    with pytest.raises(HistoryError, match="othing was loaded"):
        s.conversation.load(file)
    talk(s, "hi")
    with pytest.raises(HistoryError, match="Nothing was saved"):
        s.conversation.save(file)
    assert Path(file).read_bytes() == data


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda data: data.replace(b"{", b"~", 1)]
)
def test_a_damaged_file_loads_what_is_whole_and_is_not_written_over(place, s, file, spoil):
    ours = talk(s, "one", "two")
    ours.save(file)
    damaged = spoil(Path(file).read_bytes())
    Path(file).write_bytes(damaged)
    with pytest.raises(HistoryError, match="is damaged, or holds"):
        ours.save(file)
    assert Path(file).read_bytes() == damaged
    loaded = place.session("other").conversation.load(file)
    assert loaded.messages == 1
    assert "is no JSON" in loaded.warnings[0] or "breaks off" in loaded.warnings[0]
    assert ours.save(file, replace=True).messages == 2


def test_a_missing_and_an_empty_file_are_told(s, file):
    assert s.conversation.load(file).warnings == (f"There is no file {file}: nothing was loaded.",)
    s.conversation.save(file)
    assert "holds no message" in s.conversation.load(file).warnings[0]


@pytest.mark.parametrize("kind", ["here", "a session of the same name elsewhere"])
def test_another_conversation_is_not_written_over_nor_mixed_in(place, s, file, kind):
    talk(s, "one").save(file)
    other = place.session("other") if kind == "here" else make_session(MemoryWorkspace(), id=s.id)
    talk(other, "something else")
    with pytest.raises(HistoryError, match="holds another conversation"):
        other.conversation.load(file)
    with pytest.raises(HistoryError, match="never had"):
        other.conversation.save(file)
    assert other.conversation.messages() == [{"role": "user", "content": "something else"}]
    assert other.conversation.save(file, replace=True).messages == 1


def test_what_can_be_no_file_is_told(s, place):
    talk(s, "hi")
    with pytest.raises(HistoryError, match="cannot be written"):
        s.conversation.save(str(place.home / "no" / "talk.jsonl"))
    for asked in (s.conversation.load, s.conversation.save):
        with pytest.raises(HistoryError, match="it is no file"):
            asked(str(place.home))
