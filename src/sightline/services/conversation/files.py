"""A conversation in a file: JSON lines, one for each message and each decision.

What is new is put behind what is there, and synced; else the file is written aside and put in place
at once. So whenever the machine stops, the file holds all that was ever acknowledged.
"""

from __future__ import annotations

import os
from itertools import takewhile

from sightline.core.events import Condensed, Folded, MessageAppended
from sightline.core.revision import revision_of
from sightline.core.value import Value
from sightline.errors import HistoryError
from sightline.render import conversation as words
from sightline.services.conversation import chain, decisions, saying
from sightline.services.conversation.records import NO_FILE, VERSION, line_of, read
from sightline.store.private import aside_of, new_file, sync_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sightline.core.timeline import Recorded
    from sightline.services.conversation.chain import Tip
    from sightline.services.conversation.records import Found
    from sightline.services.ground import Ground

DAMAGED = ".damaged"


class Saved(Value):
    """What was written. messages: in the file now; added: records that are new in it; whole: it
    was written anew."""

    path: str
    messages: int
    added: int
    whole: bool


class Loaded(Value):
    """What was taken in. messages: how many; there: how many the file holds. warnings: what one
    should know of it, in words."""

    path: str
    messages: int
    there: int
    warnings: tuple[str, ...] = ()


def save(ground: Ground, path: str, *, replace: bool = False) -> Saved:
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


def load(ground: Ground, path: str, *, salvage: bool = False) -> Loaded:
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


def _knows(ground: Ground, found: Found) -> bool:
    """Whether a file is this session's, and all that it holds is in the store: sessions of other
    workspaces may have the same name."""
    if found.session != ground.session:
        return False
    every = {chain.said(row).message for row in ground.store.timeline(kinds=chain.SAID)}
    return all(each["id"] in every for each in found.records if each["kind"] == "message")


def _shared(one: Sequence[object], other: Sequence[object]) -> int:
    """How many both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


# --- records of facts


def _rows(ground: Ground) -> list[Recorded]:
    kinds = (MessageAppended, Folded, Condensed)
    return [row for row in chain.along(ground, chain.MEANT) if isinstance(row.fact, kinds)]


def _lines(ground: Ground) -> list[bytes]:
    return [line_of(_record(ground, row)) for row in _rows(ground)]


def _record(ground: Ground, row: Recorded) -> dict[str, Any]:
    fact, at = row.fact, {"at": row.happened_at}
    if isinstance(fact, MessageAppended):
        side = {"side": fact.side} if fact.side else {}
        ids = {"kind": "message", "id": fact.message, "parent": fact.parent}
        return {**ids, **at, **side, "message": chain.read(ground, row)}
    assert isinstance(fact, (Folded, Condensed))
    assert fact.text is not None
    told = {
        "side": fact.side,
        "text": chain.kept(ground, fact.text).decode("utf-8", "surrogatepass"),
    }
    if isinstance(fact, Folded):
        return {"kind": "folded", "message": fact.message, "blocks": [*fact.blocks], **at, **told}
    ids = {"summary": fact.summary, "first": fact.first, "last": fact.last}
    return {"kind": "condensed", **ids, **at, **told}


def _new(ground: Ground, path: str, found: Found) -> list[dict[str, Any]]:
    """The records that the session has not yet. HistoryError where it holds others."""
    have = _rows(ground)
    ids = [chain.said(row).message for row in have if isinstance(row.fact, MessageAppended)]
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


def _take_in(ground: Ground, path: str, records: Sequence[dict[str, Any]]) -> None:
    tips: dict[str, Tip] = {}
    for number, record in enumerate(records):
        side = record.get("side", "")
        tips[side] = chain.tip(ground, side, tips.get(side))
        if record["kind"] == "message":
            tips[side] = _said(ground, path, record, tips[side], number)
        else:
            _decided(ground, record)


def _said(ground: Ground, path: str, record: dict[str, Any], tip: Tip, number: int) -> Tip:
    root = record["parent"]
    parent = tip.message or root
    try:
        if parent != root:
            raise ValueError(f"it does not stand behind {parent}")  # noqa: TRY301
        return saying.say(
            ground, record["message"], tip, side=record.get("side", ""), root=root, at=record["at"]
        )
    except ValueError as error:
        raise HistoryError(*words.not_taken(path, record["id"], str(error), number)) from error


def _decided(ground: Ground, record: dict[str, Any]) -> None:
    data = record["text"].encode("utf-8", "surrogatepass")
    decisions.loaded(data)
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
