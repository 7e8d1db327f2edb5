"""List the recorded conversations of a workspace, and read each as timed events."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from sightline.model.hook_events import Began, Compacted, Event, Prompted
from sightline.model.json_fields import Row, nested, objects
from sightline.recordings.claude_code.tool_results import read, wrote
from sightline.recordings.claude_code.transcripts import attached, model_of, rows, time_of
from sightline.recordings.reader import Recording

CONFIG = "CLAUDE_CONFIG_DIR"
"""The variable that names the client's folder of a user."""

AGENT_ID_LENGTH = 8
"""Characters of a sub-agent's id that tell it from its siblings."""

FOLDER_LENGTH = 200
"""Characters of a folder's name; a longer one goes on with a digest."""

HEAD = 1 << 20
"""Bytes in which a transcript says when and where it began."""

WANTED = (b'"user"', b'"assistant"', b'"attachment"', b'"compact_boundary"')
NOT_TYPED = ("<local-command-", "<command-", "<task-notification>", "Caveat: ", "[Request ")
"""How user rows begin that the client wrote."""


def config_dir(environ: Mapping[str, str], home: str) -> str:
    """Return the client's folder of a user."""
    return environ.get(CONFIG) or os.path.join(home, ".claude")


def recordings(workspace_root: str, environ: Mapping[str, str], home: str) -> list[Recording]:
    """Return the conversations recorded in a workspace or a folder below it, oldest first,
    sub-agents after the main ones. OSError when a transcript cannot be read; empty where there is
    none."""
    projects = os.path.join(config_dir(environ, home), "projects")
    begins = folder_name(workspace_root)[:FOLDER_LENGTH]
    try:
        folders = sorted(name for name in os.listdir(projects) if name.startswith(begins))
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = [
        each
        for folder in folders
        for each in _in_folder(os.path.join(projects, folder))
        if _inside(each.cwd, workspace_root)
    ]
    return sorted(found, key=lambda each: (each.parent is not None, each.started, each.path))


def folder_name(cwd: str) -> str:
    """Return the name of the folder that holds the conversations begun in cwd."""
    return "".join([char if char.isascii() and char.isalnum() else "-" for char in cwd])


def _in_folder(folder: str) -> Iterator[Recording]:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        session, kind = os.path.splitext(name)
        if kind == ".jsonl" and (main := recording(path, session)) is not None:
            yield main
        elif os.path.isdir(inner := os.path.join(path, "subagents")):
            yield from _sub_agents(inner, session)


def _sub_agents(folder: str, session: str) -> Iterator[Recording]:
    for name in sorted(os.listdir(folder)):
        if name.startswith("agent-") and name.endswith(".jsonl"):
            path, agent = os.path.join(folder, name), name[6:-6]
            own = sub_agent(session, _kind(path), agent)
            if (found := recording(path, own, parent=session)) is not None:
                yield found


def sub_agent(session: str, kind: str | None, agent: str) -> str:
    """Return our id of a sub-agent's session."""
    name = "".join([char if char.isprintable() else "-" for char in kind or ""]).strip()
    return f"{session}/{name or 'agent'}-{agent[:AGENT_ID_LENGTH]}"


def _kind(path: str) -> str | None:
    """Return the kind of a sub-agent from the file beside its transcript."""
    try:
        with open(path.removesuffix(".jsonl") + ".meta.json", encoding="utf-8") as file:
            kind = nested(json.load(file), "agentType")
            return kind if isinstance(kind, str) else None
    except (OSError, ValueError):
        return None  # older clients write none


def recording(path: str, session: str, parent: str | None = None) -> Recording | None:
    """Return a transcript as a recording; None where it does not say when and where it began."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for _, row in rows(file, 0, (b'"cwd"',), HEAD):
            at = time_of(row) if row is not None else None
            if row is not None and at is not None and isinstance(row.get("cwd"), str):
                return Recording(path, session, at, row["cwd"], size, parent)
    return None


def _inside(cwd: str, root: str) -> bool:
    return cwd == root or cwd.startswith(root.rstrip("/\\") + ("\\" if "\\" in root else "/"))


def timed_events(of: Recording) -> Iterator[tuple[int, Event]]:
    """Yield a recording's events in order, with their times. Copied and damaged rows are passed
    over."""
    seen: set[str] = set()
    model = None
    at = of.started
    with open(of.path, "rb") as file:
        for _, row in rows(file, 0, WANTED, of.size):
            if row is None or (row.get("isSidechain") and of.parent is None):
                continue
            mark = str(row.get("uuid") or "")
            if mark in seen:
                continue
            seen |= {mark} if mark else set()
            at = max(time_of(row) or at, at)
            if (used := model_of(row)) not in (None, model):
                model = used
                yield at, Began("resume", model)
            for event in _row(row):
                yield at, event


def _row(row: Row) -> list[Event]:
    kind = row.get("type")
    if kind == "attachment":
        return attached(row)
    if kind == "system":
        return [Compacted()] if row.get("subtype") == "compact_boundary" else []
    if kind != "user":
        return []
    if "toolUseResult" not in row:
        return _prompt(row)
    try:
        return _result(row)
    except (KeyError, ValueError):
        return []  # the result of another tool with similar fields


def _result(row: Row) -> list[Event]:
    result = row["toolUseResult"]
    if not isinstance(result, dict):
        return []
    if "structuredPatch" not in result:
        return read(result)
    tool = "Edit" if "oldString" in result else "Write"
    return [wrote(tool, str(result["filePath"]), str(row.get("uuid", "")), result)]


def _prompt(row: Row) -> list[Event]:
    content = nested(row, "message", "content")
    if isinstance(content, list):
        texts = [part.get("text") for part in objects(content)]
        content = next((text for text in texts if isinstance(text, str)), None)
    is_generated = row.get("isMeta") or row.get("isCompactSummary")
    if is_generated or not isinstance(content, str) or content.startswith(NOT_TYPED):
        return []
    return [Prompted(content)]
