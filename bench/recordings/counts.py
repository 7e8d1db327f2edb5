"""Count the calls, edits and reads in recordings by walking their JSON, without Sightline's readers.

A call is one tool call of the main agent. An edit is a call of an editing tool, or a command with a
patch, or a plain command that writes one file (PLAIN_EDIT). A read is a result of a reading tool, or
of a plain command (PLAIN), with text of a file. Other commands that read or write files are not
counted: only their output tells what they did.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Counts(NamedTuple):
    """How many calls, and how many of them are edits and reads. A read counts when its result has text of
    a file. A call counts whether or not it has a result, and each time that its id is used."""

    calls: int
    edits: int
    reads: int


EDITING = (
    *(
        "edit",
        "write",
        "multiedit",
        "notebookedit",
        "replace",
        "write_file",
        "create",
        "apply_patch",
        "edit_file",
    ),
    *("write_to_file", "apply_diff", "insert_content", "replace_in_file", "search_and_replace"),
)
READING = ("read", "read_file", "view", "open")
EDITOR = ("str_replace_editor", "file_editor", "str_replace_based_edit_tool")
NO_TEXT = re.compile(
    r"\s*\Z|<tool_use_error>|<cell id=|Error|File too large|The tool execution failed|File unchanged"
    r"|File content \(|Offset \d+ is|<system-reminder>(?:Warning|(?!This memory))|The user doesn't"
)


SHELL = ("bash", "shell", "exec", "terminal", "powershell", "run")
PLAIN = re.compile(
    r"(?:cat|nl -ba|head -n? ?\d+|sed -n (['\"]?)\d+,\d+p\1) [\w./-]*[\w-](?:\.\w+)?"
    r"|nl -ba [\w./-]*[\w-](?:\.\w+)? \| sed -n (['\"]?)\d+,\d+p\2"
)
"""Commands that print one file and nothing else."""

FILE = r"[\w./-]*\w"
PLAIN_EDIT = re.compile(
    rf"cat >>? ?{FILE} ?<< ?(['\"]?)(\w+)\1\n(?:.*\n)?\2"
    rf"|cat ?<< ?(['\"]?)(\w+)\3 ?>>? ?{FILE}\n(?:.*\n)?\4"
    rf"|sed -i (?:'' )?'[^'\n]*' {FILE}"
    rf"|echo (\"[^\"\n$`]*\"|'[^'\n]*') >>? {FILE}"
    rf"|edit \d+:\d+\n(?:.*\n)?end_of_edit|create {FILE}",
    re.DOTALL,
)
"""Commands that write one file and do nothing else; the last two are SWE-agent's."""

EXITED = re.compile(
    r"(?:exited with code|Exit code:|<returncode>|exit code) ?(-?\d+)", re.IGNORECASE
)
AROUND = re.compile(
    r"\A(?:Chunk ID|Wall time|Process exited|Exit code|Original token count|Total output lines)"
    r".*?Output:\n|</?output>|<returncode>\d+</returncode>|\n<(?:shellId|exited) [^\n]*\Z"
    r"|\n\[The command completed[^\n]*\Z|(?:\n\(Open file: .*)?\n\(Current directory: .*\Z",
    re.DOTALL,
)
"""Words of hosts around an output."""


SHORTENED = re.compile(
    r"truncated output|tokens truncated|output of your last command was too long"
)


def command_of(arguments: Any) -> str:
    """Return the command in the arguments of a shell's call; "" where it is not one text."""
    command = arguments
    if isinstance(arguments, dict):
        command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list):
        command = command[-1] if len(command) == 3 else None
    return command.strip() if isinstance(command, str) else ""


def is_shell(name: str) -> bool:
    """Return whether a tool is a shell, whatever its name."""
    return any(word in name.lower() for word in SHELL)


def is_plain_read(name: str, arguments: Any, text: str) -> bool:
    """Return whether a call of a shell is a plain command that printed something."""
    if not is_shell(name) or not PLAIN.fullmatch(command_of(arguments)):
        return False
    code = EXITED.search(text)
    output = AROUND.sub("", text)
    return not (code and int(code[1])) and bool(output.strip()) and not SHORTENED.search(text)


def kind_of(name: str, arguments: Any) -> str:
    """Return what a call does: "edit", "read", or ""."""
    name = name.lower()
    if name in EDITOR:
        command = arguments.get("command") if isinstance(arguments, dict) else ""
        return "read" if command == "view" else "edit"
    if name in EDITING or "*** Begin Patch" in json.dumps(arguments):
        return "edit"
    if is_shell(name) and PLAIN_EDIT.fullmatch(command_of(arguments)):
        return "edit"
    return "read" if name in READING else ""


def _counted(calls: list[tuple[str, Any, str | None, bool]]) -> Counts:
    """calls: name, arguments, text of the result (None without one), and whether it failed."""
    kinds = [(kind_of(name, asked), text, bad) for name, asked, text, bad in calls]
    reads = [text for kind, text, bad in kinds if kind == "read" and text is not None and not bad]
    shown = sum(not NO_TEXT.match(text) for text in reads)
    shown += sum(is_plain_read(n, a, text) for n, a, text, bad in calls if text and not bad)
    return Counts(len(calls), sum(kind == "edit" for kind, _, _ in kinds), shown)


class _Calls:
    """Calls in their order, each with its result: the next one of the same id."""

    def __init__(self) -> None:
        self._all: list[tuple[str, Any, str | None, bool]] = []
        self._waiting: dict[str, list[int]] = {}

    def ask(self, call: str, name: str, given: Any) -> None:
        self._waiting.setdefault(call, []).append(len(self._all))
        self._all.append((name, given, None, False))

    def answer(self, call: str, text: str, *, failed: bool = False) -> None:
        if waiting := self._waiting.get(call):
            place = waiting.pop(0)
            self._all[place] = (*self._all[place][:2], text, failed)

    def counted(self) -> Counts:
        return _counted(self._all)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))


def claude_code(path: Path) -> Counts:
    """All rows but copies and sub-agents'. Rows of an abandoned branch count, too."""
    asked: dict[str, tuple[str, Any]] = {}
    results: dict[str, tuple[str, bool]] = {}
    for row in _rows(path):
        content = (row.get("message") or {}).get("content")
        if row.get("isSidechain") or row.get("type") not in ("user", "assistant"):
            continue
        for part in content if isinstance(content, list) else ():
            if part.get("type") == "tool_use":
                asked.setdefault(part["id"], (part["name"], part["input"]))
            elif part.get("type") == "tool_result":
                text = _texts(part.get("content"))
                results.setdefault(part["tool_use_id"], (text, bool(part.get("is_error"))))
    return _counted([(*call, *results.get(name, (None, False))) for name, call in asked.items()])


CODEX_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")


def codex(path: Path) -> Counts:
    """All items of the file. No recording at hand holds a second thread, or turns that were taken back."""
    calls = _Calls()
    for row in _rows(path):
        item = row.get("payload") or {}
        if row.get("type") != "response_item":
            continue
        if item.get("type") in CODEX_CALLS:
            given = item.get("arguments") or item.get("input") or item.get("action")
            if isinstance(given, str) and given.startswith("{"):
                given = json.loads(given)
            calls.ask(str(item.get("call_id")), item.get("name", "shell"), given)
        elif str(item.get("type")).endswith("_call_output"):
            calls.answer(str(item["call_id"]), _texts(item["output"]))
    return calls.counted()


def opencode(path: Path) -> Counts:
    """Every part that is a tool's."""
    parts = [part for m in json.loads(path.read_bytes())["messages"] for part in m["parts"]]
    states = [(part["tool"], part["state"]) for part in parts if part["type"] == "tool"]
    return _counted(
        [(t, s.get("input"), s.get("output"), s["status"] == "error") for t, s in states]
    )


def copilot(path: Path) -> Counts:
    """The requests of the main agent, with their results."""
    calls = _Calls()
    for row in _rows(path):
        data = row.get("data") or {}
        if row.get("agentId") or data.get("agentId") or data.get("parentToolCallId"):
            continue
        for each in data.get("toolRequests") or ():
            calls.ask(each["toolCallId"], each["name"], each["arguments"])
        if row["type"] == "tool.execution_complete":
            text = (data.get("result") or {}).get("content") or ""
            names = all(re.fullmatch(r"[\w.-]+", line) for line in text.split("\n"))
            calls.answer(data["toolCallId"], text, failed=not data["success"] or names)
    return calls.counted()


def gemini_cli(path: Path) -> Counts:
    """The calls beside the model's messages, each with its result. Of a message that occurs in several rows,
    the last row; a row may hold all messages so far."""
    told: dict[str, dict[str, Any]] = {}
    try:
        rows = iter([json.loads(path.read_bytes())])
    except ValueError:
        rows = _rows(path)
    for row in rows:
        if "messages" in (held := row.get("$set") or row):
            told = {each["id"]: each for each in held["messages"]}
        elif "id" in row:
            told[row["id"]] = row
    calls = _Calls()
    for each in told.values():
        parts = [part for part in each["content"] if isinstance(part, dict)]
        done = [part for call in each.get("toolCalls") or () for part in call.get("result") or ()]
        asked = {c["id"]: c for c in each.get("toolCalls") or ()}
        asked |= {c["id"]: c for part in parts if (c := part.get("functionCall"))}
        for name, call in asked.items():
            calls.ask(name, call["name"], call["args"])
        for part in (*parts, *done):
            if answer := part.get("functionResponse"):
                response = answer["response"]
                text = response.get("output") or ""
                calls.answer(answer["id"], text, failed="error" in response)
    return calls.counted()


TAG = re.compile(r"<(read_file|apply_diff|write_to_file|insert_content|search_and_replace|replace_in_file|execute_command|list_files|search_files|list_code_definition_names|update_todo_list|ask_followup_question|attempt_completion|switch_mode|new_task)>\s*<\w+>")  # fmt: skip


EXPORTED = re.compile(r"(?:\A\s*|\n---\n\n)\*\*(User|Assistant):\*\*\n\n")


RESULT_OF_READ = re.compile(r"^\[read_file for [^\n]*\] Result:", re.MULTILINE)


def roo(path: Path) -> Counts:
    """The tags in the model's texts; a result follows each. A part with a person's words is theirs. A
    recording may begin with the result of a read, which names its file."""
    if path.suffix == ".md":
        _, *parts = EXPORTED.split(path.read_text(encoding="utf-8").replace("\r\n", "\n"))
        pairs = zip(parts[::2], parts[1::2], strict=True)
        messages = [{"role": role.lower(), "content": text} for role, text in pairs]
    else:
        messages = json.loads(path.read_bytes())
    calls: list[tuple[str, Any, str | None, bool]] = []
    for number, message in enumerate(messages):
        text = _texts(message["content"])
        if message["role"] != "assistant" or not (tag := TAG.search(text)):
            continue
        said = _texts(messages[number + 1]["content"]) if number + 1 < len(messages) else ""
        shown = re.search(r"^ *\d+ \| (.*)$", said, re.MULTILINE)
        theirs = re.search(r"^<(feedback|user_message)>", said, re.MULTILINE)
        calls.append((tag[1], text, "text" if shown and not theirs else None, False))
    found = _counted(calls)
    first = _texts(messages[0]["content"]) if messages[0]["role"] == "user" else ""
    is_read = RESULT_OF_READ.search(first) and re.search(r"^ *\d+ \| (.*)$", first, re.MULTILINE)
    return found._replace(reads=found.reads + bool(is_read))


def spoken_command(text: str) -> str | None:
    """Return the command in a fence or a tag at the end of a text; None for another text."""
    if text.rstrip().endswith("\n```"):
        return text.split("```")[-2].partition("\n")[2]
    if text.rstrip().endswith("\n</command>"):
        return text.rpartition("<command>\n")[2].rpartition("\n</command>")[0]
    return None


def chat(path: Path) -> Counts:
    """The calls beside texts, or a fence at their end, of trajectories of both SWE-agents."""
    data = json.loads(path.read_bytes())
    messages = data if isinstance(data, list) else data.get("messages") or data["history"]
    calls: list[tuple[str, Any, str | None, bool]] = []
    for number, message in enumerate(messages):
        main = message.get("agent", "main") in ("main", "primary") and not message.get("is_demo")
        if message["role"] != "assistant" or not main:
            continue
        found = message.get("tool_calls") or ()
        said = str(messages[number + 1]["content"]) if number + 1 < len(messages) else ""
        for each in found:
            given = each["function"]["arguments"]
            given = json.loads(given) if isinstance(given, str) else given
            windowed = each["function"]["name"] != "open" or said.startswith("[File: ")
            calls.append((each["function"]["name"], given, said if windowed else None, False))
        text = _texts(message["content"])
        command = spoken_command(text)
        if not found and command is not None:
            calls.append(("bash", command, said, False))
    return _counted(calls)


OLD_ACTIONS = ("run", "run_ipython", "browse", "browse_interactive", "read")


def openhands(path: Path) -> Counts:
    """The calls in the model's answers, each answer once; the events of version 1 by their kind. Runs
    of 2024 have actions alone, each before its observation."""
    if path.name.endswith("output.jsonl"):
        pairs = [each for row in _rows(path) for each in row["history"]]
        old = [e for pair in pairs for e in (pair if isinstance(pair, list) else [pair]) if e]
        acted = [n for n, event in enumerate(old) if event.get("action") in OLD_ACTIONS]
        shown = [(old[n], old[n + 1]) for n in acted]
        return _counted(
            [(e["action"], e.get("args") or e, r.get("content"), False) for e, r in shown]
        )
    try:
        events = json.loads(path.read_bytes())
    except ValueError:
        events = list(_rows(path))
    answers: set[str] = set()
    calls = _Calls()
    for event in events:
        metadata = event.get("tool_call_metadata") or {}
        response = metadata.get("model_response")
        if response and "action" in event and response["id"] not in answers:
            answers.add(response["id"])
            for call in response["choices"][0]["message"].get("tool_calls") or ():
                function = call["function"]
                calls.ask(call["id"], function["name"], json.loads(function["arguments"]))
        elif event.get("kind") == "ActionEvent":
            given = json.loads(event["tool_call"]["arguments"])
            calls.ask(event["tool_call_id"], event["tool_name"], given)
        elif "observation" in event and metadata:
            calls.answer(metadata["tool_call_id"], event["content"])
        elif event.get("kind") == "ObservationEvent":
            calls.answer(event["tool_call_id"], _texts(event["observation"].get("content")))
    return calls.counted()


ABORTED = ("error", "aborted")


def pi(path: Path) -> Counts:
    """The calls of answers that were not broken off."""
    calls = _Calls()
    for row in _rows(path):
        message = row.get("message") or {}
        content = message.get("content")
        if message.get("role") == "toolResult":
            failed = bool(message.get("isError"))
            calls.answer(message["toolCallId"], _texts(content), failed=failed)
        for part in content if isinstance(content, list) else ():
            if part.get("type") == "toolCall" and message.get("stopReason") not in ABORTED:
                calls.ask(part["id"], part["name"], part["arguments"])
    return calls.counted()


def entire(path: Path) -> Counts:
    """The calls, each with its result in the same object."""
    parts = [part for row in _rows(path) for part in row.get("content") or ()]
    calls = [part for part in parts if part.get("type") == "tool_use"]
    results = ((part, part.get("result") or {}) for part in calls)
    return _counted(
        [(p["name"], p["input"], r.get("output"), r.get("status") == "error") for p, r in results]
    )


WALKERS: dict[str, Callable[[Path], Counts]] = {
    "claude-code": claude_code,
    "codex": codex,
    "copilot": copilot,
    "opencode": opencode,
    "gemini-cli": gemini_cli,
    "roo": roo,
    "cline": roo,
    "mini-swe-agent": chat,
    "swe-agent": chat,
    "openhands": openhands,
    "pi": pi,
    "entire": entire,
}
"""Product -> its walker."""
