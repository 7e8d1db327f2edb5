"""Read the results of Claude Code's tools: the text they showed, the files they wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from msgspec import Struct, structs

from sightline.model.hook_events import Event, Failed, Shown, Wrote
from sightline.model.json_fields import nested, objects, read_fields, strings
from sightline.recordings.claude_code.edited_text import EditResult, after

Payload = Mapping[str, Any]

Line = tuple[str, int, str]


def result(tool: str, tool_input: Payload, response: Any, call: str, cwd: str) -> list[Event]:
    """Return the events of a tool's result; none for a tool that touches no file. ValueError."""
    if tool == "Read":
        return read(response)
    if tool == "Grep":
        return list(searched(tool_input, response, cwd))
    report = response if isinstance(response, dict) else None
    if tool in ("Edit", "MultiEdit", "Write"):
        return [wrote(tool, _path(tool_input, "file_path"), call, report)]
    if tool == "NotebookEdit":
        return [_notebook(_path(tool_input, "notebook_path"), call, report)]
    return []


RESULT_MAX = 40_000
"""Characters of the result of an MCP server's tool that the client hands to the model whole: of a
longer one the model gets a preview and a file (2.1.332: of 75,000; 42,000 were whole)."""


def result_texts(response: Any) -> tuple[str, ...]:
    """Return what the result of an MCP server's tool showed, and the texts inside, where it is JSON
    itself: of structured content the client shows the JSON. None of a result that the client cuts."""
    shown = [response] if isinstance(response, str) else []
    shown += [block["text"] for block in objects(response) if isinstance(block.get("text"), str)]
    if sum(map(len, shown)) > RESULT_MAX:
        return ()
    return tuple([each for text in shown for each in (text, *_inside(text))])


def _inside(text: str) -> tuple[str, ...]:
    try:
        value = json.loads(text) if text[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return ()
    return strings(value)


def _path(tool_input: Payload, field: str) -> str:
    path = tool_input.get(field)
    if not isinstance(path, str):
        raise ValueError(f"The payload has no {field}.")  # noqa: TRY004 - it is foreign JSON
    return path


class ReadFile(Struct, rename="camel"):
    """The file in the result of a Read."""

    file_path: str
    content: str
    start_line: int
    num_lines: int
    total_lines: int
    truncated_by_token_cap: bool | None = None


def read(response: Any, via: str = "read") -> list[Event]:
    """Return the text that a Read showed. Images and pages of a PDF are no text."""
    file, kind = nested(response, "file"), nested(response, "type")
    if not isinstance(file, dict):
        return []
    if kind == "notebook":
        return [Shown(_path(file, "filePath"), via="notebook")]
    return _text(read_fields(file, ReadFile), via) if kind == "text" else []


def _text(file: ReadFile, via: str) -> list[Event]:
    """The client counts the end of a text as a line of its own when a newline stands before it, and
    leaves the newline off the last line it shows when more lines follow."""
    content, first = file.content, max(file.start_line, 1)  # it says 0 for an offset of 0
    if not file.num_lines:
        return []
    ends = first + file.num_lines > file.total_lines
    if file.truncated_by_token_cap:
        content, newline, _ = content.rpartition("\n")  # the last line may be cut anywhere
        content += newline
        ends = False
    elif not ends:
        content += "\n"
    if first == 1 and ends:
        return [Shown(file.file_path, None, content, via)]
    count = content.count("\n") + (content[-1:] not in ("", "\n"))
    return [Shown(file.file_path, (first, first + count - 1), content, via)] if count else []


def wrote(tool: str, path: str, call: str, report: Payload | None) -> Wrote:
    """Return the text that an edit found and the text it left, where the client reports them."""
    if report is None:
        return Wrote(path, call, known_before=False)
    fields = read_fields(report, EditResult)
    before, by_user = fields.original_file, bool(fields.user_modified)
    event = Wrote(path, call, before, before is not None, user_modified=by_user)
    if (
        tool == "Write" or before == ""
    ):  # an Edit of an empty file, or of none, gives the whole text
        known = tool == "Write" and (event.known_before or fields.type == "create")
        content = fields.content if tool == "Write" else fields.new_string
        event = structs.replace(event, known_before=known, before=before if known else None)
        return structs.replace(event, content=content, whole=content is not None)
    if before is None:  # too large for the result
        return event
    return structs.replace(event, content=after(before, fields))


class NotebookResult(Struct):
    """The result of NotebookEdit."""

    error: str | None = None
    original_file: str | None = None
    updated_file: str | None = None


def _notebook(path: str, call: str, report: Payload | None) -> Event:
    if report is None:
        return Wrote(path, call, known_before=False)
    fields = read_fields(report, NotebookResult)
    if fields.error:
        return Failed(path, call, why=fields.error)
    before = fields.original_file
    return Wrote(path, call, before, before is not None, fields.updated_file)


class SearchInput(Struct):
    """The input of Grep, and the text of its result."""

    path: str | None = None
    content: str | None = None


LONGEST = 20_000
"""Characters of an answer that the client hands to the model whole."""

PLACES_MAX = 30
"""Runs of lines that are noted of one search: each costs a look at its file."""

OMITTED = "[Omitted long "
"""What stands in place of a line that is too long."""


def searched(tool_input: Mapping[str, Any], response: Any, cwd: str) -> list[Shown]:
    """Return the runs of lines that a search in files showed. ValueError."""
    if not isinstance(response, dict) or response.get("mode") != "content":
        return []
    content = read_fields(response, SearchInput).content or ""
    if len(content) > LONGEST:
        return []
    where = os.path.join(cwd, read_fields(tool_input, SearchInput).path or "")
    lines = content.split("\n")
    numbered = _in_one(where, lines) if os.path.isfile(where) else _in_several(cwd, lines)
    return list(_runs(numbered))[:PLACES_MAX]


def _in_one(path: str, lines: Iterable[str]) -> Iterator[Line]:
    """Yield lines "12:text", and "13-text" around them."""
    for line in lines:
        if (found := _numbered(line)) is not None:
            yield path, *found


def _in_several(cwd: str, lines: Iterable[str]) -> Iterator[Line]:
    """Yield lines "name:12:text", and "name-13-text" around them where the name is a file's."""
    files: dict[str, bool] = {}
    for line in lines:
        name, _, rest = line.partition(":")
        found = _numbered(rest, ":")
        if found is not None:
            if name not in files:
                files[name] = os.path.isfile(os.path.join(cwd, name))
            if files[name]:
                yield os.path.join(cwd, name), *found
                continue
        for name in [name for name, there in files.items() if there]:
            if line.startswith(f"{name}-") and (
                found := _numbered(line.removeprefix(f"{name}-"), "-")
            ):
                yield os.path.join(cwd, name), *found


def _numbered(line: str, marks: str = ":-") -> tuple[int, str] | None:
    number = line[: len(line) - len(line.lstrip("0123456789"))]
    if not number or line[len(number) : len(number) + 1] not in tuple(marks):
        return None
    text = line[len(number) + 1 :].removesuffix("\r")
    return None if text.startswith(OMITTED) else (int(number), text)


def _runs(lines: Iterable[Line]) -> Iterator[Shown]:
    """Join lines that follow one another: their numbers grow as their places do."""
    numbered = groupby(enumerate(lines), lambda entry: (entry[1][0], entry[1][1] - entry[0]))
    for (path, _), group in numbered:
        run = [line for _, line in group]
        text = "".join([f"{text}\n" for _, _, text in run])
        yield Shown(path, (run[0][1], run[-1][1]), text, "search")
