"""Find the tool calls in a message by the shape of the message alone, whatever its format.

Readable are Anthropic Messages, OpenAI's Chat Completions and Responses, Gemini's contents, the
messages of LiteLLM, LangChain, Pydantic AI and the Vercel AI SDK (dumped, or as objects), the rows
of agents' transcripts, and calls written as tags in text.
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
"""Fields in which formats put the name or the arguments of a call a level deeper."""


class Call(Struct, frozen=True):
    """A tool call. id: "" where the format has none. arguments: None where they are no object or
    cannot be parsed; text then holds them (a patch, a truncated JSON text)."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    text: str = ""


def field(value: object, *names: str) -> Any:
    """Return the first of these fields of a mapping, or attributes of an object, that is not None;
    None where none is."""
    for name in names:
        found = value.get(name) if is_mapping(value) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a value has keys."""
    return isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "get"))


def parse_object(text: str) -> Mapping[str, Any] | None:
    """Parse the JSON object that a text is; None for any other text."""
    try:
        value = loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def make_call(id: str, name: str, arguments: object) -> Call:
    """Return a call. arguments: an object, its JSON text, or another text."""
    if arguments is None or arguments == "":
        return Call(id, name, {})
    if isinstance(arguments, str):
        return Call(id, name, parse_object(arguments), arguments)
    if is_mapping(arguments):
        return Call(id, name, arguments)
    return Call(id, name, getattr(arguments, "__dict__", None))  # a client library's own class


def _parse_call(value: object) -> Iterator[Call]:
    """Return the call that a value describes by the field names of any format; nothing where it
    names no tool."""
    holders = [value, *(inner for name in NESTED if (inner := field(value, name)) is not None)]

    def first(names: tuple[str, ...], kind: type) -> Any:
        values = (field(holder, name) for holder in holders for name in names)
        return next((v for v in values if v is not None and isinstance(v, kind)), None)

    name = first(NAMES, str)
    if name:
        yield make_call(first(IDS, str) or "", name, first(ARGUMENTS, object))


ENVELOPES = ("message", "payload", "data", "kwargs", "content", "msg")
"""Fields in which transcripts and dumps wrap a message. Gemini's candidates have a content."""

DEPTH = 4

LISTS = ("tool_calls", "invalid_tool_calls", "toolCalls", "toolRequests")
"""Lists of calls beside the text."""

SINGLE = ("function_call", "functionCall", "toolUse")
"""Fields with one call, of a message (the old function_call) or of a part."""

KINDS = frozenset(
    [
        *("tool_use", "mcp_tool_use", "tool_call", "invalid_tool_call", "toolCall", "tool-call"),
        *("function_call", "custom_tool_call", "mcp_call"),
    ]
)
"""Types of parts and items that are calls. Tools that a provider runs on its own machines
(server_tool_use, builtin-tool-call) touch no file here."""

ACTIONS = {
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
}
"""Type of an item of Responses without a name -> its tool, and the field of its arguments."""

NOT_THE_MODEL = frozenset(
    ["user", "human", "system", "developer", "tool", "toolResult", "function", "request"]
)
"""Roles whose text makes no calls, even where it looks like one."""


def calls(message: object) -> tuple[Call, ...]:
    """Return the calls of a message, in order; none for an unknown shape. A call whose arguments
    cannot be parsed has none."""
    return tuple(_calls_of_message(message, "", DEPTH))


def _calls_of_message(message: object, speaker: str, depth: int) -> Iterator[Call]:
    role = field(message, "role") or field(field(message, "info"), "role")
    role = role or field(message, "kind", "type")
    speaker = role if isinstance(role, str) else speaker
    own = [*_calls_of_item(message), *_calls_beside_text(message)]
    if not own:  # LangChain keeps the provider's form beside its own
        own = list(_calls_beside_text(field(message, "additional_kwargs")))
    yield from own
    ids = {call.id for call in own if call.id}
    for name in ("content", "parts", "text"):
        for call in _calls_of_parts(field(message, name), speaker):
            if call.id not in ids:  # LangChain repeats its calls in the content
                yield call
    for name in ENVELOPES if depth else ():
        inner = field(message, name)
        if is_mapping(inner) or hasattr(inner, "parts"):
            yield from _calls_of_message(inner, speaker, depth - 1)


def _calls_beside_text(message: object) -> Iterator[Call]:
    for name in LISTS:
        values = field(message, name)
        for value in values if isinstance(values, list | tuple) else ():
            yield from _parse_call(value)
    for name in SINGLE:
        yield from _parse_call(field(message, name))


def _calls_of_parts(parts: object, speaker: str) -> Iterator[Call]:
    parts = [parts] if isinstance(parts, str) else parts
    for part in parts if isinstance(parts, list | tuple) else ():
        if isinstance(part, str):
            yield from _calls_in_text(part, speaker)
            continue
        yield from _calls_of_item(part)
        for name in SINGLE:
            yield from _parse_call(field(part, name))
        kind = field(part, "part_kind", "type")
        if kind in (None, "text", "output_text") and field(part, "thought") is not True:
            yield from _calls_in_text(field(part, "text", "content"), speaker)


def _calls_of_item(item: object) -> Iterator[Call]:
    """Return the call that a part, or an item of its own, is by its type."""
    kind = field(item, "part_kind", "type")
    kind = kind if isinstance(kind, str) else None
    if kind in KINDS or (kind == "tool" and field(item, "state") is not None):
        yield from _parse_call(
            item
        )  # a tool with a state is opencode's; without, LangChain's result
    elif kind in ACTIONS:
        name, holder = ACTIONS[kind]
        yield make_call(str(field(item, "call_id", "id") or ""), name, field(item, holder))
    elif field(item, "say", "ask") == "tool":  # the rows that Cline and Roo show to the user
        text = field(item, "text")
        arguments = parse_object(text) if isinstance(text, str) else None
        tool = field(arguments, "tool")
        if isinstance(tool, str):
            yield Call("", tool, arguments)


def _calls_in_text(text: object, speaker: str) -> Iterator[Call]:
    if isinstance(text, str) and speaker not in NOT_THE_MODEL:
        yield from tagged_calls(text)


TOOLS = (
    *("write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace"),
    *("search_replace", "edit_file", "apply_patch", "delete_file", "new_rule", "execute_command"),
    *("read_file", "list_files", "search_files", "list_code_definition_names"),
    *("update_todo_list", "ask_followup_question", "attempt_completion", "switch_mode", "new_task"),
    *("use_mcp_tool", "access_mcp_resource", "browser_action", "codebase_search"),
    *("fetch_instructions", "plan_mode_respond", "web_fetch"),
)

BEGIN = re.compile(rf"<({'|'.join(TOOLS)})>(?=\s*<\w+>)")
"""A tag followed by a parameter: prose that only names a tool is no call."""

PARAMETER = re.compile(r"\s*<(\w+)>")


def tagged_calls(text: str) -> Iterator[Call]:
    """Return the calls written as tags in a text, in order. Of a call that breaks off, only the
    closed parameters count; of two parameters with one name, the first."""
    position = 0
    while match := BEGIN.search(text, position):
        name, position = match[1], match.end()
        arguments: dict[str, str] = {}
        while parameter := PARAMETER.match(text, position):
            close = f"</{parameter[1]}>"
            end = text.find(close, parameter.end())
            if end < 0:
                position = len(text)
                break
            arguments.setdefault(parameter[1], text[parameter.end() : end])
            position = end + len(close)
        yield Call("", name, arguments)
