"""Read the messages in a file: of a task of Cline or Roo Code, under the names of all their versions,
or as a provider takes them, as save() writes them, too.

A damaged list is read up to its last whole element; of damaged JSON lines, only those are left out that
are no JSON. No file is changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from sightline.errors import HistoryError
from sightline.messages.formats.parts import Message
from sightline.messages.history_reader import HOLDERS
from sightline.model.path import quoted
from sightline.text.phrases import count, named

HISTORY = "api_conversation_history.json"
SHOWN = "ui_messages.json"
OLD_NAME = "claude_messages.json"
"""The name of early versions: Roo Code's for the messages sent, Cline's for the rows shown."""

BOM = b"\xef\xbb\xbf"

TIME_MAX_MS = 2**52
"""Milliseconds since 1970 up to which a number is a time."""

NAMED_MAX = 5
"""Damaged lines that are named one by one."""

Rows = list[Any]


class OldHistory(Struct, frozen=True):
    """The messages of a file. times: of each, UTC microseconds, None where unknown; kept_as: the newer
    name of a file with an old name, "" for others; passed_over: elements that are no messages;
    warnings: sentences for a person."""

    messages: tuple[Message, ...]
    times: tuple[int | None, ...]
    kept_as: str
    warnings: tuple[str, ...]
    passed_over: int = 0


def read_old_history(path: str, data: bytes) -> OldHistory:
    """Read the messages in a file's bytes. HistoryError for a file without one whole message that was
    not written as an empty one."""
    rows, lost = _rows(data)
    warnings = []
    if lost and not rows:
        raise HistoryError(
            f"{quoted(path)} is damaged: {lost}. No message in it is whole, and nothing was loaded.",
            "Load another copy of it; the file stays as it is.",
        )
    if lost:
        warnings.append(
            f"{quoted(path)} is damaged: {lost}. {count(len(rows), 'element').capitalize()} of it"
            f" {'is' if len(rows) == 1 else 'are'} whole, and {'was' if len(rows) == 1 else 'were'}"
            " read. The file stays as it is."
        )
    name = os.path.basename(path)
    is_shown = bool(rows) and all(_is_shown(row) for row in rows)
    kept_as = ""
    if name == OLD_NAME:
        kept_as = SHOWN if is_shown else HISTORY
        warnings.append(f"{OLD_NAME} is the name of early versions for {kept_as}: it is kept under that name.")  # fmt: skip
    if is_shown:
        warnings.append(
            f"{quoted(path)} holds the {count(len(rows), 'row')} that a person was shown, not the messages"
            " that were sent: their texts were read, without calls and results."
        )
        return _of_shown(rows, kept_as, warnings)
    messages = [row for row in rows if isinstance(row, Mapping)]
    if len(messages) < len(rows):
        elements = count(len(rows) - len(messages), "element")
        warnings.append(f"{elements} of {quoted(path)} are no messages, and were passed over.")
    times = [_time(message.get("ts")) for message in messages]
    beside = os.path.join(os.path.dirname(path), SHOWN)
    if name in (HISTORY, OLD_NAME) and os.path.isfile(beside):
        times = _times_beside(beside, messages, times, warnings)
    others = len(rows) - len(messages)
    return OldHistory(tuple(messages), tuple(times), kept_as, tuple(warnings), others)


# --- whole elements of damaged JSON

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s*")
_NO_TEXT = re.compile("[\udc80-\udcff]")
_HOLDER = re.compile(rf'"(?:{"|".join(HOLDERS)})"\s*:\s*\[')


def _rows(data: bytes) -> tuple[Rows, str]:
    """Return the whole elements in bytes, and what was lost, "" for nothing."""
    data = data.removeprefix(BOM)
    if not data.strip():
        return [], ""
    try:
        return _holder(json.loads(data.decode())), ""
    except (ValueError, RecursionError):
        pass
    text = data.decode("utf-8", "surrogateescape")
    start = text.lstrip()[:1]
    held = _HOLDER.search(text) if start == "{" else None
    if start != "[" and not held:
        return _lines(data)
    broken = _NO_TEXT.search(text)
    whole = text[: broken.start()] if broken else text
    rows, where, is_closed = _elements(whole, held.end() if held else whole.find("[") + 1)
    if where == len(text) and is_closed:
        return rows, ""
    at = len(whole.encode())
    lost = f"its byte {at} is no text" if broken else "its end is missing"
    if is_closed and not broken:
        lost = "it goes on as no list does"
    left = count(len(data) - len(text[:where].encode()), "byte")
    return rows, f"{lost}; {left} behind the last whole element were left out"


def _holder(value: Any) -> Rows:
    """Return the list that a value is or holds; a single message is a list of one."""
    if isinstance(value, Mapping):
        held = (value.get(name) for name in HOLDERS)
        return next((each for each in held if isinstance(each, list)), [value])
    return value if isinstance(value, list) else []


def _elements(text: str, at: int) -> tuple[Rows, int, bool]:
    """Return the whole elements of an array from a place on, the place behind them, and whether the
    array ends there."""
    rows: Rows = []
    end = at
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            behind = _skip(text, at + 1)
            return rows, behind if text[behind : behind + 1] in ("", "}", ",") else end, True
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return rows, end, False
        rows.append(value)
        end = at
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != "]":
            return rows, end, False


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _lines(data: bytes) -> tuple[Rows, str]:
    """Return the values of JSON lines, and which lines are none, "" for no such line."""
    rows: Rows = []
    broken = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                rows.append(json.loads(line.decode()))
        except (ValueError, RecursionError):
            broken.append(f"line {number}" + (", which breaks off" if number == len(lines) else ""))
    if not broken:
        return rows, ""
    return rows, f"{named(broken, NAMED_MAX)} {'is' if len(broken) == 1 else 'are'} no JSON"


# --- the rows shown to a person

TYPED = ("user_feedback", "user_feedback_diff", "task")


def _is_shown(row: Any) -> bool:
    return isinstance(row, Mapping) and row.get("type") in ("ask", "say") and "role" not in row


def _of_shown(rows: Rows, kept_as: str, warnings: Sequence[str]) -> OldHistory:
    """Return the texts of rows as messages: the first and the feedback are the user's."""
    messages: list[dict[str, Any]] = []
    times: list[int | None] = []
    for row in rows:
        text, kind = row.get("text"), row.get("say") or row.get("ask")
        if not isinstance(text, str) or not text.strip() or kind in ("api_req_started", "checkpoint_created"):  # fmt: skip
            continue
        role = "user" if not messages or kind in TYPED else "assistant"
        part = {"type": "text", "text": text}
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].append(part)
        else:
            messages.append({"role": role, "content": [part]})
            times.append(_time(row.get("ts")))
    return OldHistory(tuple(messages), tuple(times), kept_as, tuple(warnings))


def _times_beside(
    path: str, messages: Sequence[Message], times: list[int | None], warnings: list[str]
) -> list[int | None]:
    """Return the times of messages, also from the rows beside them: one row announces each request."""
    try:
        with open(path, "rb") as file:
            rows, lost = _rows(file.read())
    except OSError as error:
        warnings.append(f"{SHOWN} beside it cannot be read: {error.strerror or error}.")
        return times
    if lost:
        warnings.append(
            f"{SHOWN} beside it is damaged: {lost}. It was read for times alone, so no message is"
            " missing for that."
        )
    requests = [
        _time(row.get("ts"))
        for row in rows
        if _is_shown(row) and row.get("say") == "api_req_started"
    ]
    answers = [n for n, message in enumerate(messages) if message.get("role") == "assistant"]
    if all(time is None for time in times) and len(requests) == len(answers):
        known = iter(zip(answers, requests, strict=True))
        place, time = next(known, (len(messages), None))
        for number in range(len(messages)):
            times[number] = time
            if number == place:
                place, time = next(known, (len(messages), time))
    return times


def _time(milliseconds: Any) -> int | None:
    is_number = isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool)
    if not is_number or not 0 < milliseconds < TIME_MAX_MS:
        return None
    return int(milliseconds * 1000)
