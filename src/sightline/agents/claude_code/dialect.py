"""Claude Code's hook dialect: read a hook's payload, and word the answer.

Fields as measured with 2.1.329; older clients have fewer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sightline.agents.claude_code.json_fields import checked, flag, inner, needed, optional
from sightline.agents.claude_code.tool_results import result
from sightline.agents.claude_code.transcripts import shown_since
from sightline.agents.hook_events import (
    Answer,
    Answered,
    Attempted,
    Began,
    Caller,
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

Payload = Mapping[str, Any]
Target = tuple[str, Attempt | CellEdit]

AGENT_ID_LENGTH = 8
"""Characters of a sub-agent's id that tell it from its siblings."""


def caller(payload: Mapping[str, Any]) -> Caller:
    """Return the agent that the hook was called for; a sub-agent has a session of its own.
    ValueError."""
    checked(payload, dict, "input")
    session, cwd = needed(payload, "session_id"), needed(payload, "cwd")
    transcript = optional(payload, "transcript_path")
    agent = optional(payload, "agent_id")
    if not agent:
        return Caller(session, cwd, None, transcript)
    own = optional(payload, "agent_transcript_path")
    if own is None and transcript is not None:
        folder = transcript.removesuffix(".jsonl")
        own = os.path.join(folder, "subagents", f"agent-{agent}.jsonl")
    name = sub_agent(session, optional(payload, "agent_type"), agent)
    return Caller(name, cwd, session, own)


def sub_agent(session: str, kind: str | None, agent: str) -> str:
    """Return our id of a sub-agent's session."""
    name = "".join([char if char.isprintable() else "-" for char in kind or ""]).strip()
    return f"{session}/{name or 'agent'}-{agent[:AGENT_ID_LENGTH]}"


SHELLS = ("Bash", "PowerShell")


def target(tool: str, given: Payload) -> Target | None:
    """Return the path that a tool is about to change, and the attempt; None for a tool that changes
    no file. ValueError."""
    read = _EDITORS.get(tool)
    return None if read is None else read(given)


def _edit(given: Payload) -> Target:
    """An empty text to replace creates a file, or fills an empty one."""
    attempt = _replace(given)
    whole = attempt if attempt.old else WriteWhole(attempt.new)
    return needed(given, "file_path"), whole


def _multi_edit(given: Payload) -> Target:
    """Only older clients have this tool."""
    parts = checked(given.get("edits"), list, "edits")
    edits = tuple(_replace(checked(part, dict, "edits")) for part in parts)
    return needed(given, "file_path"), Several(edits)


def _replace(given: Payload) -> Replace:
    count = None if flag(given, "replace_all") else 1
    return Replace(needed(given, "old_string"), needed(given, "new_string"), count)


def _write(given: Payload) -> Target:
    return needed(given, "file_path"), WriteWhole(needed(given, "content"))


def _notebook_edit(given: Payload) -> Target:
    mode = optional(given, "edit_mode") or "replace"
    source = needed(given, "new_source") if mode != "delete" else ""
    return needed(given, "notebook_path"), CellEdit(optional(given, "cell_id"), mode, source)


_EDITORS: Mapping[str, Callable[[Payload], Target]] = {
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


def events(payload: Payload, event: str | None = None) -> list[Event]:
    """Return the events of a payload, in order; none for an event that does not matter here.
    event: the name, where the payload has none. ValueError."""
    read = _EVENTS.get(optional(payload, "hook_event_name") or event or "")
    return [] if read is None else read(payload)


def _session_start(payload: Payload) -> list[Event]:
    source = SOURCES.get(optional(payload, "source") or "", "startup")
    began = Began(source, optional(payload, "model"))
    return [Compacted(), began] if source == "compact" else [began]


def _subagent_start(_: Payload) -> list[Event]:
    return [Began("startup")]


def _subagent_stop(payload: Payload) -> list[Event]:
    """A sub-agent ends once it has answered; one that is called again begins once more. The
    client's own helpers, such as the writer of a summary, have no type."""
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
    """Return an edit that the client itself rejected; None for any other call."""
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
    """Return the end of a command. Output that is too long for the model is in a file of its
    own."""
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


TAKE_CONTEXT = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "SessionStart",
    "SubagentStart",
)
"""Events with words for the model in their answer. A stop takes some, too, and would go on."""

WATCH = ("SessionStart", "FileChanged", "CwdChanged")

WORDS_MAX = 9_900
"""Characters in all: of 10,000 or more the client shows the model only the beginning."""

NOTE_LENGTH = 100


def answer(payload: Mapping[str, Any], answers: Iterable[Answer]) -> dict[str, Any]:
    """Return the object to print; empty for no output. "allow" is never printed: the user's own
    settings decide whether to ask the user."""
    event, given = needed(payload, "hook_event_name"), list(answers)
    out: dict[str, Any] = {}
    context = _joined([each.context for each in given]) if event in TAKE_CONTEXT else ""
    if event == "PreToolUse":
        out, context = _decided(payload, given, context)
    if context:
        out["additionalContext"] = cut(context, WORDS_MAX - len(out.get(REASON, "")))
    watch = list(dict.fromkeys([path for each in given for path in each.watch]))
    if watch and event in WATCH:
        out["watchPaths"] = watch
    return {"hookSpecificOutput": {"hookEventName": event, **out}} if out else {}


REASON = "permissionDecisionReason"


def _decided(
    payload: Mapping[str, Any], given: list[Answer], context: str
) -> tuple[dict[str, Any], str]:
    """Return the decision on an attempt, and the text that is left for the context: none for a
    refusal, whose reason holds everything."""
    refused = _joined([each.refuse or "" for each in given])
    if refused:
        reason = cut(_joined([refused, context]), WORDS_MAX)
        return {"permissionDecision": "deny", REASON: reason}, ""
    out: dict[str, Any] = {}
    asked = _joined([each.ask or "" for each in given])
    if asked:
        out = {"permissionDecision": "ask", REASON: cut(asked, WORDS_MAX // 2)}
    contents = [each.content for each in given if each.content is not None]
    if contents and payload.get("tool_name") == "Write":
        out["updatedInput"] = {**payload["tool_input"], "content": contents[-1]}
    return out, context


def cut(words: str, limit: int) -> str:
    """Return at most that many characters, ending with a whole line and the number of lines left
    out."""
    if len(words) <= limit:
        return words
    kept = words[: limit - NOTE_LENGTH].rpartition("\n")[0] or words[: limit - NOTE_LENGTH]
    left = words[len(kept) :].strip("\n").count("\n") + 1
    return f"{kept}\n[{left} more lines are left out here.]"


def _joined(parts: list[str]) -> str:
    return "\n\n".join([part for part in parts if part])


def unhooked(transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
    """Return the events in a transcript that no hook reports; see agents.dialect.Dialect."""
    return shown_since(transcript, offset, before=before)
