"""Claude Code as its hooks see it: it reads, edits and runs commands, and calls a hook each time."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
from typing import Any

from tests.golden.telling import Story

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Agent:
    """One conversation. Paths are relative to the project; payloads hold absolute ones.

    What a hook does not deny is done, as the real client does it. side: the payload fields of a
    sub-agent.
    """

    def __init__(self, story: Story, session: str = "s1", **side: str) -> None:
        self.story = story
        self.session = session
        self.side = side
        self._calls = 0

    def tell(self, event: str, **fields: Any) -> Any:
        """Call the hook of an event."""
        common = {
            "session_id": self.session,
            "transcript_path": f"<home>/.claude/projects/demo/{self.session}.jsonl",
            "cwd": "<project>",
        }
        return self.story.hook({**common, **self.side, "hook_event_name": event, **fields})

    def tool(self, event: str, name: str, given: Any, **fields: Any) -> Any:
        call = f"toolu_{self.session}_{self._calls}"
        return self.tell(event, tool_name=name, tool_input=given, **fields, tool_use_id=call)

    def prompt(self, words: str) -> Any:
        return self.tell("UserPromptSubmit", permission_mode="acceptEdits", prompt=words)

    def read(self, path: str, first: int = 1, count: int = 2000) -> None:
        """Read a file, or some of its lines."""
        self._calls += 1
        lines = self._text(path).split("\n")
        shown = lines[first - 1 : first - 1 + count]
        given: dict[str, Any] = {"file_path": f"<project>/{path}"}
        if first > 1 or count < len(lines):
            given |= {"offset": first, "limit": count}
        file: dict[str, Any] = {"filePath": f"<project>/{path}", "content": "\n".join(shown)}
        file |= {"numLines": len(shown), "startLine": first, "totalLines": len(lines)}
        self.tool("PostToolUse", "Read", given, tool_response={"type": "text", "file": file})

    def edit(self, path: str, old: str, new: str, *, made: bool = True) -> None:
        """Edit a file, unless that is denied. made: the client does write it."""
        given: dict[str, Any] = {"file_path": f"<project>/{path}", "old_string": old}
        given |= {"new_string": new, "replace_all": False}
        if not self._allowed("Edit", given):
            return
        before = self._text(path)
        if not made or old not in before:
            said = "String to replace not found in file."
            self.tool("PostToolUseFailure", "Edit", given, error=said, is_interrupt=False)
            return
        after = before.replace(old, new, 1)
        self.story.place.save(path, after.encode())
        told = {"filePath": f"<project>/{path}", "oldString": old, "newString": new}
        self._wrote("Edit", given, {**told, "replaceAll": False}, before, after)

    def edit_each(self, path: str, *pairs: tuple[str, str]) -> None:
        """Several edits of one file in one call."""
        edits = [{"old_string": old, "new_string": new} for old, new in pairs]
        given = {"file_path": f"<project>/{path}", "edits": edits}
        if not self._allowed("MultiEdit", given):
            return
        before = after = self._text(path)
        for old, new in pairs:
            after = after.replace(old, new, 1)
        self.story.place.save(path, after.encode())
        told = {"filePath": f"<project>/{path}", "edits": edits}
        self._wrote("MultiEdit", given, told, before, after)

    def write(self, path: str, content: str) -> None:
        """Write a whole file, with the text that the hook gave instead, where it did."""
        given = {"file_path": f"<project>/{path}", "content": content}
        answer = self._allowed("Write", given)
        if not answer:
            return
        changed = answer.get("hookSpecificOutput", {}).get("updatedInput")
        given = changed or given
        file = self.story.place.root / path
        before = file.read_text() if file.exists() else None
        self.story.place.save(path, given["content"].encode())
        told = {"type": "create" if before is None else "update"}
        told |= {"filePath": f"<project>/{path}", "content": given["content"]}
        self._wrote("Write", given, told, before, given["content"])

    def edit_cell(self, path: str, cell: str, source: str) -> None:
        given = {"notebook_path": f"<project>/{path}", "cell_id": cell, "new_source": source}
        given |= {"cell_type": "code", "edit_mode": "replace"}
        if not self._allowed("NotebookEdit", given):
            return
        before = self._text(path)
        book = json.loads(before)
        for each in book["cells"]:
            if each["id"] == cell:
                each["source"] = source
        after = json.dumps(book)
        self.story.place.save(path, after.encode())
        told = {**given, "error": "", "original_file": before, "updated_file": after}
        self.tool("PostToolUse", "NotebookEdit", given, tool_response=told)

    def run(self, command: str) -> None:
        """A command in the shell, which really runs."""
        self._calls += 1
        given = {"command": command}
        self.tool("PreToolUse", "Bash", given)
        place = self.story.place
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=place.root,
            env=place.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            error = f"Exit code {done.returncode}\n{done.stdout}{done.stderr}"
            self.tool("PostToolUseFailure", "Bash", given, error=error, is_interrupt=False)
            return
        told = {"stdout": done.stdout.rstrip("\n"), "stderr": "", "interrupted": False}
        self.tool("PostToolUse", "Bash", given, tool_response={**told, "isImage": False})

    def batch(self, *calls: dict[str, Any]) -> Any:
        """All tool calls of one answer are done."""
        return self.tell("PostToolBatch", tool_calls=[*calls])

    def _allowed(self, tool: str, given: Any) -> Any:
        """The answer of the hook before a write; None where it denies."""
        self._calls += 1
        answer = self.tool("PreToolUse", tool, given)
        said = answer.get("hookSpecificOutput", {})
        return None if said.get("permissionDecision") == "deny" else answer or {"said": "nothing"}

    def _wrote(self, tool: str, given: Any, told: Any, before: str | None, after: str) -> None:
        patch = [] if before is None else hunks(before, after)
        told = {**told, "originalFile": before, "structuredPatch": patch, "userModified": False}
        self.tool("PostToolUse", tool, given, tool_response=told)

    def _text(self, path: str) -> str:
        return (self.story.place.root / path).read_text()


def hunks(before: str, after: str) -> list[dict[str, Any]]:
    """A diff as Claude Code tells it."""
    made: list[dict[str, Any]] = []
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="")
    for line in list(lines)[2:]:
        head = HUNK.match(line)
        if head:
            a, b, c, d = (int(number or 1) for number in head.groups())
            made.append({"oldStart": a, "oldLines": b, "newStart": c, "newLines": d, "lines": []})
        else:
            made[-1]["lines"].append(line)
    return made


def recorded_read(path: str, text: str) -> str:
    """The rows of a transcript in which a file was read. Each takes the same room, however long
    the path is: how far a transcript was read is told in bytes."""
    call = {"type": "tool_use", "id": "t0", "name": "Read", "input": {"file_path": path}}
    lines = text.count("\n") + 1
    file = {"filePath": path, "content": text, "startLine": 1}
    file |= {"numLines": lines, "totalLines": lines}
    told = {"type": "tool_result", "tool_use_id": "t0", "content": "1\t..."}
    rows: list[dict[str, Any]] = [
        {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
        {
            "type": "user",
            "message": {"role": "user", "content": [told]},
            "toolUseResult": {"type": "text", "file": file},
        },
    ]
    return "".join(f"{json.dumps(row):800}\n" for row in rows)
