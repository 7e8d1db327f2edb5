"""Texts and pictures in the content of a message or a result, as formats nest them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TEXTS = ("text", "input_text", "output_text", "refusal")
PICTURES = (
    *("image", "image_url", "input_image", "document", "input_file", "file", "audio"),
    *("input_audio", "computer_screenshot", "document_url"),
)


def text_of(value: Any) -> str:
    """What a model reads of a value: a text, or its JSON."""
    if isinstance(value, str):
        return value
    from json import dumps

    return dumps(value, ensure_ascii=False, default=str)


def body(content: Any) -> tuple[str, int]:
    """What a content says, and how many pictures or documents it holds."""
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        return ("" if content is None else text_of(content)), 0
    texts: list[str] = []
    pictures = 0
    for each in content:
        kind = each.get("type") if isinstance(each, dict) else None
        if isinstance(each, str):
            texts.append(each)
        elif kind in TEXTS:
            texts.append(str(each.get("text") or each.get("refusal") or ""))
        elif kind == "document" and _source(each).get("type") == "text":
            texts.append(str(_source(each).get("data") or ""))
        elif kind in PICTURES:
            pictures += 1
        else:
            texts.append(text_of(each))
    return "\n".join(texts), pictures


def _source(part: Any) -> Any:
    return part.get("source") or {}
