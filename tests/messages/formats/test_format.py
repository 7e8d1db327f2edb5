"""Which format messages have, and what is said where they have none."""

import pickle

import pytest

from sightline.messages.formats.format import FORMATS, detect

CHAT = {
    "role": "assistant",
    "tool_calls": [{"id": "1", "function": {"name": "f"}}],
    "content": None,
}
CLAUDE = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}
TEXT = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([TEXT], "chat"),
        ([TEXT, CLAUDE], "anthropic"),
        ([TEXT, CHAT], "chat"),
        ([TEXT, {**CHAT, "thinking_blocks": []}], "litellm"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "x"}]}], "responses"),
        ([TEXT, {"type": "function_call", "call_id": "1"}], "responses"),
        ([{"type": "an_item_of_tomorrow", "id": "1"}], "responses"),
        ([{"role": "user", "parts": [{"text": "x"}]}], "gemini"),
        ([{"type": "human", "content": "x"}], "langchain"),
        ([{"type": "human", "data": {"content": "x"}}], "langchain"),
        ([{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "x"}]}], "pydantic-ai"),
        ([{"role": "user", "content": [{"type": "new"}]}, CLAUDE], "anthropic"),
    ],
)  # fmt: skip
def test_a_format_is_told_by_the_shape_of_its_messages(messages, name):
    assert detect(messages) == name
    assert FORMATS[name].blocks(messages, len)


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "there is no message"),
        ([TEXT, CLAUDE, CHAT], "message 2 is of format chat, those before it of anthropic"),
        ([{"role": "user", "parts": []}, TEXT], "message 1 is of format chat or anthropic"),
        (
            [{"role": "exit", "content": "x"}],
            r"message 0 is of no known format .*: role 'exit', with content, role",
        ),
        (["text"], "message 0 is of no known format .*: a str"),
        ([TEXT, {"role": "user"}], "message 1 is .*chat"),
    ],
)
def test_messages_of_no_format_or_of_two_are_said_to_be_so(messages, words):
    if messages == [TEXT, {"role": "user"}]:
        assert detect(messages) == "chat"
        return
    with pytest.raises(ValueError, match=words):
        detect(messages)


def test_a_message_of_another_format_is_named_when_it_is_read():
    with pytest.raises(ValueError, match="message 1 is not one of format chat: role 'exit'"):
        FORMATS["chat"].blocks([TEXT, {"role": "exit", "content": "x"}], len)
    with pytest.raises(ValueError, match="message 0 is not one of format anthropic"):
        FORMATS["anthropic"].blocks([CHAT], len)


def test_formats_are_listed_by_name():
    assert list(FORMATS) == [
        *("anthropic", "chat", "responses", "gemini", "litellm", "langchain", "pydantic-ai")
    ]
    assert pickle.loads(pickle.dumps(FORMATS["chat"])) == FORMATS["chat"]
