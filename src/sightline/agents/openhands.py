"""Read OpenHands events as chat messages: a list of events, or one row with its history for each
session of a run.

An event that keeps the model's answer is read as that answer. Older events, from before August
2024, hold only the action and its result, so the call is reconstructed.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from sightline.agents import chat
from sightline.agents.json_fields import Row, nested, objects
from sightline.agents.recording import Telling, document, head, moment, rows
from sightline.conversation.recorded_conversation import Conversation, NotOurs

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

QUIET = ("null", "agent_state_changed", "recall")
"""Observations that no model reads."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a list of events; of a run, the conversations of its sessions one
    after the other. OSError; NotOurs; ValueError, with a message for a person, for a damaged file
    or an unknown version."""
    begins = head(path)
    reader = _Events()
    if begins.startswith(RUN) and path.endswith((".jsonl", ".json")):
        found, passed_over = rows(path)
        for row in found:
            reader.begin_anew()
            reader.events(row.get("history"))
        mark = sha256(begins).hexdigest()[:16]
        return reader.conversation("chat", "openhands", path, mark, passed_over)
    if not _is_ours(begins):
        raise NotOurs("it holds no events as OpenHands records them")
    history, mark = document(path)
    reader.events(history)
    return reader.conversation("chat", "openhands", path, mark)


def _is_ours(begins: bytes) -> bool:
    if not begins.lstrip().startswith(b"[") or b'"source"' not in begins:
        return False
    if b'"kind"' in begins and b"Event" in begins and b'"action"' not in begins:
        raise ValueError("it is of OpenHands 1, whose events are not known here yet")
    return b'"action"' in begins or b'"observation"' in begins


class _Events(Telling):
    def __init__(self) -> None:
        super().__init__()
        self._ids = chat.Ids()
        self._answers: set[str] = set()
        self._open: dict[str, str] = {}
        self._last: str | None = None

    def events(self, history: object) -> None:
        """Add the events of a session. The oldest recordings pair an action with its result."""
        self._last = None
        for event in _flat(history):
            at = moment(event.get("timestamp"))
            if isinstance(event.get("action"), str):
                self._did(event, at)
            elif isinstance(event.get("observation"), str):
                self._saw(event, at)

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


def _flat(history: object) -> Iterator[Row]:
    for each in history if isinstance(history, list) else ():
        if isinstance(each, list):
            yield from _flat(each)
        elif isinstance(each, dict):
            yield each
