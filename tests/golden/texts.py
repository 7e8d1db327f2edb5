"""Conversations for the stories, made up."""

from __future__ import annotations

import json
from typing import Any


def messages(*, chat: bool = False, calls: int = 10) -> list[dict[str, Any]]:
    """A conversation as a program sends it: in the format of Anthropic or of Chat Completions."""
    made: list[dict[str, Any]] = [{"role": "user", "content": "Please look at the importer."}]
    for number in range(calls):
        given = {"pattern": f"name_{number}"}
        found = f"src/part_{number}.py: some line that the search found\n" * 40
        if chat:
            function = {"name": "Grep", "arguments": json.dumps(given)}
            call = {"id": f"t{number}", "type": "function", "function": function}
            made.append({"role": "assistant", "content": None, "tool_calls": [call]})
            made.append({"role": "tool", "tool_call_id": f"t{number}", "content": found})
        else:
            used = {"type": "tool_use", "id": f"t{number}", "name": "Grep", "input": given}
            told = {"type": "tool_result", "tool_use_id": f"t{number}", "content": found}
            made.append({"role": "assistant", "content": [used]})
            made.append({"role": "user", "content": [told]})
    return [*made, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go on."}]


def transcript(*, reads: int, root: str = "/home/me/demo") -> str:
    """A session of Claude Code as it records them: some files are read, the first is edited."""
    rows: list[dict[str, Any]] = []

    def row(role: str, content: Any, **fields: Any) -> None:
        number = len(rows)
        rows.append(
            {
                "type": role,
                "uuid": f"u{number}",
                "parentUuid": f"u{number - 1}" if number else None,
                "timestamp": f"2026-01-01T10:{number // 6:02}:{number % 6}0Z",
                "sessionId": "recorded",
                "cwd": root,
                "isSidechain": False,
                "message": {"role": role, "content": content, **fields},
            }
        )

    def call(tool: str, given: dict[str, Any], said: str) -> None:
        number = len(rows)
        used = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given}
        told = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": said}
        row("assistant", [used], id=f"msg_{number}", model="claude-x")
        row("user", [told])

    row("user", "Please go on.")
    for number in range(reads):
        lines = "\n".join(f"{n:6}→line {n} of file {number}" for n in range(1, 201))
        call("Read", {"file_path": f"{root}/f{number}.py"}, lines)
    edit = {"file_path": f"{root}/f0.py", "old_string": "line 5 of", "new_string": "Line 5 of"}
    call("Edit", edit, "The file has been updated.")
    row("assistant", [{"type": "text", "text": "Done."}], id="msg_end", model="claude-x")
    return "".join(json.dumps(each) + "\n" for each in rows)
