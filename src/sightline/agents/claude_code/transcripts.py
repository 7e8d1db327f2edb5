"""What Claude Code's transcripts show that no hook tells of.

A hook is called for each tool, but files also get to the model as attachments: mentioned by the
user, put back after a compaction, instructions, and the client's own word that a file changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import structs

from sightline.agents.claude_code.json_fields import needed, optional
from sightline.agents.claude_code.patches import after
from sightline.agents.claude_code.rows import model_of, rows, time_of
from sightline.agents.claude_code.tool_results import read
from sightline.agents.hook_events import Event, Shown, Used
from sightline.model.spans import Span
from sightline.model.text import split, unmarked

Row = Mapping[str, Any]

Told = Mapping[str, Any]

ATTACHED = b'"attachment"'
MODEL = b'"model"'
RESULT = b'"toolUseResult"'

HOST = "Claude Code"


def shown_since(transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
    """What the transcript shows from a byte offset on, and where to go on; see Dialect.unhooked. A
    file that is shorter than the offset was written anew. OSError when it cannot be read."""
    wanted = (ATTACHED, MODEL, RESULT) if before else (ATTACHED, MODEL)
    used: Used | None = None
    found: list[Event] = []
    try:
        with open(transcript, "rb") as file:
            begin = at = offset if offset <= os.fstat(file.fileno()).st_size else 0
            for end, row in rows(file, begin, wanted):
                at = end
                if row is not None and _belongs(row, transcript):
                    results = _result(row) if before and (time_of(row) or 0) < before else ()
                    found += [_dated(event, row) for event in (*attached(row), *results)]
                    if (now := _used(row)) not in (None, used):
                        used = now
                        found.append(now)
    except (FileNotFoundError, NotADirectoryError):
        return [], offset
    return found, at


def _dated(event: Event, row: Row) -> Event:
    """The event with the time of its row: hooks have told of later ones already."""
    return structs.replace(event, at=time_of(row)) if isinstance(event, Shown) else event


def _used(row: Row) -> Used | None:
    """What an answer of the agent ran on."""
    model, version = model_of(row), row.get("version")
    if model is None or row.get("type") != "assistant":
        return None
    return Used(model, HOST, version if isinstance(version, str) else None)


def _belongs(row: Row, transcript: str) -> bool:
    """Older clients wrote the rows of sub-agents among those of the conversation."""
    own = os.path.basename(transcript).startswith("agent-")
    return own or not row.get("isSidechain")


def attached(row: Row) -> list[Event]:
    """What the attachment of a row shows; nothing for a kind or a shape that is not known."""
    attachment = row.get("attachment")
    if not isinstance(attachment, dict):
        return []
    show = _KINDS.get(str(attachment.get("type")))
    try:
        return [] if show is None else list(show(attachment))
    except ValueError:
        return []  # a shape that this client does not have


def _file(attachment: Row) -> Iterator[Event]:
    return _texts(attachment.get("content"), "mention")


def _texts(response: object, via: str) -> Iterator[Event]:
    """Of a notebook only the cells are told: it is known when it is read by its tool."""
    for event in read(response, via):
        if isinstance(event, Shown) and event.text is not None:
            yield event


def _memory(attachment: Row) -> Iterator[Event]:
    content = attachment.get("content")
    if isinstance(content, dict):
        yield from _instructions({"files": [content]})


def _instructions(attachment: Row) -> Iterator[Event]:
    """Instruction files. Their head, comments and blank ends are left out for the model; what of
    them was shown is told where the file's own text is told, too."""
    files = attachment.get("files")
    for file in files if isinstance(files, list) else []:
        if not isinstance(file, dict):
            continue
        path, text = file.get("path"), file.get("content")
        if not isinstance(path, str) or not isinstance(text, str):
            continue
        if not file.get("contentDiffersFromDisk"):
            yield Shown(path, None, text, "instructions")
        elif (lines := _place(text, file.get("rawContent"))) is not None:
            yield Shown(path, lines, text, "instructions")


def _place(text: str, raw: object) -> tuple[int, int] | None:
    """The lines that a text has in the whole file, where it stands there in one piece."""
    if not text or not isinstance(raw, str) or raw.count(text) != 1:
        return None
    above = raw[: raw.index(text)]
    if above and not above.endswith("\n"):
        return None
    first = above.count("\n") + 1
    return first, first + len(split(text)) - 1


def _changed(attachment: Row) -> Iterator[Event]:
    """The client's word that a file changed shows hunks with the numbers they had before. So only
    the first one's are true of the file as it is."""
    path, snippet = attachment.get("filename"), attachment.get("snippet")
    if not isinstance(path, str) or not isinstance(snippet, str):
        return
    texts: list[str] = []
    first = 0
    for line in snippet.split("\n"):
        number, tab, text = line.partition("\t")
        if not (tab and number.isdecimal()) or (texts and int(number) != first + len(texts)):
            break
        first = first if texts else int(number)
        texts.append(f"{text}\n")
    if texts and first:
        yield Shown(path, (first, first + len(texts) - 1), "".join(texts), "notice")


def _result(row: Row) -> list[Event]:
    """What the answer of a tool showed or wrote, as far as its agent has seen the text."""
    told = row.get("toolUseResult")
    if not isinstance(told, dict):
        return []
    try:
        return written(told) if "structuredPatch" in told else list(_texts(told, "read"))
    except ValueError:
        return []


_KINDS: Mapping[str, Callable[[Row], Iterator[Event]]] = {
    "file": _file,
    "nested_memory": _memory,
    "instructions": _instructions,
    "edited_text_file": _changed,
}


def written(told: Told) -> list[Event]:
    """The result of a Write or an Edit as what its agent has seen by it. ValueError."""
    path, content = needed(told, "filePath"), optional(told, "content")
    if content is not None:
        return [Shown(path, None, content, "edit")]
    text = after(optional(told, "originalFile") or "", told)
    if text is None:
        return []
    lines = split(unmarked(text))
    return [
        Shown(path, (first, last), "".join(lines[first - 1 : last]), "edit")
        for hunk in told["structuredPatch"]
        for first, last in _added(hunk["newStart"], hunk["lines"])
    ]


def _added(at: int, lines: list[str]) -> Iterator[Span]:
    """The runs of new lines of a hunk whose new side begins at line `at`."""
    first = None
    for line in [*lines, ""]:
        if line.startswith("+"):
            first = at if first is None else first
        elif first is not None:
            yield first, at - 1
            first = None
        at += line[:1] in ("+", " ")
