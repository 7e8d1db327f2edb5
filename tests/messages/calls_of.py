"""One turn in every format: README.md is read, app.py edited, docs/new.md written, notes.txt
appended to by a shell. In shape as clients and libraries write them."""

from __future__ import annotations

from json import dumps
from types import SimpleNamespace
from typing import Any

PATHS = ["app.py", "docs/new.md", "notes.txt"]
SHELL = "pytest -q && echo done >> notes.txt"
EDIT = {"file_path": "app.py", "old_string": "one\n", "new_string": "two\n"}
WRITE = {"file_path": "docs/new.md", "content": "# New\n<path>no.py</path>\n"}
READ = {"file_path": "README.md"}
TURN: list[tuple[str, str, dict[str, Any]]] = [
    ("c1", "Read", READ),
    ("c2", "Edit", EDIT),
    ("c3", "Write", WRITE),
    ("c4", "Bash", {"command": SHELL, "description": "Run the tests"}),
]
PATCH = (
    "*** Begin Patch\n*** Update File: app.py\n@@\n-one\n+two\n"
    "*** Add File: docs/new.md\n+# New\n*** End Patch"
)

USES = [{"type": "tool_use", "id": key, "name": name, "input": given} for key, name, given in TURN]
ANTHROPIC = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "<write_to_file>\n<path>thought.py</path>"},
        {"type": "text", "text": "I will change app.py."},
        *USES,
    ],
}
RESULT = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "ok"}]}
    ],
}
CHAT = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": key, "type": "function", "function": {"name": name, "arguments": dumps(given)}}
        for key, name, given in TURN
    ],
}
LANGCHAIN = {
    "content": [{"type": "text", "text": "I will."}, *USES],
    "additional_kwargs": {"tool_calls": CHAT["tool_calls"]},
    "tool_calls": [
        {"name": name, "args": given, "id": key, "type": "tool_call"} for key, name, given in TURN
    ],
    "invalid_tool_calls": [],
}
RESPONSES = [
    {"type": "reasoning", "encrypted_content": "gAAAA", "summary": []},
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "read_file",
        "arguments": '{"path": "README.md"}',
    },
    {
        "type": "custom_tool_call",
        "status": "completed",
        "call_id": "call_2",
        "name": "apply_patch",
        "input": PATCH,
    },
    {"type": "custom_tool_call_output", "call_id": "call_2", "output": "Success."},
    {
        "type": "local_shell_call",
        "call_id": "call_3",
        "status": "completed",
        "action": {
            "type": "exec",
            "command": ["bash", "-lc", SHELL],
            "env": {},
            "timeout_ms": 1000,
        },
    },
]
ROLLOUT = [
    {"timestamp": "2026-06-18T00:58:05Z", "type": "response_item", "payload": RESPONSES[2]},
    {
        "timestamp": "2026-06-18T00:58:06Z",
        "type": "response_item",
        "payload": {
            "type": "function_call",
            "name": "exec_command",
            "arguments": dumps({"cmd": f"cd docs && cd .. && {SHELL}", "yield_time_ms": 1000}),
            "call_id": "call_3",
        },
    },
]
GEMINI_TURN = [
    ("read_file", READ),
    ("replace", {**EDIT, "expected_replacements": 1}),
    ("write_file", WRITE),
    ("run_shell_command", {"command": SHELL}),
]
PYDANTIC_AI = {
    "kind": "response",
    "parts": [
        {"part_kind": "text", "content": "I will."},
        *(
            {
                "part_kind": "tool-call",
                "tool_name": name,
                "args": dumps(given) if name == "Edit" else given,
                "tool_call_id": key,
            }
            for key, name, given in TURN
        ),
    ],
}
ROO = """I will change it.

<read_file>
<args><file><path>README.md</path></file></args>
</read_file>

<apply_diff>
<path>app.py</path>
<diff>
<<<<<<< SEARCH
:start_line:1
-------
one
=======
two
>>>>>>> REPLACE
</diff>
</apply_diff>

<write_to_file>
<path>docs/new.md</path>
<content># New
<path>no.py</path>
</content>
<line_count>2</line_count>
</write_to_file>

<execute_command>
<command>pytest -q && echo done >> notes.txt</command>
</execute_command>"""


def objects(value: Any) -> Any:
    """The same as the objects of a client library: fields to be asked for by their names."""
    if isinstance(value, dict):
        kept = {"input", "args", "arguments"}
        given = {key: each if key in kept else objects(each) for key, each in value.items()}
        return SimpleNamespace(**given)
    return [objects(each) for each in value] if isinstance(value, list) else value


FORMATS: dict[str, list[Any]] = {
    "Anthropic Messages": [ANTHROPIC, RESULT],
    "Anthropic's objects": [objects(ANTHROPIC), objects(RESULT)],
    "Claude Code's transcript": [
        {"type": "assistant", "uuid": "u1", "message": {"id": "m1", **ANTHROPIC}},
        {"type": "user", "uuid": "u2", "message": RESULT, "toolUseResult": {"filePath": "no.py"}},
    ],
    "Chat Completions": [CHAT, {"role": "tool", "tool_call_id": "c2", "content": "ok"}],
    "Chat Completions' objects, LiteLLM": [objects({**CHAT, "function_call": None})],
    "Chat Completions, one function at a time": [
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": name, "arguments": dumps(given)},
        }
        for _, name, given in TURN
    ],
    "Responses": RESPONSES,
    "Responses' objects": objects(RESPONSES),
    "Codex's rollout": ROLLOUT,
    "Gemini contents": [
        {
            "role": "model",
            "parts": [
                {"text": "I will."},
                *({"functionCall": {"name": name, "args": given}} for name, given in GEMINI_TURN),
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "replace", "response": {"output": "ok"}}}],
        },
    ],
    "Gemini's objects": [
        objects(
            {
                "role": "model",
                "parts": [
                    {"text": None, "function_call": {"id": None, "name": name, "args": given}}
                    for name, given in GEMINI_TURN
                ],
            }
        )
    ],
    "Gemini CLI's session": [
        {
            "type": "gemini",
            "content": "I will.",
            "toolCalls": [
                {"id": f"{name}-1", "name": name, "args": given, "status": "success", "result": []}
                for name, given in GEMINI_TURN
            ],
        }
    ],
    "LangChain, messages_to_dict": [
        {"type": "ai", "data": {**LANGCHAIN, "type": "ai"}},
        {
            "type": "tool",
            "data": {"type": "tool", "name": "Edit", "content": "ok", "tool_call_id": "c2"},
        },
    ],
    "LangChain, dumpd": [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {**LANGCHAIN, "type": "ai"},
        }
    ],
    "LangChain's objects": [
        SimpleNamespace(type="ai", id="run-1", **LANGCHAIN),
        SimpleNamespace(type="tool", name="Edit", content="ok", tool_call_id="c2"),
    ],
    "LangChain, what only the provider's form says": [
        {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": CHAT["tool_calls"]}}
    ],
    "Pydantic AI": [
        PYDANTIC_AI,
        {
            "kind": "request",
            "parts": [{"part_kind": "tool-return", "tool_name": "Edit", "content": "ok"}],
        },
    ],
    "Pydantic AI's objects": [objects(PYDANTIC_AI)],
    "Vercel AI SDK": [
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": key, "toolName": name, "input": given}
                for key, name, given in TURN
            ],
        }
    ],
    "opencode": [
        {
            "info": {"role": "assistant", "id": "m1"},
            "parts": [
                {
                    "type": "tool",
                    "callID": "REDACTED",
                    "tool": name.lower(),
                    "state": {
                        "status": "completed",
                        "input": {
                            key.replace("file_path", "filePath"): given[key] for key in given
                        },
                        "output": "",
                    },
                }
                for _, name, given in TURN
            ],
        }
    ],
    "pi": [
        {
            "type": "message",
            "message": {
                "role": "assistant",
                "content": [
                    {
                        "type": "toolCall",
                        "id": key,
                        "name": name.lower(),
                        "arguments": {
                            key.replace("file_path", "path"): given[key] for key in given
                        },
                    }
                    for key, name, given in TURN
                ],
            },
        }
    ],
    "Copilot CLI": [
        {
            "type": "assistant.message",
            "data": {
                "content": "",
                "toolRequests": [
                    {"toolCallId": "t1", "name": "view", "arguments": {"path": "README.md"}},
                    {"toolCallId": "t2", "name": "apply_patch", "arguments": PATCH},
                    {"toolCallId": "t3", "name": "bash", "arguments": {"command": SHELL}},
                ],
            },
        }
    ],
    "Cline and Roo, tags in a string": [{"role": "assistant", "content": ROO, "ts": 1}],
    "Cline and Roo, tags in a block": [
        {"role": "user", "content": [{"type": "text", "text": "<task>change it</task>"}]},
        {"role": "assistant", "content": [{"type": "text", "text": ROO}]},
    ],
    "Cline's rows for people": [
        {"type": "say", "say": "tool", "text": dumps({"tool": "readFile", "path": "README.md"})},
        {"type": "ask", "ask": "tool", "text": dumps({"tool": "appliedDiff", "path": "app.py"})},
        {
            "type": "say",
            "say": "tool",
            "text": dumps({"tool": "newFileCreated", "path": "docs/new.md"}),
        },
        {"role": "assistant", "content": ROO[ROO.index("<execute_command>") :]},
    ],
}
