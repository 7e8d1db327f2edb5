"""Read a transcript of Entire as Anthropic messages: each row holds the texts and calls of one answer,
a call with its result. Entire writes it for every agent, and shortens long results."""

from __future__ import annotations

import re
from hashlib import sha256

from sightline.model.json_fields import Row, nested, objects
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Rows, Telling, head, moment

BEGIN = re.compile(rb'(?:\A|\n)\s*\{"v":\d+,"agent":"[^"]*","cli_version":')
"""How a row begins; the first row may be cut off."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a transcript. OSError; NotOurs; ValueError, with a message for a
    person, for a transcript without messages."""
    begins = head(path)
    if not BEGIN.search(begins):
        raise NotOurs("it holds no rows as Entire records them")
    found = Rows(path)
    reader = _Rows()
    for row in found:
        reader.row(row)
    session = sha256(begins).hexdigest()[:16]
    return reader.conversation("anthropic", "entire", path, session, found.damaged)


class _Rows(Telling):
    """Messages built from rows."""

    def row(self, row: Row) -> None:
        """Add a row. Rows that no model read are passed over."""
        at, content = moment(row.get("ts")), objects(row.get("content"))
        texts = [
            {"type": "text", "text": str(part["text"])}
            for part in content
            if part.get("type", "text") == "text" and str(part.get("text") or "").strip()
        ]
        if row.get("type") == "user":
            self._add("user", texts, at)
        elif row.get("type") == "assistant":
            calls = [part for part in content if part.get("type") == "tool_use"]
            self._add("assistant", [*texts, *map(_call, calls)], at)
            self._add("user", [_result(part) for part in calls if "result" in part], at)

    def _add(self, role: str, parts: list[Row], at: int | None) -> None:
        """Add parts to the message of the same role, or as a message. Calls end a message."""
        last = self.messages[-1] if self.messages else None
        if not parts:
            return
        if last is not None and last["role"] == role:
            last["content"].extend(parts)
        else:
            self.add({"role": role, "content": parts}, at)


def _call(part: Row) -> Row:
    fields = {"id": str(part.get("id")), "name": str(part.get("name"))}
    given = part.get("input")
    return {"type": "tool_use", **fields, "input": given if isinstance(given, dict) else {}}


def _result(part: Row) -> Row:
    output = nested(part, "result", "output")
    failed = nested(part, "result", "status") == "error"
    text = output if isinstance(output, str) else ""
    fields = {"tool_use_id": str(part.get("id")), "content": text, "is_error": failed}
    return {"type": "tool_result", **fields}


READER = Reader(name="entire", title="Entire", conversation=conversation)
