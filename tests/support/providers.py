"""What providers refuse although their published types allow it, each rule with a page that states it or
shows the provider's own error. Written without the code under test. `published_types` has the types.

Strict servers of a format are names of their own here: "mistral" of Chat Completions, "deepseek" of
Responses. They refuse what others take.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

CLAUDE = "https://platform.claude.com/docs/en"
TOOLS = f"{CLAUDE}/agents-and-tools/tool-use/handle-tool-calls"
HUB = "https://github.com"
MISTRAL = (
    f"{HUB}/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py"
)

RULES: dict[str, dict[str, str]] = {
    "anthropic": {
        "the user speaks first": f"{HUB}/tonyljx/TextWordExplain/issues/2",
        "a message has content": f"{HUB}/anthropics/claude-code/issues/6774",
        "results come first": TOOLS,
        "the next message answers the calls": f"{HUB}/anthropics/claude-code/issues/8612",
        "a result answers the message before": f"{HUB}/anthropics/claude-code/issues/18947",
        "a call has one result": f"{HUB}/anthropics/anthropic-sdk-typescript/issues/653",
        "ids of calls are unique": f"{HUB}/trycua/cua/issues/524",
        "ids are letters and digits": f"{HUB}/HKUDS/nanobot/pull/4356",
        "input is an object": f"{HUB}/andreasjansson/greger.el/issues/60",
        "text is not blank": f"{HUB}/warpdotdev/warp/issues/6276",
        "results are the user's": f"{HUB}/tghamm/Anthropic.SDK/issues/128",
        "calls are the model's": TOOLS,
        "thinking is not last": f"{HUB}/tailcallhq/forgecode/issues/2107",
        "thinking is signed": f"{CLAUDE}/build-with-claude/thinking#preserving-thinking-blocks",
        "thinking has no mark": f"{HUB}/Wei-Shaw/sub2api/issues/225",
        "four marks at most": f"{HUB}/tghamm/Anthropic.SDK/issues/50",
        "a mark for an hour comes first": f"{HUB}/headroomlabs-ai/headroom/issues/2939",
    },
    "chat": {
        "no empty list of calls": f"{HUB}/openai/openai-node/pull/1341",
        "calls are answered next": f"{HUB}/aliasrobotics/cai/issues/111",
        "a result answers a call before": f"{HUB}/FoundationAgents/OpenManus/issues/744",
        "content is a text": f"{HUB}/docker/docker-agent/issues/63",
        "arguments are an object": f"{HUB}/sgl-project/sglang/pull/28035",
        "a call has a name": f"{HUB}/continuedev/continue/issues/11645",
    },
    "mistral": {
        "roles follow each other": MISTRAL,
        "as many results as calls": MISTRAL,
        "ids of one answer differ": MISTRAL,
        "ids have nine characters": f"{HUB}/anomalyco/opencode/issues/1680",
        "the user speaks last": MISTRAL,
    },
    "responses": {
        "an output has its call": f"{HUB}/microsoft/vscode/issues/320060",
        "a call has its output": f"{HUB}/symgraph/GhidrAssist/issues/78",
        "call ids have 64 characters at most": f"{HUB}/AnswerDotAI/fastllm/issues/45",
        "reasoning leads to an item": f"{HUB}/continuedev/continue/pull/11785",
        "no null": f"{HUB}/BerriAI/litellm/issues/13420",
        "arguments are an object": f"{HUB}/local-inference-lab/vllm/issues/684",
    },
    "deepseek": {
        "nothing between a call and its output": (
            f"{HUB}/deepseek-ai/awesome-deepseek-integration/issues/740"
        ),
    },
    "gemini": {
        "the user speaks first": f"{HUB}/google-gemini/gemini-cli/issues/11814",
        "a content has parts": f"{HUB}/genkit-ai/genkit/issues/3690",
        "a part has one kind of data": f"{HUB}/boldsoftware/sketch/issues/68",
        "as many responses as calls": f"{HUB}/google-gemini/gemini-cli/issues/3814",
        "responses stand alone": f"{HUB}/anomalyco/opencode/pull/43479",
        "a call follows the user": f"{HUB}/google-gemini/gemini-cli/issues/26486",
    },
}
"""Provider -> rule -> page."""


class Refused(AssertionError):
    """A provider would answer 400. rule: which of RULES it is."""

    def __init__(self, provider: str, rule: str, about: object) -> None:
        super().__init__(f"{provider}: {rule}: {about} ({RULES[provider][rule]})")
        self.rule = rule


class Judge:
    """The rules of one provider."""

    def __init__(self, provider: str) -> None:
        self.provider = provider

    def need(self, is_right: object, rule: str, about: object = "") -> None:
        if not is_right:
            raise Refused(self.provider, rule, about)


def check(name: str, messages: Sequence[Any]) -> None:
    """Raise Refused where a provider would refuse messages that are about to be sent."""
    text = json.dumps(messages, ensure_ascii=False)
    text.encode()
    CHECKS[name](json.loads(text))


# --- Anthropic

OF_MODEL = ("tool_use", "thinking", "redacted_thinking", "server_tool_use")


def anthropic(messages: list[Any]) -> None:
    need = Judge("anthropic").need
    need(messages and messages[0]["role"] == "user", "the user speaks first")
    used: set[str] = set()
    waiting: set[str] = set()
    marks: list[Any] = []
    for message in _joined(messages):
        blocks = _blocks(message)
        need(blocks, "a message has content", message)
        is_model = message["role"] == "assistant"
        results = [block for block in blocks if block["type"] == "tool_result"]
        need(not (results and is_model), "results are the user's", message)
        need(blocks[: len(results)] == results, "results come first", blocks)
        told = [block["tool_use_id"] for block in results]
        need({*told} <= waiting, "a result answers the message before", told)
        need(len(told) == len({*told}), "a call has one result", told)
        need(waiting <= {*told}, "the next message answers the calls", waiting)
        waiting = set()
        for block in blocks:
            is_blank = block["type"] == "text" and not block["text"].strip()
            need(not is_blank, "text is not blank", block)  # no page says so of a text in a result
            _anthropic_block(block, is_model=is_model)
            marks += [block["cache_control"]] if "cache_control" in block else []
            if block["type"] == "tool_use":
                need(block["id"] not in used, "ids of calls are unique", block["id"])
                used.add(block["id"])
                waiting.add(block["id"])
        need(not (is_model and _is_thinking(blocks[-1])), "thinking is not last", blocks)
    need(not waiting, "the next message answers the calls", waiting)
    need(len(marks) <= 4, "four marks at most", marks)
    hours = [mark.get("ttl") == "1h" for mark in marks]
    need(hours == sorted(hours, reverse=True), "a mark for an hour comes first", marks)


def _joined(messages: list[Any]) -> list[Any]:
    """The server joins what the model said in a row."""
    turns: list[Any] = []
    for message in messages:
        if turns and turns[-1]["role"] == message["role"] == "assistant":
            joined = [*_blocks(turns[-1]), *_blocks(message)]
            turns[-1] = {"role": "assistant", "content": joined}
        else:
            turns.append(message)
    return turns


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _is_thinking(block: dict[str, Any]) -> bool:
    return str(block["type"]).endswith("thinking")


def _anthropic_block(block: dict[str, Any], *, is_model: bool) -> None:
    need = Judge("anthropic").need
    kind = block["type"]
    need(kind not in OF_MODEL or is_model, "calls are the model's", block)
    if kind == "tool_use":
        need(re.fullmatch("[a-zA-Z0-9_-]+", block["id"]), "ids are letters and digits", block)
        need(isinstance(block["input"], dict), "input is an object", block)
    if _is_thinking(block):
        need("cache_control" not in block, "thinking has no mark", block)
        need(block.get("signature") or "data" in block, "thinking is signed", block)
    if kind == "tool_result" and isinstance(block.get("content"), list):
        for inner in block["content"]:
            _anthropic_block(inner, is_model=False)


# --- OpenAI, Chat Completions


def chat(messages: list[Any]) -> None:
    need = Judge("chat").need
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            told = message["tool_call_id"]
            need(told in waiting, "a result answers a call before", message)
            waiting.discard(told)
        else:
            need(not waiting, "calls are answered next", waiting)
        need(message.get("tool_calls", True), "no empty list of calls", message)
        for call in message.get("tool_calls") or ():
            waiting.add(_chat_call(call))
        is_call = message.get("tool_calls") or message.get("function_call")
        content = message.get("content")
        need(content or content == "" or is_call, "content is a text", message)
    need(not waiting, "calls are answered next", waiting)


def _chat_call(call: dict[str, Any]) -> str:
    need = Judge("chat").need
    named = call[call["type"]]
    need(named["name"], "a call has a name", call)
    if call["type"] == "function":
        need(_is_object(named["arguments"]), "arguments are an object", call)
    return str(call["id"])


def _is_object(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


NEXT = {
    "system": ("system", "user", "assistant"),
    "user": ("user", "system", "assistant"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("tool", "assistant", "user"),
}


def mistral(messages: list[Any]) -> None:
    need = Judge("mistral").need
    before = "system"
    calls: list[str] = []
    results: list[str] = []
    for message in messages:
        role = message["role"]
        need(role in NEXT[before], "roles follow each other", (before, role))
        before = role
        if role == "tool":
            results.append(message["tool_call_id"])
        elif role == "assistant":
            need(sorted(calls) == sorted(results), "as many results as calls", (calls, results))
            calls, results = [call["id"] for call in message.get("tool_calls") or ()], []
            need(len(calls) == len({*calls}), "ids of one answer differ", calls)
            nine = all(re.fullmatch("[a-zA-Z0-9]{9}", call) for call in calls)
            need(nine, "ids have nine characters", calls)
    need(sorted(calls) == sorted(results), "as many results as calls", (calls, results))
    need(before in ("user", "tool"), "the user speaks last", before)


# --- OpenAI, Responses

OUTPUTS = {"function_call_output": "function_call", "custom_tool_call_output": "custom_tool_call"}


def responses(items: list[Any]) -> None:
    need = Judge("responses").need
    called: dict[str, str] = {}
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        need(all(item.get(key, 0) is not None for key in ("id", "status")), "no null", item)
        if kind in OUTPUTS.values():
            need(len(item["call_id"]) <= 64, "call ids have 64 characters at most", item)
            is_right = kind != "function_call" or _is_object(item["arguments"])
            need(is_right, "arguments are an object", item)
            called[item["call_id"]] = kind
        elif kind in OUTPUTS:
            need(called.pop(item["call_id"], None) == OUTPUTS[kind], "an output has its call", item)
        elif kind == "reasoning":
            after = items[number + 1] if number + 1 < len(items) else {"type": "nothing"}
            is_led = after.get("role") == "assistant" or after.get("type") in (
                *("reasoning", *OUTPUTS.values()),
            )
            need(is_led, "reasoning leads to an item", item)
    need(not called, "a call has its output", called)


def deepseek(items: list[Any]) -> None:
    need = Judge("deepseek").need
    waiting: set[str] = set()
    for item in items:
        kind = item.get("type", "message")
        if kind in OUTPUTS:
            waiting.discard(item["call_id"])
            continue
        is_call = kind in OUTPUTS.values()
        need(is_call or not waiting, "nothing between a call and its output", item)
        waiting |= {item["call_id"]} if is_call else set()


# --- Gemini

DATA = (
    *("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"),
    "codeExecutionResult",
)


def gemini(contents: list[Any]) -> None:
    need = Judge("gemini").need
    need(contents and contents[0]["role"] == "user", "the user speaks first")
    calls: list[str] = []
    before = ""
    for content in contents:
        parts = content["parts"]
        need(parts, "a content has parts", content)
        for part in parts:
            kinds = [name for name in DATA if name in part]
            is_new = bool(part) and not kinds  # a kind that this list does not know yet
            need(len(kinds) == 1 or is_new, "a part has one kind of data", part)
        told = [part["functionResponse"] for part in parts if "functionResponse" in part]
        names = sorted(each["name"] for each in told)
        need(names == sorted(calls), "as many responses as calls", (names, calls))
        need(len(told) in (0, len(parts)), "responses stand alone", parts)
        calls = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        need(not calls or before == "user", "a call follows the user", content)
        before = content["role"]
    need(not calls, "as many responses as calls", calls)


CHECKS = {
    "anthropic": anthropic,
    "chat": chat,
    "litellm": chat,
    "mistral": mistral,
    "responses": responses,
    "deepseek": deepseek,
    "gemini": gemini,
}
