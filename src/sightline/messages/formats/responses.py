"""OpenAI Responses: items; a call and its result are items of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sightline.messages.blocks import Kind
from sightline.messages.formats.parts import (
    OPENAI_ROLES,
    Message,
    Part,
    Role,
    are_broken,
    call_part,
    changed,
    content_part,
    content_text,
    put_arguments,
    text_of,
    text_part,
)

NAME = "responses"
BESIDE = FIRST = False
HOLDER = ""
FIELDS: tuple[str, ...] = ()
OMITTED: tuple[str, ...] = ("status", "encrypted_content", "id", "name", "phase", "namespace")

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
    "tool_search_call": "arguments",
}
"""Type of a call -> the field of its arguments."""

FOLDABLE = ("function_call", "custom_tool_call")

RESULTS = {call: f"{call}_output" for call in CALLS} | {"tool_search_call": "tool_search_output"}
"""Type of a call -> type of its result."""
OUTPUTS = frozenset(RESULTS.values())

SERVER_ITEMS = (
    *("reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "mcp_call"),
)
"""Items of the model that need no result from the host."""

OTHERS = (
    *("compaction", "compaction_summary", "item_reference", "image_generation_call"),
    *("mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "ghost_snapshot"),
)
"""Items that stay unchanged. The provider ignores everything before a compaction."""

NOT_ITEMS = frozenset(
    [
        *("role", "content", "message", "data", "kwargs", "payload", "parts", "say", "ask", "ts"),
        *("timestamp", "cwd", "sessionId", "uuid"),
    ]
)
"""Fields of transcript rows and of frameworks' messages, which have a type, too."""


def _type(message: Message) -> Any:
    return message.get("type", "message")


def is_own(message: Message) -> bool:
    kind = _type(message)
    if kind != "message":
        known = kind in CALLS or kind in OUTPUTS or kind in SERVER_ITEMS or kind in OTHERS
        return known or (isinstance(kind, str) and not message.keys() & NOT_ITEMS)
    content = message.get("content")
    if "tool_calls" in message or message.get("role") not in OPENAI_ROLES:
        return False
    if not isinstance(content, list):
        return isinstance(content, str)
    kinds = [str(part.get("type")) if isinstance(part, dict) else "" for part in content]
    return all(kind.startswith(("input_", "output_")) or kind == "refusal" for kind in kinds)


def role(message: Message) -> Role:
    kind = _type(message)
    if kind == "message":
        return OPENAI_ROLES[message["role"]]
    if kind in OUTPUTS:
        return "tool"
    return "model" if kind in CALLS or kind in SERVER_ITEMS else "user"


def parts(message: Message) -> list[Part]:
    kind = _type(message)
    if kind == "message":
        content, sender = message["content"], OPENAI_ROLES[message["role"]]
        if isinstance(content, str):
            return [text_part(("content",), content, sender)]
        return [content_part(("content", n), part, sender) for n, part in enumerate(content)]
    if kind in CALLS:
        tool = message.get("name") or kind.removesuffix("_call")
        call, given = message.get("call_id"), message.get(CALLS[kind])
        return [call_part((), call, tool, given, fixed=kind not in FOLDABLE)]
    if kind in OUTPUTS:
        text, pictures = content_text(message.get("output"))
        return [Part((), "result", text, message.get("call_id"), pictures=pictures)]
    if kind == "reasoning":
        summary = [*(message.get("summary") or ()), *(message.get("content") or ())]
        text = "\n".join(str(item.get("text", "")) for item in summary)
        return [Part((), "thinking", text or message.get("encrypted_content") or "", fixed=True)]
    folded: Kind = "summary" if "compaction" in kind else "unknown"
    return [Part((), folded, text_of(message), fixed=True)]


def with_text(message: Message, part: Part, text: str) -> Message:
    if part.kind == "result":
        return {**message, "output": text}
    if part.kind == "call":
        return put_arguments(message, (CALLS[message["type"]],), part, text)
    if part.place == ("content",):
        return {**message, "content": text}
    is_model = message["role"] == "assistant"
    own = {"type": "output_text", "annotations": []} if is_model else {"type": "input_text"}
    return changed(message, part.place, {**own, "text": text})


def with_id(message: Message, _part: Part, call: str) -> Message:
    return {**message, "call_id": call}


def without_empty(message: Message) -> Message | None:
    return message if message.get("content") else None


def make_result(message: Message, part: Part, text: str) -> Any:
    return {"type": RESULTS[message["type"]], "call_id": part.call, "output": text}


def user_message(text: str, _like: Message) -> Message:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def with_tail(message: Message, text: str) -> list[Message]:
    content = message.get("content")
    if role(message) != "user" or not isinstance(content, list):
        return [message, user_message(text, message)]
    return [{**message, "content": [*content, {"type": "input_text", "text": text}]}]


def find_faults(message: Message) -> list[tuple[str, str]]:
    if _type(message) == "message" and not message["content"]:
        return [("I9", "it has no content")]
    if _type(message) == "function_call" and are_broken(message.get("arguments")):
        return [("I11", f"the arguments of {message.get('call_id')} are not a JSON object")]
    return []


def without_faults(message: Message) -> Message | None:
    if _type(message) == "message" and not message["content"]:
        return None
    if _type(message) == "function_call" and are_broken(message.get("arguments")):
        return {**message, "arguments": text_of({"unreadable": message["arguments"]})}
    return message


def lone_reasoning(messages: Sequence[Message]) -> Iterator[int]:
    """Return the indexes of reasoning without the item that it led to."""
    items = {*CALLS, *SERVER_ITEMS, "image_generation_call"}
    for number, message in enumerate(messages[:-1]):
        following = messages[number + 1]
        is_led_to = following.get("role") == "assistant" or _type(following) in items
        if message.get("type") == "reasoning" and not is_led_to:
            yield number
