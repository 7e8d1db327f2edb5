"""Claude Code's hook dialect: read a hook's payload, and word the answer.

Fields as measured with 2.1.329; older clients have fewer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_args

from msgspec import Struct

from sightline.agents.claude_code import other_hooks
from sightline.agents.claude_code.hook_settings import settings_files
from sightline.model import hook_events as host
from sightline.model.attempts import Attempt, CellEdit, Create, Replace, Several, WriteWhole
from sightline.model.hook_events import Answer, Caller, Event, Source, Surroundings
from sightline.model.json_fields import nested, parse_row, read_fields, strings
from sightline.model.spans import Span
from sightline.recordings.claude_code.recorded_sessions import sub_agent
from sightline.recordings.claude_code.tool_results import result, result_texts

Payload = Mapping[str, Any]
Target = tuple[str, Attempt]


class HookFields(Struct):
    """Fields that every payload has, and those of a sub-agent."""

    session_id: str
    cwd: str
    transcript_path: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    agent_transcript_path: str | None = None
    prompt_id: str | None = None


def caller(payload: Payload) -> Caller:
    """Return the agent that the hook was called for; a sub-agent has a session of its own.
    ValueError."""
    fields = read_fields(payload, HookFields)
    session, transcript = fields.session_id, fields.transcript_path
    if not fields.agent_id:
        return Caller(session, fields.cwd, None, transcript, fields.prompt_id)
    own = fields.agent_transcript_path
    if own is None and transcript is not None:
        folder = transcript.removesuffix(".jsonl")
        own = os.path.join(folder, "subagents", f"agent-{fields.agent_id}.jsonl")
    name = sub_agent(session, fields.agent_type, fields.agent_id)
    return Caller(name, fields.cwd, session, own)


SHELLS = ("Bash", "PowerShell")

FOREIGN = "mcp__"
"""How the names of the tools of MCP servers begin."""


class EditPart(Struct):
    """One replacement of MultiEdit."""

    old_string: str
    new_string: str
    replace_all: bool | None = None

    def attempt(self) -> Replace:
        """Return the attempt."""
        return Replace(self.old_string, self.new_string, None if self.replace_all else 1)


class EditInput(EditPart, kw_only=True):
    """The input of Edit."""

    file_path: str


class MultiEditInput(Struct):
    """The input of MultiEdit, which only older clients have."""

    file_path: str
    edits: list[EditPart]


class WriteInput(Struct):
    """The input of Write."""

    file_path: str
    content: str


class NotebookEditInput(Struct):
    """The input of NotebookEdit."""

    notebook_path: str
    new_source: str | None = None
    cell_id: str | None = None
    edit_mode: str | None = None


EDITORS: Mapping[str, type[EditInput | MultiEditInput | WriteInput | NotebookEditInput]] = {
    "Edit": EditInput,
    "MultiEdit": MultiEditInput,
    "Write": WriteInput,
    "NotebookEdit": NotebookEditInput,
}


def target(tool: str, tool_input: Payload) -> Target | None:
    """Return the path that a tool is about to change, and the attempt; None for a tool that changes
    no file. ValueError."""
    if tool not in EDITORS:
        return None
    fields = read_fields(tool_input, EDITORS[tool])
    if isinstance(fields, EditInput):  # an empty old text creates a file, or fills an empty one
        return fields.file_path, fields.attempt() if fields.old_string else WriteWhole(
            fields.new_string
        )
    if isinstance(fields, MultiEditInput):
        return fields.file_path, Several(tuple([each.attempt() for each in fields.edits]))
    if isinstance(fields, WriteInput):
        return fields.file_path, WriteWhole(fields.content)
    mode = fields.edit_mode or "replace"
    source = "" if mode == "delete" else fields.new_source
    if source is None:
        raise ValueError("The payload has no new_source.")
    return fields.notebook_path, CellEdit(fields.cell_id, mode, source)


class ToolFields(Struct):
    """Fields of the events about one use of a tool."""

    tool_name: str
    tool_input: dict[str, Any]
    cwd: str = ""
    tool_use_id: str | None = None
    tool_response: Any = None
    error: str | None = None
    is_interrupt: bool | None = None


class CommandInput(Struct):
    """The input of a shell tool."""

    command: str
    run_in_background: bool | None = None


class SearchInput(Struct):
    """The input of Grep."""

    path: str | None = None
    glob: str | None = None
    type: str | None = None


NOT_TYPED = "<task-notification>"
"""How a prompt begins that the client itself sends: nothing is added for an @ in it."""

UNUSED = "<tool_use_error>"
"""The beginning of a tool's answer to input it could not use. No other hook is called for that."""

EDITED = ("The file ", " successfully")
"""What a tool's answer begins with, and holds, when it changed a file."""

CREATED = "File created successfully"
"""The beginning of a tool's answer when it created a file."""

CELL_EDITED = ("Updated cell ", "Inserted cell ", "Deleted cell ")
"""Beginnings of a tool's answer when it changed a notebook."""


def events(payload: Payload, event: str | None = None) -> list[Event]:
    """Return the events of a payload, in order; none for an event that does not matter here.
    event: the name, where the payload has none. ValueError."""
    read = _EVENTS.get(str(payload.get("hook_event_name") or event))
    return [] if read is None else read(payload)


def speaker(payload: Payload) -> str | None:
    """Return the other product that ran the hooks of this one. Copilot CLI runs those of a workspace
    with this one's event and tool names and its own inputs; it dates each event, and has one file
    `events.jsonl` a session, which is named only at the end of a turn."""
    transcript = str(payload.get("transcript_path") or "events.jsonl")
    is_dated = "timestamp" in payload and os.path.basename(transcript) == "events.jsonl"
    return "copilot" if is_dated else None


class SessionFields(Struct):
    """Fields of SessionStart and SessionEnd."""

    source: str | None = None
    model: str | None = None
    reason: str | None = None


def _session_start(payload: Payload) -> list[Event]:
    fields = read_fields(payload, SessionFields)
    sources: Mapping[str | None, Source] = {each: each for each in get_args(Source)}
    began = host.Began(sources.get(fields.source, "startup"), fields.model)
    return [host.Compacted(), began] if began.source == "compact" else [began]


class PromptFields(Struct):
    """Fields of UserPromptSubmit."""

    prompt: str
    permission_mode: str | None = None


def _prompt(payload: Payload) -> list[Event]:
    fields = read_fields(payload, PromptFields)
    named = () if fields.prompt.startswith(NOT_TYPED) else mentions(fields.prompt)
    return [host.Prompted(fields.prompt, named, fields.permission_mode)]


Mention = tuple[str, Span | None]

CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
"""Quoted text. Only a fence may stay open, and spans lines."""

NAME = re.compile(r'(?<!\S)@(?:"([^"\n]*)"|([^\s`"]+))')

CLOSING = ".,;:!?)]}>'*…"
"""Signs after a path that end a sentence or a bracket."""


def mentions(prompt: str) -> tuple[Mention, ...]:
    """Return the paths after an @ at the start of a word, each once: @a.py whole (None), @a.py#L3-9
    or @a.py#L3 some lines, @"a b.py" with blanks. Leave out mentions in code, and those with
    impossible lines. The disk is not consulted."""
    found: dict[Mention, None] = {}
    for match in NAME.finditer(CODE.sub("`", prompt)):
        name = match[2].rstrip(CLOSING) if match[1] is None else match[1]
        path, _, fragment = name.partition("#")
        place = fragment.partition("#")[0]
        lines = re.fullmatch(r"L(\d{1,9})(?:-(\d{1,9}))?", place)
        span = (int(lines[1]), int(lines[2] or lines[1])) if lines else None
        is_heading = not re.match(r"L\d", place)
        if path and (is_heading or (span and 1 <= span[0] <= span[1])):
            found[path, span] = None
    return tuple(found)


class FileFields(Struct):
    """Fields of InstructionsLoaded and FileChanged."""

    file_path: str


class FolderFields(Struct):
    """Fields of DirectoryAdded."""

    directory: str


def _before_tool(payload: Payload) -> list[Event]:
    fields = read_fields(payload, ToolFields)
    call = fields.tool_use_id or ""
    if fields.tool_name in SHELLS:
        command = read_fields(fields.tool_input, CommandInput).command
        return [host.CommandBegan(command, call, fields.cwd)]
    if fields.tool_name.startswith(FOREIGN):
        return [host.CallBegan(fields.tool_name, strings(fields.tool_input), call, fields.cwd)]
    if fields.tool_name == "Read":
        path = fields.tool_input.get("file_path")
        return [host.Reading(path, call)] if path and isinstance(path, str) else []
    if fields.tool_name == "Grep":
        search = read_fields(fields.tool_input, SearchInput)
        globs = _globs(search.glob or "")
        place = os.path.normpath(os.path.join(fields.cwd, search.path or "."))
        return [host.Searching(place, call, globs, search.type or "")]
    about = target(fields.tool_name, fields.tool_input)
    return [] if about is None else [host.Attempted((about,), call)]


def _before_insertion(payload: Payload) -> list[Event]:
    fields = read_fields(payload, ToolFields)
    command = read_fields(fields.tool_input, CommandInput).command
    return [host.InsertionBegan(command, fields.tool_use_id or "", fields.cwd)]


def _globs(given: str) -> tuple[str, ...]:
    """Split Grep's globs as the client does: at blanks, and at commas outside of braces."""
    parts = given.split()
    return tuple(
        [each for part in parts for each in ([part] if "{" in part else part.split(",")) if each]
    )


def _after_tool(payload: Payload) -> list[Event]:
    fields = read_fields(payload, ToolFields)
    call, response = fields.tool_use_id or "", fields.tool_response
    if fields.tool_name.startswith(FOREIGN):
        given = strings(fields.tool_input)
        return [host.CallEnded(fields.tool_name, given, call, fields.cwd, result_texts(response))]
    if fields.tool_name not in SHELLS:
        return result(fields.tool_name, fields.tool_input, response, call, fields.cwd)
    command = read_fields(fields.tool_input, CommandInput)
    report = response if isinstance(response, dict) else {}
    background = bool(command.run_in_background) or "backgroundTaskId" in report
    is_cut = report.get("persistedOutputPath") or report.get("isImage")  # then a file has it
    parts = [] if is_cut else [report.get("stdout"), report.get("stderr")]
    output = "\n".join([part for part in parts if part and isinstance(part, str)])
    ended = report and not (background or report.get("interrupted"))
    code = 0 if ended and "returnCodeInterpretation" not in report else None
    return [host.CommandEnded(command.command, call, fields.cwd, output, code, background)]


def _failed_tool(payload: Payload) -> list[Event]:
    fields = read_fields(payload, ToolFields)
    call, error = fields.tool_use_id or "", fields.error or ""
    if fields.tool_name in SHELLS:
        first, _, output = error.partition("\n")
        number = first.removeprefix("Exit code ")
        code = int(number) if number.isdecimal() and not fields.is_interrupt else None
        command = read_fields(fields.tool_input, CommandInput).command
        output = error if code is None else output
        return [host.CommandEnded(command, call, fields.cwd, output, code)]
    if fields.tool_name.startswith(FOREIGN):
        given = strings(fields.tool_input)
        return [
            host.CallEnded(fields.tool_name, given, call, fields.cwd, (error,), has_failed=True)
        ]
    about = target(fields.tool_name, fields.tool_input)
    return [] if about is None else [host.Failed(about[0], call, why=error)]


PATHS = ("file_path", "notebook_path")
"""Fields of a tool's input that name a file."""


class BatchFields(Struct):
    """Fields of PostToolBatch."""

    tool_calls: list[dict[str, Any]]


def _batch(payload: Payload) -> list[Event]:
    calls = read_fields(payload, BatchFields).tool_calls
    edits = [_edit_of(call) for call in calls]
    failed = tuple([each for each in edits if isinstance(each, host.Failed)])
    done = tuple([each for each in edits if isinstance(each, host.Attempted)])
    paths = [nested(call, "tool_input", name) for call in calls for name in PATHS]
    return [host.Answered(failed, done, tuple([p for p in paths if p and isinstance(p, str)]))]


def _edit_of(call: Payload) -> host.Failed | host.Attempted | None:
    """Return an edit that the client itself rejected, or one that it carried out; None for any
    other call."""
    response = call.get("tool_response")
    if not isinstance(response, str):
        return None
    is_done = response.startswith(EDITED[0]) and EDITED[1] in response
    is_done = is_done or response.startswith((CREATED, *CELL_EDITED))
    if not is_done and not response.startswith(UNUSED):
        return None
    try:
        fields = read_fields(call, ToolFields)
        about = target(fields.tool_name, fields.tool_input)
    except ValueError:
        return None  # the client has told the model so
    if about is None:
        return None
    if is_done:
        # An Edit without an old text works only where there is no text.
        is_new = response.startswith(CREATED) or fields.tool_name == "Edit"
        if is_new and isinstance(about[1], WriteWhole):
            about = about[0], Create(about[1].content)
        return host.Attempted((about,), fields.tool_use_id or "")
    why = response.removeprefix(UNUSED).removesuffix(f"</{UNUSED[1:]}")
    attempt = None if isinstance(about[1], CellEdit) else about[1]
    return host.Failed(about[0], fields.tool_use_id or "", attempt, why)


_EVENTS: Mapping[str, Callable[[Payload], list[Event]]] = {
    "SessionStart": _session_start,
    "InstructionsLoaded": lambda payload: [
        host.Instructed(read_fields(payload, FileFields).file_path)
    ],
    "UserPromptSubmit": _prompt,
    "PreToolUse": _before_tool,
    "PreSkillShellCommand": _before_insertion,
    "PostToolUse": _after_tool,
    "PostToolUseFailure": _failed_tool,
    "PostToolBatch": _batch,
    "FileChanged": lambda payload: [
        host.ChangedOutside(read_fields(payload, FileFields).file_path)
    ],
    "DirectoryAdded": lambda payload: [
        host.FolderAdded(read_fields(payload, FolderFields).directory)
    ],
    "SubagentStart": lambda _: [host.Began("startup")],
    # A sub-agent ends once it has answered; one that is called again begins once more. The client's
    # own helpers, such as the writer of a summary, have no type.
    "SubagentStop": lambda payload: (
        [host.Stopped(), host.Ended("answered")] if payload.get("agent_type") else []
    ),
    "Stop": lambda _: [host.Stopped()],
    "SessionEnd": lambda payload: [
        host.Ended(read_fields(payload, SessionFields).reason or "ended")
    ],
}

TAKE_CONTEXT = (
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"),
    *("UserPromptSubmit", "SessionStart", "SubagentStart"),
)
"""Events with words for the model in their answer. A stop takes some, too, and would go on."""

DECIDED = ("PreToolUse", "PreSkillShellCommand")
"""Events whose answer may refuse what was to be done."""

WATCH = ("SessionStart", "FileChanged", "CwdChanged")

WORDS_MAX = 9_900
"""Characters in all: of 10,000 or more the client shows the model only the beginning."""

NOTE_LENGTH = 100


def answer(
    payload: Mapping[str, Any], answers: Iterable[Answer], event: str | None = None
) -> dict[str, Any]:
    """Return the object to print; empty for no output. "allow" is never printed: the user's own
    settings decide whether to ask the user."""
    event, answers = str(payload.get("hook_event_name") or event), list(answers)
    out: dict[str, Any] = {}
    context = _joined([each.context for each in answers]) if event in TAKE_CONTEXT else ""
    if event in DECIDED:
        out, context = _decided(payload, answers, context)
    if context:
        out["additionalContext"] = cut(context, WORDS_MAX - len(out.get(REASON, "")))
    watch = list(dict.fromkeys([path for each in answers for path in each.watch]))
    if watch and event in WATCH:
        out["watchPaths"] = watch
    printed: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": event, **out}} if out else {}
    if tell := _joined([each.tell for each in answers]):
        printed["systemMessage"] = tell
    return printed


REASON = "permissionDecisionReason"


def _decided(
    payload: Mapping[str, Any], answers: list[Answer], context: str
) -> tuple[dict[str, Any], str]:
    """Return the decision on an attempt, and the text that is left for the context: none for a
    refusal, whose reason holds everything."""
    refused = _joined([each.refuse or "" for each in answers])
    if refused:
        reason = cut(_joined([refused, context]), WORDS_MAX)
        return {"permissionDecision": "deny", REASON: reason}, ""
    out: dict[str, Any] = {}
    asked = _joined([each.ask or "" for each in answers])
    if asked:
        out = {"permissionDecision": "ask", REASON: cut(asked, WORDS_MAX // 2)}
    contents = [text for each in answers for text in each.contents.values()]
    if contents and payload.get("tool_name") == "Write":
        out["updatedInput"] = {**payload["tool_input"], "content": contents[-1]}
    return out, context


def cut(words: str, limit: int) -> str:
    """Return at most that many characters, ending with a whole line and the number of lines left
    out."""
    if len(words) <= limit:
        return words
    beginning = words[: limit - NOTE_LENGTH].rpartition("\n")[0] or words[: limit - NOTE_LENGTH]
    count = words[len(beginning) :].strip("\n").count("\n") + 1
    return f"{beginning}\n[{count} more lines are left out here.]"


def _joined(parts: list[str]) -> str:
    return "\n\n".join([part for part in parts if part])


def added_folders(around: Surroundings) -> list[str]:
    """Return the folders that the client's command line (--add-dir) and settings add to its project;
    see agents.dialect.Dialect.added_folders."""
    named = [each for file in settings_files(around) for each in _in_settings(file)]
    return [*_in_command_line(around.arguments), *named]


def _in_command_line(arguments: Sequence[str]) -> list[str]:
    folders: list[str] = []
    is_list = False
    for argument in arguments[1:]:
        if argument.startswith("-"):
            option, equals, value = argument.partition("=")
            is_list = option == ADD_FOLDERS and not equals
            folders += [value] if option == ADD_FOLDERS and value else []
        elif is_list:
            folders.append(argument)
    return folders


def _in_settings(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            settings = parse_row(file.read())
    except OSError:
        return []
    added = nested(settings, "permissions", "additionalDirectories")
    added = added if isinstance(added, list) else []
    return [each for each in added if each and isinstance(each, str)]


ADD_FOLDERS = "--add-dir"


def rewriters(payload: Payload, around: Surroundings) -> list[str]:
    """Return the files with hooks of others before the tool of a payload."""
    tool = payload.get("tool_name")
    return other_hooks.rewriters(tool, around) if isinstance(tool, str) else []


def trial(cwd: str, path: str, old: str, new: str) -> list[dict[str, Any]]:
    """Return the payloads of a beginning, of an edit, and of an event that no client has."""
    common = {"session_id": "doctor", "cwd": cwd, "transcript_path": os.path.join(cwd, "none")}
    edit = {"file_path": path, "old_string": old, "new_string": new}
    use = {"tool_name": "Edit", "tool_input": edit, "tool_use_id": "doctor"}
    return [
        {**common, "hook_event_name": "SessionStart", "source": "startup"},
        {**common, "hook_event_name": "PreToolUse", **use},
        {**common, "hook_event_name": "Nothing"},
    ]
