"""What is in a folder, for a model or a person, and as JSON."""

from __future__ import annotations

from sightline.render import size
from sightline.render.views import count, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sightline.core.listing import DirectoryListing, Entry

CLOSED_NAMED = 5


def listing(found: DirectoryListing) -> str:
    """The whole answer: an entry to a line, a folder ending in "/", and what is left out."""
    lines = [_entry(each) for each in found.entries] or [_nothing(found)]
    return "\n".join([*lines, *_left_out(found)])


def asked(found: DirectoryListing) -> str:
    """The same as an answer that comes later than the question."""
    where = "." if found.path == "." else f"{one_line(found.path)}/"
    matching = "" if found.filter is None else f", {one_line(found.filter)}"
    return f"The listing of {where}{matching} that you asked for:\n{listing(found)}"


def unlisted(folder: str, why: str) -> str:
    """Why a listing that was asked for was not made."""
    return f"{one_line(folder)} is not listed, as you asked: {one_line(why)}"


def as_json(found: DirectoryListing) -> dict[str, Any]:
    """For programs."""
    return {
        "schema": 1,
        "path": found.path,
        "entries": [
            {"path": each.path, "kind": each.kind, "size": each.size} for each in found.entries
        ],
        "folders": found.folders,
        "files": found.files,
        "ignored": found.ignored,
        "left_out": found.left_out,
        "deeper": found.deeper,
        "closed": list(found.closed),
        "depth": found.depth,
        "limit": found.limit,
        "filter": found.filter,
        "complete": found.complete,
    }


def _entry(entry: Entry) -> str:
    name = one_line(entry.path)
    if entry.kind == "folder":
        return f"{name}/"
    if entry.kind == "file":
        return f"{name}  {size(entry.size or 0)}"
    return f"{name}  ({'symlink' if entry.kind == 'symlink' else 'no file'})"


def _nothing(found: DirectoryListing) -> str:
    where = f"{one_line(found.path)}/"
    if found.filter is None:
        return f"{where} holds nothing that is not ignored."
    return f"Nothing in {where} matches {one_line(found.filter)}."


def _left_out(found: DirectoryListing) -> Iterator[str]:
    if found.left_out:
        yield (
            f"({found.left_out} more left out: at most {found.limit} are listed. List a folder "
            "below, narrow by a filter, or raise the limit.)"
        )
    if found.deeper:
        files = count(found.deeper, "file")
        levels = count(found.depth, "level")
        yield f"({files} deeper than {levels}: list a folder below, or raise the depth.)"
    if found.closed:
        named = ", ".join(map(one_line, found.closed[:CLOSED_NAMED]))
        more = len(found.closed) - CLOSED_NAMED
        rest = f" and {more} more" if more > 0 else ""
        yield f"(could not be listed: {named}{rest}. Check who may read them.)"
    if found.ignored:
        yield f"({found.ignored} ignored)"
