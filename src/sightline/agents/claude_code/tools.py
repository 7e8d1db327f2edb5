"""What Claude Code's tools are about to do: their input as attempts and commands."""

from __future__ import annotations

from sightline.agents.claude_code.fields import checked, flag, needed, optional
from sightline.core.attempts import Replace, Several, WriteWhole
from sightline.services.attend import CellEdit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from sightline.core.attempts import Attempt

    Input = Mapping[str, Any]
    Target = tuple[str, Attempt | CellEdit]

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
