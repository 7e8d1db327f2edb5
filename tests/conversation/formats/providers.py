"""What providers take, as they publish it, written without the code under test.

Sources: Anthropic, Messages API and "How to implement tool use" (results of one answer in one message,
results first, no blank text, ids and names by pattern, no other fields); OpenAI, the API reference of
Chat Completions and Responses (no empty list of calls, no null in place of one, every call answered
before anything else); Google, Gemini API "Content", "Part" and "Function calling" (one kind of data in
each part, as many responses as calls, in the next content).
"""

from __future__ import annotations

import json
import re
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


class Refused(AssertionError):
    """A provider would answer 400."""


def need(is_right: object, why: str, *about: object) -> None:
    if not is_right:
        raise Refused(f"{why}: {about}")


def check(name: str, messages: list[Any]) -> None:
    """Raise Refused where the provider of a format would refuse messages."""
    text = json.dumps(messages, ensure_ascii=False)
    text.encode()
    CHECKS[name](json.loads(text))


def only(value: dict[str, Any], *fields: str) -> None:
    need(value.keys() <= {*fields}, "unknown fields", value.keys() - {*fields})


# --- Anthropic

ANTHROPIC: dict[str, tuple[str, ...]] = {
    "text": ("text", "citations"),
    "image": ("source",),
    "document": ("source", "title", "context", "citations"),
    "tool_use": ("id", "name", "input", "caller"),
    "tool_result": ("tool_use_id", "content", "is_error"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "server_tool_use": ("id", "name", "input", "caller"),
    "web_search_tool_result": ("tool_use_id", "content", "caller"),
}
OF_MODEL = ("tool_use", "thinking", "redacted_thinking", "server_tool_use")


def anthropic(messages: list[Any]) -> None:
    need(messages and messages[0]["role"] == "user", "the first message is the user's")
    used: set[str] = set()
    waiting: set[str] = set()
    marks = 0
    turns: list[Any] = []
    for message in messages:  # the server joins what the model said in a row
        only(message, "role", "content")
        if turns and turns[-1]["role"] == message["role"] == "assistant":
            turns[-1] = {
                "role": "assistant",
                "content": [*blocks_of(turns[-1]), *blocks_of(message)],
            }
        else:
            turns.append(message)
    for message in turns:
        need(message["role"] in ("user", "assistant"), "role", message["role"])
        blocks = blocks_of(message)
        need(blocks, "content is empty")
        is_model = message["role"] == "assistant"
        results = [block for block in blocks if block["type"] == "tool_result"]
        need(blocks[: len(results)] == results, "results come first")
        told = [block["tool_use_id"] for block in results]
        need(len(told) == len({*told}), "a call has two results", told)
        need({*told} == waiting, "the results are those of the answer before", told, waiting)
        waiting = set()
        for block in blocks:
            anthropic_block(block, is_model=is_model)
            marks += "cache_control" in block
            if block["type"] == "tool_use":
                need(block["id"] not in used, "tool_use ids are unique", block["id"])
                used.add(block["id"])
                waiting.add(block["id"])
        last = blocks[-1]["type"]
        need(not (is_model and last.endswith("thinking")), "the last block is no thinking")
    need(not waiting, "calls without a result", waiting)
    need(marks <= 4, "at most four cache marks", marks)


def blocks_of(message: dict[str, Any]) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def anthropic_block(block: dict[str, Any], *, is_model: bool) -> None:
    kind = block["type"]
    if kind in ANTHROPIC:
        marked = () if kind.endswith("thinking") else ("cache_control",)
        only(block, "type", *ANTHROPIC[kind], *marked)
    need(kind != "text" or block["text"].strip(), "text is not blank")
    need(kind not in OF_MODEL or is_model, "a block of the model's", kind)
    need(kind != "tool_result" or not is_model, "a result of the model's")
    if kind == "tool_use":
        need(NAME.fullmatch(block["id"]) and NAME.fullmatch(block["name"]), "id, name", block)
        need(isinstance(block["input"], dict), "input is an object", block["input"])
    if kind == "thinking":
        need(block["signature"], "thinking is signed")
    if kind == "tool_result" and isinstance(block["content"], list):
        for inner in block["content"]:
            anthropic_block(inner, is_model=False)


# --- OpenAI, Chat Completions

CHAT = {
    "system": ("content", "name"),
    "developer": ("content", "name"),
    "user": ("content", "name"),
    "assistant": ("content", "name", "refusal", "audio", "tool_calls", "function_call"),
    "tool": ("content", "tool_call_id"),
    "function": ("content", "name"),
}
REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
"""Fields of other providers of this format, and of LiteLLM."""

CHAT_PARTS = {
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
}


def chat(messages: list[Any]) -> None:
    need(messages, "messages is empty")
    waiting: set[str] = set()
    for message in messages:
        role = message["role"]
        more = REASONING if role == "assistant" else ()
        only(message, "role", *CHAT[role], *more)
        content = message.get("content")
        if role == "tool":
            need(message["tool_call_id"] in waiting, "answers a call of the message before")
            waiting.discard(message["tool_call_id"])
        else:
            need(not waiting, "calls are answered before anything else", waiting)
        calls = message.get("tool_calls")
        need("tool_calls" not in message or (isinstance(calls, list) and calls), "[] is too short")
        need("function_call" not in message or message["function_call"], "null is no object")
        need(all(message[key] for key in REASONING if key in message), "null, or an empty list")
        for call in calls or ():
            waiting.add(chat_call(call))
        has_content = isinstance(content, str) or (isinstance(content, list) and content)
        is_call = bool(calls or message.get("function_call"))
        need(has_content or (content is None and is_call), "content is required", message)
        for part in content if isinstance(content, list) else ():
            need(part["type"] in CHAT_PARTS.get(role, ("text",)), "part", part)
    need(not waiting, "calls without a result", waiting)


def chat_call(call: dict[str, Any]) -> str:
    kind = call["type"]
    only(call, "id", "type", kind)
    need(kind in ("function", "custom"), "type of a call", kind)
    named = call[kind]
    need(NAME.fullmatch(named["name"]), "name", named)
    if kind == "function":
        need(isinstance(json.loads(named["arguments"]), dict), "arguments", named)
    else:
        need(isinstance(named["input"], str), "input", named)
    need(call["id"] and isinstance(call["id"], str), "id", call)
    return str(call["id"])


# --- OpenAI, Responses

OUTPUTS = {"function_call_output": "function_call", "custom_tool_call_output": "custom_tool_call"}


def responses(items: list[Any]) -> None:
    need(items, "input is empty")
    called: dict[str, str] = {}
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        need(all(item.get(key, 0) is not None for key in ("id", "status")), "null", item)
        if kind == "message":
            need(item["role"] in ("user", "assistant", "system", "developer"), "role", item)
            need(isinstance(item["content"], str) or item["content"], "content", item)
            side = "output_" if item["role"] == "assistant" else "input_"
            for part in item["content"] if isinstance(item["content"], list) else ():
                need(part["type"].startswith((side, "refusal")), "part", part)
        elif kind in OUTPUTS.values():
            need(item["call_id"] not in called and NAME.fullmatch(item["name"]), "call", item)
            given = item["arguments" if kind == "function_call" else "input"]
            need(isinstance(given, str), "arguments", given)
            called[item["call_id"]] = kind
        elif kind in OUTPUTS:
            need(called.pop(item["call_id"], None) == OUTPUTS[kind], "no call found", item)
            need(isinstance(item["output"], str | list), "output", item)
        elif kind == "reasoning":
            need(isinstance(item["summary"], list), "summary", item)
            after = items[number + 1].get("type", "message") if number + 1 < len(items) else ""
            is_models = after == "message" and items[number + 1]["role"] == "assistant"
            is_led = is_models or after in ("reasoning", *OUTPUTS.values())
            need(is_led, "reasoning without its required following item", item)
    need(not called, "no tool output found", called)


# --- Gemini

DATA = (
    *("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"),
    "codeExecutionResult",
)


def gemini(contents: list[Any]) -> None:
    need(contents and contents[0]["role"] == "user", "the first content is the user's")
    calls: list[str] = []
    before = ""
    for content in contents:
        only(content, "role", "parts")
        need(content["role"] in ("user", "model"), "role", content["role"])
        need(content["parts"], "parts is empty")
        for part in content["parts"]:
            kinds = [name for name in DATA if name in part]
            need(len(kinds) == 1 or "aNewThing" in part, "one kind of data", part)
        told = [p["functionResponse"] for p in content["parts"] if "functionResponse" in p]
        names = sorted(each["name"] for each in told)
        need(names == sorted(calls), "as many responses as calls", names, calls)
        need(not told or len(told) == len(content["parts"]), "responses stand alone")
        need(all(isinstance(each["response"], dict) for each in told), "response", told)
        calls = [p["functionCall"]["name"] for p in content["parts"] if "functionCall" in p]
        need(
            not calls or (content["role"] == "model" and before == "user"),
            "a call follows the user",
        )
        before = content["role"]
    need(not calls, "calls without a response", calls)


CHECKS = {
    "anthropic": anthropic,
    "chat": chat,
    "litellm": chat,
    "responses": responses,
    "gemini": gemini,
}
