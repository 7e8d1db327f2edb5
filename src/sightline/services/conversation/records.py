"""The lines of a file that holds a conversation, and what is left of one that was damaged."""

from __future__ import annotations

import json
from zlib import crc32

from sightline.core.value import Value
from sightline.render.conversation import HEAD
from sightline.services.conversation import decisions, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


class Found(Value):
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
    if rest and _record(rest) is not None:  # killed before its line end
        whole, rest = [*whole, rest], b""
    head = _record(whole[0]) if whole else None
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
        record = _record(line)
        why = "it is not as it was written" if record is None else _wrong(record, seen)
        if record is None or why:
            damage = (number, why)
            break
        records.append(record)
    lines = tuple(line + b"\n" for line in whole[: len(records) + 1])
    return Found(lines, tuple(records), head["session"], len(rest), damage)


def _record(line: bytes) -> dict[str, Any] | None:
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
        name = stored.name(record["message"], parent)
    except ValueError as error:
        return str(error)
    return "" if name == record["id"] else "it is not the message of its id"


def _wrong_decision(record: dict[str, Any], before: set[str]) -> str:
    try:
        about = decisions.about(record["text"], summary=record["kind"] == "condensed")
    except ValueError as error:
        return str(error)
    about |= {record["last"]} if "last" in record else set()
    about -= {record.get("summary")}
    return "" if about <= before else "it is about a message that does not stand before it"


def _body(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()
