"""Read a pi session as Anthropic messages, which pi's own messages resemble most: the entries on
the path from the first to the last one, with compactions in place of other entries."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.model.json_fields import Row, nested, objects, text_parts
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Rows, Telling, first_rows, moment

SIGNED = "anthropic-messages"
"""The interface whose thinking carries a signature that it takes back."""

BROKEN_OFF = ("error", "aborted")
"""Why an answer stopped that pi does not send again."""

SUMMARY = "The conversation history before this point was compacted into the following summary:"


def conversation(path: str) -> Conversation:
    """Return the conversation in a session. OSError; NotOurs; ValueError, with a message for a
    person, for a session without messages."""
    begins = first_rows(path)
    first = next((row for row in begins if _is_begin(row)), {})
    if not first and not any(map(_is_entry, begins)):
        raise NotOurs("it holds no messages as pi records them")
    found = Rows(path)
    reader = _Entries()
    reader.folder = str(first.get("cwd") or "")
    for row in _branch(list(found)):
        reader.entry(row)
    return reader.conversation("anthropic", "pi", path, str(first.get("id") or ""), found.damaged)


def _is_begin(row: Row) -> bool:
    return row.get("type") == "session" and "cwd" in row and "id" in row


def _is_entry(row: Row) -> bool:
    """Return whether a row is an entry that only pi writes. Droid's rows resemble pi's messages."""
    if row.get("type") in ("model_change", "thinking_level_change"):
        return "parentId" in row
    kinds = {part.get("type") for part in objects(nested(row, "message", "content"))}
    is_own = nested(row, "message", "role") == "toolResult" or "toolCall" in kinds
    return row.get("type") == "message" and is_own


def _branch(found: Sequence[Row]) -> list[Row]:
    """Return the entries on the path to the last one; all entries where they name no parent. Where the
    path begins in the middle, because entries are missing, all entries before that count."""
    if not any("parentId" in row for row in found):
        return list(found)
    by_id = {row["id"]: row for row in found if isinstance(row.get("id"), str)}
    way: dict[str, Row] = {}
    at = str(next((row["id"] for row in reversed(found) if row.get("id") in by_id), ""))
    while at in by_id and at not in way:
        way[at] = by_id[at]
        at = str(by_id[at].get("parentId"))
    path = list(way.values())[::-1]
    is_cut = path and path[0].get("parentId")
    return [*found[: found.index(path[0])], *path] if is_cut else path


class _Entries(Telling):
    """The entries of a branch. An answer that was broken off or failed is not sent again."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[Row] = []

    def entry(self, row: Row) -> None:
        """Add an entry. Entries that no model read are passed over."""
        kind, at = row.get("type"), moment(row.get("timestamp"))
        self._entries.append(row)
        if kind == "message" and isinstance(row.get("message"), dict):
            self._message(row["message"], at)
        elif kind == "compaction":
            self._compacted(row, at)
        elif kind == "branch_summary" and row.get("summary"):
            self._add_user_parts([_text(str(row["summary"]))], at)
        elif kind == "custom_message":
            self._add_user_parts(_contents(row.get("content")), at)

    def _compacted(self, row: Row, at: int | None) -> None:
        """Add the summary, and the messages after it."""
        self.begin_anew()
        summary = _text(f"{SUMMARY}\n\n<summary>\n{row.get('summary') or ''}\n</summary>")
        self.add({"role": "user", "content": [summary], "isSummary": True}, at)
        for each in self._kept(row):
            if each.get("type") == "message" and isinstance(each.get("message"), dict):
                self._message(each["message"], at)

    def _kept(self, row: Row) -> list[Row]:
        before, number = self._entries[:-1], row.get("firstKeptEntryIndex")
        if isinstance(number, int):
            return before[number:]
        name = row.get("firstKeptEntryId")
        found = (at for at, each in enumerate(before) if name and each.get("id") == name)
        return before[next(found, len(before)) :]

    def _message(self, message: Row, at: int | None) -> None:
        role, content = message.get("role"), _contents(message.get("content"))
        if role == "assistant":
            signed = message.get("api") == SIGNED
            parts = [part for each in content if (part := _part(each, signed=signed))]
            if parts and message.get("stopReason") not in BROKEN_OFF:
                self.add({"role": "assistant", "content": parts}, at)
        elif role == "toolResult":
            call, failed = message.get("toolCallId"), bool(message.get("isError"))
            result = {"type": "tool_result", "tool_use_id": call, "content": content}
            self._add_user_parts([{**result, "is_error": failed}], at)
        elif role == "bashExecution" and not message.get("excludeFromContext"):
            text = f"Ran `{message.get('command')}`\n```\n{message.get('output') or ''}\n```"
            self._add_user_parts([_text(text)], at)
        elif role == "user":
            self._add_user_parts(content, at)

    def _add_user_parts(self, parts: list[Row], at: int | None) -> None:
        """Add parts to the user's message: the results of one answer are one message, and typed
        text comes after them."""
        if not parts:
            return
        last = self.messages[-1] if self.messages else {}
        if last.get("role") != "user" or "isSummary" in last:
            self.add({"role": "user", "content": list(parts)}, at)
            return
        last["content"].extend(parts)
        self.times[-1] = at if at is not None else self.times[-1]


def _text(text: str) -> Row:
    return {"type": "text", "text": text}


def _contents(content: object) -> list[Row]:
    """Return the parts of a content. Pictures get Anthropic's form."""
    parts = text_parts(content)
    return [_picture(each) if each.get("type") == "image" else each for each in parts]


def _picture(part: Row) -> Row:
    source = {"type": "base64", "media_type": part.get("mimeType"), "data": part.get("data")}
    return {"type": "image", "source": source}


def _part(part: Row, *, signed: bool) -> Row | None:
    kind = part.get("type")
    if kind == "toolCall":
        arguments = part.get("arguments")
        fields = {"id": part.get("id"), "name": part.get("name"), "input": arguments or {}}
        return {"type": "tool_use", **fields}
    if kind == "thinking":
        signature = part.get("thinkingSignature") if signed else None
        fields = {"thinking": part.get("thinking"), "signature": signature}
        return {"type": "thinking", **fields} if signature else None
    return part if kind == "text" else None


READER = Reader(name="pi", title="pi", conversation=conversation)
