"""Which calls a message makes, by its shape alone: no caller has to say what format it has.

Read are Anthropic Messages, OpenAI's Chat Completions and Responses, Gemini's contents, what
LiteLLM, LangChain, Pydantic AI and the Vercel AI SDK make of them (dumped, or as objects), the rows
of agents' transcripts, and tools that are called by tags in the text.
"""

from __future__ import annotations

from json import loads

from sightline.core.calls import tagged
from sightline.core.calls.call import Call, call, field, is_mapping, made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
        yield from tagged.calls(text)
