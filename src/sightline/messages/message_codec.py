"""Encode messages for the store: JSON, with pictures and documents as separate blobs."""

from __future__ import annotations

import json
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct

from sightline.messages.formats.parts import Place, changed, value_at
from sightline.model.revision import Revision

Message = Mapping[str, Any]

KINDS = ("media_type", "mimeType", "mime_type", "mediaType", "source_type")
"""Fields beside "data" that mark a picture, a document or a sound."""

URLS = frozenset(("url", "uri", "image_url", "video_url", "file_data", "data"))
"""Fields that may hold a data: URL."""

SIGNS = (b'"data"', b";base64,")
"""Bytes in the JSON of every message with such data."""

FREE = frozenset(("input", "args", "arguments", "response", "artifact"))
"""Fields with arguments and answers of tools, which may hold anything."""

INLINE_MAX = 512
"""Characters of base64 up to which it stays in the message."""

REFERENCE = "taken:"
"""Prefix of a text that stands for a blob; the number of the blob in the fact follows."""

ID_LENGTH = 32
"""Digits of a message's id."""

DEPTH_MAX = 200
"""Levels to which a message may be nested."""

NOT_RECORDED = "Nothing was recorded."

BROKEN_MEDIA = "the base64 of a picture or a document is broken"

AS_GIVEN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
CANONICAL = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
)


class Encoded(Struct, frozen=True):
    """A message as it is stored. text: its JSON; media: the blobs to which the JSON refers."""

    id: str
    text: bytes
    media: tuple[bytes, ...] = ()


def encode(message: Message, parent: str | None) -> Encoded:
    """Encode a message. ValueError for a value that JSON cannot hold, or a picture whose base64 is
    broken."""
    text = _dump(message, AS_GIVEN)
    media: tuple[bytes, ...] = ()
    if any(sign in text for sign in SIGNS):
        remaining, media = _extract_media(message)
        text = _dump(remaining, AS_GIVEN) if media else text
    return Encoded(message_id(message, parent), text, media)


def message_id(message: Message, parent: str | None) -> str:
    """Return the id of a message from its content and the id of the message before it."""
    content = f"{parent or ''}\n".encode() + _dump(message, CANONICAL)
    return sha256(content).hexdigest()[:ID_LENGTH]


def decode(text: bytes, media: Sequence[Revision], read_blob: Callable[[str], bytes]) -> Any:
    """Return a message as its host gave it."""
    message = json.loads(text.decode("utf-8", "surrogatepass"))
    for place, value in list(_texts(message)) if media else ():
        if value.startswith(REFERENCE):
            number, _, prefix = value.removeprefix(REFERENCE).partition(":")
            data = b2a_base64(read_blob(media[int(number)]), newline=False).decode()
            message = changed(message, place, prefix + data)
    return message


def check_structure(message: Any) -> None:
    """ValueError for a message nested so deeply that a reader could exhaust its stack, and for a key
    that is no text, which JSON would turn into one."""
    values = [(message, 1)]
    while values:
        value, depth = values.pop()
        if depth > DEPTH_MAX:
            why = f"the message is nested more than {DEPTH_MAX} deep, or holds itself"
            raise ValueError(f"{why}. {NOT_RECORDED}")
        if isinstance(value, dict):
            key = next((key for key in value if not isinstance(key, str)), "")
            if not isinstance(key, str):
                raise ValueError(_not_json(f"the key {key!r} is no text"))  # noqa: TRY004
        fields = value.values() if isinstance(value, dict) else value
        values += [(field, depth + 1) for field in fields if isinstance(field, (dict, list, tuple))]


def _dump(message: Message, encoder: json.JSONEncoder) -> bytes:
    try:
        text = encoder.encode(message)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(_not_json(str(error))) from error
    return text.encode("utf-8", "surrogatepass")


def _not_json(why: str) -> str:
    return f"the message is nothing that JSON can hold: {why}. {NOT_RECORDED}"


def _extract_media(message: Message) -> tuple[Message, tuple[bytes, ...]]:
    """Replace long base64 by references; return the message and the decoded bytes."""
    if any(value.startswith(REFERENCE) for _, value in _texts(message)):
        return message, ()  # the host's own text looks like a reference
    media: list[bytes] = []
    remaining = message
    for place, prefix, encoded in _media_texts(message):
        data = _decode_base64(place, encoded)
        if data is not None and len(prefix) + len(encoded) > INLINE_MAX:
            remaining = changed(remaining, place, f"{REFERENCE}{len(media)}:{prefix}")
            media.append(data)
    return remaining, tuple(media)


def has_broken_media(message: Message) -> bool:
    """Return whether the base64 of a picture or a document is empty or cannot be decoded."""
    found = (media for media in _media_texts(message) if FREE.isdisjoint(media[0]))
    try:
        return any(_decode_base64(place, encoded) == b"" for place, _, encoded in found)
    except (ValueError, RecursionError):
        return True


def _media_texts(message: Message) -> Iterator[tuple[Place, str, str]]:
    """Yield the place of each picture or document, the text before its base64, and the base64."""
    for place, value in _texts(message):
        prefix = _prefix_of_data(message, place, value)
        if prefix is not None:
            yield place, prefix, value[len(prefix) :]


def _texts(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Return every text in a message, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, (dict, list, tuple)):
        for key, field in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(field, (str, dict, list, tuple)):
                yield from _texts(field, (*place, key))


def _prefix_of_data(message: Message, place: Place, value: str) -> str | None:
    """Return the text before the base64 of a picture; None for a text that is no picture."""
    if place[-1:] and place[-1] in URLS and value.startswith("data:"):
        head, comma, _ = value[:200].partition(";base64,")
        return head + comma if comma else None
    if place[-1:] != ("data",):
        return None
    holder = value_at(message, place[:-1])
    kinds = [holder[key] for key in KINDS if isinstance(holder.get(key), str)]
    if place[-2:-1] == ("input_audio",):
        return ""
    is_text = holder.get("type") == "text" or any(kind in ("text", "text/plain") for kind in kinds)
    return "" if kinds and not is_text else None


def _decode_base64(place: Place, data: str) -> bytes | None:
    """Decode base64; None where encoding the bytes again gives another text. ValueError."""
    try:
        raw = a2b_base64(data.encode(), strict_mode=True)
    except (Error, UnicodeEncodeError):
        try:
            a2b_base64("".join(data.split()).encode(), strict_mode=True)
        except (Error, UnicodeEncodeError) as error:
            if FREE.isdisjoint(place):
                where = ".".join(map(str, place))
                raise ValueError(
                    f"what stands at {where} of the message is no base64: {error}. {NOT_RECORDED}"
                ) from error
        return None
    return raw if b2a_base64(raw, newline=False).decode() == data else None
