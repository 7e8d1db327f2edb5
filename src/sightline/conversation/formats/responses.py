"""OpenAI Responses: items; a call and its result are items of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sightline.conversation.formats.authorship import told
from sightline.conversation.formats.chat import read
from sightline.conversation.formats.parts import (
    TEXTS,
    Message,
    Part,
    Place,
    Role,
    body,
    changed,
    foldable,
    stubbed,
    text_of,
)
from sightline.conversation.window.blocks import Kind

NAME = "responses"
BESIDE = FIRST = False
ALONE = True

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
    "tool_search_call": "arguments",
}
"""Items that are calls, and where their arguments are."""

OUTPUTS = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
    "local_shell_call_output": "local_shell_call",
    "shell_call_output": "shell_call",
    "apply_patch_call_output": "apply_patch_call",
    "computer_call_output": "computer_call",
    "tool_search_output": "tool_search_call",
}
RESULTS = {call: output for output, call in OUTPUTS.items()}

OURS = ("reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "mcp_call")
OTHERS = (
    *("compaction", "compaction_summary", "item_reference", "image_generation_call"),
    *("mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "ghost_snapshot"),
)
"""Kept as they are. What stands before a compaction the provider ignores."""

NOT_ITEMS = frozenset(["role", "content", "message", "data", "kwargs", "payload", "parts"])
"""What rows of transcripts and messages of frameworks have, which have a type, too."""


def owns(message: Message) -> bool:
    kind = message.get("type", "message")
    if kind != "message":
        known = kind in CALLS or kind in OUTPUTS or kind in OURS or kind in OTHERS
        return known or (isinstance(kind, str) and not message.keys() & NOT_ITEMS)
    content = message.get("content")
    if "tool_calls" in message or message.get("role") not in _ROLES:
        return False
    if isinstance(content, str):
        return True
    return isinstance(content, list) and all(map(_is_content, content))


def _is_content(part: Any) -> bool:
    kind = str(part.get("type") if isinstance(part, dict) else None)
    return kind.startswith(("input_", "output_")) or kind == "refusal"


_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "model",
}


def role(message: Message) -> Role:
    kind = message.get("type", "message")
    if kind == "message":
        return _ROLES[message["role"]]
    if kind in OUTPUTS:
        return "tool"
    return "model" if kind in CALLS or kind in OURS else "user"


def parts(message: Message) -> list[Part]:
    kind = message.get("type", "message")
    if kind == "message":
        return _contents(message)
    if kind in CALLS:
        return [_call(message, kind)]
    if kind in OUTPUTS:
        text, pictures = body(message.get("output"))
        return [Part((), "result", text, message.get("call_id"), pictures=pictures)]
    if kind == "reasoning":
        summary = [*(message.get("summary") or ()), *(message.get("content") or ())]
        told = "\n".join(str(each.get("text", "")) for each in summary)
        return [Part((), "thinking", told or message.get("encrypted_content") or "", fixed=True)]
    folded: Kind = "summary" if "compaction" in kind else "unknown"
    return [Part((), folded, text_of(message), fixed=True)]


def _call(message: Message, kind: str) -> Part:
    given = read(message.get(CALLS[kind]))
    text = text_of(message.get(CALLS[kind]) or "")
    fixed = kind not in ("function_call", "custom_tool_call") or not foldable(given)
    tool = message.get("name") or kind.removesuffix("_call")
    return Part((), "call", text, message.get("call_id"), tool, given, fixed=fixed)


def _contents(message: Message) -> list[Part]:
    content = message["content"]
    whose = _ROLES[message["role"]]
    if isinstance(content, str):
        return [told(("content",), content, whose)]
    return [_content(("content", at), each, whose) for at, each in enumerate(content)]


def _content(place: Place, part: Any, whose: Role) -> Part:
    kind = part.get("type")
    if kind in TEXTS:
        return told(place, part.get("text") or part.get("refusal") or "", whose)
    if kind in ("input_image", "input_file"):
        return Part(place, "image" if kind == "input_image" else "document", "", pictures=1)
    return Part(place, "unknown", text_of(part), fixed=True)


def put(message: Message, part: Part, text: str) -> Message:
    if part.kind == "result":
        return {**message, "output": text}
    if part.kind == "call":
        return {**message, CALLS[message["type"]]: text_of(stubbed(part.given, text))}
    if part.place == ("content",):
        return {**message, "content": text}
    kind = "output_text" if message["role"] == "assistant" else "input_text"
    return changed(message, part.place, {"type": kind, "text": text})


def named(message: Message, _part: Part, call: str) -> Message:
    return {**message, "call_id": call}


def left(message: Message) -> Message | None:
    return message if message.get("content") else None


def result(message: Message, part: Part, text: str) -> Any:
    return {"type": RESULTS[message["type"]], "call_id": part.call, "output": text}


def answering(raw: Sequence[Any]) -> Message:
    raise NotImplementedError("a result is an item of its own")


def user(text: str) -> Message:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def tailed(message: Message | None, text: str) -> list[Message]:
    if message is None:
        return [user(text)]
    content = message.get("content")
    if role(message) != "user" or not isinstance(content, list):
        return [message, user(text)]
    return [{**message, "content": [*content, {"type": "input_text", "text": text}]}]


def faults(message: Message) -> list[tuple[str, str]]:
    if message.get("type", "message") == "message" and not message["content"]:
        return [("I9", "it has no content")]
    if message.get("type") == "function_call" and _is_broken(message):
        return [("I11", f"the arguments of {message.get('call_id')} are not a JSON object")]
    return []


def _is_broken(message: Message) -> bool:
    given = message.get("arguments") or {}
    blank = isinstance(given, str) and not given.strip()
    return not blank and not isinstance(read(given), dict)


def tidied(message: Message) -> Message | None:
    if message.get("type", "message") == "message" and not message["content"]:
        return None
    if message.get("type") == "function_call" and _is_broken(message):
        return {**message, "arguments": text_of({"unreadable": message["arguments"]})}
    return message
