"""Save a conversation to a file and load it: JSON lines, one for each message and each decision.

New lines are appended and synced; else the whole file is written aside and put in place at once. So
whenever the machine stops, the file holds everything that was acknowledged.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any
from zlib import crc32

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.conversation import message_chain
from sightline.conversation.fold_decisions import load_json, message_ids, renamed_text
from sightline.conversation.message_codec import encode, message_id
from sightline.conversation.old_history import OldHistory, is_old_history, read_old_history
from sightline.errors import HistoryError
from sightline.filesystem.private_files import write_file
from sightline.model.events import Condensed, Folded, MessageAppended
from sightline.model.path import quoted
from sightline.model.revision import revision_of
from sightline.model.timeline import Recorded, of_kind
from sightline.text.phrases import named

HEAD = {"sightline": "conversation", "version": 1}
"""The first line of a file."""

DAMAGED = ".damaged"
"""Suffix of the copy of a damaged file."""

Record = dict[str, Any]
"""A line: a message, a fold decision or a summary."""


class Saved(Struct, frozen=True):
    """The result of a save. messages: in the file now; added: lines that are new in the file; whole:
    the whole file was written."""

    path: str
    messages: int
    added: int
    whole: bool


class Loaded(Struct, frozen=True):
    """The result of a load. messages: loaded now; there: in the file; warnings: sentences for a
    person; kept_as: the newer name of a file that has the name of an early version."""

    path: str
    messages: int
    there: int
    warnings: tuple[str, ...] = ()
    kept_as: str = ""


def save(context: SessionContext, path: str, *, replace: bool = False) -> Saved:
    """Write the conversation to a file. HistoryError, with the file unchanged, when it holds another
    conversation, was written by another version, or cannot be written."""
    real = os.path.realpath(path)
    rows = _rows(context)
    lines = [encode_line({"session": context.session, **HEAD})]
    lines += [encode_line(_record_of(context, row)) for row in rows]
    messages = sum(isinstance(row.fact, MessageAppended) for row in rows)
    with context.workspace.lock(f"conversation in {real}"):
        contents = _read_file(real)
        shared = _count_shared(contents.lines, lines)
        if contents.damage:
            if not replace:
                raise HistoryError(
                    f"{_damage(path, contents)} It was left as it is, and nothing was saved.",
                    f"save(path, replace=True) keeps it as {quoted(path)}{DAMAGED} first; or save to"
                    " another file.",
                )
            _copy_damaged(real)
        elif shared < len(contents.lines):
            # Sessions of other workspaces may have the same name.
            appended = context.store.timeline(kinds=message_chain.MESSAGES)
            known = {fact.message for fact in of_kind(MessageAppended, appended)}
            is_own = contents.session == context.session and known.issuperset(contents.message_ids)
            if not replace and not is_own:
                raise HistoryError(
                    f"{quoted(path)} holds the conversation of the session {contents.session!r}. Nothing"
                    " was saved.",
                    "Save to another file; save(path, replace=True) writes over it.",
                )
        elif contents.lines and not contents.torn:
            _append_lines(real, lines[shared:])
            return Saved(path, messages, len(lines) - shared, whole=False)
        with _access(real, "written"):
            write_file(real, b"".join(lines))
        return Saved(path, messages, len(lines) - max(shared, 1), whole=True)


def load(context: SessionContext, path: str, *, salvage: bool = False) -> Loaded:
    """Load a file's messages and decisions, or the messages that another program wrote. HistoryError,
    and nothing recorded, for a damaged file of our own or another conversation."""
    real = os.path.realpath(path)
    data = _read_bytes(real)
    if data is not None and is_old_history(data):
        return _load_old(context, path, read_old_history(path, data))
    with context.workspace.lock(f"conversation in {real}"):
        contents = _read_file(real)
        count = contents.messages + _messages_in(contents.behind)
        if contents.damage and count and salvage:
            _copy_damaged(real)
    warnings: list[str] = []
    if contents is NO_FILE:
        warnings.append(f"There is no file {quoted(path)}: nothing was loaded.")
    elif not count:
        warnings.append(f"{quoted(path)} holds no message: nothing was loaded.")
    if contents.torn:
        warnings.append(
            f"The last line of {quoted(path)} was never finished, so it was never acknowledged. It was left"
            f" out; the {count} messages before it are whole."
        )
    if contents.damage and salvage and count:
        lines = [f"line {line} ({why})" for line, why in contents.lost]
        warnings.append(
            f"{quoted(path)} is damaged. Lost: {named(lines, NAMED_MAX)}. The other {count} messages were"
            f" loaded; {quoted(path)}{DAMAGED} is a copy."
        )
    elif contents.damage:
        behind = f", and {count - contents.messages} behind it" if contents.behind else ""
        whole = f"The {contents.messages} messages before it are whole{behind}"
        whole = whole if count else "No message is whole"
        hint = "load(path, salvage=True) takes them in" if count else "Load another copy of it"
        raise HistoryError(
            f"{_damage(path, contents)} {whole}. Nothing was loaded.",
            f"{hint}; the file stays as it is.",
        )
    records = _new_records(context, path, contents)
    tips: dict[str, message_chain.Tip] = {}
    for number, record in enumerate(records):
        side = record.get("side", "")
        tips[side] = message_chain.find_tip(context, side, tips.get(side))
        if record["kind"] == "message":
            try:
                tips[side] = _append_message(context, record, tips[side])
            except ValueError as error:
                raise HistoryError(
                    f"The message {record['id']} of {quoted(path)} was not taken in: {error} {number}"
                    " records before it were.",
                    "The file was put together from several: load each of them into a session of"
                    " its own.",
                ) from error
        else:
            _append_decision(context, record)
    return Loaded(path, _messages_in(records), count, tuple(warnings))


NAMED_MAX = 5
"""Messages that could not be taken in and are named one by one."""


def _load_old(context: SessionContext, path: str, history: OldHistory) -> Loaded:
    """Append the messages of another program's file, or those that are new. A message that cannot be
    taken in is set aside by name."""
    rows = message_chain.chain_facts(context, "", message_chain.MESSAGES)
    known = [fact.message for fact in of_kind(MessageAppended, rows)]
    tip = message_chain.find_tip(context, "", None)
    parent: str | None = None
    loaded, shared, aside = 0, 0, []
    for number, (message, at) in enumerate(zip(history.messages, history.times, strict=True)):
        try:
            name = encode(message, parent).id
            if shared < len(known):
                if name != known[shared]:
                    raise HistoryError(
                        f"{quoted(path)} holds another conversation than the session"
                        f" {context.session!r}. Nothing was loaded.",
                        "Load it into a new session.",
                    )
                shared += 1
            else:
                tip = message_chain.append_behind(context, message, tip, side="", root=None, at=at)
                loaded += 1
            parent = name
        except ValueError as error:
            aside.append(f"message {number} ({error})")
    warnings = list(history.warnings)
    if (aside or history.passed_over) and not loaded and not shared:
        why = named(aside, NAMED_MAX) or "its elements are no messages"
        raise HistoryError(
            f"No message of {quoted(path)} can be loaded: {why}. Nothing was loaded.",
            "Load the messages as a provider takes them, or a file that save() wrote. To read a session"
            " that an agent recorded, use sightline.read_messages(path).",
        )
    if aside:
        warnings.append(f"Set aside: {named(aside, NAMED_MAX)}. The others were loaded.")
    if not history.messages:
        warnings.append(f"{quoted(path)} holds no message: nothing was loaded.")
    return Loaded(path, loaded, len(history.messages), tuple(warnings), history.kept_as)


def _count_shared(first: Sequence[object], second: Sequence[object]) -> int:
    """Return how many items both begin with."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


# --- records of facts


def _rows(context: SessionContext) -> list[Recorded]:
    kinds = (MessageAppended, Folded, Condensed)
    return [
        row
        for row in message_chain.branch_facts(context, message_chain.VIEW_FACTS)
        if isinstance(row.fact, kinds)
    ]


def _record_of(context: SessionContext, row: Recorded) -> Record:
    fact, at = row.fact, {"at": row.happened_at}
    if isinstance(fact, MessageAppended):
        ids = {"kind": "message", "id": fact.message, "parent": fact.parent}
        side = {"side": fact.side} if fact.side else {}
        return {**ids, **at, **side, "message": message_chain.read_message(context, row)}
    assert isinstance(fact, (Folded, Condensed))
    assert fact.text is not None
    text = message_chain.read_blob(context, fact.text).decode("utf-8", "surrogatepass")
    decision = {**at, "side": fact.side, "text": text}
    if isinstance(fact, Folded):
        return {"kind": "folded", "message": fact.message, "blocks": [*fact.blocks], **decision}
    ids = {"summary": fact.summary, "first": fact.first, "last": fact.last}
    return {"kind": "condensed", **ids, **decision}


def _new_records(context: SessionContext, path: str, contents: Contents) -> list[Record]:
    """Return the records that the session does not have. HistoryError when it has others."""
    rows = _rows(context)
    ids = [fact.message for fact in of_kind(MessageAppended, rows)]
    records = _linked_anew(contents)
    others = _ids_in(records)
    if contents.behind and {*ids}.issuperset(_ids_in([*contents.records, *contents.behind])):
        return []  # the session has the lost ones, too
    if _count_shared(ids, others) < min(len(ids), len(others)):
        raise HistoryError(
            f"{quoted(path)} holds another conversation than the session {context.session!r}. Nothing was"
            " loaded.",
            "Load it into a new session.",
        )
    texts = {getattr(row.fact, "text", None) for row in rows}
    known = {*ids}
    return [
        record
        for record in records
        if (
            record["id"] not in known
            if record["kind"] == "message"
            else revision_of(_text_bytes(record)) not in texts
        )
    ]


def _linked_anew(contents: Contents) -> list[Record]:
    """Return the intact records. Each message behind the damage stands behind the message before it, and so
    has another id than in the file; decisions name it by that."""
    renamed: dict[str, str] = {}
    tips = {record.get("side", ""): record["id"] for record in _messages(contents.records)}
    linked = list(contents.records)
    for record in contents.behind:
        changed = dict(record)
        if record["kind"] == "message":
            side = record.get("side", "")
            parent = tips.get(side, tips.get("") if side else None)
            changed |= {"parent": parent, "id": message_id(record["message"], parent)}
            renamed[record["id"]] = tips[side] = changed["id"]
        else:
            names = ("message", "first", "last")
            changed |= {n: renamed.get(record[n], record[n]) for n in names if n in record}
            changed["text"] = renamed_text(record["text"], renamed)
        linked.append(changed)
    return linked


def _messages(records: Sequence[Record]) -> Iterator[Record]:
    return (record for record in records if record["kind"] == "message")


def _messages_in(records: Sequence[Record]) -> int:
    return sum(1 for _ in _messages(records))


def _ids_in(records: Sequence[Record]) -> list[str]:
    return [record["id"] for record in _messages(records)]


def _text_bytes(record: Record) -> bytes:
    text: str = record["text"]
    return text.encode("utf-8", "surrogatepass")


def _append_message(
    context: SessionContext, record: Record, tip: message_chain.Tip
) -> message_chain.Tip:
    root, side = record["parent"], record.get("side", "")
    if (tip.message or root) != root:
        raise ValueError(f"it does not follow {tip.message}")
    message, at = record["message"], record["at"]
    return message_chain.append_behind(context, message, tip, side=side, root=root, at=at)


def _append_decision(context: SessionContext, record: Record) -> None:
    data = _text_bytes(record)
    load_json(data)
    text, side = revision_of(data), record["side"]
    if record["kind"] == "folded":
        fact: Folded | Condensed = Folded(record["message"], tuple(record["blocks"]), text, side)
    else:
        fact = Condensed(record["summary"], record["first"], record["last"], text, side)
    now = context.clock()
    context.store.append(context.session, [fact], at=now, happened_at=record["at"], blobs=[data])


# --- the file


@contextmanager
def _access(path: str, verb: str) -> Iterator[None]:
    """Turn an OSError into a HistoryError: "PATH cannot be VERB"."""
    try:
        yield
    except OSError as error:
        raise _no_access(path, verb, error.strerror or str(error)) from error


def _no_access(path: str, verb: str, why: str) -> HistoryError:
    return HistoryError(
        f"{quoted(path)} cannot be {verb}: {why}.",
        "Check the folder, its permissions and the free space.",
    )


def _read_bytes(path: str) -> bytes | None:
    """Return the bytes of a file; None where there is none. HistoryError."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise _no_access(path, "used", "it is no file")
    with _access(path, "read"):
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None


def _read_file(path: str) -> Contents:
    data = _read_bytes(path)
    if data is None:
        return NO_FILE
    contents = parse(data)
    if contents.version != HEAD["version"]:
        raise HistoryError(
            f"{quoted(path)} is of version {contents.version}, and this Sightline reads version {HEAD['version']}."
            " It is left as it is.",
            "Use the version of Sightline that wrote it, or a newer one; or name another file.",
        )
    return contents


def _append_lines(path: str, lines: Sequence[bytes]) -> None:
    if not lines:
        return
    with _access(path, "written"), open(path, "r+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        try:
            remaining = memoryview(b"".join(lines))
            while remaining:
                remaining = remaining[file.write(remaining) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise


def _copy_damaged(path: str) -> None:
    """Keep a copy of a damaged file, unless the same copy exists. HistoryError where the copy of
    another damaged file exists."""
    copy = path + DAMAGED
    with _access(path, "kept"):
        with open(path, "rb") as file:
            data = file.read()
        if os.path.exists(copy):
            with open(copy, "rb") as file:
                if file.read() == data:
                    return
            raise HistoryError(
                f"{quoted(path)} is damaged, and {copy} keeps another damaged one. Nothing was changed.",
                f"Move {copy} away first.",
            )
    with _access(copy, "written"):
        write_file(copy, data)


FIELDS: dict[str, dict[str, type]] = {
    "message": {"id": str, "at": int, "message": dict},
    "folded": {"message": str, "blocks": list, "at": int, "side": str, "text": str},
    "condensed": {"summary": str, "first": str, "last": str, "at": int, "side": str, "text": str},
}
"""Kind of record -> the types of its fields."""

BEGIN = re.compile(r'\{"check":"')
DECODER = json.JSONDecoder()

UNKNOWN_RECORD = "it is no record that this version knows"
TIME_MAX = 2**62
"""The largest number of microseconds since 1970 that a store can hold, in either direction."""


class Contents(Struct, frozen=True):
    """The contents of a file. lines: the intact ones before the first damage, with the head; records:
    those in the lines, without the head; torn: bytes of a last line that was not written to its end;
    lost: the damaged lines, each with the reason; behind: the intact records behind the first of them;
    version: of the writer; nothing else is read of another version."""

    lines: tuple[bytes, ...] = ()
    records: tuple[Record, ...] = ()
    session: str = ""
    torn: int = 0
    lost: tuple[tuple[int, str], ...] = ()
    behind: tuple[Record, ...] = ()
    version: object = HEAD["version"]

    @property
    def damage(self) -> tuple[int, str] | None:
        """The first damaged line and the reason."""
        return self.lost[0] if self.lost else None

    @property
    def message_ids(self) -> list[str]:
        """Return the ids of the messages before the damage."""
        return _ids_in(self.records)

    @property
    def messages(self) -> int:
        """Return the number of messages before the damage."""
        return len(self.message_ids)


NO_FILE = Contents(session="-")


def _damage(path: str, contents: Contents) -> str:
    line, why = contents.damage or (0, "")
    return f"{quoted(path)} is damaged in line {line}: {why}."


def encode_line(record: Record) -> bytes:
    """Encode a record as a line that begins with a checksum of the rest."""
    body = _dump(record)
    return f'{{"check":"{crc32(body):08x}",'.encode() + body[1:] + b"\n"


def parse(data: bytes) -> Contents:
    """Parse the bytes of a file."""
    if not data:
        return Contents()
    *lines, rest = data.split(b"\n")
    if rest and _parse_line(rest) is not None:  # the writer died before the line end
        lines, rest = [*lines, rest], b""
    head = _parse_line(lines[0]) if lines else None
    if head is not None and "version" in head and head["version"] != HEAD["version"]:
        return Contents(version=head["version"])
    records: list[Record] = []
    behind: list[Record] = []
    lost: list[tuple[int, str]] = []
    ids: dict[str, set[str]] = {}
    if head is None or head.get("sightline") != HEAD["sightline"]:
        lost.append((1, "it does not begin as a saved conversation does"))
    elif not isinstance(head.get("session"), str):
        lost.append((1, "it does not say whose conversation it is"))
    for number, line in enumerate(lines if lost else lines[1:], 1 if lost else 2):
        record = _parse_line(line)
        if record is None and not (lost and number == 1):
            lost.append((number, "it is not as it was written"))
        for each in _records_in(line) if record is None else [record]:
            if number == 1 and "kind" not in each:
                continue  # the head
            why = _find_fault(each, ids)
            if why:
                lost.append((number, why))
            else:
                (behind if lost else records).append(each)
    intact = tuple(line + b"\n" for line in lines[: len(records) + 1]) if head else ()
    session = "" if head is None else str(head.get("session"))
    return Contents(intact, tuple(records), session, len(rest), tuple(lost), tuple(behind))


def _records_in(line: bytes) -> Iterator[Record]:
    """Yield the intact records in a damaged line: behind one that was cut, or before what was glued on."""
    text = line.decode("latin-1")  # a record is ASCII
    for start in BEGIN.finditer(text):
        try:
            _, end = DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        record = _parse_line(line[start.start() : end])
        if record is not None:
            yield record


def _parse_line(line: bytes) -> Record | None:
    """Parse a line; None where the checksum does not match."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or "check" not in record:
        return None
    check = record.pop("check")
    return record if check == f"{crc32(_dump(record)):08x}" else None


def _find_fault(record: Record, ids: dict[str, set[str]]) -> str:
    """Return what is wrong with an intact record, "" for nothing. ids: of the earlier records, by
    chain; the record's own id is added."""
    kind, side = record.get("kind"), record.get("side", "")
    fields = FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None or not isinstance(side, str):
        return UNKNOWN_RECORD
    if not all(isinstance(record.get(name), type_) for name, type_ in fields.items()):
        return UNKNOWN_RECORD
    if abs(record["at"]) > TIME_MAX:
        return UNKNOWN_RECORD
    earlier = ids.setdefault(side, set())
    try:
        if kind == "message":
            parent = record.get("parent")
            if parent is not None and not isinstance(parent, str):
                return UNKNOWN_RECORD
            if message_id(record["message"], parent) != record["id"]:
                return "it is not the message of its id"
        else:
            about = message_ids(record["text"], summary=kind == "condensed")
            about |= {record[name] for name in ("first", "last") if name in record}
            if not about - {record.get("summary")} <= earlier:
                return "it is about a message that does not stand before it"
    except ValueError as error:
        return str(error)
    earlier |= {record[name] for name in ("id", "summary") if name in record}
    return ""


def _dump(record: Record) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()
