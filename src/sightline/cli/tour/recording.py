"""The recorded session: what its agent was shown, and each edit that it tried."""

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
"""Where the recording was published; data/tour/ATTRIBUTION.md has the licence's text."""


class Edit(Struct, frozen=True):
    """An edit that the agent asked for. refusal: what its own tool answered, "" if it did it."""

    old: str
    new: str
    refusal: str


class File(Struct, frozen=True):
    """One file in the recording. path: in the workspace; reads: its whole text, each time it was
    read; edits: in order; ended: its text after the last of them."""

    path: str
    reads: tuple[str, ...]
    edits: tuple[Edit, ...]
    ended: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def load() -> dict[str, File]:
    """The files of the committed recording, by name."""
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
    """The records of the agent ("assistant") or of its tools ("user"), and what they hold."""
    for record in records:
        if record["type"] == kind:
            for part in record["message"]["content"]:
                yield record, part


def _words(answer: str) -> str:
    return answer.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
