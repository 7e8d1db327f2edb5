"""Messages of the Chat Completions format, as importers put them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sightline.model.json_text import compact_json

Message = dict[str, Any]


def called(name: str, call: str, given: object) -> Message:
    """A call. given: its arguments; a text is one of a tool that takes a text alone."""
    if isinstance(given, str):
        return {"id": call, "type": "custom", "custom": {"name": name, "input": given}}
    function = {"name": name, "arguments": compact_json(given or {})}
    return {"id": call, "type": "function", "function": function}


def said(text: str, thought: str = "", calls: Sequence[Message] = ()) -> Message | None:
    """What the model says; None where that is nothing."""
    if not calls and not text.strip():
        return None
    message: Message = {"role": "assistant", "content": text or None}
    if thought.strip():
        message["reasoning_content"] = thought
    return {**message, "tool_calls": list(calls)} if calls else message


def answered(call: str, text: str) -> Message:
    """The result of a call."""
    return {"role": "tool", "tool_call_id": call, "content": text}


class Ids:
    """Ids of calls, each used once: recordings that were made public have some blotted out."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def of(self, told: object) -> str:
        """The id that is told; another where it is none, or was told before."""
        name = told if isinstance(told, str) and told else "call"
        new, number = name, len(self._used)
        while new in self._used:
            new, number = f"{name}_{number}", number + 1
        self._used.add(new)
        return new
