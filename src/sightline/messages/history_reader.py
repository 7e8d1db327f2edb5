"""Read a history from text: a JSON array of messages, an object that holds one, or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from sightline.errors import HistoryError
from sightline.messages.formats.format import FORMATS, Format, detect
from sightline.messages.formats.parts import Message, parts_of
from sightline.messages.formats.problems import Problem
from sightline.messages.message_codec import BROKEN_MEDIA, has_broken_media
from sightline.messages.recorded_conversation import Conversation
from sightline.messages.tool_calls import parse_object

Shape = Literal["array", "object", "lines"]

HOLDERS = ("messages", "contents", "input", "history", "items")
"""Fields of a request that hold the messages, in the order in which they are tried."""


class History(Struct, frozen=True):
    """Messages with their written shape. holder: the field of the object `around`
    that holds the messages. agent: the product that recorded them, "" for a program's own file;
    folder: as of a recorded conversation; set_aside: which recorded messages or lines are left out,
    and why.

    format: of the messages.
    """

    messages: tuple[Message, ...]
    format: Format
    shape: Shape
    holder: str = ""
    around: Mapping[str, Any] = {}
    agent: str = ""
    folder: str = ""
    set_aside: tuple[str, ...] = ()

    def problems(self) -> list[Problem]:
        """Return why a provider would refuse the history, by message."""
        broken = (
            Problem("I14", number, BROKEN_MEDIA)
            for number, message in enumerate(self.messages)
            if has_broken_media(message)
        )
        problems = [*self.format.problems(self.messages), *broken]
        return sorted(problems, key=lambda problem: problem.message)

    def beside(self) -> str:
        """Return the text that a request sends beside the messages: system text and tools."""
        system = [self.around[name] for name in ("system", "instructions") if name in self.around]
        texts = [text if isinstance(text, str) else json.dumps(text) for text in system]
        return "\n".join([*texts, *(json.dumps(tool) for tool in self.tools())])

    def tools(self) -> Sequence[Any]:
        """Return the definitions of the tools."""
        tools = self.around.get("tools")
        return tools if isinstance(tools, list) else ()

    def dump(self, messages: Sequence[Message]) -> str:
        """Write other messages in the shape of this history."""
        if self.shape == "lines":
            return "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in messages)
        whole = {**self.around, self.holder: messages} if self.shape == "object" else messages
        return f"{json.dumps(whole, ensure_ascii=False, indent=2)}\n"


def read_history(text: str, name: str) -> History:
    """Read the history in a text. name: of the file, for error messages. HistoryError."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise HistoryError(f"{name} is empty: there is no history in it.", NAME_ANOTHER)
    value, shape, set_aside = _parse(text, name)
    holder, around = "", {}
    if isinstance(value, dict):
        holder = next((field for field in HOLDERS if isinstance(value.get(field), list)), "")
        if not holder:
            raise HistoryError(f"{name} is an object without messages.", EXPECTED)
        around, value, shape = value, value[holder], "object"
    if not isinstance(value, list):
        kinds = {str: "a text", bool: "true or false", int: "a number", float: "a number"}
        kind = kinds.get(type(value), "nothing")
        raise HistoryError(f"{name} holds {kind} instead of messages.", EXPECTED)
    if not value:
        raise HistoryError(f"{name} holds no message: its history is empty.", NAME_ANOTHER)
    try:
        wire_format = FORMATS[detect(value)]
        for number, message in enumerate(value):
            parts_of(wire_format.adapter, number, message)
    except ValueError as error:
        raise HistoryError(f"{name}: {error}.", ONE_FORMAT) from error
    return History(tuple(value), wire_format, shape, holder, around, set_aside=set_aside)


def from_recording(conversation: Conversation) -> History:
    """Return the newest segment of a recorded conversation as a history, repaired where the
    recording ends in the middle."""
    *_, (messages, _times) = conversation.segments()
    wire_format = FORMATS[conversation.format]
    if wire_format.problems(messages):
        messages = tuple(wire_format.repaired(messages))
    return History(
        messages,
        wire_format,
        "array",
        agent=conversation.agent,
        folder=conversation.folder,
        set_aside=conversation.set_aside,
    )


NAME_ANOTHER = "Name the file to which your program writes the messages that it sends."
EXPECTED = (
    'A history is a JSON array of messages, an object such as {"messages": [...]}, or one message '
    "on each line."
)
ONE_FORMAT = (
    "Take the messages as your program sends them: Anthropic's, Chat Completions', Responses', "
    "Gemini's, LangChain's or Pydantic AI's."
)


def _parse(text: str, name: str) -> tuple[Any, Shape, tuple[str, ...]]:
    """Parse the whole text as JSON, else each line; and say which lines are left out, and why."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise HistoryError(f"{name} is nested too deeply to be read.", EXPECTED) from None
    except ValueError as error:
        lines, set_aside = _parse_lines(text)
        objects = sum(isinstance(line, dict) for line in lines)
        is_begun = parse_object(text.lstrip().split("\n", 1)[0]) is not None
        if not is_begun and objects <= len(lines) + len(set_aside) - objects:
            where = str(error)
            if isinstance(error, json.JSONDecodeError):
                where = f"{error.msg} (line {error.lineno}, column {error.colno})"
            raise HistoryError(f"{name} is no JSON: {where}.", EXPECTED) from None
        return lines, "lines", set_aside
    is_request = isinstance(value, dict) and any(isinstance(value.get(n), list) for n in HOLDERS)
    if isinstance(value, dict) and "\n" not in text.strip() and not is_request:
        return [value], "lines", ()
    return value, "array", ()


def _parse_lines(text: str) -> tuple[list[Any], tuple[str, ...]]:
    """Return the values of JSON lines; and the lines that are none, with the reason."""
    values: list[Any] = []
    broken: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                why = getattr(error, "msg", "it is nested too deeply")
                broken.append(f"line {number} is no JSON: {why}")
    return values, tuple(broken)
