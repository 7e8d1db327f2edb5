"""Read OpenHands events as chat messages: a list of events, a row or a file for each event, or one
row with its history for each session of a run.

An event that keeps the model's answer is read as that answer. Older events, from before August
2024, hold only the action and its result, so the call is reconstructed. Events of OpenHands 1 have a
kind.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from sightline.model.json_fields import Row, nested, objects
from sightline.recordings import chat_messages as chat
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import HEAD_BYTES, Rows, Telling, document, head, moment

RUN = (b'{"issue"', b'{"instance_id"')
"""How rows begin that hold a session each."""

TOOLS = {
    "run": ("execute_bash", "command"),
    "run_ipython": ("execute_ipython_cell", "code"),
    "browse": ("browse", "url"),
    "browse_interactive": ("browser", "browser_actions"),
    "read": ("open_file", "path"),
}
"""Action -> its tool, and the tool's argument."""

CUT_MAX = 1 << 22
"""Bytes of a row that is cut off; behind a longer one no rows are looked for."""

QUIET = ("null", "agent_state_changed", "recall")
"""Observations that no model reads."""

KINDS = re.compile(
    rb"""\A\s*\[?\s*\{\s*"id":\s*"[\w-]+",\s*"timestamp":\s*"[^"]*",\s*"source":"""
    rb"""|"kind":\s*"(?:SystemPrompt|Message|Action|Observation)Event\""""
)
"""How events of OpenHands 1 begin, or what they say they are."""

EVENT_FILE = re.compile(r"event-(\d+)-[\w-]+\.json")
"""Name of a file with one event; they are numbered from 0."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a list or rows of events; in the folder of an event's file, for the
    first one; of a run, the conversations of its sessions one after the other. OSError; NotOurs;
    ValueError, with a message for a person, for a damaged file or a later event's."""
    begins = _first_whole(path)
    reader = _Events()
    if begins.startswith(RUN) and path.endswith((".jsonl", ".json")):
        found = Rows(path)
        for row in found:
            reader.begin_anew()
            reader.events(_flat(row.get("history")))
        mark = sha256(begins).hexdigest()[:16]
        return reader.conversation("chat", "openhands", path, mark, found.damaged)
    is_list = begins.lstrip().startswith(b"[")
    is_kind = KINDS.search(begins) is not None and b'"source"' in begins
    is_old = is_list and (b'"action"' in begins or b'"observation"' in begins)
    if not (
        b'"source"' in begins and (is_kind or is_old) and begins.lstrip().startswith((b"[", b"{"))
    ):
        raise NotOurs("it holds no events as OpenHands records them")
    if is_list:
        history, mark = document(path)
        reader.events(_flat(history))
        return reader.conversation("chat", "openhands", path, mark)
    if (event := EVENT_FILE.fullmatch(os.path.basename(path))) is not None:
        return _of_folder(path, int(event[1]))
    found = Rows(path)
    reader.events(found)
    mark = sha256(begins).hexdigest()[:16]
    return reader.conversation("chat", "openhands", path, mark, found.damaged)


def _first_whole(path: str) -> bytes:
    """Return the beginning of a file, without a first row that is cut off. OSError."""
    begins = head(path)
    if begins.lstrip().startswith((b"[", b"{")):
        return begins
    with open(path, "rb") as file:
        file.readline(CUT_MAX)
        return file.read(HEAD_BYTES)


def _of_folder(path: str, number: int) -> Conversation:
    """Return the conversation whose events are the files of a folder, each event a file."""
    folder, _ = os.path.split(os.path.abspath(path))
    names = {
        int(match[1]): name for name in os.listdir(folder) if (match := EVENT_FILE.match(name))
    }
    if number != min(names):
        first = names[min(names)]
        raise ValueError(f"it is one event of a conversation, which is read from {first}")
    files = [Rows(os.path.join(folder, names[each])) for each in sorted(names)]
    reader = _Events()
    reader.events(event for file in files for event in file)
    session = os.path.basename(os.path.dirname(folder))
    return reader.conversation(
        "chat", "openhands", path, session, sum(file.damaged for file in files)
    )


class _Events(Telling):
    def __init__(self) -> None:
        super().__init__()
        self._ids = chat.Ids()
        self._answers: set[str] = set()
        self._open: dict[str, str] = {}
        self._last: str | None = None
        self._kept: list[Row] = []

    def events(self, history: Iterable[Row]) -> None:
        """Add the events of a session. The oldest recordings pair an action with its result."""
        self._last = None
        self._kept = []
        for event in history:
            at = moment(event.get("timestamp"))
            if isinstance(event.get("kind"), str):
                self._kind(event, at)
                continue
            if isinstance(event.get("action"), str):
                self._did(event, at)
            elif isinstance(event.get("observation"), str):
                self._saw(event, at)

    def _kind(self, event: Row, at: int | None) -> None:
        """Add an event of OpenHands 1. Events that no model read are passed over."""
        kind = event["kind"]
        self._kept.append(event)
        if kind == "SystemPromptEvent":
            self.add_text("system", nested(event, "system_prompt", "text"), at)
        elif kind == "MessageEvent":
            said = nested(event, "llm_message", "content")
            text = _text(said) + _text(event.get("extended_content"))
            if event.get("source") == "user":
                self.add_text("user", text, at)
            else:
                self.add(chat.assistant_message(text, _thought(event)), at)
        elif kind == "CondensationSummaryEvent":
            self.add_text("user", event.get("summary"), at)
        elif kind == "Condensation":
            self._condensed(event, at)
        elif kind == "ActionEvent":
            self._called(event, at)
        elif (call := self._open.pop(str(event.get("tool_call_id")), None)) is not None:
            text, failed = _result(event)
            self.add(chat.tool_result(call, text, failed=failed), at)

    def _called(self, event: Row, at: int | None) -> None:
        """Add a call. The calls of one answer are events of their own, and become one message."""
        asked = event.get("tool_call")
        given = nested(asked, "arguments")
        recorded = str(event.get("tool_call_id"))
        name = str(nested(asked, "name") or event.get("tool_name"))
        call_id = self._open[recorded] = self._ids.unique(recorded)
        function = {"name": name, "arguments": given if isinstance(given, str) else "{}"}
        call = {"id": call_id, "type": "function", "function": function}
        answer = str(event.get("llm_response_id"))
        last = next((m for m in reversed(self.messages) if m["role"] == "assistant"), None)
        if last is not None and answer in self._answers and last.get("tool_calls"):
            last["tool_calls"].append(call)
            return
        self._answers.add(answer)
        self.add(chat.assistant_message(_text(event.get("thought")), _thought(event), [call]), at)

    def _condensed(self, event: Row, at: int | None) -> None:
        """Begin anew with the events that a condensation keeps, and its summary."""
        gone = event.get("forgotten_event_ids")
        ids = {str(each) for each in gone} if isinstance(gone, list) else set()
        kept = [each for each in self._kept[:-1] if str(each.get("id")) not in ids]
        summary, offset = event.get("summary"), event.get("summary_offset")
        if isinstance(summary, str):
            place = offset if isinstance(offset, int) and 0 <= offset <= len(kept) else len(kept)
            told = {"kind": "CondensationSummaryEvent", "id": event.get("id"), "summary": summary}
            kept.insert(place, told)
        self.begin_anew()
        self._kept, self._answers, self._open = [], set(), {}
        for each in kept:
            self._kind(each, at)

    def _did(self, event: Row, at: int | None) -> None:
        args = event.get("args")
        arguments = args if isinstance(args, dict) else event
        choices = objects(nested(event, "tool_call_metadata", "model_response", "choices"))
        answer = nested(choices[0], "message") if choices else None
        if isinstance(answer, dict):  # the model's message that asked for the action
            self._answered(event, answer, at)
        elif event["action"] in ("message", "finish"):
            self._add_text(event, arguments, at)
        elif event["action"] in TOOLS:
            tool, key = TOOLS[event["action"]]
            asked = {key: arguments.get(key)}
            self._last = self._ids.unique(None)
            call = chat.tool_call(tool, self._last, asked)
            text = str(arguments.get("thought") or "")
            self.add(chat.assistant_message(text, calls=[call]), at)

    def _answered(self, event: Row, answer: Row, at: int | None) -> None:
        """Add the model's answer once, however many calls it holds."""
        name = str(event["tool_call_metadata"]["model_response"].get("id"))
        if name in self._answers:
            return
        self._answers.add(name)
        calls = []
        for each in answer.get("tool_calls") or ():
            call_id = self._ids.unique(each.get("id"))
            self._open[str(each.get("id"))] = call_id
            asked = each.get("function") or {}
            calls.append({"id": call_id, "type": "function", "function": asked})
        self.add(chat.assistant_message(str(answer.get("content") or ""), calls=calls), at)

    def _add_text(self, event: Row, arguments: Row, at: int | None) -> None:
        texts = [arguments.get(key) for key in ("content", "thought", "final_thought")]
        mine = event.get("source") == "agent" or event["action"] == "finish"
        mine = mine or bool(arguments.get("wait_for_response"))
        self.add_text("assistant" if mine else "user", next(filter(None, texts), None), at)

    def _saw(self, event: Row, at: int | None) -> None:
        if event["observation"] in QUIET:
            return
        metadata = event.get("tool_call_metadata")
        known = str(nested(metadata, "tool_call_id")) if isinstance(metadata, dict) else None
        call = self._last if known is None else self._open.pop(known, None)
        if known is None:
            self._last = None
        if call is not None:
            shown = nested(event, "extras", "formatted_output_and_error") or event.get("content")
            metadata = nested(event, "extras", "metadata")
            before, after = (nested(metadata, key) or "" for key in ("prefix", "suffix"))
            self.add(chat.tool_result(call, f"{before}{shown or ''}{after}"), at)


def _text(content: object) -> str:
    return "".join(str(part.get("text") or "") for part in objects(content))


def _thought(event: Row) -> str:
    return str(
        event.get("reasoning_content") or nested(event, "llm_message", "reasoning_content") or ""
    )


def _result(event: Row) -> tuple[str, bool]:
    """Return the text of a result of OpenHands 1, and whether it tells of a failure."""
    if "error" in event:
        return str(event["error"]), True
    if "rejection_reason" in event:
        return f"Action rejected: {event['rejection_reason']}", True
    observation: Any = event.get("observation")
    metadata = nested(observation, "metadata")
    before, after = (str(nested(metadata, key) or "") for key in ("prefix", "suffix"))
    shown = f"{before}{_text(nested(observation, 'content'))}{after}"
    failed = nested(observation, "is_error") is True
    return shown + _text(event.get("extended_content")), failed


def _flat(history: object) -> Iterator[Row]:
    for each in history if isinstance(history, list) else ():
        if isinstance(each, list):
            yield from _flat(each)
        elif isinstance(each, dict):
            yield each


READER = Reader(name="openhands", title="OpenHands", conversation=conversation)
