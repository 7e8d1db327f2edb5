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
from sightline.errors import HistoryError
from sightline.filesystem.private_files import write_file
from sightline.messages import message_chain
from sightline.messages.message_codec import encode, message_id
from sightline.messages.old_history import OldHistory, is_old_history, read_old_history
from sightline.model.events import Condensed, Folded, MessageAppended
from sightline.model.path import quoted
from sightline.model.revision import revision_of
from sightline.model.timeline import Recorded, of_kind
from sightline.store.port import Append
from sightline.text.phrases import count, named
from sightline.window.fold_decisions import load_json, message_ids, renamed_text

HEAD = {"sightline": "conversation", "version": 1}
"""The first line of a file."""

DAMAGED = ".damaged"
"""Suffix of the copy of a damaged file."""

Record = dict[str, Any]
"""A line: a message, a fold decision or a summary."""


class Saved(Struct, frozen=True):
    """The result of a save. messages: in the file now; added: lines that are new in the file; whole:
    the whole file was written.

    path: of the file.
    """

    path: str
    messages: int
    added: int
    whole: bool


class Loaded(Struct, frozen=True):
    """The result of a load. messages: loaded now; there: in the file; warnings: sentences for a
    person; kept_as: the newer name of a file that has the name of an early version.

    path: of the file.
    """

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
        total = contents.messages + _messages_in(contents.behind)
        if contents.damage and total and salvage:
            _copy_damaged(real)
    warnings: list[str] = []
    if contents is NO_FILE:
        warnings.append(f"There is no file {quoted(path)}: nothing was loaded.")
    elif not total:
        warnings.append(f"{quoted(path)} holds no message: nothing was loaded.")
    if contents.torn:
        warnings.append(
            f"The last line of {quoted(path)} was never finished, so it was never acknowledged. It was left"
            f" out; the {total} messages before it are whole."
        )
    if contents.damage and salvage and total:
        warnings.append(
            f"{quoted(path)} is damaged. {_losses(contents)} messages were loaded; {quoted(path)}{DAMAGED}"
            " is a copy."
        )
    elif contents.damage:
        behind = f", and {total - contents.messages} behind it" if contents.behind else ""
        whole = f"The {contents.messages} messages before it are whole{behind}"
        whole = whole if total else "No message is whole"
        hint = "load(path, salvage=True) takes them in" if total else "Load another copy of it"
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
    return Loaded(path, _messages_in(records), total, tuple(warnings))


NAMED_MAX = 5
"""Messages that could not be taken in, or damaged lines, that are named one by one."""


def _losses(contents: Contents) -> str:
    """Say which damaged lines lost something and which did not, up to the number of the other messages."""
    lines = [f"line {each.line} ({each.why})" for each in contents.damages if not each.is_loss]
    lost = [f"line {each.line} ({each.why})" for each in contents.damages if each.is_loss]
    total = contents.messages + _messages_in(contents.behind)
    kept = f"No message is missing in {named(lines, NAMED_MAX)}." if lines else ""
    if not lost:
        return f"{kept} All {total}"
    return " ".join([*filter(None, [kept]), f"Lost: {named(lost, NAMED_MAX)}. The other {total}"])


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
    context.store.append(
        Append(context.session, [fact], at=now, happened_at=record["at"], texts=[data])
    )


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

NO_HEAD = "it does not begin as a saved conversation does"
NOT_AS_WRITTEN = "it is not as it was written"
STRAY_MAX = 16
"""Bytes that may stand beside records without being one: the smallest has more than sixty."""

UNKNOWN_RECORD = "it is no record that this version knows"
TIME_MAX = 2**62
"""The largest number of microseconds since 1970 that a store can hold, in either direction."""


class Damage(Struct):
    """A line that is not as it was written. is_loss: something of it cannot be read, and may be missing."""

    line: int
    why: str
    is_loss: bool = True


class Contents(Struct, frozen=True):
    """The contents of a file. lines: the intact ones before the first damage, with the head; records:
    those in the lines, without the head; torn: bytes of a last line that was not written to its end;
    damages: the damaged lines; behind: the intact records from the first of them on; version: of the writer;
    nothing else is read of another version."""

    lines: tuple[bytes, ...] = ()
    records: tuple[Record, ...] = ()
    session: str = ""
    torn: int = 0
    damages: tuple[Damage, ...] = ()
    behind: tuple[Record, ...] = ()
    version: object = HEAD["version"]

    @property
    def damage(self) -> Damage | None:
        """The first damaged line."""
        return self.damages[0] if self.damages else None

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
    assert contents.damage is not None
    return f"{quoted(path)} is damaged in line {contents.damage.line}: {contents.damage.why}."


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
    reading = _Reading()
    if head is None or "kind" in head:
        reading.read_head(lines[0] if lines else b"")
    else:
        reading.take_head(head, 1)
    for number, line in enumerate(lines[1:], 2):
        record = _parse_line(line)
        reading.take(number, [record]) if record is not None else reading.take_damaged(number, line)
    intact = tuple(line + b"\n" for line in lines[: len(reading.records) + 1]) if head else ()
    damages, behind = tuple(reading.damages), tuple(reading.behind)
    return Contents(intact, tuple(reading.records), reading.session, len(rest), damages, behind)


class _Reading:
    """Reads the lines of a file, from the first to the last."""

    def __init__(self) -> None:
        self.session = ""
        self.records: list[Record] = []
        self.behind: list[Record] = []
        self.damages: list[Damage] = []
        self._ids: dict[str, set[str]] = {}
        self._tips: dict[str, str] = {}
        self._doubtful: list[Damage] = []

    def read_head(self, line: bytes) -> None:
        """Take a first line that is no head: damaged, or with records glued on."""
        found, rest = _records_in(line)
        heads = [each for each in found if "kind" not in each]
        why = f"{len(found)} records stand in it" if heads and not rest else NO_HEAD
        self.damages.append(Damage(1, why, is_loss=why == NO_HEAD))
        if heads:
            self.session = str(heads[0].get("session"))
        self.take(1, [each for each in found if "kind" in each])

    def take_head(self, head: Record, number: int) -> None:
        """Take an intact first line."""
        self.session = str(head.get("session"))
        if head.get("sightline") != HEAD["sightline"]:
            self.damages.append(Damage(number, NO_HEAD))
        elif not isinstance(head.get("session"), str):
            self.damages.append(Damage(number, "it does not say whose conversation it is"))

    def take_damaged(self, number: int, line: bytes) -> None:
        """Take the intact records of a damaged line. Whether a few bytes beside them, or NULs of a file system
        that crashed, stand for a lost message is seen at the next message: it names the one before it."""
        found, rest = _records_in(line)
        size = len(rest.strip(b"\0"))
        what = f"{count(len(found), 'record')} stand in it" if found else NOT_AS_WRITTEN
        beside = f"{count(len(rest), 'byte')} beside {count(len(found), 'record')}"
        damage = Damage(number, beside if rest and found else what, is_loss=bool(rest) or not found)
        self.damages.append(damage)
        if damage.is_loss and size <= STRAY_MAX:
            self._doubtful.append(damage)
        self.take(number, found, doubtful=damage)

    def take(self, number: int, found: list[Record], doubtful: Damage | None = None) -> None:
        """Take the intact records of a line. doubtful: of this line, which is not settled by them."""
        for record in found:
            side = record.get("side", "")
            is_known = isinstance(side, str) and record.get("id") in self._ids.get(side, ())
            if self.damages and record.get("kind") == "message" and is_known:
                continue  # it was written twice
            why = _find_fault(record, self._ids)
            if why:
                self.damages.append(Damage(number, why))
                continue
            (self.behind if self.damages else self.records).append(record)
            if record["kind"] == "message":
                self._settle(record, side, doubtful)

    def _settle(self, record: Record, side: str, doubtful: Damage | None) -> None:
        parent = record.get("parent")
        follows = parent == self._tips.get(side)
        begins_aside = side and side not in self._tips and parent in self._ids.get("", ())
        for damage in [each for each in self._doubtful if each is not doubtful]:
            damage.is_loss = not (follows or begins_aside)
            self._doubtful.remove(damage)
        if not (follows or begins_aside) and doubtful in self._doubtful:
            self._doubtful.remove(doubtful)
        self._tips[side] = record["id"]


def _records_in(line: bytes) -> tuple[list[Record], bytes]:
    """Return the intact records in a damaged line: behind one that was cut, or before what was glued on; and
    the bytes that belong to none."""
    text = line.decode("latin-1")  # a record is ASCII
    found: list[Record] = []
    rest, done = [], 0
    for start in BEGIN.finditer(text):
        if start.start() < done:
            continue
        try:
            _, end = DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        record = _parse_line(line[start.start() : end])
        if record is not None:
            found.append(record)
            rest.append(line[done : start.start()])
            done = end
    return found, b"".join([*rest, line[done:]]).strip()


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
