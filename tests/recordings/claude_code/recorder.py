"""Transcripts with rows shaped as the real client writes them, made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Recorder:
    """Writes rows one after the other, each the child of the one before, ten seconds apart."""

    def __init__(self, session: str = "s1") -> None:
        self.rows: list[Any] = []
        self.session = session
        self._last: str | None = None
        self._second = 0
        self._answers = 0

    def row(self, kind: str, **fields: Any) -> str:
        self._second += 10
        mark = f"u{len(self.rows)}"
        at = f"2026-03-01T{self._second // 3600:02}:{self._second // 60 % 60:02}:{self._second % 60:02}Z"
        common = {"parentUuid": self._last, "uuid": mark, "sessionId": self.session}
        given = {"type": kind, "timestamp": at, "isSidechain": False, "cwd": "/home/me/demo"}
        self.rows.append({**common, **given, **fields})
        self._last = mark
        return mark

    def wait(self, seconds: int) -> Recorder:
        self._second += seconds
        return self

    def typed(self, text: str, **fields: Any) -> Recorder:
        self.row("user", message={"role": "user", "content": text}, **fields)
        return self

    def said(self, *parts: dict[str, Any] | str, answer: str | None = None) -> str:
        """An answer: a row for each part. Its id."""
        self._answers += answer is None
        name = answer or f"msg_{self._answers}"
        for part in parts:
            told = {"type": "text", "text": part} if isinstance(part, str) else part
            message = {"id": name, "role": "assistant", "model": "claude-x", "content": [told]}
            self.row("assistant", message=message)
        return name

    def result(self, call: str, text: str, *, error: bool = False) -> Recorder:
        part = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}
        self.row("user", message={"role": "user", "content": [part]}, toolUseResult=text)
        return self

    def ran(self, tool: str, output: str, **given: Any) -> Recorder:
        call = f"toolu_{len(self.rows)}"
        self.said(use(call, tool, **given))
        return self.result(call, output)

    def read(self, path: str, text: str) -> Recorder:
        lines = enumerate(text.split("\n"), 1)
        return self.ran("Read", "\n".join(f"{n:6}→{line}" for n, line in lines), file_path=path)

    def edit(self, path: str, old: str, new: str) -> Recorder:
        given = {"file_path": path, "old_string": old, "new_string": new}
        return self.ran("Edit", f"The file {path} has been updated.", **given)

    def attach(self, kind: str, **fields: Any) -> Recorder:
        self.row("attachment", attachment={"type": kind, **fields})
        return self

    def compact(self, summary: str) -> Recorder:
        before, self._last = self._last, None
        fields = {"subtype": "compact_boundary", "logicalParentUuid": before}
        self.row("system", content="Conversation compacted", **fields)
        return self.typed(summary, isCompactSummary=True)

    def write(self, path: Path) -> str:
        lines = [row if isinstance(row, str) else json.dumps(row) for row in self.rows]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)


def use(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": tool, "input": given}
