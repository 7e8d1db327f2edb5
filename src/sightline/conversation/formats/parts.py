"""Part: a piece of one message, before anything is known of its neighbours. What a format has to say
of its messages, so that everything else is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from json import dumps
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct

from sightline.conversation.window.blocks import Kind

T = TypeVar("T")
Message = Mapping[str, Any]
Place = tuple[str | int, ...]
Role = Literal["system", "user", "model", "tool"]


class Adapter(Protocol):
    """A format, as a module."""

    NAME: str
    BESIDE: bool
    """Results follow their calls at once: what the model says next comes after them."""
    FIRST: bool
    """Results come before anything else that follows their calls."""
    ALONE: bool
    """A result is a message of its own; else a part of one of the user's."""

    def owns(self, message: Message, /) -> bool:
        """Whether a message may be of this format."""

    def role(self, message: Message, /) -> Role:
        """Who says it. tool: nothing but results of calls."""

    def parts(self, message: Message, /) -> list[Part]:
        """Its pieces, in the order in which they are written down."""

    def put(self, message: Message, part: Part, text: str, /) -> Message:
        """A copy in which a part says this instead."""

    def named(self, message: Message, part: Part, call: str, /) -> Message:
        """A copy in which a call or a result has this id."""

    def left(self, message: Message, /) -> Message | None:
        """A message out of which parts were taken; None where nothing is left of it."""

    def result(self, message: Message, part: Part, text: str, /) -> Any:
        """A result for a call in a message: a message where results are ALONE, else a raw
        part."""

    def answering(self, raw: Sequence[Any], /) -> Message:
        """A message of raw results."""

    def user(self, text: str, /) -> Message:
        """A message of the user's."""

    def tailed(self, message: Message | None, text: str, /) -> list[Message]:
        """A message of the user's, or of results, with a text behind it; of None, that text
        alone."""

    def faults(self, message: Message, /) -> list[tuple[str, str]]:
        """What is wrong with it by itself: which invariant, and why."""

    def tidied(self, message: Message, /) -> Message | None:
        """Without those faults; None where nothing is left."""


class Part(Struct, frozen=True):
    """A piece of a message. place: the keys and indexes that lead to it; () is all of it. kind,
    text, tool, error, fixed, loose: as in a Block. call: the id it has there, None where it has none.
    given: of a call its arguments, as they stand there. pictures: how many it holds."""

    place: Place
    kind: Kind
    text: str
    call: str | None = None
    tool: str | None = None
    given: Any = None
    error: bool = False
    fixed: bool = False
    pictures: int = 0
    loose: bool = False


def is_of(adapter: Adapter, message: Any) -> bool:
    """Whether a message may be of a format, whatever its fields hold."""
    try:
        return isinstance(message, Mapping) and adapter.owns(message)
    except (AttributeError, KeyError, TypeError):
        return False


def parts_of(adapter: Adapter, number: int, message: Message) -> list[Part]:
    """The pieces of a message of a conversation. ValueError where it is not one of the format."""
    if not is_of(adapter, message):
        raise ValueError(f"message {number} is not one of format {adapter.NAME}: {shape(message)}")
    try:
        parts = adapter.parts(message)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            f"message {number} cannot be read as one of format {adapter.NAME}: a field in "
            f"it holds something else than it should ({error})"
        ) from error
    for part in parts:
        names: tuple[Any, ...] = (part.call, part.tool)
        texts = [part.text, *(name for name in names if name is not None)]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(
                f"message {number} cannot be read as one of format {adapter.NAME}: a text, an id "
                f"or a name in it is no text (at {'.'.join(map(str, part.place)) or 'its top'})"
            )
    return parts


def shape(message: Any) -> str:
    """What can be said of a message that nobody can read."""
    if not isinstance(message, Mapping):
        return f"a {type(message).__name__}"
    return f"role {message.get('role')!r}, with {', '.join(sorted(map(str, message)))}"


def at(value: Any, place: Place) -> Any:
    """What stands at a place."""
    for key in place:
        value = value[key]
    return value


def changed(value: T, place: Place, new: Any) -> T:
    """A copy with something else at a place; what does not lead there is shared."""
    if not place:
        replacing: T = new
        return replacing
    copy: Any = list(value) if isinstance(value, list | tuple) else dict(value)  # type: ignore[call-overload]
    copy[place[0]] = changed(copy[place[0]], place[1:], new) if place[1:] else new
    return copy  # type: ignore[no-any-return]


def removed(value: T, places: Collection[Place]) -> T:
    """A copy without what stands at these places."""
    by_last_first = sorted(places, key=lambda place: [(isinstance(k, int), k) for k in place])
    for place in reversed(by_last_first):
        holder = at(value, place[:-1])
        copy = list(holder) if isinstance(holder, list | tuple) else dict(holder)
        del copy[place[-1]]  # type: ignore[arg-type]
        value = changed(value, place[:-1], copy)
    return value


TEXTS = ("text", "input_text", "output_text", "refusal")
PICTURES = (
    *("image", "image_url", "input_image", "document", "input_file", "file", "audio"),
    *("input_audio", "computer_screenshot", "document_url"),
)


def text_of(value: Any) -> str:
    """What a model reads of a value: a text, or its JSON."""
    if isinstance(value, str):
        return value

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


SHORT = 200
"""Characters up to which a text in arguments stays: paths, patterns, names."""

GONE = "[removed]"
DEPTH = 6


def long_texts(given: Any, place: Place = ()) -> Iterator[tuple[Place, int]]:
    """Where the long texts stand in arguments, and how long they are."""
    if isinstance(given, str):
        if len(given) > SHORT:
            yield place, len(given)
    elif len(place) < DEPTH and isinstance(given, dict | list):
        for key, value in given.items() if isinstance(given, dict) else enumerate(given):
            yield from long_texts(value, (*place, key))


def foldable(given: Any) -> bool:
    """Whether there is something in arguments that a stub may stand for."""
    return any(True for _ in long_texts(given))


def stubbed(given: Any, stub: str) -> Any:
    """A copy with the stub in place of the longest text, and a mark in place of other long ones.
    Of arguments without a long text: they themselves."""
    found = sorted(long_texts(given), key=lambda each: -each[1])
    for number, (place, _) in enumerate(found):
        given = changed(given, place, GONE if number else stub)
    return given
