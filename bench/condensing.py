"""Condense recorded sessions without a model: is all in the view that must be there?

    python bench/condensing.py PATH... [--min-tokens N] [--keep N] [--outlines] [--json]

PATH is a recording of any product, or a folder of them. The newest part of each recording with so many
tokens is said to a session in memory and condensed. What must be there is taken from the messages by a
few lines of this file, which share no code with the library: every file changed, every text that the
user typed up to its budget, every open to-do, and the commands that failed. Exits 1 when something is
missing or a view is invalid.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    sys.path[:0] = [ROOT, os.path.join(ROOT, "src")]

from sightline.errors import CondenseRefused  # noqa: E402
from sightline.messages.formats.format import FORMATS  # noqa: E402
from sightline.recordings.read_recordings import find_recordings, read_recording  # noqa: E402
from sightline.recordings.recorded_conversation import Unread  # noqa: E402
from sightline.testing import make_session  # noqa: E402
from sightline.text.tokens import estimate  # noqa: E402

LONG = 30_000
TYPED_TOKENS = 20_000
FAILED_MAX = 40
BLANK = r"\\[nt]"
"""A line end or a tab in JSON."""

KINDS = ("changed files", "typed texts", "open to-dos", "failed commands")

EDITS = {"edit", "multiedit", "write", "notebookedit", "strreplaceeditor", "writefile", "replace", "editfile", "create", "writetofile"}  # fmt: skip
SHELLS = {"bash", "shell", "execcommand", "shellcommand", "runshellcommand", "executecommand"}
LISTS = {"todowrite", "updateplan", "writetodos"}
PATHS = ("file_path", "filePath", "path", "notebook_path")
PROGRAM = ("<", "Caveat:", "[Request", "# AGENTS.md", "This session is being continued", "Base directory", "## Conversation Summary", "This is the Gemini CLI", "[TASK", "[read_file for", "[ERROR]", "Stop hook")  # fmt: skip

Calls = dict[str, tuple[str, Any]]


def walk(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping in a value."""
    if isinstance(value, Mapping):
        yield value
        for each in value.values():
            yield from walk(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from walk(each)


def given(value: Any) -> Any:
    """Return arguments, parsed where they are JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def calls_of(messages: Sequence[Any]) -> Calls:
    """Return the calls by their ids: plain name and arguments."""
    calls: Calls = {}
    for message in messages:
        for each in walk(message):
            inner = each.get("function") if isinstance(each.get("function"), Mapping) else each
            assert inner is not None
            name, call = inner.get("name"), each.get("id") or each.get("call_id")
            arguments = next((inner[k] for k in ("input", "arguments", "args") if k in inner), None)
            if each.get("type") in ("function_call", "custom_tool_call"):
                call = each.get("call_id")
            if isinstance(name, str) and isinstance(call, str) and arguments is not None:
                plain = re.sub("[^a-z]", "", name.rpartition("__")[2].lower())
                calls.setdefault(call, (plain, given(arguments)))
    return calls


def failed_calls(messages: Sequence[Any]) -> set[str]:
    """Return the ids of calls whose result says that they failed."""
    failed = set()
    for message in messages:
        for each in walk(message):
            call = each.get("tool_use_id") or each.get("tool_call_id")
            if str(each.get("type", "")).endswith("_output"):
                call = each.get("call_id")
            if not isinstance(call, str):
                continue
            if each.get("type") == "tool_result":  # Anthropic says it in a field
                failed |= {call} if each.get("is_error") is True else set()
                continue
            text = json.dumps(each.get("content", each.get("output")))
            code = re.search(
                r'(?:exit(?:ed with)?[ _]code\\*"?:?) ?(\d+)', text[:4000], re.IGNORECASE
            )
            if code and int(code[1]):
                failed.add(call)
    return failed


class Wanted(NamedTuple):
    """The texts that a view must hold, each in the order of KINDS."""

    changed: list[str]
    typed: list[str]
    todos: list[str]
    failed: list[str]


def wanted(messages: Sequence[Any]) -> Wanted:
    """Return what must be in the view of messages."""
    calls, failed = calls_of(messages), failed_calls(messages)
    changed: dict[str, None] = {}
    todos: list[str] = []
    commands = []
    for call, (name, arguments) in calls.items():
        fields = arguments if isinstance(arguments, Mapping) else {}
        if name in EDITS and call not in failed:
            path = next((fields[key] for key in PATHS if isinstance(fields.get(key), str)), None)
            changed |= {path: None} if path and fields.get("command") != "view" else {}
        if name == "applypatch" and call not in failed:
            text = json.dumps(arguments)
            changed |= dict.fromkeys(re.findall(r"\*\*\* (?:Update|Add|Delete) File: ([^\\\"]+)", text))  # fmt: skip
        if name in LISTS:
            items = fields.get("todos") or fields.get("plan") or []
            todos = [
                str(item.get("content") or item.get("step"))
                for item in items
                if isinstance(item, Mapping)
                and str(item.get("status")) in ("pending", "in_progress")
            ]
        command = fields.get("command") or fields.get("cmd")
        if name in SHELLS and call in failed and command:
            line = " ".join(command) if isinstance(command, list) else str(command)
            commands.append(" ".join(line.split())[:150])
    typed = list(typed_texts(messages))
    room, kept = TYPED_TOKENS - sum(estimate(text) for text in typed[:1]), typed[:1]
    for text in reversed(typed[1:]):
        room -= estimate(text)
        if room < 0:
            break
        kept.append(text)
    return Wanted(list(changed), kept, todos, commands[-FAILED_MAX:])


def typed_texts(messages: Sequence[Any]) -> Iterator[str]:
    """Yield the texts that a person typed, without those that begin as a program's do."""
    for message in messages:
        if message.get("role") != "user":
            continue
        parts = message.get("content", message.get("parts"))
        if "] Result:" in str(parts)[:200] or "The tool execution failed" in str(parts)[:200]:
            continue  # Cline's and Roo's results are texts
        for part in [{"text": parts}] if isinstance(parts, str) else parts or ():
            is_text = isinstance(part, Mapping) and part.get("type") in (None, "text", "input_text")
            text = str(part.get("text") or "").strip() if is_text else ""
            is_program = text.startswith(PROGRAM) or "<environment_details>" in text
            if text and not is_program:
                yield text


def _is_in(item: str, text: str) -> bool:
    """Return whether a text holds an item, plain or as JSON."""
    item = " ".join(item.split())
    return item in text or json.dumps(item, ensure_ascii=False)[1:-1] in text


class Condensed(NamedTuple):
    """One session. counts: for each of KINDS, how many must be there, and which are missing."""

    path: str
    before: int
    after: int
    wanted: tuple[int, ...]
    missing: tuple[list[str], ...]
    invalid: int
    refused: str = ""


def condense(path: str, least: int, keep: int, *, outlines: bool = False) -> Condensed | None:
    """Condense the newest part of a recording; None for one that is short or cannot be read."""
    recording = read_recording(path)
    if isinstance(recording, Unread) or not recording.messages:
        return None
    *_, (messages, _) = recording.segments()
    wire_format = FORMATS[recording.format]
    if sum(block.tokens for block in wire_format.blocks(messages, estimate)) < least:
        return None
    session = make_session(id="s")
    for message in messages:
        try:
            session.conversation.append(message)
        except ValueError:
            return None
    try:
        made = session.conversation.condense(keep_tokens=keep, outlines=outlines)
    except CondenseRefused as refused:
        return Condensed(path, 0, 0, (0,) * 4, ([], [], [], []), 0, refused.message)
    if made is None:
        return None
    view = session.conversation.view(10**9)
    blocks = wire_format.blocks(view, estimate)
    shown = "\n".join([made.summary, *(block.text for block in blocks)])
    text = " ".join(f"{shown} {re.sub(BLANK, ' ', shown)}".split())
    text += " ".join(json.dumps(view, ensure_ascii=False).replace("\\n", " ").split())
    must = wanted(messages)
    missing = (
        [path for path in must.changed if "/".join(path.split("/")[-2:]) not in text],
        *([each for each in items if not _is_in(each, text)] for items in must[1:]),
    )
    problems = wire_format.problems(view)
    return Condensed(path, made.before, made.after, tuple(map(len, must)), missing, len(problems))


def main() -> int:
    """Run and print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--min-tokens", type=int, default=LONG)
    parser.add_argument("--keep", type=int, default=20_000)
    parser.add_argument("--outlines", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    files = list(find_recordings(asked.paths))
    each = (condense(file, asked.min_tokens, asked.keep, outlines=asked.outlines) for file in files)
    sessions = [session for session in each if session is not None]
    if not sessions:
        print("no recording of this length", file=sys.stderr)
        return 2
    lost = sum(map(len, (m for session in sessions for m in session.missing)))
    invalid = sum(session.invalid for session in sessions)
    refused = [session for session in sessions if session.refused]
    if asked.json:
        print(json.dumps({"schema": 1, "rows": [session._asdict() for session in sessions]}))
    else:
        print(f"{len(sessions)} sessions of {asked.min_tokens:,} tokens or more, {len(refused)} refused")  # fmt: skip
        print("| must be there | items | missing |\n|---|--:|--:|")
        for number, kind in enumerate(KINDS):
            items = sum(session.wanted[number] for session in sessions)
            gone = sum(len(session.missing[number]) for session in sessions)
            print(f"| {kind} | {items} | {gone} |")
        made = [session for session in sessions if not session.refused]
        print(f"\nmedian: {median(s.before for s in made):,.0f} tokens before, {median(s.after for s in made):,.0f} after")  # fmt: skip
        for session in sessions:
            for number, names in enumerate(session.missing):
                for name in names:
                    print(f"{session.path}: {KINDS[number]}: {name[:100]!r}")
            if session.refused:
                print(f"{session.path}: {session.refused}")
    return 1 if lost or invalid else 0


if __name__ == "__main__":
    sys.exit(main())
