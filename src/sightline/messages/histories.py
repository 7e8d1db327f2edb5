"""Read the messages in a file: as they are sent to a provider, which save() writes, too; and the files of
a task of Cline or Roo Code under the names of all their versions.

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
from sightline.messages.formats.format import FORMATS, detect
from sightline.messages.formats.parts import Message, parts_of
from sightline.messages.written_history import HOLDERS, FileMessages, History, Shape
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

NAME_ANOTHER = "Name the file to which your program writes the messages that it sends."
EXPECTED = (
    'A history is a JSON array of messages, an object such as {"messages": [...]}, or one message '
    "on each line."
)
ONE_FORMAT = (
    "Take the messages as your program sends them: Anthropic's, Chat Completions', Responses', "
    "Gemini's, LangChain's or Pydantic AI's."
)

Rows = list[Any]


def read_history(data: bytes, name: str) -> History:
    """Read the messages of one format in a file's bytes. name: of the file, for error messages.
    HistoryError."""
    if not data.removeprefix(BOM).strip():
        raise HistoryError(f"{name} is empty: there is no history in it.", NAME_ANOTHER)
    parsed = parse(data)
    if parsed.wrong:
        raise HistoryError(f"{name} {parsed.wrong}.", EXPECTED)
    _check_whole(name, parsed)
    if not parsed.rows:
        raise HistoryError(f"{name} holds no message: its history is empty.", NAME_ANOTHER)
    try:
        wire_format = FORMATS[detect(parsed.rows)]
        for number, message in enumerate(parsed.rows):
            parts_of(wire_format.adapter, number, message)
    except ValueError as error:
        raise HistoryError(f"{name}: {error}.", ONE_FORMAT) from error
    written = parsed.shape, parsed.holder, parsed.around
    return History(tuple(parsed.rows), wire_format, *written, set_aside=parsed.lost)


def read_file_messages(path: str, data: bytes) -> FileMessages:
    """Return the messages in a file's bytes. HistoryError for damaged bytes without
    one whole message."""
    parsed = parse(data)
    _check_whole(quoted(path), parsed)
    rows, warnings = parsed.rows, []
    if parsed.lost:
        whole = f"{count(len(rows), 'element').capitalize()} of it {_are(len(rows))} whole"
        warnings.append(
            f"{quoted(path)} is damaged: {named(parsed.lost, NAMED_MAX)}. {whole}, and"
            f" {'was' if len(rows) == 1 else 'were'} read. The file stays as it is."
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
    others = len(rows) - len(messages)
    if others:
        elements = count(others, "element")
        warnings.append(f"{elements} of {quoted(path)} are no messages, and were passed over.")
    times = [_time(message.get("ts")) for message in messages]
    beside = os.path.join(os.path.dirname(path), SHOWN)
    if name in (HISTORY, OLD_NAME) and os.path.isfile(beside):
        times = _times_beside(beside, messages, times, warnings)
    return FileMessages(tuple(messages), tuple(times), kept_as, tuple(warnings), others)


def _check_whole(name: str, parsed: Parsed) -> None:
    """HistoryError for damaged bytes without one whole element."""
    if parsed.lost and not parsed.rows:
        raise HistoryError(
            f"{name} is damaged: {named(parsed.lost, NAMED_MAX)}. No message in it is whole: nothing was loaded.",
            "Take another copy of it; the file stays as it is.",
        )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


# --- the whole elements of JSON, damaged or not

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s*")
_NO_TEXT = re.compile("[\udc80-\udcff]")
_HOLDER = re.compile(rf'"(?:{"|".join(HOLDERS)})"\s*:\s*\[')


class Parsed(Struct, frozen=True):
    """The elements in bytes of JSON. shape, holder, around: as of messages.written_history.History. lost:
    what is damaged, each part of it; wrong: why the bytes are no list of messages, "" for a list."""

    rows: Rows
    shape: Shape = "array"
    holder: str = ""
    around: Mapping[str, Any] = {}
    lost: tuple[str, ...] = ()
    wrong: str = ""


def parse(data: bytes) -> Parsed:
    """Return the whole elements in bytes."""
    data = data.removeprefix(BOM)
    if not data.strip():
        return Parsed([])
    try:
        return _of_value(json.loads(data.decode()), data)
    except RecursionError:
        why = "it is nested too deeply"
    except json.JSONDecodeError as error:
        why = f"{error.msg} (line {error.lineno}, column {error.colno})"
    except ValueError as error:
        why = str(error)
    text = data.decode("utf-8", "surrogateescape")
    start = text.lstrip()[:1]
    held = _HOLDER.search(text) if start == "{" else None
    if start != "[" and not held:
        return _of_lines(data, why)
    broken = _NO_TEXT.search(text)
    whole = text[: broken.start()] if broken else text
    rows, where, is_closed = _elements(whole, held.end() if held else whole.find("[") + 1)
    if where == len(text) and is_closed:
        return Parsed(rows)
    if not rows:
        return Parsed([], lost=(f"it is no JSON: {why}",))
    at = len(whole.encode())
    damage = f"its byte {at} is no text" if broken else "its end is missing"
    if is_closed and not broken:
        damage = "it goes on as no list does"
    left = count(len(data) - len(text[:where].encode("utf-8", "surrogateescape")), "byte")
    return Parsed(rows, lost=(f"{left} behind the last whole element cannot be read: {damage}",))


def _of_value(value: Any, data: bytes) -> Parsed:
    """Return the elements of the list that a value is or holds; a single message is a list of one."""
    if isinstance(value, list):
        return Parsed(value)
    if isinstance(value, Mapping):
        holder = next((name for name in HOLDERS if isinstance(value.get(name), list)), "")
        if holder:
            return Parsed(value[holder], "object", holder, value)
        wrong = "is an object without messages" if b"\n" in data.strip() else ""
        return Parsed([value], "lines", wrong=wrong)
    kinds = {str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return Parsed([], wrong=f"holds {kinds.get(type(value), 'nothing')} instead of messages")


def _of_lines(data: bytes, why: str) -> Parsed:
    """Return the values of JSON lines. why: the whole is no JSON."""
    rows: Rows = []
    lost = []
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line.strip():
                rows.append(json.loads(line.decode()))
        except RecursionError:
            lost.append(f"line {number} is no JSON: it is nested too deeply")
        except ValueError as error:
            reason = getattr(error, "msg", "it is no UTF-8")
            lost.append(f"line {number} is no JSON: {reason}")
    messages = sum(isinstance(row, dict) for row in rows)
    is_begun = isinstance(_value(data.lstrip().split(b"\n", 1)[0]), dict)
    are_few = not is_begun and messages <= len(rows) + len(lost) - messages
    return Parsed(rows, "lines", lost=tuple(lost), wrong=f"is no JSON: {why}" if are_few else "")


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


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


# --- the rows shown to a person

TYPED = ("user_feedback", "user_feedback_diff", "task")


def _is_shown(row: Any) -> bool:
    return isinstance(row, Mapping) and row.get("type") in ("ask", "say") and "role" not in row


def _of_shown(rows: Rows, kept_as: str, warnings: Sequence[str]) -> FileMessages:
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
    return FileMessages(tuple(messages), tuple(times), kept_as, tuple(warnings))


def _times_beside(
    path: str, messages: Sequence[Message], times: list[int | None], warnings: list[str]
) -> list[int | None]:
    """Return the times of messages, also from the rows beside them: one row announces each request."""
    try:
        with open(path, "rb") as file:
            parsed = parse(file.read())
    except OSError as error:
        warnings.append(f"{SHOWN} beside it cannot be read: {error.strerror or error}.")
        return times
    if parsed.lost:
        lost = named(parsed.lost, NAMED_MAX)
        warnings.append(
            f"{SHOWN} beside it is damaged: {lost}. It was read for times alone, so no message is"
            " missing for that."
        )
    requests = [
        _time(row.get("ts"))
        for row in parsed.rows
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
