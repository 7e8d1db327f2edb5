"""Pictures and documents inside messages whose base64 cannot be decoded."""

from __future__ import annotations

from binascii import Error, a2b_base64

from sightline.core.formats.problems import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sightline.core.formats.parts import Message

MEDIA = ("media_type", "mime_type", "mimeType")
"""Names that stand beside data of any provider's."""

INLINE = "data:"
DEPTH_MAX = 8


def problems(messages: Sequence[Message]) -> list[Problem]:
    """One for each message with such data in it."""
    why = "the base64 of a picture or a document is broken"
    broken = (number for number, each in enumerate(messages) if not all(map(_decodes, _data(each))))
    return [Problem("I14", number, why) for number in broken]


def _data(value: Any, depth: int = 0) -> Iterator[str]:
    if depth > DEPTH_MAX:
        return
    if isinstance(value, list):
        for each in value:
            yield from _data(each, depth + 1)
    elif isinstance(value, dict):
        data = value.get("data")
        encoded = value.get("type") in (None, "base64") and any(name in value for name in MEDIA)
        if encoded and isinstance(data, str):
            yield data
        for name, each in value.items():
            if name in ("url", "image_url", "file_data") and isinstance(each, str):
                yield from _inline(each)
            elif name not in ("text", "data", "input", "arguments"):
                yield from _data(each, depth + 1)


def _inline(url: str) -> Iterator[str]:
    head, comma, data = url.partition(",")
    if comma and head.startswith(INLINE) and head.endswith(";base64"):
        yield data


def _decodes(data: str) -> bool:
    try:
        a2b_base64("".join(data.split()), strict_mode=True)
    except (Error, ValueError):
        return False
    return bool(data)
