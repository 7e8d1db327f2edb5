"""The recorded session: the texts shown to its agent, and each edit that the agent tried."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from msgspec import Struct

SOURCE = {
    "product": "Claude Code",
    "repository": "entireio/cli",
    "commit": "394f81fab87f71aa8938d91ff7a067c524ff344b",
    "path": "entire/checkpoints/v1:30/e81e82f6ba/0/full.jsonl",
    "licence": "MIT",
    "copyright": "Copyright (c) 2026 Entire Inc.",
}
"""The origin of the recording; data/tour/ATTRIBUTION.md has the text of the licence."""


class Edit(Struct, frozen=True):
    """An edit that the agent asked for. refusal: the answer of its own tool, "" if it edited."""

    old: str
    new: str
    refusal: str


class File(Struct, frozen=True):
    """One file in the recording.

    path: in the workspace. reads: its whole text at each read. edits: in order. ended: its text
    after the last edit.
    """

    path: str
    reads: tuple[str, ...]
    edits: tuple[Edit, ...]
    ended: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def load() -> dict[str, File]:
    """Return the files of the recording, by name."""
    text = (files("sightline") / "data" / "tour" / "session.jsonl").read_text(encoding="utf-8")
    records = [json.loads(line) for line in text.splitlines()]
    answers = {part["tool_use_id"]: (record, part) for record, part in _parts(records, "user")}
    reads: dict[str, list[str]] = {}
    edits: dict[str, list[Edit]] = {}
    ended: dict[str, str] = {}
    for record, call in _parts(records, "assistant"):
        asked = call["input"]
        path = asked["file_path"].removeprefix(record["cwd"] + "/")
        answer, part = answers.get(call["id"], ({}, {}))
        result = answer.get("toolUseResult")
        if call["name"] == "Read":
            reads.setdefault(path, []).append(result["file"]["content"])
            continue
        old, new = asked["old_string"], asked["new_string"]
        refusal = _words(part["content"]) if part.get("is_error") else ""
        edits.setdefault(path, []).append(Edit(old, new, refusal))
        if isinstance(result, dict):
            ended[path] = result["originalFile"].replace(old, new, 1)
    found = [File(path, tuple(reads[path]), tuple(edits[path]), ended[path]) for path in edits]
    return {file.name: file for file in found}


def _parts(records: list[dict[str, Any]], kind: str) -> Iterator[tuple[Any, Any]]:
    """Yield the records of the agent ("assistant") or of its tools ("user"), with their parts."""
    for record in records:
        if record["type"] == kind:
            for part in record["message"]["content"]:
                yield record, part


def _words(answer: str) -> str:
    return answer.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
