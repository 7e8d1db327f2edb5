"""Histories as programs write them down, and what is none."""

from __future__ import annotations

import json

import pytest
from tests.window.histories import STEPS, anthropic, chat

from sightline.errors import HistoryError
from sightline.messages.histories import read_history

MESSAGES = anthropic(STEPS)


@pytest.mark.parametrize(
    ("text", "shape", "holder"),
    [
        (json.dumps(MESSAGES), "array", ""),
        (json.dumps(MESSAGES, indent=2), "array", ""),
        ("\ufeff" + json.dumps(MESSAGES), "array", ""),
        (json.dumps({"model": "m", "messages": MESSAGES}), "object", "messages"),
        ("\n".join(map(json.dumps, MESSAGES)), "lines", ""),
        ("\n\n".join(map(json.dumps, MESSAGES)) + "\n", "lines", ""),
    ],
)
def test_a_history_is_read_and_written_as_it_was(text, shape, holder):
    history = read_history(text.encode(), "h.json")
    assert (history.shape, history.holder) == (shape, holder)
    assert list(history.messages) == MESSAGES
    assert history.format.name == "anthropic"
    again = read_history(history.dump(history.messages).encode(), "h.json")
    assert (again.messages, again.shape, again.around) == (
        history.messages,
        history.shape,
        {**history.around, holder: list(history.messages)} if holder else {},
    )


def test_one_message_on_one_line_is_a_history():
    assert read_history(b'{"role": "user", "content": "hi"}\n', "h").shape == "lines"


def test_the_format_is_told_by_the_messages():
    assert read_history(json.dumps(chat(STEPS)).encode(), "h").format.name == "chat"
    gemini = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert read_history(json.dumps(gemini).encode(), "h").format.name == "gemini"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "h is empty"),
        (" \n", "h is empty"),
        ("[]", "its history is empty"),
        ('{"messages": []}', "its history is empty"),
        ('{"model": "m",\n "tools": []}', "an object without messages"),
        ("null", "holds nothing instead of messages"),
        ('"text"', "holds a text"),
        ("[1, 2]", "message 0 is of no known format"),
        (
            '[{"role": "user", "content": "a"',
            "h is damaged: it is no JSON: .* \\(line 1, column 33\\). No message",
        ),
        ("[" * 100_000, "h is damaged"),
        (json.dumps([*MESSAGES, *chat(STEPS)[1:3]]), "one conversation has one format"),
        ("\x00\x01", "no JSON"),
    ],
)
def test_what_is_no_history_is_said_with_what_to_do(text, said):
    with pytest.raises(HistoryError, match=said) as caught:
        read_history(text.encode(), "h")
    assert caught.value.hint


@pytest.mark.parametrize(
    "broken",
    [
        "\0\0\0\0",
        '{"role": ',
        '{"role": "user", "cont{"role": "user", "content": "b"}',
        "}",
        '"\u2028',
    ],
)
@pytest.mark.parametrize("place", [0, 1, 4])
def test_a_broken_line_is_left_out_by_name_and_no_line_behind_it(broken, place):
    lines = [f'{{"role": "user", "content": "{n}\u2028\u0085\x1e"}}' for n in range(4)]
    lines = [line.replace("\x1e", "\\u001e") for line in lines]
    lines.insert(place, broken)
    history = read_history("\n".join(lines).encode(), "h")
    assert [message["content"][0] for message in history.messages] == ["0", "1", "2", "3"]
    [aside] = history.set_aside
    assert aside.startswith(f"line {place + 1} is no JSON: ")


PNG = "iVBORw0KGgo="


def pictured(*parts):
    return read_history(json.dumps([{"role": "user", "content": [*parts]}]).encode(), "h")


@pytest.mark.parametrize(
    ("data", "problems"), [(PNG, 0), ("iVBO\nRw0KGgo=", 0), ("iVBORw0", 1), ("%%%%", 1), ("", 1)]
)
def test_a_picture_whose_base64_is_broken_is_a_problem(data, problems):
    source = {"type": "base64", "media_type": "image/png", "data": data}
    text = {"type": "text", "text": "look"}
    history = pictured({"type": "image", "source": source}, text)
    assert [each.why for each in history.problems()] == [
        "the base64 of a picture or a document is broken"
    ][:problems]
    inline = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    assert len(pictured(inline, text).problems()) == problems


def test_a_picture_elsewhere_is_none():
    inline = {"type": "image_url", "image_url": {"url": "https://example.org/a,b.png"}}
    assert pictured(inline).problems() == []
