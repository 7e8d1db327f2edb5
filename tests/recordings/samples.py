"""Small recordings in the shapes that the products write, made up: a person asks, the model reads a
file, edits it and is done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

AT = "2026-03-01T00:00:00Z"
AT_US = 1_772_323_200_000_000
"""The same, in UTC microseconds."""


def lines(*rows: Any) -> str:
    """Rows, one a line; a text is a row as it is."""
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def write(folder: Path, name: str, held: Any) -> str:
    """A file with a text, or with a value as JSON."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(held if isinstance(held, str) else json.dumps(held), encoding="utf-8")
    return str(file)


def item(kind: str, **fields: Any) -> dict[str, Any]:
    """A row of Codex."""
    return {"timestamp": AT, "type": "response_item", "payload": {"type": kind, **fields}}


def said(role: str, text: str) -> dict[str, Any]:
    """A message of Codex."""
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def meta(name: str, **fields: Any) -> dict[str, Any]:
    """The row a thread of Codex begins with."""
    return {"timestamp": AT, "type": "session_meta", "payload": {"id": name, **fields}}


CODEX = (
    meta("t1", cwd="/home/me/demo", source="cli"),
    {"timestamp": AT, "type": "turn_context", "payload": {"cwd": "/home/me/demo"}},
    said("developer", "<permissions instructions>be careful</permissions instructions>"),
    said("user", "mend a.py"),
    item("reasoning", summary=[], encrypted_content="x"),
    item("function_call", name="exec_command", arguments='{"cmd":"cat a.py"}', call_id="c1"),
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "token_count"}},
    item(
        "function_call_output", call_id="c1", output="Process exited with code 0\nOutput:\nx = 1\n"
    ),
    item("custom_tool_call", name="apply_patch", call_id="c2", input="*** Begin Patch\n"),
    item("custom_tool_call_output", call_id="c2", output="Exit code: 0"),
    said("assistant", "done"),
)


def event(kind: str, **data: Any) -> dict[str, Any]:
    """An event of Copilot."""
    return {"type": kind, "data": data, "id": "e", "timestamp": AT, "parentId": None}


def asked(name: str, call: str, given: Any) -> dict[str, Any]:
    """A call of Copilot."""
    return {"toolCallId": call, "name": name, "arguments": given, "type": "function"}


def done(call: str, text: str) -> dict[str, Any]:
    """A result of Copilot."""
    return event("tool.execution_complete", toolCallId=call, success=True, result={"content": text})


COPILOT = (
    event("session.start", sessionId="s1", context={"cwd": "/home/me/demo"}),
    event("hook.start", hookType="sessionStart"),
    event("system.message", role="system", content="You are Copilot."),
    event("user.message", content="mend a.py", transformedContent="<now/>\n\nmend a.py"),
    event("assistant.message", content="", toolRequests=[asked("view", "c1", {"path": "a.py"})]),
    event("tool.execution_start", toolCallId="c1", toolName="view"),
    done("c1", "1. x = 1"),
    event("assistant.message", content="done", toolRequests=[]),
)


def entry(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    """An entry of pi."""
    message = {"role": role, "content": content, **fields}
    return {"type": "message", "timestamp": AT, "message": message}


def text(told: str) -> dict[str, Any]:
    """A text as most products have it."""
    return {"type": "text", "text": told}


def tool_call(call: str, name: str, **given: Any) -> dict[str, Any]:
    """A call of pi."""
    return {"type": "toolCall", "id": call, "name": name, "arguments": given}


def tool_result(call: str, told: str, *, failed: bool = False) -> dict[str, Any]:
    """A result of pi."""
    return entry("toolResult", [text(told)], toolCallId=call, toolName="read", isError=failed)


PI_BEGIN = {"type": "session", "id": "s1", "timestamp": AT, "cwd": "/home/me/demo"}
PI = (
    PI_BEGIN,
    entry("user", [text("mend a.py")]),
    entry("assistant", [text("I read it."), tool_call("c1", "read", path="a.py")]),
    tool_result("c1", "x = 1"),
    {"type": "model_change", "timestamp": AT, "modelId": "m"},
    entry("assistant", [tool_call("c2", "edit", path="a.py", oldText="x = 1", newText="x = 2")]),
    tool_result("c2", "Successfully replaced text in a.py."),
    entry("assistant", [text("done")]),
)

CLAUDE_CODE = tuple(
    {"type": role, "sessionId": "s1", "uuid": role, "parentUuid": parent, "message": message}
    for role, parent, message in (
        ("user", None, {"role": "user", "content": "hello"}),
        ("assistant", "user", {"id": "m", "role": "assistant", "content": [text("hi")]}),
    )
)


def part(tool: str, call: str, given: Any, output: str, status: str = "completed") -> Any:
    """A call of opencode with its result."""
    key = "error" if status == "error" else "output"
    times = {"start": AT_US // 1000, "end": AT_US // 1000 + 2000}
    state = {"status": status, "input": given, key: output, "time": times}
    return {"type": "tool", "tool": tool, "callID": call, "state": state}


def message(role: str, *parts: Any) -> dict[str, Any]:
    """One of opencode."""
    return {"info": {"role": role, "time": {"created": AT_US // 1000}}, "parts": list(parts)}


def export(*messages: Any, name: str = "ses_1") -> dict[str, Any]:
    """A session of opencode."""
    info = {"id": name, "projectID": "p", "directory": "/home/me/demo", "version": "1.2.20"}
    return {"info": info, "messages": list(messages)}


OPENCODE = export(
    message("user", text("mend a.py")),
    message(
        "assistant",
        {"type": "step-start", "snapshot": "0"},
        {"type": "reasoning", "text": "hm"},
        part("read", "c1", {"filePath": "a.py"}, "<path>a.py</path>\n<content>\n1: x = 1\n"),
        {"type": "step-finish", "reason": "tool-calls"},
    ),
    message("assistant", {"type": "step-start"}, text("done")),
)


def gemini_call(name: str, call: str, output: str, *more: Any, **given: Any) -> dict[str, Any]:
    """A call of Gemini CLI with its result."""
    answer = {"id": call, "name": name, "response": {"output": output}}
    result = [{"functionResponse": answer}, *more]
    return {"id": call, "name": name, "args": given, "result": result, "timestamp": AT}


GEMINI: dict[str, Any] = {
    "sessionId": "s1",
    "projectHash": "h",
    "startTime": AT,
    "messages": [
        {"id": "1", "timestamp": AT, "type": "info", "content": "An update is there."},
        {"id": "2", "timestamp": AT, "type": "user", "content": "mend a.py"},
        {
            "id": "3",
            "timestamp": AT,
            "type": "gemini",
            "content": "I read both.",
            "thoughts": [{"subject": "s", "description": "d"}],
            "toolCalls": [
                gemini_call("read_file", "c1", "x = 1", file_path="a.py"),
                gemini_call("read_file", "c2", "y = 1", file_path="b.py"),
            ],
        },
        {"id": "4", "timestamp": AT, "type": "gemini", "content": "done"},
    ],
}

DETAILS = "<environment_details>\n# Current Mode\n{}\n</environment_details>"


def task(mode: str = "ACT MODE") -> list[dict[str, Any]]:
    """A task of Cline, or of Roo Code in another mode."""
    details = text(DETAILS.format(mode))
    read = "<read_file>\n<path>a.py</path>\n</read_file>"
    body = '<file><path>a.py</path>\n<content lines="1-1">\n  1 | x = 1\n</content></file>'
    return [
        {"role": "user", "content": [text("<task>\nmend a.py\n</task>"), details], "ts": 1_000},
        {"role": "assistant", "content": [text(f"I read it.\n{read}")], "ts": 2_000},
        {
            "role": "user",
            "content": [text("[read_file for 'a.py'] Result:"), text(body), details],
            "ts": 3_000,
        },
        {"role": "assistant", "content": [text("done")], "ts": 4_000},
    ]


def exported(messages: list[dict[str, Any]]) -> str:
    """A task as Roo Code and Cline export it."""
    speakers = {"user": "**User:**", "assistant": "**Assistant:**"}
    told = (
        f"{speakers[each['role']]}\n\n" + "\n".join(p["text"] for p in each["content"]) + "\n\n"
        for each in messages
    )
    return "---\n\n".join(told)


def bash(call: str, command: str) -> dict[str, Any]:
    """A call of the shell as Chat Completions have it."""
    given = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {"id": call, "type": "function", "function": given}


MINI: dict[str, Any] = {
    "info": {"model_stats": {"api_calls": 2}, "mini_version": "1.1", "exit_status": "Submitted"},
    "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "mend a.py"},
        {
            "role": "assistant",
            "content": "I read it.",
            "tool_calls": [bash("c1", "cat a.py")],
            "function_call": None,
            "extra": {"timestamp": AT_US / 1e6},
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "<returncode>0</returncode>\n<output>\nx = 1\n</output>",
            "extra": {"raw_output": "x = 1", "timestamp": AT_US / 1e6 + 2},
        },
        {"role": "assistant", "content": "done", "tool_calls": [bash("c2", "echo DONE")]},
        {"role": "exit", "content": "diff --git a/a.py b/a.py"},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
    "instance_id": "demo__demo-1",
}

SWE: dict[str, Any] = {
    "environment": "main",
    "trajectory": [{"action": "open a.py\n", "observation": "x", "state": "{}"}],
    "history": [
        {
            "role": "system",
            "content": "SETTING: you program. RESPONSE FORMAT: one command.",
            "agent": "main",
        },
        {"role": "user", "content": "Another task.", "agent": "main", "is_demo": True},
        {"role": "user", "content": "mend a.py", "agent": "main"},
        {
            "role": "assistant",
            "content": "I read it.\n```\nopen a.py\n```",
            "action": "open a.py\n",
            "thought": "I read it.\n",
            "agent": "main",
        },
        {
            "role": "user",
            "content": "[File: a.py (1 lines total)]\n1:x = 1\n(Open file: a.py)\n(Current directory: /d)\nbash-$",
            "agent": "main",
        },
        {"role": "assistant", "content": "done\n```\nsubmit\n```", "agent": "main"},
    ],
    "info": {"exit_status": "submitted"},
}


def answer(number: int, told: str, *calls: Any) -> dict[str, Any]:
    """Return what the model said, as OpenHands keeps it with each action."""
    said = {"role": "assistant", "content": told, "tool_calls": list(calls)}
    return {"id": f"chatcmpl-{number}", "choices": [{"message": said}]}


def acted(kind: str, response: Any, call: str, **args: Any) -> dict[str, Any]:
    """An action of OpenHands."""
    told = {"tool_call_id": call, "model_response": response}
    about = {"id": 1, "timestamp": AT[:-1], "source": "agent"}
    return {**about, "action": kind, "args": args, "tool_call_metadata": told}


def observed(kind: str, call: str, content: str, **extras: Any) -> dict[str, Any]:
    """An observation of OpenHands."""
    about = {"id": 2, "timestamp": AT[:-1], "source": "agent", "tool_call_metadata": {}}
    about["tool_call_metadata"] = {"tool_call_id": call}
    return {**about, "observation": kind, "content": content, "extras": extras}


def typed(told: str, source: str = "user") -> dict[str, Any]:
    """A message of OpenHands."""
    about = {"id": 0, "timestamp": AT[:-1], "source": source}
    return {**about, "action": "message", "args": {"content": told}}


ENDED = "\n[The command completed with exit code 0.]"
OPENHANDS = [
    {"id": 0, "timestamp": AT[:-1], "source": "environment", "observation": "null", "content": ""},
    typed("mend a.py"),
    acted("run", answer(1, "I read it.", bash("c1", "cat a.py")), "c1", command="cat a.py"),
    observed("run", "c1", "x = 1", metadata={"suffix": ENDED}),
    typed("done", "agent"),
]

SAMPLES: dict[str, tuple[str, Any]] = {
    "codex": ("rollout.jsonl", lines(*CODEX)),
    "copilot": ("events.jsonl", lines(*COPILOT)),
    "pi": ("session.jsonl", lines(*PI)),
    "claude-code": ("t.jsonl", lines(*CLAUDE_CODE)),
    "opencode": ("ses_1.json", OPENCODE),
    "gemini-cli": ("session.json", GEMINI),
    "swe-agent": ("demo.traj", SWE),
    "mini-swe-agent": ("demo.traj.json", MINI),
    "openhands": ("demo.json", OPENHANDS),
    "cline": ("1/api_conversation_history.json", task()),
    "roo": ("roo_task.md", exported(task("<slug>code</slug>"))),
}
"""Product -> a file's name, and what it holds."""
