"""What a conversation is given that is none, is interrupted, or is of somebody else."""

from __future__ import annotations

import json
import os
from threading import Barrier, Thread
from typing import Any, cast

import pytest

from sightline.errors import HistoryError
from sightline.messages import message_chain
from sightline.store.sqlite import SqliteStore
from sightline.window.sent_view import Budget

LONG = "line of a file that is long enough to be worth a stub\n" * 30


def talk(session, turns):
    conversation = session.conversation
    for n in range(turns):
        conversation.append({"role": "user", "content": f"Please look at {n}"})
        used = {"type": "tool_use", "id": f"c{n}", "name": "Grep", "input": {"pattern": f"p{n}"}}
        conversation.append({"role": "assistant", "content": [used]})
        told = {"type": "tool_result", "tool_use_id": f"c{n}", "content": LONG}
        conversation.append({"role": "user", "content": [told]})
        conversation.append({"role": "assistant", "content": f"{n} is fine"})
    conversation.append({"role": "user", "content": "go on"})
    return conversation


def nested(depth):
    value: Any = "end"
    for _ in range(depth):
        value = [value]
    return value


# --- an interrupted view


@pytest.mark.parametrize("after", [0, 1, 7, 20, 40])
def test_a_view_that_was_interrupted_is_whole_the_next_time(place, s, monkeypatch, after):
    ours = talk(s, 10)
    left = iter(range(after))

    def read(context, row):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return real(context, row)

    real = message_chain.read_message
    with monkeypatch.context() as patched:
        patched.setattr(message_chain, "read_message", read)
        with pytest.raises(KeyboardInterrupt):
            ours.view(2_000, price="none")
    view = ours.view(2_000, price="none")
    assert len(view) == 41
    assert place.session(s.id).conversation.view(2_000, price="none") == view


def test_a_decision_that_could_not_be_kept_is_made_again(place, s, monkeypatch):
    ours = talk(s, 10)
    whole = ours.view(10**6)

    def full(*_args, **_more):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "append", full)
        with pytest.raises(OSError, match="No space"):
            ours.view(2_000, price="none")
    assert ours.view(10**6) == whole
    view = ours.view(2_000, price="none")
    assert "was removed" in json.dumps(view)
    assert place.session(s.id).conversation.view(10**6) == view


# --- messages


@pytest.mark.parametrize("depth", [201, 800, 5_000, 100_000])
def test_a_message_that_is_nested_too_deeply_is_refused(s, depth):
    with pytest.raises(ValueError, match="nested more than 200"):
        s.conversation.append({"role": "user", "content": "x", "more": nested(depth)})
    assert s.conversation.messages() == []


def test_a_message_that_holds_itself_is_refused(s):
    message: dict[str, Any] = {"role": "user", "content": "x"}
    message["again"] = [message, message]
    with pytest.raises(ValueError, match="nested more than 200"):
        s.conversation.append(message)


def test_a_message_may_be_nested_as_far_as_it_says(s):
    message = {"role": "user", "content": "x", "more": nested(199)}
    s.conversation.append(message)
    assert s.conversation.view() == s.conversation.messages() == [message]


@pytest.mark.parametrize("kind", [["image/png"], {"of": "image"}, 3])
def test_a_kind_of_data_that_is_no_text_is_carried_through(s, kind):
    source = {"type": "base64", "media_type": kind, "data": "aGk="}
    message = {"role": "user", "content": [{"type": "image", "source": source}]}
    s.conversation.append(message)
    assert s.conversation.messages() == [message]


@pytest.mark.wide
def test_messages_that_come_at_once_stand_one_behind_the_other(place, s, tmp_path):
    """Each in its own session object, as processes have them."""
    begin = Barrier(3)

    def say(session):
        begin.wait()
        for _ in range(30):
            session.conversation.append({"role": "user", "content": "the same"})

    threads = [Thread(target=say, args=(place.session(s.id),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({each.id for each in s.conversation.display()}) == 90
    s.conversation.save(str(tmp_path / "talk.jsonl"))
    other = place.session("other").conversation
    assert other.load(str(tmp_path / "talk.jsonl")).messages == 90


# --- questions


@pytest.mark.parametrize(
    "asked",
    [
        {"budget": Budget(prefix=cast("Any", "x"))},
        {"budget": Budget(prefix=cast("Any", 1.5))},
        {"price": ["0.02/1"]},
        {"policy": {}},
        {"idle_s": "long"},
    ],
)
def test_a_view_asked_for_in_wrong_words_is_a_value_error(s, asked):
    with pytest.raises(ValueError, match=r"not|there is no"):
        s.conversation.view(**asked)


@pytest.mark.parametrize("last", [0, -1, "1", 1.5, True])
def test_the_last_so_many_messages_are_a_number(s, last):
    with pytest.raises(ValueError, match="1 or more"):
        s.conversation.messages(last)


def test_more_messages_may_be_asked_for_than_there_are(s):
    s.conversation.append({"role": "user", "content": "x"})
    assert len(s.conversation.messages(10**30)) == 1


# --- files


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_no_file(s, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for asked in (s.conversation.load, s.conversation.save):
        with pytest.raises(HistoryError, match="it is no file"):
            asked(str(tmp_path / "pipe"))
