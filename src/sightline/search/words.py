"""What was found by a chain of patterns, in words for a model or a person, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from sightline.search.chains import FindResult
from sightline.search.listing import DirectoryListing, Entry
from sightline.search.stats import FindStats, Stats, Tally
from sightline.text.phrases import count, joined, named, one_line, size, table

HIDDEN = "it is there, and an ignore file keeps it out of lists; it can be read by its path"
FOLDER = "a folder, not a file"
LINKED = "the file that the path leads to"
"""Why a path that was named is not found."""


def found(result: FindResult) -> str:
    """The whole answer: paths one to a line, and what else is to be known."""
    if result.matches:
        lines = [*map(one_line, result.matches), *_more(result)]
        if result.tried > 1:
            lines.append(f"(found by {one_line(result.pattern or '')}; nothing matched before it)")
        return "\n".join(lines)
    lines = [_nothing(result)]
    if result.candidates:
        lines.append("Did you mean:")
        lines += [
            f"  {one_line(each.path)} ({one_line(each.reason)})" for each in result.candidates
        ]
    return "\n".join([*lines, *_next(result)])


def question(result: FindResult) -> str:
    """What a host can ask its user; the candidates are the choices."""
    request = result.request
    what = one_line(request.name or " or ".join(request.patterns))
    asked = f"Which file is {what}?" if result.candidates else f"Where is {what}?"
    why = f" It is needed for: {one_line(request.reason)}." if request.reason else ""
    return f"{asked}{why} {_nothing(result)}"


def find_json(result: FindResult) -> dict[str, Any]:
    """For programs."""
    return {
        "schema": 1,
        "matches": list(result.matches),
        "pattern": result.pattern,
        "tried": result.tried,
        "fallback": result.fallback,
        "candidates": [structs.asdict(each) for each in result.candidates],
        "question": result.question or None,
        "create": result.create,
        "truncated": result.truncated,
        "total": result.total,
        "timed_out": result.timed_out,
        "name": result.request.name,
        "reason": result.request.reason,
        "required": result.request.required,
    }


def _more(result: FindResult) -> list[str]:
    if not result.truncated:
        return []
    shown, every = len(result.matches), f"{result.total:,}"
    return [f"({shown:,} of {every} shown; name a folder, or a longer part of the name)"]


def _nothing(result: FindResult) -> str:
    patterns = result.request.patterns[: result.tried]
    said = (
        f"No file matches {joined([one_line(each) for each in patterns], 'or')}."
        if patterns
        else "No file was found."
    )
    left = len(result.request.patterns) - result.tried
    if left:
        return f"{said} Time ran out before {count(left, 'more pattern')} could be tried."
    if result.timed_out:
        return f"{said} Time ran out before like names could be looked for."
    return said


def _next(result: FindResult) -> list[str]:
    """What to do now."""
    if result.fallback == "create_new" and result.create is not None:
        return [f"To be created, if you mean a new file: {one_line(result.create)}. Nothing was."]
    if result.fallback == "ask_user":
        needed = "It is required. " if result.request.required else ""
        return [f"{needed}Ask the user: {result.question}"]
    return ["Go on without it, or ask again by a broader pattern such as **/name*."]


CLOSED_NAMED = 5


def listing(found: DirectoryListing) -> str:
    """The whole answer: an entry to a line, a folder ending in "/", and what is left out."""
    lines = [_entry(each) for each in found.entries] or [_nothing_listed(found)]
    return "\n".join([*lines, *_left_out(found)])


def asked(found: DirectoryListing) -> str:
    """The same as an answer that comes later than the question."""
    where = "." if found.path == "." else f"{one_line(found.path)}/"
    matching = "" if found.filter is None else f", {one_line(found.filter)}"
    return f"The listing of {where}{matching} that you asked for:\n{listing(found)}"


def unlisted(folder: str, why: str) -> str:
    """Why a listing that was asked for was not made."""
    return f"{one_line(folder)} is not listed, as you asked: {one_line(why)}"


def listing_json(found: DirectoryListing) -> dict[str, Any]:
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


def _nothing_listed(found: DirectoryListing) -> str:
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
        closed = named([one_line(each) for each in found.closed], CLOSED_NAMED)
        yield f"(could not be listed: {closed}. Check who may read them.)"
    if found.ignored:
        yield f"({found.ignored} ignored)"


HEAD = ("PATTERN", "TRIED", "FOUND FIRST", "FURTHER DOWN", "BY A GUESS", "NOT FOUND")

NAMES = {
    "path": "a path",
    "name": "a name in any folder",
    "ending": "all of an ending",
    "glob": "any other glob",
    "outside": "outside the workspace",
}
"""Kind of pattern -> what a person calls it."""


def text(found: Stats) -> str:
    """All of it; "" where nothing was looked for yet."""
    find = found.find
    if not find.searches.asked:
        return ""
    rows = [HEAD, *(_row(NAMES[kind], each) for kind, each in find.kinds)]
    lines = [_searches(find), "", *table(rows)]
    if find.failing:
        lines += ["", "Most often matched nothing:"]
        lines += [f"  {one_line(each)} ({count(times, 'time')})" for each, times in find.failing]
    return "\n".join(lines)


def stats_json(found: Stats) -> dict[str, Any]:
    """For programs."""
    find = found.find
    return {
        "schema": 1,
        "find": {
            "searches": structs.asdict(find.searches),
            "kinds": [{"kind": kind, **structs.asdict(each)} for kind, each in find.kinds],
            "timed_out": find.timed_out,
            "failing": [{"pattern": each, "times": times} for each, times in find.failing],
        },
    }


def _searches(find: FindStats) -> str:
    each = find.searches
    ends = [
        (each.found_first, "by their first pattern"),
        (each.found_further, "by a later one"),
        (each.helped, "by a guess that was read next"),
    ]
    found = ", ".join(f"{number:,} {how}" for number, how in ends)
    many = "1 search" if each.asked == 1 else f"{each.asked:,} searches"
    said = f"{many} for files: {found}; {each.not_found:,} found nothing."
    late = f" Time ran out in {find.timed_out:,}." if find.timed_out else ""
    return said + late


def _row(name: str, each: Tally) -> tuple[str, ...]:
    return name, *(f"{number:,}" for number in structs.astuple(each))
