"""Conversations with files in them, in formats of several providers."""

from __future__ import annotations

import json
from typing import Any

LINES = "".join(f"value_{n} = compute({n}, 'a text of some length')\n" for n in range(60))


def numbered(text):
    return "".join(f"{n:6}→{line}\n" for n, line in enumerate(text.splitlines(), 1))


def anthropic(steps, last="go on"):
    """steps: (tool, input, result). The user's last words stand behind all results."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please look at the importer."}]
    for number, (tool, given, result) in enumerate(steps):
        call = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [answer]})
    if last:
        messages.append({"role": "assistant", "content": "Done so far."})
        messages.append({"role": "user", "content": last})
    return messages


def chat(steps):
    """The same for Chat Completions."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please look at the importer."}]
    for number, (tool, given, result) in enumerate(steps):
        function = {"name": tool, "arguments": json.dumps(given)}
        call = {"id": f"t{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"t{number}", "content": result})
    return [*messages, {"role": "user", "content": "go on"}]


def read(path, text=LINES):
    return ("Read", {"file_path": path}, numbered(text))


def searched(what, lines=80):
    found = "".join(f"src/file_{n}.py:{n}:    {what}(argument_{n})\n" for n in range(lines))
    return ("Grep", {"pattern": what}, found)


STEPS = [
    searched("compute"),
    read("src/importer.py"),
    *(searched(f"name_{n}") for n in range(8)),
]
