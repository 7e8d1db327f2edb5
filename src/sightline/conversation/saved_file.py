"""A conversation in a file: JSON lines, one for each message and each decision.

What is new is put behind what is there, and synced; else the file is written aside and put in place
at once. So whenever the machine stops, the file holds all that was ever acknowledged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any
from zlib import crc32

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.conversation import append, fold_decisions, message_chain, message_codec, words
from sightline.conversation.message_chain import Tip
from sightline.conversation.words import HEAD
from sightline.errors import HistoryError
from sightline.filesystem.private_files import aside_of, new_file, sync_folder
from sightline.model.events import Condensed, Folded, MessageAppended
from sightline.model.revision import revision_of
from sightline.model.timeline import Recorded

DAMAGED = ".damaged"


class Saved(Struct, frozen=True):
    """What was written. messages: in the file now; added: records that are new in it; whole: it
    was written anew."""

    path: str
    messages: int
    added: int
    whole: bool


class Loaded(Struct, frozen=True):
    """What was taken in. messages: how many; there: how many the file holds. warnings: what one
    should know of it, in words."""

    path: str
    messages: int
    there: int
    warnings: tuple[str, ...] = ()


def save(ground: SessionContext, path: str, *, replace: bool = False) -> Saved:
    """Write all of the conversation. HistoryError where the file holds something else, or what
    another version wrote, or cannot be written; it is as it was then."""
    real = os.path.realpath(path)
    lines = [line_of({"session": ground.session, **words.HEAD}), *_lines(ground)]
    messages = sum(isinstance(row.fact, MessageAppended) for row in _rows(ground))
    with ground.workspace.lock(f"conversation in {real}"):
        found = _found(real)
        shared = _shared(found.lines, lines)
        if found.damage:
            if not replace:
                raise HistoryError(*words.not_over_damaged(path, found.damage, path + DAMAGED))
            _keep(real)
        elif shared < len(found.lines) and not replace and not _knows(ground, found):
            raise HistoryError(*words.not_over_other(path, found.session))
        elif found.lines and shared == len(found.lines) and not found.torn:
            _add(real, lines[shared:])
            return Saved(path, messages, len(lines) - shared, whole=False)
        _put(real, lines)
        return Saved(path, messages, len(lines) - max(shared, 1), whole=True)


def load(ground: SessionContext, path: str, *, salvage: bool = False) -> Loaded:
    """Take in what a file holds. HistoryError where it is damaged, or holds another conversation;
    nothing was recorded then."""
    real = os.path.realpath(path)
    with ground.workspace.lock(f"conversation in {real}"):
        found = _found(real)
        if found.damage and found.messages and salvage:
            _keep(real)
    if found.damage and not (salvage and found.messages):
        raise HistoryError(*words.damaged(path, found.damage, found.messages))
    warnings = list(_warnings(path, found))
    new = _new(ground, path, found)
    taken = sum(record["kind"] == "message" for record in new)
    _take_in(ground, path, new)
    return Loaded(path, taken, found.messages, tuple(warnings))


def _warnings(path: str, found: Found) -> Iterator[str]:
    if found is NO_FILE:
        yield words.no_file(path)
    elif not found.messages:
        yield words.empty_file(path)
    if found.torn:
        yield words.torn(path, found.messages)
    if found.damage:
        yield words.salvaged(path, found.damage, found.messages, path + DAMAGED)


def _knows(ground: SessionContext, found: Found) -> bool:
    """Whether a file is this session's, and all that it holds is in the store: sessions of other
    workspaces may have the same name."""
    if found.session != ground.session:
        return False
    every = {
        message_chain.said(row).message for row in ground.store.timeline(kinds=message_chain.SAID)
    }
    return all(each["id"] in every for each in found.records if each["kind"] == "message")


def _shared(one: Sequence[object], other: Sequence[object]) -> int:
    """How many both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


# --- records of facts


def _rows(ground: SessionContext) -> list[Recorded]:
    kinds = (MessageAppended, Folded, Condensed)
    return [
        row
        for row in message_chain.along(ground, message_chain.MEANT)
        if isinstance(row.fact, kinds)
    ]


def _lines(ground: SessionContext) -> list[bytes]:
    return [line_of(_record(ground, row)) for row in _rows(ground)]


def _record(ground: SessionContext, row: Recorded) -> dict[str, Any]:
    fact, at = row.fact, {"at": row.happened_at}
    if isinstance(fact, MessageAppended):
        side = {"side": fact.side} if fact.side else {}
        ids = {"kind": "message", "id": fact.message, "parent": fact.parent}
        return {**ids, **at, **side, "message": message_chain.read(ground, row)}
    assert isinstance(fact, (Folded, Condensed))
    assert fact.text is not None
    told = {
        "side": fact.side,
        "text": message_chain.kept(ground, fact.text).decode("utf-8", "surrogatepass"),
    }
    if isinstance(fact, Folded):
        return {"kind": "folded", "message": fact.message, "blocks": [*fact.blocks], **at, **told}
    ids = {"summary": fact.summary, "first": fact.first, "last": fact.last}
    return {"kind": "condensed", **ids, **at, **told}


def _new(ground: SessionContext, path: str, found: Found) -> list[dict[str, Any]]:
    """The records that the session has not yet. HistoryError where it holds others."""
    have = _rows(ground)
    ids = [message_chain.said(row).message for row in have if isinstance(row.fact, MessageAppended)]
    theirs = [each["id"] for each in found.records if each["kind"] == "message"]
    if _shared(ids, theirs) < min(len(ids), len(theirs)):
        raise HistoryError(*words.another(path, ground.session))
    texts = {getattr(row.fact, "text", None) for row in have}
    known = {*ids}
    return [each for each in found.records if not _is_known(each, known, texts)]


def _is_known(record: dict[str, Any], ids: set[str], texts: set[str | None]) -> bool:
    if record["kind"] == "message":
        return record["id"] in ids
    return revision_of(record["text"].encode("utf-8", "surrogatepass")) in texts


def _take_in(ground: SessionContext, path: str, records: Sequence[dict[str, Any]]) -> None:
    tips: dict[str, Tip] = {}
    for number, record in enumerate(records):
        side = record.get("side", "")
        tips[side] = message_chain.tip(ground, side, tips.get(side))
        if record["kind"] == "message":
            tips[side] = _said(ground, path, record, tips[side], number)
        else:
            _decided(ground, record)


def _said(ground: SessionContext, path: str, record: dict[str, Any], tip: Tip, number: int) -> Tip:
    root = record["parent"]
    parent = tip.message or root
    try:
        if parent != root:
            raise ValueError(f"it does not stand behind {parent}")  # noqa: TRY301
        return append.say(
            ground, record["message"], tip, side=record.get("side", ""), root=root, at=record["at"]
        )
    except ValueError as error:
        raise HistoryError(*words.not_taken(path, record["id"], str(error), number)) from error


def _decided(ground: SessionContext, record: dict[str, Any]) -> None:
    data = record["text"].encode("utf-8", "surrogatepass")
    fold_decisions.loaded(data)
    text, side = revision_of(data), record["side"]
    if record["kind"] == "folded":
        fact: Folded | Condensed = Folded(record["message"], tuple(record["blocks"]), text, side)
    else:
        ids = (record["summary"], record["first"], record["last"])
        fact = Condensed(*ids, text, side)
    ground.store.append(
        ground.session, [fact], at=ground.clock(), happened_at=record["at"], blobs=[data]
    )


# --- the file


def _found(path: str) -> Found:
    if os.path.exists(path) and not os.path.isfile(path):
        raise HistoryError(*words.no_access(path, "used", "it is no file"))
    try:
        with open(path, "rb") as file:
            found = read(file.read())
    except FileNotFoundError:
        return NO_FILE
    except OSError as error:
        raise HistoryError(*words.no_access(path, "read", error.strerror or str(error))) from error
    if found.version != VERSION:
        raise HistoryError(*words.of_another_version(path, found.version))
    return found


def _put(path: str, lines: Sequence[bytes]) -> None:
    """A whole file, at once."""
    aside = aside_of(path)
    try:
        try:
            with open(new_file(aside), "wb") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        finally:
            if os.path.lexists(aside):
                os.unlink(aside)
        sync_folder(os.path.dirname(path))
    except OSError as error:
        raise HistoryError(
            *words.no_access(path, "written", error.strerror or str(error))
        ) from error


def _add(path: str, lines: Sequence[bytes]) -> None:
    """Lines behind a file's last one."""
    if not lines:
        return
    try:
        with open(path, "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                left = memoryview(b"".join(lines))
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
    except OSError as error:
        raise HistoryError(
            *words.no_access(path, "written", error.strerror or str(error))
        ) from error


def _keep(path: str) -> None:
    """A damaged file's bytes beside it, unless these very ones are kept there. HistoryError where
    others are."""
    kept = path + DAMAGED
    try:
        with open(path, "rb") as file:
            data = file.read()
        if os.path.exists(kept):
            with open(kept, "rb") as file:
                if file.read() == data:
                    return
            raise HistoryError(*words.kept_already(path, kept))
    except OSError as error:
        raise HistoryError(*words.no_access(path, "kept", error.strerror or str(error))) from error
    _put(kept, [data])


NEEDED: dict[str, dict[str, type]] = {
    "message": {"id": str, "at": int, "message": dict},
    "folded": {"message": str, "blocks": list, "at": int, "side": str, "text": str},
    "condensed": {"summary": str, "first": str, "last": str, "at": int, "side": str, "text": str},
}
"""Kind of record -> what it has."""

UNKNOWN = "it is no record that this version knows"
LATEST = 2**62
"""Microseconds since 1970 that a store can hold, either way."""

VERSION = HEAD["version"]


class Found(Struct, frozen=True):
    """What a file holds. lines: those that are whole, the head first; records: what they say,
    without the head; session: whose conversation it is; torn: bytes of a last line that was
    never finished; damage: in which line something is wrong, and what; version: that it was written
    by, of which nothing else is known where it is another than ours."""

    lines: tuple[bytes, ...] = ()
    records: tuple[dict[str, Any], ...] = ()
    session: str = ""
    torn: int = 0
    damage: tuple[int, str] | None = None
    version: object = VERSION

    @property
    def messages(self) -> int:
        """How many messages."""
        return sum(record["kind"] == "message" for record in self.records)


NO_FILE = Found(session="-")


def line_of(record: dict[str, Any]) -> bytes:
    """A record as a line: what it says, and by what its bytes can be told from damaged ones."""
    body = _body(record)
    return f'{{"check":"{crc32(body):08x}",'.encode() + body[1:] + b"\n"


def read(data: bytes) -> Found:
    """What the bytes of a file hold: all that is whole before the first damage."""
    if not data:
        return Found()
    *whole, rest = data.split(b"\n")
    if rest and _parsed_line(rest) is not None:  # killed before its line end
        whole, rest = [*whole, rest], b""
    head = _parsed_line(whole[0]) if whole else None
    if head is None or head.get("sightline") != HEAD["sightline"]:
        return Found(damage=(1, "it does not begin as a saved conversation does"))
    if head.get("version") != VERSION:
        return Found(version=head.get("version"))
    if not isinstance(head.get("session"), str):
        return Found(damage=(1, "it does not say whose conversation it is"))
    records: list[dict[str, Any]] = []
    damage = None
    seen: dict[str, set[str]] = {}
    for number, line in enumerate(whole[1:], 2):
        record = _parsed_line(line)
        why = "it is not as it was written" if record is None else _wrong(record, seen)
        if record is None or why:
            damage = (number, why)
            break
        records.append(record)
    lines = tuple(line + b"\n" for line in whole[: len(records) + 1])
    return Found(lines, tuple(records), head["session"], len(rest), damage)


def _parsed_line(line: bytes) -> dict[str, Any] | None:
    """What a line says; None where its bytes are not as they were written."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or "check" not in record:
        return None
    check = record.pop("check")
    return record if check == f"{crc32(_body(record)):08x}" else None


def _wrong(record: dict[str, Any], seen: dict[str, set[str]]) -> str:
    """What is wrong with a record that is as it was written; "" for nothing. seen: the ids of what
    stands before it, by chain, to which its own is added."""
    kind = record.get("kind")
    needed = NEEDED.get(kind) if isinstance(kind, str) else None
    side = record.get("side", "")
    if needed is None or not isinstance(side, str):
        return UNKNOWN
    if not all(isinstance(record.get(name), what) for name, what in needed.items()):
        return UNKNOWN
    if abs(record["at"]) > LATEST:
        return UNKNOWN
    before = seen.setdefault(side, set())
    why = _wrong_message(record) if kind == "message" else _wrong_decision(record, before)
    before |= {record[name] for name in ("id", "summary") if name in record}
    return why


def _wrong_message(record: dict[str, Any]) -> str:
    parent = record.get("parent")
    if parent is not None and not isinstance(parent, str):
        return UNKNOWN
    try:
        name = message_codec.name(record["message"], parent)
    except ValueError as error:
        return str(error)
    return "" if name == record["id"] else "it is not the message of its id"


def _wrong_decision(record: dict[str, Any], before: set[str]) -> str:
    try:
        about = fold_decisions.about(record["text"], summary=record["kind"] == "condensed")
    except ValueError as error:
        return str(error)
    about |= {record["last"]} if "last" in record else set()
    about -= {record.get("summary")}
    return "" if about <= before else "it is about a message that does not stand before it"


def _body(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()
