"""Conversations in every format, as Hypothesis draws them: one story, told in each of them.

histories(name) are right: a provider takes them. published(name) are such ones without parts that no
type of theirs has yet. broken(name) are right ones with messages and parts taken out, doubled and moved.
"""

import json
from typing import Any

from hypothesis import strategies as st

NAMES = ("anthropic", "chat", "litellm", "responses", "gemini", "langchain", "pydantic-ai")

LONG = "line of a file that is long enough to be worth a stub\n" * 6
TEXTS = st.sampled_from(["ok", "I will look.", "naïve ☃ text", "a\n\nb", LONG, '{"a": 1}'])
TYPED = st.sampled_from(
    ["Please fix the bug", "no, the other one\n", "continue", "see src/app.py", "<b>tags</b>"]
)
PROGRAMS = st.sampled_from(
    [
        "<system-reminder>Todo list is empty</system-reminder>",
        "<task-notification>done</task-notification>",
    ]
)
CALLS = st.sampled_from(
    [
        ("Read", {"file_path": "/w/a.py"}),
        ("Read", {"file_path": "/w/b.py", "offset": "3", "limit": 4}),
        ("Edit", {"file_path": "/w/a.py", "old_string": LONG, "new_string": "x = 2\n"}),
        ("Write", {"file_path": "/w/c.py", "content": LONG * 2}),
        ("Bash", {"command": "cat a.py", "timeout": 5, "background": False}),
        ("TodoWrite", {"todos": [{"content": LONG, "status": "pending"}, {"content": "b"}]}),
        ("mcp__any__thing", {"nested": {"deep": [LONG, 1, None, True]}}),
        ("Empty", {}),
    ]
)
RESULTS = st.sampled_from(
    ["", "ok", "     1→x\n     2→y", LONG, "<tool_use_error>no</tool_use_error>", "ä" * 300]
)


PICTURES = [("image",), ("document",)]


@st.composite
def stories(draw, besides=(*PICTURES, ("unknown",))):
    """Turns: what the user says, and the answers to it, each with its calls and their results. besides:
    kinds of parts that the user sends with a text."""
    number = iter(range(10_000))
    turns: list[Any] = []
    for _ in range(draw(st.integers(1, 3))):
        asked = [("text", draw(TYPED))]
        asked += draw(st.lists(st.sampled_from(besides), max_size=1))
        asked += [("text", each) for each in draw(st.lists(PROGRAMS, max_size=1))]
        answers = draw(st.lists(_answers(number), max_size=3))
        if turns and not turns[-1][1]:
            answers = answers or [_plain(draw)]
        turns.append((asked, answers))
    return turns


@st.composite
def _answers(draw, number):
    calls = [
        {
            "id": f"call_{next(number)}",
            "name": name,
            "args": given,
            "result": draw(RESULTS),
            "error": draw(st.booleans()),
            "picture": draw(st.integers(0, 5)) == 0,
        }
        for name, given in draw(st.lists(CALLS, max_size=3))
    ]
    return {
        "thinking": draw(st.sampled_from([None, None, "signed", "redacted"])),
        "text": draw(st.none() | TEXTS) if calls else draw(TEXTS),
        "calls": calls,
        "aside": draw(st.none() | TYPED),
        "odd": draw(st.integers(0, 4)),
    }


def _plain(draw):
    return {"thinking": None, "text": draw(TEXTS), "calls": [], "aside": None, "odd": 0}


def histories(name):
    """Right ones of a format."""
    return st.builds(TOLD[name], stories(), st.integers(0, 4))


def published(name):
    """Right ones whose parts all are of the types that a provider publishes."""
    return st.builds(TOLD[name], stories(PICTURES), st.integers(0, 4))


@st.composite
def broken(draw, name, right=histories):
    """Ones that a provider may refuse, made of right ones."""
    messages = json.loads(json.dumps(draw(right(name))))
    for _ in range(draw(st.integers(1, 3))):
        if not messages:
            break
        at = draw(st.integers(0, len(messages) - 1))
        how = draw(st.sampled_from(["drop", "double", "move", "part", "part", "twice", "swap"]))
        if how == "drop":
            del messages[at]
        elif how == "double":
            messages.insert(at, json.loads(json.dumps(messages[at])))
        elif how == "move":
            messages.insert(draw(st.integers(0, len(messages) - 1)), messages.pop(at))
        else:
            _break_parts(draw, messages[at], how)
    return messages


def _break_parts(draw, message, how):
    fields = message.get("data") or message.get("kwargs") or message
    held = next(
        (fields[key] for key in ("tool_calls", "parts", "content") if fields.get(key)), None
    )
    if not isinstance(held, list) or not held:
        return
    at = draw(st.integers(0, len(held) - 1))
    if how == "part":
        del held[at]
    elif how == "twice":
        held.insert(at, json.loads(json.dumps(held[at])))
    else:
        held.append(held.pop(0))


def anthropic(story, style):
    messages = []
    marks = 0
    for asked, answers in story:
        content = [_anthropic_asked(*each) for each in asked]
        if style % 2 and marks < 3:
            content[-1] = {**content[-1], "cache_control": {"type": "ephemeral"}}
            marks += 1
        bare = len(content) == 1 and "cache_control" not in content[0]
        messages.append({"role": "user", "content": content[0]["text"] if bare else content})
        for answer in answers:
            messages.append({"role": "assistant", "content": _anthropic_said(answer)})
            results = [_anthropic_result(each) for each in answer["calls"]]
            if answer["aside"] and (results or answer is not answers[-1]):
                results.append({"type": "text", "text": answer["aside"]})
            if results:
                messages.append({"role": "user", "content": results})
    return messages


def _anthropic_asked(kind, text=""):
    media = "application/pdf" if kind == "document" else "image/png"
    source = {"type": "base64", "media_type": media, "data": "iVBORw0KGgo="}
    if kind == "text":
        return {"type": "text", "text": text}
    if kind == "unknown":
        return {"type": "a_new_thing", "payload": [1, 2]}
    return {"type": kind, "source": source}


def _anthropic_said(answer):
    content: list[Any] = []
    if answer["thinking"] == "signed":
        content.append({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
    elif answer["thinking"]:
        content.append({"type": "redacted_thinking", "data": "ZW5j"})
    if answer["odd"] == 1:
        content += [
            {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []},
        ]
    if answer["text"]:
        content.append({"type": "text", "text": answer["text"]})
    for each in answer["calls"]:
        call: Any = {
            "type": "tool_use",
            "id": each["id"],
            "name": each["name"],
            "input": each["args"],
        }
        content.append(call)
    return content


def _anthropic_result(call):
    content = call["result"]
    if call["picture"]:
        content = [{"type": "text", "text": call["result"] or "x"}, _anthropic_asked("image")]
    told: Any = {"type": "tool_result", "tool_use_id": call["id"], "content": content}
    return {**told, "is_error": True} if call["error"] else told


def chat(story, style, *, blocks=False):
    messages = [{"role": "system", "content": "You are an agent."}] if style % 2 else []
    for asked, answers in story:
        content = [_chat_asked(*each) for each in asked if each[0] != "unknown"]
        told: Any = content[0]["text"] if len(content) == 1 else content
        messages.append({"role": "user", "content": told})
        for answer in answers:
            messages.append(_chat_said(answer, style, blocks=blocks))
            messages += [_chat_result(each, style) for each in answer["calls"]]
            if answer["aside"] and answer["calls"]:
                messages.append({"role": "user", "content": answer["aside"]})
    return messages


def litellm(story, style):
    return chat(story, style, blocks=True)


def _chat_asked(kind, text=""):
    if kind == "text":
        return {"type": "text", "text": text}
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    return {"type": "file", "file": {"file_id": "f1"}}


def _chat_said(answer, style, *, blocks):
    said: Any = {"role": "assistant", "content": answer["text"]}
    if answer["thinking"]:
        said["reasoning_content"] = "Hm."
        if blocks:
            thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
            said["thinking_blocks"] = [thought]
    if answer["calls"]:
        said["tool_calls"] = [_chat_call(each, style) for each in answer["calls"]]
    return said


def _chat_call(call, style):
    if style == 3 and call["name"] == "Write":
        what = {"name": call["name"], "input": call["args"]["content"]}
        return {"id": call["id"], "type": "custom", "custom": what}
    arguments = json.dumps(call["args"])
    what = {"name": call["name"], "arguments": arguments}
    return {"id": call["id"], "type": "function", "function": what}


def _chat_result(call, style):
    content = call["result"]
    if style == 2:
        content = [{"type": "text", "text": content}]
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def responses(story, style):
    items = []
    for asked, answers in story:
        content = [_responses_asked(*each) for each in asked]
        items.append({"type": "message", "role": "user", "content": content})
        for answer in answers:
            items += _responses_said(answer)
            for each in answer["calls"]:
                kind = _responses_kind(each) + "_output"
                items.append({"type": kind, "call_id": each["id"], "output": each["result"]})
        if style == 2:
            items.append({"type": "compaction", "encrypted_content": "ZW5j"})
    return items


def _responses_asked(kind, text=""):
    if kind == "text":
        return {"type": "input_text", "text": text}
    if kind == "image":
        picture = "data:image/png;base64,iVBORw0KGgo="
        return {"type": "input_image", "image_url": picture, "detail": "auto"}
    return {"type": "input_file" if kind == "document" else "input_audio", "file_id": "f1"}


def _responses_kind(call):
    return "custom_tool_call" if call["name"] == "Write" else "function_call"


def _responses_said(answer):
    items: list[Any] = []
    if answer["text"]:
        content = [{"type": "output_text", "text": answer["text"], "annotations": []}]
        own = {"id": f"msg_{len(answer['text'])}", "status": "completed"}
        items.append({"type": "message", "role": "assistant", "content": content, **own})
    for each in answer["calls"]:
        kind = _responses_kind(each)
        key = "input" if kind == "custom_tool_call" else "arguments"
        given = each["args"]["content"] if key == "input" else json.dumps(each["args"])
        items.append({"type": kind, "call_id": each["id"], "name": each["name"], key: given})
    if answer["thinking"]:
        thought = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "ZW5j"}
        items.insert(0, thought)
    return items


def gemini(story, style):
    contents = []
    for asked, answers in story:
        contents.append({"role": "user", "parts": [_gemini_asked(*each) for each in asked]})
        for number, answer in enumerate(answers):
            if number and not answers[number - 1]["calls"]:
                contents.append({"role": "user", "parts": [{"text": "go on"}]})
            contents.append({"role": "model", "parts": _gemini_said(answer, style)})
            results = [_gemini_result(each, style) for each in answer["calls"]]
            if results:
                contents.append({"role": "user", "parts": results})
            if results and answer["aside"]:
                contents.append({"role": "user", "parts": [{"text": answer["aside"]}]})
    return contents


def _gemini_asked(kind, text=""):
    if kind == "text":
        return {"text": text}
    if kind == "unknown":
        return {"aNewThing": {}}
    return {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}


def _gemini_said(answer, style):
    parts = [{"text": "Hm.", "thought": True}] if answer["thinking"] else []
    if answer["text"]:
        parts.append({"text": answer["text"]})
    for number, each in enumerate(answer["calls"]):
        call = {"name": each["name"], "args": each["args"]}
        call |= {"id": each["id"]} if style % 2 else {}
        signed = {"thoughtSignature": "c2ln"} if answer["thinking"] and not number else {}
        parts.append({"functionCall": call, **signed})
    return parts


def _gemini_result(call, style):
    response = {"error" if call["error"] and call["result"] else "output": call["result"]}
    told = {"name": call["name"], "response": response}
    return {"functionResponse": told | ({"id": call["id"]} if style % 2 else {})}


def langchain(story, style):
    messages = [{"type": "system", "content": "You are an agent."}] if style % 2 else []
    for asked, answers in story:
        content = [_chat_asked(*each) for each in asked if each[0] != "unknown"]
        told: Any = content[0]["text"] if len(content) == 1 else content
        messages.append({"type": "human", "content": told})
        for answer in answers:
            messages.append(_langchain_said(answer, style))
            messages += [_langchain_result(each) for each in answer["calls"]]
    if style == 2:
        return [{"type": each["type"], "data": each} for each in messages]
    return [_langchain_dumped(each) for each in messages] if style == 4 else messages


LANGCHAIN = {"system": "System", "human": "Human", "ai": "AI", "tool": "Tool"}


def _langchain_dumped(message):
    names = ["langchain", "schema", "messages", LANGCHAIN[message["type"]] + "Message"]
    return {"lc": 1, "type": "constructor", "id": names, "kwargs": message}


def _langchain_said(answer, style):
    calls = [
        {"type": "tool_call", "id": each["id"], "name": each["name"], "args": each["args"]}
        for each in answer["calls"]
    ]
    content: Any = answer["text"] or ""
    if style == 3:
        content = [{"type": "text", "text": answer["text"]}] if answer["text"] else []
        content += [
            {"type": "tool_use", "id": each["id"], "name": each["name"], "input": each["args"]}
            for each in answer["calls"]
        ]
    return {"type": "ai", "content": content, "tool_calls": calls, "id": "run"}


def _langchain_result(call):
    told = {"type": "tool", "content": call["result"], "tool_call_id": call["id"]}
    return {**told, "status": "error" if call["error"] else "success", "artifact": None}


def pydantic_ai(story, style):
    messages = []
    for asked, answers in story:
        parts = [{"part_kind": "system-prompt", "content": "You are an agent."}] if style else []
        messages.append({"kind": "request", "parts": [*parts, _prompt(asked)]})
        for answer in answers:
            messages.append({"kind": "response", "parts": _pydantic_said(answer, style)})
            results = [_pydantic_result(each) for each in answer["calls"]]
            if answer["aside"] and results:
                results.append({"part_kind": "user-prompt", "content": answer["aside"]})
            if results:
                messages.append({"kind": "request", "parts": results})
    return messages


def _prompt(asked):
    if len(asked) == 1:
        return {"part_kind": "user-prompt", "content": asked[0][1]}
    content = [
        each[1] if each[0] == "text" else {"kind": "image-url", "url": "x"} for each in asked
    ]
    return {"part_kind": "user-prompt", "content": content}


def _pydantic_said(answer, style):
    parts = []
    if answer["thinking"]:
        parts.append({"part_kind": "thinking", "content": "Hm.", "signature": "c2ln"})
    if answer["text"]:
        parts.append({"part_kind": "text", "content": answer["text"]})
    for each in answer["calls"]:
        given = json.dumps(each["args"]) if style == 2 else each["args"]
        ids = {"tool_name": each["name"], "tool_call_id": each["id"]}
        parts.append({"part_kind": "tool-call", "args": given, **ids})
    return parts


def _pydantic_result(call):
    ids = {"tool_name": call["name"], "tool_call_id": call["id"]}
    if call["error"]:
        return {"part_kind": "retry-prompt", "content": call["result"], **ids}
    return {"part_kind": "tool-return", "content": call["result"], **ids}


TOLD = {
    "anthropic": anthropic,
    "chat": chat,
    "litellm": litellm,
    "responses": responses,
    "gemini": gemini,
    "langchain": langchain,
    "pydantic-ai": pydantic_ai,
}
