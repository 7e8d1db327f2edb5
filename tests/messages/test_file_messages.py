"""Histories of other programs are loaded up to their last whole message, and left as they are."""

from __future__ import annotations

import json
import os
from contextlib import suppress

import pytest
from tests.messages.formats.histories import TOLD

from sightline.errors import HistoryError
from sightline.testing import make_session

API = "api_conversation_history.json"
MESSAGES = [
    {"role": "user", "content": [{"type": "text", "text": "<task>\nmend it ☃\n</task>"}], "ts": 1_700_000_000_000},
    {"role": "assistant", "content": [{"type": "text", "text": "<read_file><path>a.py</path></read_file>"}], "ts": 1_700_000_001_000},
    {"role": "user", "content": [{"type": "text", "text": "[read_file for 'a.py'] Result:"}, {"type": "text", "text": 'x = "]}, {["'}], "ts": 1_700_000_002_000},
    {"role": "assistant", "content": [{"type": "text", "text": "done"}], "ts": 1_700_000_003_000},
]  # fmt: skip
ROWS = [
    {"ts": 1_700_000_000_000, "type": "say", "say": "text", "text": "mend it"},
    {"ts": 1_700_000_000_500, "type": "say", "say": "api_req_started", "text": "{}"},
    {"ts": 1_700_000_001_000, "type": "say", "say": "text", "text": "I read it."},
    {"ts": 1_700_000_002_500, "type": "say", "say": "api_req_started", "text": "{}"},
    {"ts": 1_700_000_003_000, "type": "ask", "ask": "completion_result", "text": "done"},
    {"ts": 1_700_000_004_000, "type": "say", "say": "user_feedback", "text": "and b.py"},
]


def put(folder, name, value):
    data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    (folder / name).write_bytes(data)
    return str(folder / name)


def test_a_task_of_cline_or_roo_is_loaded_with_its_times(tmp_path, s):
    path = put(tmp_path, API, MESSAGES)
    loaded = s.conversation.load(path)
    assert (loaded.messages, loaded.there, loaded.warnings, loaded.kept_as) == (4, 4, (), "")
    assert s.conversation.messages() == MESSAGES
    assert s.conversation.display()[1].at.timestamp() == 1_700_000_001
    assert s.conversation.load(path).messages == 0


def test_new_messages_of_the_same_task_are_added(tmp_path, s):
    s.conversation.load(put(tmp_path, API, MESSAGES[:2]))
    assert s.conversation.load(put(tmp_path, API, MESSAGES)).messages == 2
    assert s.conversation.messages() == MESSAGES
    with pytest.raises(HistoryError, match="holds another conversation"):
        s.conversation.load(put(tmp_path, API, MESSAGES[1:]))


def test_an_early_name_is_loaded_and_the_newer_name_is_said(tmp_path, s):
    path = put(tmp_path, "claude_messages.json", MESSAGES)
    loaded = s.conversation.load(path)
    assert loaded.kept_as == API
    assert f"is the name of early versions for {API}" in loaded.warnings[0]
    assert os.path.exists(path)
    assert s.conversation.messages() == MESSAGES


def test_an_early_name_may_hold_the_rows_that_were_shown(tmp_path, s):
    loaded = s.conversation.load(put(tmp_path, "claude_messages.json", ROWS))
    assert loaded.kept_as == "ui_messages.json"
    assert "not the messages that were sent" in loaded.warnings[1]
    roles = [message["role"] for message in s.conversation.messages()]
    assert roles == ["user", "assistant", "user"]
    assert s.conversation.messages()[2]["content"][0]["text"] == "and b.py"


def test_the_rows_beside_a_history_tell_the_times_of_its_messages(tmp_path, s):
    bare = [{"role": m["role"], "content": m["content"]} for m in MESSAGES]
    put(tmp_path, "ui_messages.json", ROWS)
    s.conversation.load(put(tmp_path, API, bare))
    times = [shown.at.timestamp() for shown in s.conversation.display()]
    assert times == [1_700_000_000.5, 1_700_000_000.5, 1_700_000_002.5, 1_700_000_002.5]


def test_damaged_rows_beside_a_history_lose_no_message(tmp_path, s):
    put(tmp_path, "ui_messages.json", json.dumps(ROWS).encode()[:-30])
    loaded = s.conversation.load(put(tmp_path, API, MESSAGES))
    assert loaded.messages == 4
    assert "ui_messages.json beside it is damaged" in loaded.warnings[0]


@pytest.mark.parametrize("data", [b"[]", b"[ ]\n", b"", b'{"messages": []}'])
def test_an_empty_history_is_empty(tmp_path, s, data):
    loaded = s.conversation.load(put(tmp_path, API, data))
    assert (loaded.messages, loaded.there) == (0, 0)
    assert "holds no message" in loaded.warnings[0]
    assert s.conversation.messages() == []


@pytest.mark.parametrize("name", sorted(TOLD))
def test_messages_as_a_provider_takes_them_are_loaded(tmp_path, s, name):
    call = {"id": "c1", "name": "Bash", "args": {"command": "ls"}, "result": "a", "error": False, "picture": False}  # fmt: skip
    answer = {"thinking": None, "text": "I look.", "calls": [call], "aside": None, "odd": 0}
    messages = TOLD[name]([([("text", "go")], [answer]), ([("text", "and?")], [])], 0)
    loaded = s.conversation.load(put(tmp_path, "any.json", {"model": "m", "messages": messages}))
    assert loaded.messages == len(messages)
    assert s.conversation.messages() == messages
    lines = "\n".join(map(json.dumps, messages)).encode()
    other = make_session(id="lines").conversation
    assert other.load(put(tmp_path, "any.jsonl", lines)).messages == len(messages)


def test_a_message_that_cannot_be_taken_in_is_set_aside_by_name(tmp_path, s):
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "x!"},
    }
    messages = [MESSAGES[0], {"role": "user", "content": [picture]}, *MESSAGES[1:]]
    path = put(tmp_path, API, messages)
    loaded = s.conversation.load(path)
    assert loaded.messages == 4
    assert "Set aside: message 1 (" in loaded.warnings[0]
    assert s.conversation.messages() == MESSAGES
    assert s.conversation.load(path).messages == 0


@pytest.mark.parametrize(
    "broken",
    [
        b"\0\0\0\0",
        b'{"role": "assi{"role": "user", "content": "b"}',
        b'{"role": "\xff"}',
        b"\xc2\x85",
    ],
)
def test_a_broken_line_is_left_out_by_name_and_no_line_behind_it(tmp_path, s, broken):
    texts = [f"{n}\u2028\u0085\x0b" for n in range(4)]
    lines = [
        json.dumps({"role": "user", "content": text}, ensure_ascii=False).encode() for text in texts
    ]
    path = put(tmp_path, "any.jsonl", b"\n".join([*lines[:2], broken, *lines[2:], b""]))
    loaded = s.conversation.load(path)
    assert [message["content"] for message in s.conversation.messages()] == texts
    assert "is damaged: line 3 is no JSON: " in loaded.warnings[0]
    assert "4 elements of it are whole, and were read." in loaded.warnings[0]
    assert s.conversation.load(path).messages == 0


def cuts(data, number):
    return sorted({round(len(data) * n / number) for n in range(number)})


def check_cut(folder, data, at, expected):
    """Load the first bytes of a history; everything whole in them must be there, and nothing else."""
    path = put(folder, API, data[:at])
    session = make_session(id="s")
    if 0 < at < expected[0] and data[:at].strip() != b"[":
        with pytest.raises(HistoryError, match=r"damaged|can be loaded"):
            session.conversation.load(path)
        assert session.conversation.messages() == []
    else:
        loaded = session.conversation.load(path)
        whole = sum(at >= end for end in expected)
        assert session.conversation.messages() == MESSAGES[:whole]
        is_line_end = data is LINES and {at, at - 1} & {*expected}
        assert whole == 0 or is_line_end or "is damaged" in loaded.warnings[0]
    assert (folder / API).read_bytes() == data[:at]


ARRAY = json.dumps(MESSAGES, ensure_ascii=False).encode()
LINES = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in MESSAGES).encode()
OBJECT = json.dumps({"version": 1, "messages": MESSAGES}, ensure_ascii=False).encode()


def ends(data):
    """The ends of the messages in bytes."""
    found, at = [], 0
    for message in MESSAGES:
        text = json.dumps(message, ensure_ascii=False).encode()
        at = data.index(text, at) + len(text)
        found.append(at)
    return found


@pytest.mark.wide
@pytest.mark.parametrize("data", [ARRAY, LINES, OBJECT], ids=["array", "lines", "object"])
def test_a_history_cut_anywhere_keeps_what_is_whole(tmp_path, data):
    for at in cuts(data, 12):
        check_cut(tmp_path, data, at, ends(data))


@pytest.mark.wide
@pytest.mark.parametrize("data", [ARRAY, LINES, OBJECT], ids=["array", "lines", "object"])
def test_a_history_cut_at_200_places_keeps_what_is_whole(tmp_path, data):
    for at in cuts(data, 200):
        check_cut(tmp_path, data, at, ends(data))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:200] + b"\xff\xfe" + data[200:],
        lambda data: data[:250] + data[260:],
        lambda data: data + b"garbage",
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"},", b"}", 1),
        lambda data: b"[" * 5_000 + data,
        lambda data: b"[1, 2, 3]",
        lambda data: b"[" + b'{"role":' * 3_000,
    ],
)
def test_a_mangled_history_is_words_and_never_a_guess(tmp_path, spoil):
    path = put(tmp_path, API, spoil(ARRAY))
    session = make_session(id="s")
    with suppress(HistoryError):
        loaded = session.conversation.load(path)
        assert loaded.messages == len(session.conversation.messages())
    assert all(message in MESSAGES for message in session.conversation.messages())
    assert (tmp_path / API).read_bytes() == spoil(ARRAY)
