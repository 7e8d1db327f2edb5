"""Related files as text for a person or a model."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.codegraph.related_files import Related, RelatedFile
from sightline.model.path import quoted
from sightline.text.phrases import size
from sightline.text.printable import one_line


def text(found: Related) -> str:
    """One file a line, the closest first, with why; then what is not in the answer."""
    lines = [f"Related to {quoted(found.path)}:", *map(_line, found)]
    if not len(found):
        more = " that fits the limits" if found.left_out else ""
        lines = [f"No other file is related to {quoted(found.path)}{more}."]
    return "\n".join([*lines, *_notes(found)])


def _line(file: RelatedFile) -> str:
    why = one_line("; ".join(file.why))
    return (
        f"  {quoted(file.path)} ({size(file.size)}, about {file.tokens_estimate:,} tokens): {why}"
    )


def _notes(found: Related) -> Iterator[str]:
    if found.left_out:
        is_more = _counted(found.left_out, "more file is", "more files are")
        yield f"{is_more} related but did not fit. Ask with a higher limit to see them."
    if found.unread:
        of = _counted(found.sources, "source", "sources")
        looked_at = f"There was time to look at {found.sources - found.unread:,} of {of}"
        yield f"{looked_at}, so importers may be missing. Ask again to go on."
    if found.unreadable:
        cannot = _counted(found.unreadable, "source", "sources")
        their = "its" if found.unreadable == 1 else "their"
        yield f"{cannot} cannot be read now, so {their} imports are not known."
    if found.too_large:
        are = _counted(found.too_large, "source is", "sources are")
        yield f"{are} too large to be read for imports."
    if found.unkept:
        why = one_line(found.unkept)
        yield f"The imports could not be stored, so the next command reads all sources again: {why}."


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
