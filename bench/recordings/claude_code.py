"""Recorded Claude Code sessions as a plain list of what happened to files.

A record is one JSON object; two may be glued on one line and a line may be half a record, so
each line is decoded as far as it goes and the rest searched for the next record. Forks and
resumes copy earlier records with their uuid; a copy is left out.
"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

from sightline.messages.formats.parse_blocks import effect_of, has_failed, result_excerpts
from sightline.messages.tool_calls import make_call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST_KEYS = ('{"parentUuid"', '{"type"', '{"uuid"')
EDITS = ("Edit", "Write")


class Shown(NamedTuple):
    """Lines of a file were shown. text: without numbers; start: its first line, 1-based; whole:
    whether it is all of the file, to the byte."""

    path: str
    text: str
    start: int
    whole: bool
    via: str = "read"


class Edited(NamedTuple):
    """The product's tool was asked to change a file, and did or did not.

    content: of a whole-file write; else old, new and every (all occurrences). original: the file
    before, None where the recording does not say; created: there was none. error: the product's
    words when it refused.
    """

    path: str
    old: str = ""
    new: str = ""
    every: bool = False
    content: str | None = None
    original: str | None = None
    created: bool = False
    error: str = ""


class Ran(NamedTuple):
    """A shell command."""

    command: str


class Compacted(NamedTuple):
    """The conversation was condensed: no text shown before is in the window any more."""


Event = Shown | Edited | Ran | Compacted


class Recording(NamedTuple):
    """columns: the events of each session in the file (sub-agents are sessions of their own), in
    order. unreadable: pieces of lines that are no record."""

    columns: dict[str, list[Event]]
    unreadable: int


def read(path: Path) -> Recording:
    """All that one file recorded."""
    columns: dict[str, list[Event]] = {}
    calls: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    unreadable = 0
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").split("\n"):
        for record in _records(line):
            if record is None:
                unreadable += 1
                continue
            uuid = record.get("uuid")
            if uuid in seen:
                continue
            if uuid:
                seen.add(uuid)
            side = record.get("agentId") or "side" if record.get("isSidechain") else "main"
            events = columns.setdefault(side, [])
            try:
                events.extend(_events(record, calls))
            except (AttributeError, KeyError, TypeError, ValueError):  # fields of another shape
                unreadable += 1
    return Recording(columns, unreadable)


def _records(line: str) -> Iterator[dict[str, Any] | None]:
    """The records on a line; None for each piece that is none."""
    decoder = json.JSONDecoder()
    at = 0
    while at < len(line):
        try:
            record, at = decoder.raw_decode(line, at)
        except json.JSONDecodeError:
            yield None
            later = [found for key in FIRST_KEYS if (found := line.find(key, at + 1)) > 0]
            at = min(later, default=len(line))
            continue
        yield record if isinstance(record, dict) else None
        while line[at : at + 1].isspace():
            at += 1


def _events(record: dict[str, Any], calls: dict[str, dict[str, Any]]) -> Iterator[Event]:
    kind = record.get("type")
    if kind == "system" and record.get("subtype") == "compact_boundary":
        yield Compacted()
    if kind == "attachment":
        yield from _attached(record["attachment"])
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_use":
            calls[block["id"]] = block
            command = block["input"].get("command")
            if isinstance(command, str):
                yield Ran(command)
        elif block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
            call = calls[block["tool_use_id"]]
            yield from _printed(call, block, str(record.get("cwd") or "/"))
            yield from _result(call, block, record.get("toolUseResult"))


def _printed(call: dict[str, Any], block: dict[str, Any], cwd: str) -> Iterator[Event]:
    """Lines of files in the output of a command, as far as command and output prove them."""
    content = block.get("content")
    if call["name"] != "Bash" or not isinstance(content, str) or block.get("is_error"):
        return
    effect = effect_of(make_call(call["id"], "Bash", call["input"]))
    if has_failed(effect, content):
        return
    for excerpt in result_excerpts(effect, content):
        path = posixpath.join(cwd, excerpt.path)
        yield Shown(
            posixpath.normpath(path), excerpt.text, excerpt.first, whole=False, via="command"
        )


def _attached(attachment: dict[str, Any]) -> Iterator[Event]:
    """Text that reached the model without a call: a notice of an outside change."""
    if attachment.get("type") != "edited_text_file":
        return
    for start, text in _numbered(attachment["snippet"]):
        yield Shown(attachment["filename"], text, start, whole=False, via="notice")


def _numbered(snippet: str) -> Iterator[tuple[int, str]]:
    """Runs of numbered lines ("12<tab>text" or "12→text") as (first number, text)."""
    start, rows = 0, list[str]()
    for row in snippet.split("\n"):
        number, mark, text = row.lstrip(" ").partition("\t" if "\t" in row else "→")
        follows = mark and number.isdigit()
        if rows and (not follows or int(number) != start + len(rows)):
            yield start, "\n".join(rows)
            rows = []
        if follows:
            start = int(number) if not rows else start
            rows.append(text)
    if rows:
        yield start, "\n".join(rows)


def _result(call: dict[str, Any], block: dict[str, Any], result: Any) -> Iterator[Event]:
    asked = call["input"]
    if call["name"] == "Read" and isinstance(result, dict):
        file = result.get("file", {})
        if isinstance(file.get("content"), str):
            start = max(int(file["startLine"]), 1)
            whole = start == 1 and file["numLines"] == file["totalLines"]
            yield Shown(file["filePath"], file["content"], start, whole)
    elif call["name"] in EDITS and isinstance(result, dict):
        yield _done(result)
    elif call["name"] in EDITS and block.get("is_error"):
        yield _asked(asked)._replace(error=str(result or block.get("content")))


def _done(result: dict[str, Any]) -> Edited:
    """An edit that the product carried out, as it says it did."""
    original = result.get("originalFile")
    if "content" in result:
        created = result.get("type") == "create"
        content = result["content"]
        return Edited(result["filePath"], content=content, original=original, created=created)
    old, new = result["oldString"], result["newString"]
    return Edited(result["filePath"], old, new, bool(result.get("replaceAll")), original=original)


def _asked(asked: dict[str, Any]) -> Edited:
    """An edit that was only asked for."""
    path = asked["file_path"]
    if "content" in asked:
        return Edited(path, content=asked["content"])
    every = asked.get("replace_all") in (True, "true")
    return Edited(path, asked["old_string"], asked["new_string"], every)
