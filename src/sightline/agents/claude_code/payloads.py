"""What each of Claude Code's hook events tells, as events of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sightline.agents.claude_code.json_fields import checked, flag, inner, needed, optional
from sightline.agents.claude_code.tool_results import result
from sightline.agents.hook_events import (
    Answered,
    Attempted,
    Began,
    CellEdit,
    ChangedOutside,
    CommandBegan,
    CommandEnded,
    Compacted,
    Ended,
    Event,
    Failed,
    Instructed,
    Prompted,
    Source,
    Stopped,
)
from sightline.agents.prompt_mentions import mentions
from sightline.model.attempts import Attempt, Replace, Several, WriteWhole

Input = Mapping[str, Any]
Target = tuple[str, Attempt | CellEdit]

Payload = Mapping[str, Any]

SHELLS = ("Bash", "PowerShell")


def target(tool: str, given: Input) -> Target | None:
    """The path a tool is about to change, and how; None for tools that change no file.
    ValueError when the input is not that of such a tool."""
    read = _EDITORS.get(tool)
    return None if read is None else read(given)


def _edit(given: Input) -> Target:
    """Nothing as the text to replace makes a new file, or fills an empty one."""
    attempt = _replace(given)
    whole = attempt if attempt.old else WriteWhole(attempt.new)
    return needed(given, "file_path"), whole


def _multi_edit(given: Input) -> Target:
    """Older clients have this tool."""
    parts = checked(given.get("edits"), list, "edits")
    edits = tuple(_replace(checked(part, dict, "edits")) for part in parts)
    return needed(given, "file_path"), Several(edits)


def _replace(given: Input) -> Replace:
    count = None if flag(given, "replace_all") else 1
    return Replace(needed(given, "old_string"), needed(given, "new_string"), count)


def _write(given: Input) -> Target:
    return needed(given, "file_path"), WriteWhole(needed(given, "content"))


def _notebook_edit(given: Input) -> Target:
    mode = optional(given, "edit_mode") or "replace"
    source = needed(given, "new_source") if mode != "delete" else ""
    return needed(given, "notebook_path"), CellEdit(optional(given, "cell_id"), mode, source)


_EDITORS: Mapping[str, Callable[[Input], Target]] = {
    "Edit": _edit,
    "MultiEdit": _multi_edit,
    "Write": _write,
    "NotebookEdit": _notebook_edit,
}

SOURCES: Mapping[str, Source] = {
    "startup": "startup",
    "resume": "resume",
    "clear": "clear",
    "fork": "fork",
    "compact": "compact",
}

NOT_TYPED = "<task-notification>"
"""How a prompt begins that the client itself sends: nothing is added for an @ in it."""

UNUSED = "<tool_use_error>"
"""How the answer of a tool begins that was given input it could not use. No other hook is called
for that."""


def told(payload: Payload, event: str | None = None) -> list[Event]:
    """What a payload tells, in order. ValueError."""
    tell = _EVENTS.get(optional(payload, "hook_event_name") or event or "")
    return [] if tell is None else tell(payload)


def _session_start(payload: Payload) -> list[Event]:
    source = SOURCES.get(optional(payload, "source") or "", "startup")
    began = Began(source, optional(payload, "model"))
    return [Compacted(), began] if source == "compact" else [began]


def _subagent_start(_: Payload) -> list[Event]:
    return [Began("startup")]


def _subagent_stop(payload: Payload) -> list[Event]:
    """A sub-agent is not there any more once it has answered; one that is asked again begins once
    more. The client's own helpers, such as the one that writes a summary, have no type."""
    return [Stopped(), Ended("answered")] if optional(payload, "agent_type") else []


def _prompt(payload: Payload) -> list[Event]:
    text = needed(payload, "prompt")
    named = () if text.startswith(NOT_TYPED) else mentions(text)
    return [Prompted(text, named, optional(payload, "permission_mode"))]


def _before_tool(payload: Payload) -> list[Event]:
    tool, call = needed(payload, "tool_name"), optional(payload, "tool_use_id") or ""
    if tool in SHELLS:
        command = needed(inner(payload, "tool_input"), "command")
        return [CommandBegan(command, call, needed(payload, "cwd"))]
    about = target(tool, inner(payload, "tool_input"))
    return [] if about is None else [Attempted(*about, call)]


def _after_tool(payload: Payload) -> list[Event]:
    tool, call = needed(payload, "tool_name"), optional(payload, "tool_use_id") or ""
    given, response = inner(payload, "tool_input"), payload.get("tool_response")
    if tool in SHELLS:
        return [_ended(given, call, needed(payload, "cwd"), response)]
    return result(tool, given, response, call, needed(payload, "cwd"))


def _failed_tool(payload: Payload) -> list[Event]:
    tool, call = needed(payload, "tool_name"), optional(payload, "tool_use_id") or ""
    given, error = inner(payload, "tool_input"), optional(payload, "error") or ""
    if tool in SHELLS:
        code = None if flag(payload, "is_interrupt") else _exit_code(error)
        output = error if code is None else error.partition("\n")[2]
        command = needed(given, "command")
        return [CommandEnded(command, call, needed(payload, "cwd"), output, code)]
    about = target(tool, given)
    return [] if about is None else [Failed(about[0], call, why=error)]


def _batch(payload: Payload) -> list[Event]:
    calls = checked(payload.get("tool_calls"), list, "tool_calls")
    failed = [_unused(checked(call, dict, "tool_calls")) for call in calls]
    return [Answered(tuple([each for each in failed if each is not None]))]


def _unused(call: Payload) -> Failed | None:
    """An edit that the client itself turned down. Input that is not even an edit's is nothing."""
    said = call.get("tool_response")
    if not isinstance(said, str) or not said.startswith(UNUSED):
        return None
    try:
        about = target(needed(call, "tool_name"), inner(call, "tool_input"))
    except ValueError:
        return None  # the client has told the model so
    if about is None:
        return None
    why = said.removeprefix(UNUSED).removesuffix(f"</{UNUSED[1:]}")
    attempt = None if isinstance(about[1], CellEdit) else about[1]
    return Failed(about[0], optional(call, "tool_use_id") or "", attempt, why)


def _ended(given: Payload, call: str, cwd: str, response: Any) -> CommandEnded:
    """A command that came to an end. Output too long for the model is in a file of its own."""
    told = response if isinstance(response, dict) else {}
    background = flag(given, "run_in_background") or "backgroundTaskId" in told
    cut = told.get("persistedOutputPath") or told.get("isImage")
    parts = [told.get("stdout"), told.get("stderr")]
    output = "" if cut else "\n".join([part for part in parts if part and isinstance(part, str)])
    sure = told and not (background or told.get("interrupted"))
    code = 0 if sure and "returnCodeInterpretation" not in told else None
    return CommandEnded(needed(given, "command"), call, cwd, output, code, background)


def _exit_code(error: str) -> int | None:
    number = error.partition("\n")[0].removeprefix("Exit code ")
    return int(number) if number.isdecimal() else None


_EVENTS: Mapping[str, Callable[[Payload], list[Event]]] = {
    "SessionStart": _session_start,
    "InstructionsLoaded": lambda payload: [Instructed(needed(payload, "file_path"))],
    "UserPromptSubmit": _prompt,
    "PreToolUse": _before_tool,
    "PostToolUse": _after_tool,
    "PostToolUseFailure": _failed_tool,
    "PostToolBatch": _batch,
    "FileChanged": lambda payload: [ChangedOutside(needed(payload, "file_path"))],
    "SubagentStart": _subagent_start,
    "SubagentStop": _subagent_stop,
    "Stop": lambda _: [Stopped()],
    "SessionEnd": lambda payload: [Ended(optional(payload, "reason") or "ended")],
}
