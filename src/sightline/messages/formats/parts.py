"""Parts: the pieces of one message, and the interface of a format's adapter.

An adapter is a module with the functions of Adapter. Everything else is the same for all formats.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from json import dumps, loads
from re import DOTALL, sub
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct

from sightline.messages.blocks import Kind

T = TypeVar("T")
Message = Mapping[str, Any]
Place = tuple[str | int, ...]
"""The keys and indexes that lead to a value in a message; () is the whole message."""
Role = Literal["system", "user", "model", "tool"]
OPENAI_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "model",
}
"""Roles in Chat Completions and in Responses."""


class Part(Struct, frozen=True):
    """A piece of a message. kind, text, tool, error, fixed, loose: as in a Block. call: the id that
    the format gives a call or a result, None where it gives none. given: a call's arguments, parsed
    where they are JSON text. pictures: number of pictures and documents in the part."""

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


class Adapter(Protocol):
    """A wire format, as a module."""

    NAME: str
    BESIDE: bool
    """Results follow their calls directly: the model's next text comes after them."""
    FIRST: bool
    """Results come before anything else that follows their calls."""
    HOLDER: str
    """Field of a user's message that holds results; "" where a result is a message of its own."""
    FIELDS: tuple[str, ...]
    """The only fields of a message that the provider takes; () where it may take others."""
    OMITTED: tuple[str, ...]
    """Fields that are left out where they are empty: a strict server refuses an empty list or a null."""

    def is_own(self, message: Message, /) -> bool:
        """Return whether a message can be of this format."""

    def role(self, message: Message, /) -> Role:
        """Return the sender of a message. tool: the message holds only results of calls."""

    def parts(self, message: Message, /) -> list[Part]:
        """Return the parts of a message in the order of the wire format."""

    def with_text(self, message: Message, part: Part, text: str, /) -> Message:
        """Return a copy of a message with another text in a part."""

    def with_id(self, message: Message, part: Part, call: str, /) -> Message:
        """Return a copy of a message with another id in a call or a result."""

    def without_empty(self, message: Message, /) -> Message | None:
        """Return a message in valid form after parts were removed; None for an empty message."""

    def make_result(self, message: Message, part: Part, text: str, /) -> Any:
        """Return a result for a call of a message: a message where no HOLDER has results,
        else a raw part."""

    def user_message(self, text: str, like: Message, /) -> Message:
        """Return a message of the user's, dumped in the way that another of the conversation is."""

    def with_tail(self, message: Message, text: str, /) -> list[Message]:
        """Return a message of the user's, or of results, with a text behind it."""

    def find_faults(self, message: Message, /) -> list[tuple[str, str]]:
        """Return the faults of a message by itself: the violated invariant, and the reason."""

    def without_faults(self, message: Message, /) -> Message | None:
        """Return a message without these faults; None where nothing remains."""


def is_of(adapter: Adapter, message: Any) -> bool:
    """Return whether a message can be of a format, whatever its fields hold."""
    try:
        return isinstance(message, Mapping) and adapter.is_own(message)
    except (AttributeError, KeyError, TypeError):
        return False


def parts_of(adapter: Adapter, number: int, message: Message) -> list[Part]:
    """Return the parts of message `number` of a conversation. ValueError for a message of another
    format."""
    if not is_of(adapter, message):
        shape = describe_shape(message)
        raise ValueError(f"message {number} is not one of format {adapter.NAME}: {shape}")
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


HOST_FIELDS = frozenset(
    [
        *("ts", "isSummary", "isCompactSummary", "condenseId", "condenseParent", "truncationId"),
        *("truncationParent", "isTruncationMarker", "modelInfo", "metrics", "is_error", "is_demo"),
        *("uuid", "parentUuid", "sessionId", "isSidechain", "isMeta", "tool_call_ids"),
    ]
)
"""Fields that agents keep on their messages, and that no provider takes."""

HOST_PART_FIELDS = {
    "text": frozenset(["ts", "call_id", "reasoning_details", "signature"]),
    "tool_use": frozenset(["ts", "call_id", "reasoning_details", "signature"]),
    "tool_result": frozenset(["ts", "call_id", "reasoning_details"]),
    "thinking": frozenset(["ts", "call_id", "reasoning_details", "summary"]),
    "image": frozenset(["ts"]),
}
"""Type of a part in a list "content" -> fields that agents keep on it."""


def as_sent(adapter: Adapter, message: Message) -> Message:
    """Return a message without the fields that its host keeps for itself, and without empty ones that
    a strict server refuses; a message without such fields is returned as it is."""
    fields, omitted = adapter.FIELDS, adapter.OMITTED
    kept = {
        k: v
        for k, v in message.items()
        if (k in fields if fields else k not in HOST_FIELDS)
        and not (k in omitted and (v is None or v in ([], {})))
    }
    content = kept.get("content")
    if isinstance(content, list):
        parts = [_part_as_sent(part) for part in content]
        if any(new is not old for new, old in zip(parts, content, strict=True)):
            return {**kept, "content": parts}
    return message if len(kept) == len(message) else kept


def _part_as_sent(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    foreign = HOST_PART_FIELDS.get(kind, frozenset()) if isinstance(kind, str) else frozenset()
    if foreign.isdisjoint(part):
        return part
    return {key: value for key, value in part.items() if key not in foreign}


def describe_shape(message: Any) -> str:
    """Describe a message of no known format."""
    if not isinstance(message, Mapping):
        return f"a {type(message).__name__}"
    fields = ", ".join(sorted(map(str, message))) or "nothing in it"
    return f"role {message.get('role')!r}, with {fields}"


def value_at(value: Any, place: Place) -> Any:
    """Return the value at a place."""
    for key in place:
        value = value[key]
    return value


def changed(value: T, place: Place, new: Any) -> T:
    """Return a copy with another value at a place. The copy shares everything else."""
    if not place:
        replacing: T = new
        return replacing
    copy: Any = list(value) if isinstance(value, list | tuple) else dict(value)  # type: ignore[call-overload]
    copy[place[0]] = changed(copy[place[0]], place[1:], new) if place[1:] else new
    return copy  # type: ignore[no-any-return]


def removed(value: T, places: Collection[Place]) -> T:
    """Return a copy without the values at these places."""
    ordered = sorted(places, key=lambda place: [(isinstance(k, int), k) for k in place])
    for place in reversed(ordered):  # from the end, so that indexes stay valid
        holder = value_at(value, place[:-1])
        copy = list(holder) if isinstance(holder, list | tuple) else dict(holder)
        del copy[place[-1]]  # type: ignore[arg-type]
        value = changed(value, place[:-1], copy)
    return value


TEXTS = ("text", "input_text", "output_text", "refusal")
PICTURES = (
    *("image", "image_url", "input_image", "document", "input_file", "file", "audio"),
    *("input_audio", "computer_screenshot", "document_url"),
)
"""Types of the parts of a content."""


def text_of(value: Any) -> str:
    """Return the text that a model reads of a value: a text itself, else its JSON."""
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False, default=str)


def content_text(content: Any) -> tuple[str, int]:
    """Return the text of a content, and the number of its pictures and documents."""
    if not isinstance(content, list):
        return ("" if content is None else text_of(content)), 0
    texts: list[str] = []
    pictures = 0
    for item in content:
        kind = item.get("type") if isinstance(item, dict) else None
        source = (item.get("source") or {}) if kind == "document" else {}
        if kind in TEXTS:
            texts.append(str(item.get("text") or item.get("refusal") or ""))
        elif source.get("type") == "text":
            texts.append(str(source.get("data") or ""))
        elif kind in PICTURES:
            pictures += 1
        else:
            texts.append(text_of(item))
    return "\n".join(texts), pictures


# --- authors of texts on the user's side: a person, or a program

PROGRAM = (
    *("<system-reminder>", "<command-name>", "<command-message>", "<local-command-"),
    *("<environment_details>", "<environment_context>", "<task-notification>", "<bash-stdout>"),
    *("<user_instructions>", "<INSTRUCTIONS>", "<permissions instructions>", "<turn_aborted>"),
    *("# AGENTS.md instructions for", "<skills_instructions>", "<collaboration_mode>"),
    *("Caveat: The messages below were generated by", "[Request interrupted by user"),
    *("Base directory for this skill:", "<hook", "[TASK RESUMPTION]", "<subagent_notification>"),
    *("(The beginning of this conversation is missing.)", "This is the Gemini CLI."),
    *("[ERROR] You did not use a tool", "Stop hook feedback:"),
)
"""Beginnings of the texts that hosts write on the user's side."""

SUMMARY = (
    "This session is being continued from a previous conversation that ran out of context",
    "Another language model started to solve this problem and produced a summary",
    "## Conversation Summary",
    "<summary>",
    "<state_snapshot>",
)

REMINDER = r"<(system-reminder|environment_details)>.*?</\1>"
"""Text that hosts put before and behind a person's text."""


def author(text: str) -> Literal["user", "system", "summary"]:
    """Return the author of a text as the kind of its part: user for a person, system for a program.
    An unknown beginning is a person's."""
    text = text.strip()
    if text.startswith(SUMMARY):
        return "summary"
    if not text.startswith(PROGRAM):
        return "user"
    if text.startswith(("<system-reminder>", "<environment_details>")):
        rest = sub(REMINDER, "", text, flags=DOTALL).strip()
        if rest not in ("", text) and author(rest) == "user":
            return "user"
    return "system"


def text_part(place: Place, text: str, role: Role) -> Part:
    """Return the part of a text in a message with a role."""
    if role == "model":
        return Part(place, "text", text)
    return Part(place, "system" if role == "system" else author(text), text, fixed=True)


def content_part(place: Place, value: Any, role: Role) -> Part:
    """Return the part of a value in the content of a message with a role: a text, a picture, or
    anything else, which stays unchanged."""
    kind = "text" if isinstance(value, str) else value.get("type")
    if kind in TEXTS:
        text = value if isinstance(value, str) else value.get("text") or value.get("refusal") or ""
        return text_part(place, text, role)
    if kind in PICTURES:
        text, pictures = content_text([value])
        picture: Kind = "image" if "image" in kind else "document"
        return Part(place, picture, text, fixed=role == "model", pictures=pictures)
    return Part(place, "unknown", text_of(value), fixed=True)


# --- arguments of calls

SHORT = 200
"""Characters up to which a text in arguments is never folded: paths, patterns, names."""

REMOVED = "[removed]"
"""Text in place of all long texts of folded arguments but the longest."""

DEPTH = 6


def call_part(
    place: Place, call: str | None, tool: str | None, given: Any, *, fixed: bool = False
) -> Part:
    """Return the part of a call. given: the arguments as they stand in the message."""
    arguments = parse_arguments(given)
    text = "" if given is None else text_of(given)
    fixed = fixed or not any(True for _ in long_texts(arguments))
    return Part(place, "call", text, call, tool, arguments, fixed=fixed)


def parse_arguments(given: Any) -> Any:
    """Parse arguments that are JSON text; return any other value as it is."""
    if not isinstance(given, str) or given.lstrip()[:1] not in ("{", "["):
        return given
    try:
        return loads(given)
    except (ValueError, RecursionError):
        return given


def are_broken(given: Any) -> bool:
    """Return whether arguments are neither empty nor a JSON object."""
    is_blank = isinstance(given, str) and not given.strip()
    return bool(given) and not is_blank and not isinstance(parse_arguments(given), dict)


def long_texts(given: Any, place: Place = ()) -> Iterator[tuple[Place, int]]:
    """Return the places of the long texts in arguments, and their lengths."""
    if isinstance(given, str):
        if len(given) > SHORT:
            yield place, len(given)
    elif len(place) < DEPTH and isinstance(given, dict | list):
        for key, value in given.items() if isinstance(given, dict) else enumerate(given):
            yield from long_texts(value, (*place, key))


def put_arguments(message: Message, place: Place, part: Part, stub: str) -> Message:
    """Return a copy of a message with a stub in the arguments at a place: in place of their longest
    text. Keys, types and short texts stay."""
    arguments = part.given
    by_length = sorted(long_texts(arguments), key=lambda found: -found[1])
    for number, (text_place, _) in enumerate(by_length):
        arguments = changed(arguments, text_place, REMOVED if number else stub)
    is_text = isinstance(value_at(message, place), str)
    return changed(message, place, text_of(arguments) if is_text else arguments)
