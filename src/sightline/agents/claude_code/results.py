"""What Claude Code's tools answered: what was shown, what was written."""

from __future__ import annotations

from sightline.agents.claude_code.fields import checked, flag, needed, optional
from sightline.services.attend import Failed, Shown, Wrote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from sightline.services.attend import Event

    Given = Mapping[str, Any]


def result(tool: str, given: Given, response: Any, call: str, cwd: str) -> list[Event]:
    """What the answer of a tool tells; nothing for tools that touch no file. ValueError."""
    if tool == "Read":
        return read(response)
    if tool == "Grep":
        from sightline.agents.claude_code.searches import searched

        return list(searched(given, response, cwd))
    told = response if isinstance(response, dict) else None
    if tool in ("Edit", "MultiEdit", "Write"):
        return [wrote(tool, needed(given, "file_path"), call, told)]
    if tool == "NotebookEdit":
        return [_notebook(needed(given, "notebook_path"), call, told)]
    return []


def read(response: Any, via: str = "read") -> list[Event]:
    """What a Read showed. Images and pages of a PDF are no text."""
    file = response.get("file") if isinstance(response, dict) else None
    if not isinstance(file, dict):
        return []
    kind = response.get("type")
    if kind == "notebook":
        return [Shown(needed(file, "filePath"), via="notebook")]
    return _text(needed(file, "filePath"), file, via) if kind == "text" else []


def _text(path: str, file: Given, via: str) -> list[Event]:
    """The client counts the end of a text as a line of its own when a newline stands before it,
    and leaves the newline off the last line it shows when more come after."""
    content = needed(file, "content")
    first, shown, total = (
        _number(file, field) for field in ("startLine", "numLines", "totalLines")
    )
    first = max(first, 1)  # it says 0 for an offset of 0
    if not shown:
        return []
    ends = first + shown > total
    if flag(file, "truncatedByTokenCap"):
        content, newline, _ = content.rpartition("\n")  # the last line may be cut anywhere
        content += newline
        ends = False
    elif not ends:
        content += "\n"
    if first == 1 and ends:
        return [Shown(path, None, content, via)]
    count = content.count("\n") + (content[-1:] not in ("", "\n"))
    return [Shown(path, (first, first + count - 1), content, via)] if count else []


def _number(file: Given, field: str) -> int:
    value: int = checked(file.get(field), int, field)
    return value


def wrote(tool: str, path: str, call: str, told: Given | None) -> Wrote:
    """What an edit found and left, as far as the client says so."""
    if told is None:
        return Wrote(path, call, known_before=False)
    before, by_user = optional(told, "originalFile"), flag(told, "userModified")
    made = Wrote(path, call, before, before is not None, user_modified=by_user)
    if tool == "Write":
        content, created = optional(told, "content"), told.get("type") == "create"
        known = made.known_before or created
        return made.replace(known_before=known, content=content, whole=content is not None)
    if before == "":  # of an empty file, and of none
        content = optional(told, "newString")
        gone = made.replace(before=None, known_before=False)
        return gone.replace(content=content, whole=content is not None)
    if before is None:  # too large to be told
        return made
    from sightline.agents.claude_code.patches import after

    return made.replace(content=after(before, told))


def _notebook(path: str, call: str, told: Given | None) -> Event:
    if told is None:
        return Wrote(path, call, known_before=False)
    if error := optional(told, "error"):
        return Failed(path, call, why=error)
    before = optional(told, "original_file")
    return Wrote(path, call, before, before is not None, optional(told, "updated_file"))
