"""What a user's text mentions, as blocks for the model and as JSON."""

from __future__ import annotations

from sightline.core.mentioning import put
from sightline.render import spans
from sightline.render.listing import as_json as listing_json
from sightline.render.listing import listing
from sightline.render.numbered import numbered, short
from sightline.render.views import count, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sightline.core.mentioning import Mention

LETTERS = {
    "A": "added",
    "D": "deleted",
    "M": "changed",
    "R": "renamed",
    "C": "copied",
    "T": "of another kind",
    "U": "in conflict",
    "?": "not tracked",
}

NAMED = 10
"""Files of a folder that are named for one reason."""

SILENT = ("host", "word")
"""What a model is told nothing of: it is the application's, or nothing at all."""


def blocks(mentioned: Any) -> tuple[str, ...]:
    """One text for each mention that the model is told something of, and one for what there was no
    room for. mentioned: services.mentioning.Mentioned."""
    told = [_block(each) for each in mentioned.found if each.state not in SILENT]
    if mentioned.left_out:
        more = count(mentioned.left_out, "further mention")
        told.append(f"Not looked at, there were too many: {more}. Read what you need of them.\n")
    return tuple(told)


def prompt(mentioned: Any) -> str:
    """The user's text, with what is shown named as it is called: '@/src/a.py' becomes
    'src/a.py' (shown below). All else stands as it was written."""
    shown = {each.mention.same: each for each in mentioned.found if each.state == "shown"}

    def words(mention: Mention) -> str | None:
        each = shown.get(mention.same)
        return None if each is None else f"'{_called(each)}' (shown below)"

    return put(mentioned.text, words)


def as_json(mentioned: Any) -> dict[str, Any]:
    """The same for programs."""
    found = [_json(each) for each in mentioned.found]
    return {"schema": 1, "mentions": found, "left_out": mentioned.left_out}


def _block(each: Any) -> str:
    return "".join(line + "\n" for line in _lines(each))


def _lines(each: Any) -> Iterator[str]:
    if each.state != "shown":
        yield f"{one_line(each.mention.value)} is not shown: {one_line(each.why)}"
        for near in each.candidates:
            yield f"  perhaps {one_line(near.path)} ({near.reason})"
    elif each.changes is not None:
        yield from _changes(each.changes)
    elif each.folder is not None:
        yield from _folder(each)
    else:
        for file in each.files:
            yield from _file(file, each.mention.lines)


def _called(each: Any) -> str:
    if each.changes is not None:
        made = each.changes.commit
        return "changes not committed yet" if made is None else f"commit {short(made.id)}"
    if each.folder is not None:
        return "./" if each.folder.path == "." else f"{one_line(each.folder.path)}/"
    return one_line(each.files[0].path) + _at(each.mention.lines)


def _at(lines: tuple[int, int] | None) -> str:
    return "" if lines is None else f", {spans((lines,))}"


def _file(file: Any, asked: tuple[int, int] | None) -> Iterator[str]:
    path = one_line(file.path)
    if file.state == "none":
        yield f"{path} is not shown: {one_line(file.why)}"
        return
    first, last = file.lines
    yield f"{path}, {_part(file)}, revision {short(file.revision)}:"
    yield from numbered(file.text, first) if last else ()
    wanted = min(asked[1], file.total_lines) if asked is not None else file.total_lines
    if last < wanted:
        yield f"({spans(((last + 1, wanted),))} not shown: read them if you need them)"


def _part(file: Any) -> str:
    if not file.total_lines:
        return "an empty file"
    if file.lines == (1, file.total_lines):
        return f"whole, {count(file.total_lines, 'line')}"
    return f"{spans((file.lines,))} of {file.total_lines}"


def _folder(each: Any) -> Iterator[str]:
    yield f"{_called(each)}, a folder:"
    yield from listing(each.folder).split("\n")
    for file in each.files:
        if file.state != "none":
            yield ""
            yield from _file(file, None)
    yield from _unshown([file for file in each.files if file.state == "none"])


def _unshown(files: Sequence[Any]) -> Iterator[str]:
    """Those of a folder of which no line is shown, once for each reason."""
    for why in dict.fromkeys(_reason(file) for file in files):
        paths = [one_line(file.path) for file in files if _reason(file) == why]
        more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
        yield f"Not shown: {', '.join(paths[:NAMED])}{more}: {why}"


def _reason(file: Any) -> str:
    return one_line(file.why.removeprefix(f"{file.path} "))


def _changes(held: Any) -> Iterator[str]:
    made = held.commit
    if made is None:
        yield f"Changes not committed yet: {count(len(held.files), 'file')}"
    else:
        of = " (a merge: against its first parent)" if made.parents > 1 else ""
        yield f"Commit {made.id} by {one_line(made.author)}, {made.at}{of}"
        yield from (f"    {row}" for row in made.message.split("\n"))
        yield f"It changes {count(len(held.files), 'file')} of this workspace"
    yield from (f"  {_touched(each)}" for each in held.files)
    if held.more:
        yield "  and more: ask git for them"
    if held.withheld:
        yield f"  and {count(held.withheld, 'file')} that this session may not see"
    yield from held.patch.removesuffix("\n").split("\n") if held.patch else ()
    if held.cut:
        yield "(the patch goes on: ask git for the files you need)"


def _touched(each: Any) -> str:
    said = f"{one_line(each.path)}: {LETTERS.get(each.letter, each.letter)}"
    was = f" from {one_line(each.old)}" if each.old is not None else ""
    lines = f", +{each.added} -{each.removed}" if each.added is not None else ""
    return said + was + lines


def _json(each: Any) -> dict[str, Any]:
    mention, held, git = each.mention, each.folder, each.changes
    said: dict[str, Any] = {**dict(mention.items()), "state": each.state, "why": each.why}
    said["files"] = [dict(file.items()) for file in each.files]
    said["folder"] = None if held is None else listing_json(held)
    said["changes"] = None if git is None else _git_json(git)
    said["candidates"] = [dict(near.items()) for near in each.candidates]
    return said


def _git_json(git: Any) -> dict[str, Any]:
    said = dict(git.items())
    said["commit"] = None if git.commit is None else dict(git.commit.items())
    said["files"] = [dict(touched.items()) for touched in git.files]
    return said
