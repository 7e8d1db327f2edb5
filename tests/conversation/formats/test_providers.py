"""Empty fields that strict servers refuse are left out of every view."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation.formats.providers import Refused, check

from sightline.conversation.formats.format import FORMATS

USER = {"role": "user", "content": "go"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SAID = {"role": "assistant", "content": "ok"}
EMPTY = {
    "no calls": [USER, {**SAID, "tool_calls": []}, USER],
    "null calls": [USER, {**SAID, "tool_calls": None, "function_call": None}, USER],
    "as the client dumps it": [
        USER, {**SAID, "refusal": None, "annotations": [], "audio": None, "function_call": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "", "name": None},
    ],
    "no reasoning": [USER, {**SAID, "reasoning_content": None, "thinking_blocks": []}, USER],
}  # fmt: skip


@pytest.mark.parametrize("messages", EMPTY.values(), ids=EMPTY)
def test_empty_fields_are_left_out_for_strict_servers(s, messages):
    with pytest.raises((Refused, KeyError)):
        check("chat", messages)
    for message in messages:
        s.conversation.append(message)
    view = s.conversation.view(10**9)
    check("chat", view)
    assert len(view) == len(messages)
    assert s.conversation.messages() == messages


def test_empty_fields_of_responses_are_left_out():
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": "go"},
        {"type": "function_call", "id": None, "status": None, "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x", "status": None},
    ]  # fmt: skip
    form = FORMATS["responses"]
    with pytest.raises(Refused):
        check("responses", items)
    check("responses", form.project(items, form.blocks(items, len), []))
