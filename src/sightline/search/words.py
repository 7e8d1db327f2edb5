"""Words for found files, listings and statistics."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from sightline.model.path import quoted
from sightline.search.chains import FindResult
from sightline.search.listing import DirectoryListing, Entry
from sightline.search.stats import Stats
from sightline.text.phrases import count, joined, named, size, table
from sightline.text.printable import one_line

HIDDEN = "it is there, and an ignore file keeps it out of lists; it can be read by its path"
FOLDER = "a folder, not a file"
LINKED = "the file that the path leads to"
"""Reasons why a search does not list an existing path."""


def find_text(result: FindResult) -> str:
    """Return the whole answer: a path to a line, and remarks."""
    if result.matches:
        lines = [*map(one_line, result.matches)]
        if result.truncated:
            shown, total = len(result.matches), result.total
            lines.append(
                f"({shown:,} of {total:,} shown; name a folder, or a longer part of the name)"
            )
        if result.tried > 1:
            lines.append(f"(found by {one_line(result.pattern or '')}; nothing matched before it)")
        return "\n".join(lines)
    lines = [_no_match(result)]
    if result.candidates:
        lines.append("Did you mean:")
    lines += [f"  {quoted(guess.path)} ({one_line(guess.reason)})" for guess in result.candidates]
    if result.fallback == "create_new" and result.create is not None:
        path = result.create
        lines.append(f"If you mean a new file, create {quoted(path)}. Nothing was created.")
    elif result.fallback == "ask_user":
        needed = "It is required. " if result.request.required else ""
        lines.append(f"{needed}Ask the user: {result.question}")
    else:
        lines.append("Go on without the file, or try a broader pattern, such as '**/*.py'.")
    return "\n".join(lines)


def question(result: FindResult) -> str:
    """Return the question for a host's user; the candidates are the choices."""
    request = result.request
    name = one_line(request.name or " or ".join(request.patterns))
    where = f"Which file is {name}?" if result.candidates else f"Where is {name}?"
    why = f" It is needed for: {one_line(request.reason)}." if request.reason else ""
    return f"{where}{why} {_no_match(result)}"


def _no_match(result: FindResult) -> str:
    patterns = [one_line(text) for text in result.request.patterns[: result.tried]]
    answer = f"No file matches {joined(patterns, 'or')}." if patterns else "No file was found."
    untried = len(result.request.patterns) - result.tried
    if untried:
        return f"{answer} Time ran out before {count(untried, 'more pattern')} could be tried."
    if result.timed_out:
        return f"{answer} Time ran out before similar names could be searched."
    return answer


CLOSED_NAMED = 5
"""Folders that could not be listed and are named."""


def listing(result: DirectoryListing) -> str:
    """Return the whole listing: an entry to a line, folders ending in "/", and what is left out."""
    return "\n".join([*map(_entry, result.entries), *_remarks(result)])


def requested_listing(result: DirectoryListing) -> str:
    """Return a listing with a heading, for delivery in a later turn."""
    folder = "." if result.path == "." else f"{result.path}/"
    matching = "" if result.filter is None else f", {one_line(result.filter)}"
    return f"The listing of {quoted(folder)}{matching} that you asked for:\n{listing(result)}"


def unlisted(folder: str, why: str) -> str:
    """Return the reason why a requested listing failed."""
    return f"{quoted(folder)} is not listed, as you asked: {one_line(why)}"


def _entry(entry: Entry) -> str:
    name = quoted(entry.path)
    if entry.kind == "folder":
        return f"{name}/"
    if entry.kind == "file":
        return f"{name}  {size(entry.size or 0)}"
    return f"{name}  ({'symlink' if entry.kind == 'symlink' else 'no file'})"


def _remarks(result: DirectoryListing) -> Iterator[str]:
    if not result.entries:
        folder = f"{result.path}/"
        if result.filter is None:
            yield f"{quoted(folder)} holds nothing that is not ignored."
        else:
            yield f"Nothing in {quoted(folder)} matches {one_line(result.filter)}."
    if result.left_out:
        yield (
            f"({result.left_out} more left out: at most {result.limit} are listed. List a folder "
            "below, narrow by a filter, or raise the limit.)"
        )
    if result.deeper:
        files, levels = count(result.deeper, "file"), count(result.depth, "level")
        yield f"({files} deeper than {levels}: list a folder below, or raise the depth.)"
    if result.closed:
        closed = named([quoted(folder) for folder in result.closed], CLOSED_NAMED)
        yield f"(could not be listed: {closed}. Check who may read them.)"
    if result.ignored:
        yield f"({result.ignored} ignored)"


HEAD = ("PATTERN", "TRIED", "FOUND FIRST", "FURTHER DOWN", "BY A GUESS", "NOT FOUND")

NAMES = {
    "path": "a path",
    "name": "a name in any folder",
    "ending": "all of an ending",
    "glob": "any other glob",
    "outside": "outside the workspace",
}
"""Kind of pattern -> words for a person."""


def text(stats: Stats) -> str:
    """Return the statistics as text; an empty text without a search."""
    find, total = stats.find, stats.find.searches
    if not total.asked:
        return ""
    many = "1 search" if total.asked == 1 else f"{total.asked:,} searches"
    late = f" Time ran out in {find.timed_out:,}." if find.timed_out else ""
    rows = [(NAMES[row.kind], *(f"{n:,}" for n in structs.astuple(row)[:5])) for row in find.kinds]
    searches = (
        f"{many} for files: {total.found_first:,} by their first pattern, "
        f"{total.found_further:,} by a later one, {total.helped:,} by a guess that was read next; "
        f"{total.not_found:,} found nothing.{late}"
    )
    lines = [searches, "", *table([HEAD, *rows])]
    if find.failing:
        lines += ["", "Most often matched nothing:"]
        lines += [
            f"  {one_line(each.pattern)} ({count(each.times, 'time')})" for each in find.failing
        ]
    return "\n".join(lines)
