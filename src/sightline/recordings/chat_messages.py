"""Build messages of the Chat Completions format from recordings."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.model.json_fields import Row
from sightline.model.json_text import compact_json


def tool_call(name: str, call: str, given: object) -> Row:
    """Return a call. given: the arguments; a text for a tool that takes only a text."""
    if isinstance(given, str):
        return {"id": call, "type": "custom", "custom": {"name": name, "input": given}}
    function = {"name": name, "arguments": compact_json(given or {})}
    return {"id": call, "type": "function", "function": function}


def assistant_message(text: str, thought: str = "", calls: Sequence[Row] = ()) -> Row | None:
    """Return the model's message; None for an empty one."""
    if not calls and not text.strip():
        return None
    message: Row = {"role": "assistant", "content": text or None}
    if thought.strip():
        message["reasoning_content"] = thought
    return {**message, "tool_calls": list(calls)} if calls else message


def tool_result(call: str, text: str, *, failed: bool = False) -> Row:
    """Return the result of a call. failed: the recording says so, whatever the text is."""
    result: Row = {"role": "tool", "tool_call_id": call, "content": text}
    return {**result, "is_error": True} if failed else result


class Ids:
    """Ids of calls, each used once: published recordings have some ids replaced."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def unique(self, recorded: object) -> str:
        """Return a recorded id, or a new id where it is missing or was used before."""
        name = recorded if isinstance(recorded, str) and recorded else "call"
        new, number = name, len(self._used)
        while new in self._used:
            new, number = f"{name}_{number}", number + 1
        self._used.add(new)
        return new
