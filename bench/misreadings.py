"""Reads that failed in recorded sessions: what was asked, what the session knew, what came next."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING = re.compile(r"(?i)file does not exist|ENOENT|no such file|file not found")
PATH = re.compile(r"(?<![\w/.@-])/?(?:[\w.@-]+/)+[\w@-][\w.@-]*\.\w{1,5}\b")
READERS = frozenset(("read", "view", "read_file", "edit", "multiedit"))


class FailedRead(Struct, frozen=True):
    """asked: relative to the session's folder where it lay below it; next: what it opened instead,
    "" where nothing of a like name; known: paths that stand in the recording; seen: those read."""

    session: str
    asked: str
    next: str
    known: tuple[str, ...]
    seen: frozenset[str]


class Opened(Struct, frozen=True):
    """A call that opens a file, and whether the file was missing."""

    path: str
    missing: bool


def failed_reads(folder: str) -> Iterator[FailedRead]:
    """Those of every recording below a folder whose tools have a path of their own: commands of a
    shell are left out."""
    for file in sorted(Path(folder).rglob("*.json*")):
        text = file.read_text(encoding="utf-8", errors="replace")
        if MISSING.search(text):
            items = list(_objects(text))
            yield from _of(str(file.relative_to(folder)), items, text)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every object of a JSON text, or of one a line, in their order."""
    try:
        waiting = [json.loads(text)]
    except ValueError:
        waiting = [json.loads(line) for line in text.split("\n") if line.startswith("{")]
    waiting.reverse()
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += reversed([*item.values()])
        elif isinstance(item, list):
            waiting += reversed(item)


def _of(session: str, items: list[dict[str, Any]], text: str) -> Iterator[FailedRead]:
    home = next((item["cwd"] for item in items if isinstance(item.get("cwd"), str)), "/")
    opened = [structs.replace(one, path=_below(one.path, home)) for one in _opened(items)]
    gone = {one.path for one in opened if one.missing}
    known = {_below(path, home) for path in PATH.findall(text.replace("\\n", "\n"))} - gone
    for at, one in enumerate(opened):
        if not one.missing or one.path in {other.path for other in opened[:at]}:
            continue
        after = [other.path for other in opened[at + 1 : at + 9] if not other.missing]
        seen = frozenset(other.path for other in opened[:at] if not other.missing)
        yield FailedRead(session, one.path, _like(one.path, after), (*sorted(known),), seen)


def _like(asked: str, after: list[str]) -> str:
    """The first file opened afterwards that has a word of three letters in its name in common."""
    words = set(re.findall(r"[a-z]{3,}", asked.rpartition("/")[2].rpartition(".")[0].lower()))
    named = (path for path in after if words & set(re.findall(r"[a-z]{3,}", path.lower())))
    return next(named, "")


def _below(path: str, home: str) -> str:
    return path.removeprefix(home.rstrip("/") + "/") if home != "/" else path.lstrip("/")


def _opened(items: list[dict[str, Any]]) -> list[Opened]:
    """Calls and their answers, in the shapes of three products."""
    calls: dict[str, str] = {}
    found: list[Opened] = []
    for item in items:
        kind = item.get("type") or item.get("role")
        if kind in ("tool_use", "toolCall") and str(item.get("name")).lower() in READERS:
            calls[str(item.get("id"))] = _path(item.get("input") or item.get("arguments"))
        elif kind in ("tool_result", "toolResult"):
            path = calls.pop(str(item.get("tool_use_id") or item.get("toolCallId")), "")
            error = bool(item.get("is_error") or item.get("isError"))
            found += [Opened(path, _missing(item.get("content"), error))] if path else []
        elif kind == "tool" and str(item.get("tool")).lower() in READERS:
            state = item.get("state") or {}
            path = _path(state.get("input"))
            error = state.get("status") == "error"
            found += [Opened(path, _missing(state.get("error"), error))] if path else []
    return found


def _path(given: Any) -> str:
    named = given if isinstance(given, dict) else {}
    return str(named.get("file_path") or named.get("filePath") or named.get("path") or "")


def _missing(answer: Any, error: bool) -> bool:  # noqa: FBT001
    return error and bool(MISSING.search(json.dumps(answer)))
