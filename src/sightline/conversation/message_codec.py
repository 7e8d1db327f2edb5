"""Messages as they are kept: their JSON, with pictures and documents as texts of their own."""

from __future__ import annotations

import json
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct

from sightline.conversation import words
from sightline.conversation.formats.parts import Place, changed
from sightline.conversation.formats.parts import at as found_at
from sightline.model.revision import Revision, revision_of

Message = Mapping[str, Any]

KINDS = ("media_type", "mimeType", "mime_type", "mediaType", "source_type")
"""Keys beside "data" that say that it is a picture, a document or a sound."""

URLS = frozenset(("url", "uri", "image_url", "video_url", "file_data", "data"))
"""Keys of what may be a data: URL."""

SIGNS = (b'"data"', b";base64,")
"""What stands in the JSON of every message that holds any of it."""

GIVEN = frozenset(("input", "args", "arguments", "response", "artifact"))
"""Keys of what tools are given, or answer: anything may stand there."""

INLINE_MAX = 512
"""Characters of base64 up to which it stays where it is."""

TAKEN = "taken:"
"""How a text begins that stands for what was taken out: then the number of it in the fact."""

NAME_LENGTH = 32
"""Digits of a message's id."""

DEPTH_MAX = 200
"""How far a message may be nested."""


AS_GIVEN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
CANONICAL = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
)


class Stored(Struct, frozen=True):
    """A message as it is kept. id: by what it says and its parent's; text: its JSON; media: what
    was taken out of it."""

    id: str
    text: bytes
    media: tuple[bytes, ...] = ()


def stored(message: Message, parent: str | None) -> Stored:
    """A message in its stored form. ValueError where it is nothing that JSON can hold, or a
    picture in it is no base64."""
    whole = _dumped(message, AS_GIVEN)
    _check_keys(message)
    if not any(sign in whole for sign in SIGNS):
        return Stored(name(message, parent), whole)
    left, media = _taken_out(message)
    text = whole if not media else _dumped(left, AS_GIVEN)
    return Stored(name(message, parent), text, media)


def name(message: Message, parent: str | None) -> str:
    """The id of a message behind another, or at the beginning (None)."""
    told = f"{parent or ''}\n".encode() + _dumped(message, CANONICAL)
    return sha256(told).hexdigest()[:NAME_LENGTH]


def message_of(text: bytes, media: Sequence[Revision], blob: Callable[[str], bytes]) -> Any:
    """The message as its host gave it. blob: the bytes of a revision."""
    message = json.loads(text.decode("utf-8", "surrogatepass"))
    if not media:
        return message
    for place, value in list(_texts(message)):
        if value.startswith(TAKEN):
            number, _, before = value.removeprefix(TAKEN).partition(":")
            data = b2a_base64(blob(media[int(number)]), newline=False).decode()
            message = changed(message, place, before + data)
    return message


def check_depth(message: Any) -> None:
    """ValueError where a message is nested so deeply that whoever reads it could run out of
    stack."""
    left = [(message, 1)]
    while left:
        value, depth = left.pop()
        if depth > DEPTH_MAX:
            raise ValueError(words.too_deep(DEPTH_MAX))
        held = value.values() if isinstance(value, dict) else value
        left += [(each, depth + 1) for each in held if isinstance(each, (dict, list, tuple))]


def media_of(stored: Stored) -> tuple[Revision, ...]:
    """The names of what was taken out."""
    return tuple(revision_of(each) for each in stored.media)


def _dumped(message: Message, encoder: json.JSONEncoder) -> bytes:
    try:
        told = encoder.encode(message)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(words.no_json(str(error))) from error
    return told.encode("utf-8", "surrogatepass")


def _taken_out(message: Message) -> tuple[Message, tuple[bytes, ...]]:
    media: list[bytes] = []
    left = message
    for place, value in list(_texts(message)):
        if value.startswith(TAKEN):
            return message, ()  # the host's own words look like ours: nothing is taken out
        before = _before_data(message, place, value)
        if before is None:
            continue
        data = _decoded(place, value[len(before) :])
        if data is not None and len(value) > INLINE_MAX:
            left = changed(left, place, f"{TAKEN}{len(media)}:{before}")
            media.append(data)
    return left, tuple(media)


def _check_keys(value: Any) -> None:
    """ValueError for a key that is no text: JSON would make one of it."""
    if isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(key, str):
                raise ValueError(words.no_json(f"the key {key!r} is no text"))  # noqa: TRY004
            if not isinstance(each, str):
                _check_keys(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            _check_keys(each)


def _texts(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Every text in a message, and where it stands."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, (str, dict, list, tuple)):
                yield from _texts(each, (*place, key))
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            if isinstance(each, (str, dict, list, tuple)):
                yield from _texts(each, (*place, number))


def _before_data(message: Message, place: Place, value: str) -> str | None:
    """What stands before the base64 of a picture; None where a text is none."""
    if place[-1:] and place[-1] in URLS and value.startswith("data:"):
        head, comma, _ = value[:200].partition(";base64,")
        return head + comma if comma else None
    if place[-1:] != ("data",):
        return None
    holder = found_at(message, place[:-1])
    kinds = [holder[key] for key in KINDS if isinstance(holder.get(key), str)]
    if place[-2:-1] == ("input_audio",):
        return ""
    is_text = holder.get("type") == "text" or any(kind in ("text", "text/plain") for kind in kinds)
    return "" if kinds and not is_text else None


def _decoded(place: Place, data: str) -> bytes | None:
    """The bytes; None where writing them down again gives another text. ValueError."""
    try:
        raw = a2b_base64(data.encode(), strict_mode=True)
    except (Error, UnicodeEncodeError):
        try:
            a2b_base64("".join(data.split()).encode(), strict_mode=True)
        except (Error, UnicodeEncodeError) as error:
            if GIVEN.isdisjoint(place):
                raise ValueError(words.no_base64(place, str(error))) from error
        return None
    return raw if b2a_base64(raw, newline=False).decode() == data else None
