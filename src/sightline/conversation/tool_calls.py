"""Call: what a model asked a tool to do, whatever format said so.

Calls of tools in messages: which there are, and which files they say they write.

reading finds them by the shape of a message, tagged in its text; editing knows the tools.

Which calls a message makes, by its shape alone: no caller has to say what format it has.

Read are Anthropic Messages, OpenAI's Chat Completions and Responses, Gemini's contents, what
LiteLLM, LangChain, Pydantic AI and the Vercel AI SDK make of them (dumped, or as objects), the rows
of agents' transcripts, and tools that are called by tags in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import loads
from typing import Any, TypeGuard

from msgspec import Struct

IDS = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "callID", "id")
NAMES = ("name", "tool_name", "toolName", "tool")
ARGUMENTS = ("arguments", "args", "input", "rawInput")
NESTED = ("function", "custom", "state")
"""Where formats put a call's name or its arguments a level deeper."""


class Call(Struct, frozen=True):
    """One call. id: "" where the format has none. arguments: None where they are no object, or
    cannot be read; then text is what stands there instead (a patch, a JSON text that is cut)."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    text: str = ""


def field(value: object, *names: str) -> Any:
    """The first of these that a mapping has, or an object as its attribute; None when none is."""
    for name in names:
        found = value.get(name) if is_mapping(value) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is looked into by keys."""
    return isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "get"))


def made(value: object) -> Call | None:
    """The call that a value describes, by whichever names its format has; None where it names no
    tool."""
    within = [value, *(inner for name in NESTED if (inner := field(value, name)) is not None)]
    name = _first(within, NAMES, str)
    if not name:
        return None
    return call(_first(within, IDS, str) or "", name, _first(within, ARGUMENTS, object))


def call(id: str, name: str, given: object) -> Call:
    """A call by its arguments as they were found: an object, or its JSON text, or another text."""
    if given is None or given == "":
        return Call(id, name, {})
    if isinstance(given, str):
        return Call(id, name, _object(given), given)
    if is_mapping(given):
        return Call(id, name, given)
    fields = getattr(given, "__dict__", None)  # a client library's own class
    return Call(id, name, fields)


def _first(within: list[object], names: tuple[str, ...], kind: type) -> Any:
    found = (field(value, each) for value in within for each in names)
    return next((each for each in found if each is not None and isinstance(each, kind)), None)


def _object(text: str) -> Mapping[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


ENVELOPES = ("message", "payload", "data", "kwargs", "content", "msg")
"""What a transcript or a dump wraps around a message. Gemini's candidates have a content."""

DEPTH = 4

LISTS = ("tool_calls", "invalid_tool_calls", "toolCalls", "toolRequests")
"""Calls beside the text, each by itself."""

ALONE = ("function_call", "functionCall", "toolUse")
"""One call, of a message (the old function_call) or of a part."""

KINDS = frozenset(
    [
        *("tool_use", "mcp_tool_use", "tool_call", "invalid_tool_call", "toolCall", "tool-call"),
        *("function_call", "custom_tool_call", "mcp_call"),
    ]
)
"""The types of parts and items that are calls. What a provider runs on machines of its own
(server_tool_use, builtin-tool-call) touches no file here."""

ACTIONS = {
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
}
"""Items of Responses that have no name, and where their arguments are."""

NOT_THE_MODEL = frozenset(
    ["user", "human", "system", "developer", "tool", "toolResult", "function", "request"]
)
"""Who says what is no call even where it looks like one."""


def calls(message: object) -> tuple[Call, ...]:
    """The calls that a message makes, in order; none where it makes none, or has no known shape.
    Arguments that cannot be read leave a call without them."""
    return tuple(_of_message(message, "", DEPTH))


def _of_message(message: object, speaker: str, depth: int) -> Iterator[Call]:
    role = field(message, "role") or field(field(message, "info"), "role")
    role = role or field(message, "kind", "type")
    speaker = role if isinstance(role, str) else speaker
    own = [*_of_item(message), *_of_lists(message)]
    if not own:  # LangChain keeps the provider's form beside its own
        own = list(_of_lists(field(message, "additional_kwargs")))
    yield from own
    told = {each.id for each in own if each.id}
    for name in ("content", "parts", "text"):
        inner = field(message, name)
        for each in _of_parts(inner, speaker):
            if each.id not in told:  # LangChain's content has them a second time
                yield each
    for name in ENVELOPES if depth else ():
        inner = field(message, name)
        if is_mapping(inner) or hasattr(inner, "parts"):
            yield from _of_message(inner, speaker, depth - 1)


def _of_lists(message: object) -> Iterator[Call]:
    for name in LISTS:
        found = field(message, name)
        for each in found if isinstance(found, list | tuple) else ():
            told = made(each)
            if told is not None:
                yield told
    for name in ALONE:
        alone = made(field(message, name))
        if alone is not None:
            yield alone


def _of_parts(parts: object, speaker: str) -> Iterator[Call]:
    if isinstance(parts, str):
        yield from _in_text(parts, speaker)
    for part in parts if isinstance(parts, list | tuple) else ():
        yield from _of_item(part)
        if isinstance(part, str):
            yield from _in_text(part, speaker)
            continue
        for name in ALONE:
            alone = made(field(part, name))
            if alone is not None:
                yield alone
        yield from _in_text(_text_of(part), speaker)


def _of_item(item: object) -> Iterator[Call]:
    """The call that a part, or an item of its own, is by its type."""
    kind = field(item, "part_kind", "type")
    kind = kind if isinstance(kind, str) else None
    if kind in KINDS or (kind == "tool" and field(item, "state") is not None):
        told = made(item)  # a tool with a state is opencode's; LangChain's results are tools, too
        if told is not None:
            yield told
    elif kind in ACTIONS:
        name, where = ACTIONS[kind]
        yield call(str(field(item, "call_id", "id") or ""), name, field(item, where))
    elif field(item, "say", "ask") == "tool":
        yield from _said(field(item, "text"))


def _said(text: object) -> Iterator[Call]:
    """What Cline and Roo show of a call to the user."""
    try:
        told = loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return
    name = field(told, "tool") if isinstance(told, dict) else None
    if isinstance(name, str):
        yield Call("", name, told)


def _text_of(part: object) -> object:
    """What the model says in a part, not what it thinks."""
    kind = field(part, "part_kind", "type")
    if field(part, "thought") is True:
        return None
    if kind in (None, "text", "output_text"):
        return field(part, "text", "content")
    return None


def _in_text(text: object, speaker: str) -> Iterator[Call]:
    if isinstance(text, str) and speaker not in NOT_THE_MODEL:
        yield from tagged_calls(text)


TOOLS = (
    *("write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace"),
    *("search_replace", "edit_file", "apply_patch", "delete_file", "new_rule", "execute_command"),
    *("read_file", "list_files", "search_files", "list_code_definition_names"),
)

BEGIN = re.compile(rf"<({'|'.join(TOOLS)})>(?=\s*<\w+>)")
"""A tag with a parameter in it: prose that only names a tool is no call."""

PARAMETER = re.compile(r"\s*<(\w+)>")


def tagged_calls(text: str) -> Iterator[Call]:
    """The calls in a text, in order. A text that breaks off in one ends it: its parameters are
    those that were closed."""
    at = 0
    while begun := BEGIN.search(text, at):
        given, at = _parameters(text, begun.end())
        yield Call("", begun[1], given)


def _parameters(text: str, at: int) -> tuple[dict[str, str], int]:
    """The parameters from here on, and where they end. What stands in one is taken as it is, tags
    and all; of two with one name the first counts."""
    given: dict[str, str] = {}
    while begun := PARAMETER.match(text, at):
        name = begun[1]
        end = text.find(f"</{name}>", begun.end())
        if end < 0:
            return given, len(text)
        given.setdefault(name, text[begun.end() : end])
        at = end + len(name) + 3
    return given, at
