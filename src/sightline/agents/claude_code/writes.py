"""What the agent of a transcript knows of the text its edits left: the lines it wrote itself."""

from __future__ import annotations

from sightline.agents.claude_code.fields import needed, optional
from sightline.agents.claude_code.patches import after
from sightline.core.text import split, unmarked
from sightline.services.attend import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from sightline.core.regions import Span
    from sightline.services.attend import Event

    Told = Mapping[str, Any]


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
