"""Attachments of a transcript as the text that the model read of them."""

from __future__ import annotations

from sightline.core.lean import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Attachment = Mapping[str, Any]


def reminder(attachment: Any) -> list[dict[str, Any]]:
    """The parts of a user's message that an attachment makes; none for a kind that is not known,
    or whose text the transcript does not have."""
    if not isinstance(attachment, dict):
        return []
    made = _KINDS.get(str(attachment.get("type")))
    text = None if made is None else made(attachment)
    return [] if text is None else [{"type": "text", "text": text}]


def _aside(text: str) -> str:
    return f"<system-reminder>\n{text}\n</system-reminder>"


def _edited(told: Attachment) -> str | None:
    path, snippet = told.get("filename"), told.get("snippet")
    if not isinstance(path, str) or not isinstance(snippet, str):
        return None
    return _aside(
        f"Note: {path} was modified, either by the user or by a linter. This change was "
        "intentional, so make sure to take it into account as you proceed. Here are the relevant "
        f"changes (shown with line numbers):\n{snippet}"
    )


def _memory(told: Attachment) -> str | None:
    content = told.get("content")
    text = content.get("content") if isinstance(content, dict) else content
    path = told.get("path")
    return _aside(f"Contents of {path}:\n\n{text}") if isinstance(text, str) else None


def _file(told: Attachment) -> str | None:
    """A file that the user mentioned: as if it had been read."""
    content = told.get("content")
    file = content.get("file") if isinstance(content, dict) else None
    if not isinstance(file, dict) or not isinstance(file.get("content"), str):
        return None
    first = file.get("startLine")
    start = first if isinstance(first, int) else 1
    lines = file["content"].split("\n")
    numbered = "\n".join(f"{start + number}\t{line}" for number, line in enumerate(lines))
    asked = dumps({"file_path": file.get("filePath")})
    return _aside(f"Called the Read tool with the following input: {asked}\nResult:\n{numbered}")


def _context(told: Attachment) -> str | None:
    content = told.get("content")
    texts = content if isinstance(content, list) else [content]
    said = "\n".join(text for text in texts if isinstance(text, str))
    return _aside(said) if said else None


def _queued(told: Attachment) -> str | None:
    """What the user typed while the agent was at work."""
    prompt = told.get("prompt")
    return prompt if isinstance(prompt, str) and prompt.strip() else None


_KINDS: Mapping[str, Callable[[Attachment], str | None]] = {
    "edited_text_file": _edited,
    "nested_memory": _memory,
    "file": _file,
    "hook_additional_context": _context,
    "skill_listing": _context,
    "queued_command": _queued,
}
