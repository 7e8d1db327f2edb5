"""A history out of a text: a JSON array of messages, an object that holds one, or JSON lines."""

from __future__ import annotations

import json
from binascii import Error, a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from sightline.conversation.formats.format import FORMATS, Format, detect
from sightline.conversation.formats.parts import Message
from sightline.conversation.formats.problems import Problem
from sightline.conversation.recorded_conversation import Conversation
from sightline.errors import HistoryError

Shape = Literal["array", "object", "lines"]

HOLDERS = ("messages", "contents", "input", "history", "items")
"""Names of what holds the messages of a request, in the order in which they are tried."""


class History(Struct, frozen=True):
    """Messages, and how they were written down. holder: the name under which an object holds them;
    around: that object."""

    messages: tuple[Message, ...]
    format: Format
    shape: Shape
    holder: str = ""
    around: Mapping[str, Any] = {}

    def problems(self) -> list[Problem]:
        """What a provider would refuse of it."""
        found = [*self.format.problems(self.messages), *problems(self.messages)]
        return sorted(found, key=lambda problem: problem.message)

    def beside(self) -> str:
        """What is sent beside the messages and has tokens too: the system text, and the tools."""
        told = [self.around[name] for name in ("system", "instructions") if name in self.around]
        texts = [each if isinstance(each, str) else json.dumps(each) for each in told]
        return "\n".join([*texts, *(json.dumps(tool) for tool in self.tools())])

    def tools(self) -> Sequence[Any]:
        """The definitions of the tools."""
        tools = self.around.get("tools")
        return tools if isinstance(tools, list) else ()

    def written(self, messages: Sequence[Message]) -> str:
        """Other messages, written down as these were."""
        if self.shape == "lines":
            return "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in messages)
        whole = {**self.around, self.holder: messages} if self.shape == "object" else messages
        return f"{json.dumps(whole, ensure_ascii=False, indent=2)}\n"


def read(text: str, name: str) -> History:
    """The history in a text. name: of where it came from, for people. HistoryError."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise HistoryError(f"{name} is empty: there is no history in it.", NAME_ANOTHER)
    value, shape = _parsed(text, name)
    holder, around = "", {}
    if isinstance(value, dict):
        holder = next((each for each in HOLDERS if isinstance(value.get(each), list)), "")
        if not holder:
            raise HistoryError(f"{name} is an object without messages.", EXPECTED)
        around, value, shape = value, value[holder], "object"
    if not isinstance(value, list):
        raise HistoryError(f"{name} holds {_kind(value)}, and no messages.", EXPECTED)
    if not value:
        raise HistoryError(f"{name} holds no message: its history is empty.", NAME_ANOTHER)
    try:
        shaped = FORMATS[detect(value)]
    except ValueError as error:
        raise HistoryError(f"{name}: {error}.", ONE_FORMAT) from error
    return History(tuple(value), shaped, shape, holder, around)


def recorded(told: Conversation) -> History:
    """The history in a product's recording of a conversation, from where its context last began
    anew, as an array. Recordings end anywhere, so it is mended where it has to be."""
    *_, (messages, _times) = told.segments()
    shaped = FORMATS[told.format]
    right = not shaped.problems(messages)
    return History(messages if right else tuple(shaped.repaired(messages)), shaped, "array")


NAME_ANOTHER = "Name the file to which your program writes the messages that it sends."
EXPECTED = (
    'A history is a JSON array of messages, an object such as {"messages": [...]}, or one message '
    "on each line."
)
ONE_FORMAT = (
    "Take the messages as your program sends them: Anthropic's, Chat Completions', Responses', "
    "Gemini's, LangChain's or Pydantic AI's."
)


def _parsed(text: str, name: str) -> tuple[Any, Shape]:
    """JSON, of the whole text or of each line."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise HistoryError(f"{name} is nested too deeply to be read.", EXPECTED) from None
    except ValueError as error:
        broken = error
    else:
        single = isinstance(value, dict) and "\n" not in text.strip() and _is_message(value)
        return ([value], "lines") if single else (value, "array")
    first = text.lstrip().split("\n", 1)[0]
    if not _is_json(first):
        raise HistoryError(_where(broken, name), EXPECTED) from None
    return _lines(text, name), "lines"


def _is_message(value: dict[str, Any]) -> bool:
    return not any(isinstance(value.get(name), list) for name in HOLDERS)


def _is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _lines(text: str, name: str) -> list[Any]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            why = f"line {number} is no JSON: {getattr(error, 'msg', 'nested too deeply')}"
            raise HistoryError(f"{name}: {why}.", "Mend that line, or take it out.") from None
    return found


def _where(error: ValueError, name: str) -> str:
    if isinstance(error, json.JSONDecodeError):
        place = f"line {error.lineno}, column {error.colno}"
        return f"{name} is no JSON: {error.msg} ({place})."
    return f"{name} is no JSON: {error}."


def _kind(value: Any) -> str:
    kinds = {str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "nothing")


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
