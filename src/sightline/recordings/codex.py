"""Read a rollout of Codex as the items that were sent. Items that a later fork, rollback or
compaction took out of the context are left out, or lie before a border."""

from __future__ import annotations

from sightline.messages.formats.parts import author
from sightline.model.json_fields import Row, nested, objects
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Rows, Telling, first_rows, moment

KINDS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
NOT_SENT = ("ghost_snapshot", "other")
"""Items beside the conversation, which no model read."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a rollout. OSError; NotOurs; ValueError, with a message for a
    person, for a rollout without messages."""
    if not any(_is_ours(row) for row in first_rows(path)):
        raise NotOurs("it holds no items as Codex records them")
    found = Rows(path)
    reader = _Items()
    for row in found:
        if _is_ours(row):
            reader.row(row)
    return reader.conversation("responses", "codex", path, reader.session, found.damaged)


def _is_ours(row: Row) -> bool:
    return row.get("type") in KINDS and isinstance(row.get("payload"), dict)


class _Items(Telling):
    """The rows of the main thread."""

    def __init__(self) -> None:
        super().__init__()
        self.session = ""
        self._threads: set[str] = set()
        self._aside = False

    def row(self, row: Row) -> None:
        """Add a row. Rows that no model read are passed over."""
        kind, payload = row["type"], row["payload"]
        if kind == "session_meta":
            self._thread(payload)
        elif self._aside:
            return
        elif kind == "turn_context":
            self.folder = self.folder or str(payload.get("cwd") or "")
        elif kind == "response_item" and payload.get("type") not in NOT_SENT:
            self.add(payload, moment(row.get("timestamp")))
        elif kind == "compacted":
            self._compacted(payload, moment(row.get("timestamp")))
        elif payload.get("type") == "thread_rolled_back":
            self._back(payload.get("num_turns"))

    def _thread(self, payload: Row) -> None:
        """Follow a fork, which begins with the rows of its origin, and a resumed thread, which names
        itself again; skip a thread that this one started."""
        name = str(payload.get("id") or "")
        started = nested(payload, "source", "subagent", "thread_spawn", "parent_thread_id")
        parent = started or payload.get("forked_from_id")
        self._aside = name not in self._threads and parent in self._threads
        if not self._aside:
            self.session = self.session or name
            self.folder = self.folder or str(payload.get("cwd") or "")
            self._threads.add(name)

    def _compacted(self, payload: Row, at: int | None) -> None:
        self.begin_anew()
        history = payload.get("replacement_history")
        if not isinstance(history, list):
            text = {"type": "input_text", "text": str(payload.get("message") or "")}
            history = [{"type": "message", "role": "user", "content": [text]}]
        for item in objects(history):
            self.add(item, at)

    def _back(self, turns: object) -> None:
        """Take back the last turns: all items from the first prompt of these turns on; all items of a
        rollout that begins in the middle of them."""
        start = self.borders[-1] if self.borders else 0
        typed = [n for n in range(start, len(self.messages)) if _is_typed(self.messages[n])]
        if not isinstance(turns, int) or turns <= 0 or (turns > len(typed) and self._threads):
            return
        first = typed[-turns] if turns <= len(typed) else start
        del self.messages[first:]
        del self.times[first:]


def _is_typed(item: Row) -> bool:
    if item.get("type") != "message" or item.get("role") != "user":
        return False
    texts = [str(part.get("text", "")) for part in objects(item.get("content"))]
    return any(author(text) == "user" for text in texts)


READER = Reader(name="codex", title="Codex", conversation=conversation)
