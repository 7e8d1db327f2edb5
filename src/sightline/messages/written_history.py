"""A history as a program writes it: messages of one format, and the shape in which they stand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from sightline.messages.formats.format import Format
from sightline.messages.formats.parts import Message
from sightline.messages.formats.problems import Problem
from sightline.messages.message_codec import BROKEN_MEDIA, has_broken_media

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


class FileMessages(Struct, frozen=True):
    """Messages of a file that a conversation can take in. times: of each,
    UTC microseconds, None where unknown; kept_as: the newer name of a file with an old name, "" for
    others; passed_over: elements that are no messages; warnings: sentences for a person."""

    messages: tuple[Message, ...]
    times: tuple[int | None, ...]
    kept_as: str = ""
    warnings: tuple[str, ...] = ()
    passed_over: int = 0
