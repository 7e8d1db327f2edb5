"""Read a Gemini CLI session as the contents that were sent. A session's own file keeps a call and
its result in one object; the file is a document, or rows in newer versions. A saved chat is a list
of contents without times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sightline.model.json_fields import Row, nested, objects
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Rows, Telling, document, first_rows, head, moment


def conversation(path: str) -> Conversation:
    """Return the conversation in a session or a saved chat. OSError; NotOurs; ValueError, with a
    message for a person, for a damaged file or one without messages."""
    reader = _Contents()
    begun = first_rows(path)
    if any(map(_is_row, begun)):
        found = Rows(path)
        reader.rows(_latest(found))
        session = str(next((row["sessionId"] for row in begun if "projectHash" in row), ""))
        return reader.conversation("gemini", "gemini-cli", path, session, found.damaged)
    if not _is_ours(head(path)):
        raise NotOurs("it holds no contents as Gemini CLI records them")
    data, mark = document(path)
    if isinstance(data, dict) and isinstance(data.get("messages"), list):
        reader.rows(data["messages"])
        mark = str(data.get("sessionId") or mark)
    else:
        for content in objects(data.get("history") if isinstance(data, dict) else data):
            reader.content(content)
    return reader.conversation("gemini", "gemini-cli", path, mark)


def _is_row(row: Row) -> bool:
    """Return whether a row is one of a session's file of rows: its first one, the model's, or one that
    replaces others. The first one may be missing."""
    if "projectHash" in row:
        return "sessionId" in row and "messages" not in row
    is_answer = row.get("type") == "gemini" and _id(row) is not None and "timestamp" in row
    return is_answer or isinstance(nested(row, "$set", "messages"), list) or "$rewindTo" in row


def _is_ours(begins: bytes) -> bool:
    if b'"projectHash"' in begins:
        return begins.lstrip().startswith(b"{") and b'"sessionId"' in begins
    saved = begins.lstrip().startswith((b"[", b'{"history"')) or b'"history"' in begins[:40]
    return saved and b'"role"' in begins and b'"parts"' in begins and b'"info"' not in begins[:40]


def _latest(found: Iterable[Row]) -> list[object]:
    """Return the messages in rows. A message that is written again keeps its first place. A row may
    replace all messages, or go back to before one."""
    messages: dict[str, object] = {}
    for row in found:
        new = row.get("$set")
        if isinstance(new, dict) and isinstance(new.get("messages"), list):
            messages = {_id(each) or str(n): each for n, each in enumerate(new["messages"])}
        elif isinstance(row.get("$rewindTo"), str) and row["$rewindTo"] in messages:
            messages = dict(list(messages.items())[: list(messages).index(row["$rewindTo"])])
        elif name := _id(row):
            messages[name] = row
    return list(messages.values())


def _id(row: object) -> str | None:
    name = row.get("id") if isinstance(row, dict) and "type" in row else None
    return name if isinstance(name, str) else None


class _Contents(Telling):
    def __init__(self) -> None:
        super().__init__()
        self._sent: set[object] = set()
        self._answered_calls: set[object] = set()

    def content(self, content: Row) -> None:
        """Add a content of a saved chat."""
        if isinstance(content.get("parts"), list):
            self._said(str(content.get("role") or "user"), content["parts"], None)

    def rows(self, found: Sequence[object]) -> None:
        """Add the messages of a session. Newer clients keep a result twice: beside its call, and in the
        user's message that was sent."""
        told = [row for row in found if isinstance(row, dict)]
        parts = [
            part for row in told if row.get("type") == "user" for part in _parts(row.get("content"))
        ]
        self._sent = {name for part in parts if (name := nested(part, "functionResponse", "id"))}
        for row in told:
            self._row(row)

    def _row(self, row: Row) -> None:
        """Add a message. No model read the client's own messages (info, warning, error)."""
        at = moment(row.get("timestamp"))
        if row.get("type") == "user":
            self._said("user", _parts(row.get("content")), at)
        elif row.get("type") == "gemini":
            calls = objects(row.get("toolCalls"))
            self._said("model", [*_parts(row.get("content")), *map(_call, calls)], at)
            self._answered([call for call in calls if call.get("id") not in self._sent], at)

    def _answered(self, calls: Sequence[Row], at: int | None) -> None:
        """Add the results of calls as one content; put attached pictures and texts after them."""
        parts = [part for call in calls for part in objects(call.get("result"))]
        results = [part for part in parts if "functionResponse" in part]
        others = [part for part in parts if part not in results]
        times = [time for call in calls if (time := moment(call.get("timestamp"))) is not None]
        self._said("user", results, max(times, default=at))
        self._said("user", others, max(times, default=at))

    def _said(self, role: str, parts: Sequence[Row], at: int | None) -> None:
        parts = [part for part in parts if self._is_new(part)]
        if parts:
            self.add({"role": role, "parts": parts}, at)

    def _is_new(self, part: Row) -> bool:
        """Return whether a part is no second result of one call: a session that was resumed repeats each."""
        self._answered_calls.discard(nested(part, "functionCall", "id"))
        name = nested(part, "functionResponse", "id")
        if name in self._answered_calls:
            return False
        self._answered_calls |= {name} if name else set()
        return True


def _parts(content: object) -> list[Row]:
    """Return the parts of a content; a text alone is one part."""
    parts = content if isinstance(content, list) else [content]
    known = [{"text": each} if isinstance(each, str) else each for each in parts]
    return [each for each in known if isinstance(each, dict) and each.get("text", "x")]


def _call(call: Row) -> Row:
    fields = {"name": call.get("name"), "args": call.get("args") or {}}
    return {"functionCall": {"id": call.get("id"), **fields}}


READER = Reader(name="gemini-cli", title="Gemini CLI", conversation=conversation)
