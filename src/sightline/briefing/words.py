"""Words of a briefing: the memory block within a budget, the bundle, the mentions, the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, structs

from sightline.briefing.contents import Bundle, Held, Memory, Stale, Work
from sightline.briefing.git_summary import ShownChanges
from sightline.briefing.mention_parser import Mention, put
from sightline.briefing.mentions import Mentioned, Resolved, ShownFile
from sightline.briefing.registry import Entry, Registry
from sightline.conversation.todos import Todo
from sightline.filesystem.git.show import Touched
from sightline.model.results import ChangedBy
from sightline.notices.words import summary
from sightline.search.listing import DirectoryListing
from sightline.search.words import listing, listing_json
from sightline.text.line_numbers import numbered, short
from sightline.text.phrases import count, named, one_line, size, spans, table
from sightline.text.terminal_cells import middle
from sightline.text.tokens import Family, estimate

LEAST = 150
"""Tokens that a block needs to say anything."""

RESERVE = 60
"""Tokens kept for the line that says what was left out."""

GROUPED = 30
ON_A_LINE = 8
"""From how many changed files on they are told by folder, and how many on each line."""

TODO_CHARACTERS = 240
PATH_CELLS = 200

HEADING = "Where this session stands, from its record and from the files as they are on disk now:"


class Section(Struct, frozen=True):
    """A part of the block. kind: what is left out of it is told by; tells: how many things each
    line tells of, where that is not one."""

    kind: str
    head: str
    lines: tuple[str, ...]
    tells: tuple[int, ...] = ()

    def weight(self, numbers: set[int]) -> int:
        """How many things the lines tell of that are not among these."""
        rest = [n for n in range(len(self.lines)) if n not in numbers]
        return sum(self.tells[n] for n in rest) if self.tells else len(rest)


class Block(Struct, frozen=True):
    """The block as it is given. left_out: lines for which there was no room, by kind."""

    text: str
    tokens: int
    left_out: tuple[tuple[str, int], ...]


def block(told: Memory, budget: int, family: Family = "o200k") -> Block:
    """What was going on, in at most so many tokens; "" where there is nothing to tell."""
    sections = [each for each in _sections(told) if each.lines]
    if not sections:
        return Block("", 0, ())
    chosen = _chosen(sections, budget, family)
    while True:
        made = _made(told, sections, chosen)
        tokens = estimate(made, family)
        if tokens <= budget or not chosen:
            return Block(made, tokens, tuple(_left(sections, chosen)))
        chosen.pop()


def _sections(told: Memory) -> Iterator[Section]:
    """In the order in which they stand. What was asked comes first, files behind it."""
    asked = (told.request,) if told.request else ()
    yield Section("request", "The user asked last:", asked)
    yield Section("pending", f"To do, {len(told.pending)} open:", tuple(map(_todo, told.pending)))
    again = "Not what you were shown any more; read again before you rely on it:"
    yield Section("refresh", again, tuple(map(_stale, told.refresh)))
    yield _changed(told.changed)
    done = f"Done ({len(told.done)} of {told.done_count}, the last ones):"
    if told.done_count == len(told.done):
        done = "Done:"
    yield Section("done", done, tuple(beginning(d.text, TODO_CHARACTERS) for d in told.done))
    answer = (told.result,) if told.result else ()
    yield Section("result", "Your last answer ended:", answer)
    held = tuple(map(_held, told.working))
    yield Section("working", "Files you had at hand, the last one first:", held)


def _todo(each: Todo) -> str:
    now = "now: " if each.state == "doing" else ""
    return f"{now}{beginning(each.text, TODO_CHARACTERS)}"


def _stale(each: Stale) -> str:
    to = None if each.moved_to is None else _path(each.moved_to)
    return summary(_path(each.path), each.what, one_line(each.by), to)


def _work(each: Work) -> str:
    where = f" (from {_path(each.src)})" if each.src else ""
    return f"{each.deed} {_path(each.path)}{where}"


def _changed(made: Sequence[Work]) -> Section:
    """A line for each file; of very many a line for those of one folder."""
    if len(made) <= GROUPED:
        return Section("changed", "Changed by you:", tuple(map(_work, made)))
    folders: dict[tuple[str, str], list[str]] = {}
    lines = [(_work(each), 1) for each in made if each.src]
    for each in (each for each in made if not each.src):
        folder, _, name = one_line(each.path).rpartition("/")
        folders.setdefault((each.deed, folder), []).append(name)
    for (deed, folder), names in folders.items():
        for few in (names[n : n + ON_A_LINE] for n in range(0, len(names), ON_A_LINE)):
            where = f"in {folder}/: " if folder else ""
            lines.append(
                (f"{deed} {where}{', '.join(middle(n, PATH_CELLS) for n in few)}", len(few))
            )
    texts, tells = zip(*lines, strict=True)
    return Section("changed", "Changed by you:", texts, tells)


def _held(each: Held) -> str:
    whole = each.lines == ((1, each.total),) or not each.total
    return f"{_path(each.path)}{'' if whole else f' ({spans(each.lines)} of {each.total})'}"


def _path(path: str) -> str:
    return middle(one_line(path), PATH_CELLS)


FIRST = ("pending", "refresh", "changed")
THEN = ("request", "result", "done", "working")
"""What is told for certain, and what there is room for behind it, in this order."""


def _chosen(sections: Sequence[Section], budget: int, family: Family) -> list[tuple[str, int]]:
    """The lines that fit, the most important first: by kind and number."""
    named = {each.kind: each for each in sections}
    room = budget - RESERVE - estimate(HEADING, family)
    chosen: list[tuple[str, int]] = []
    begun: set[str] = set()
    for kind, number in _ranked(named):
        cost = estimate(f"- {named[kind].lines[number]}\n", family)
        if kind not in begun:
            cost += estimate(f"{named[kind].head}\n", family)
        room -= cost
        if room < 0:
            break
        begun.add(kind)
        chosen.append((kind, number))
    return chosen


def _ranked(named: dict[str, Section]) -> Iterator[tuple[str, int]]:
    """Of what must stand a line of each in turn, so that no list takes the room of the others."""
    must = [named[kind] for kind in FIRST if kind in named]
    for number in range(max((len(each.lines) for each in must), default=0)):
        yield from ((each.kind, number) for each in must if number < len(each.lines))
    for kind in THEN:
        lines = named[kind].lines if kind in named else ()
        numbers = range(len(lines))
        yield from ((kind, n) for n in (reversed(numbers) if kind == "done" else numbers))


def _made(told: Memory, sections: Sequence[Section], chosen: Sequence[tuple[str, int]]) -> str:
    lines = [HEADING]
    here = set(chosen)
    for each in sections:
        said = [line for n, line in enumerate(each.lines) if (each.kind, n) in here]
        if said:
            lines += [each.head, *(f"- {line}" for line in said)]
    left = _left(sections, chosen)
    if left:
        lines.append(f"Left out for room: {', '.join(_gone(*each) for each in left)}.")
    if told.unread:
        many = count(told.unread, "message")
        lines.append(f"Of the conversation, {many} cannot be read: to-dos may be missing.")
    return "\n".join(lines)


def _left(sections: Sequence[Section], chosen: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    stands = {each.kind: {n for kind, n in chosen if kind == each.kind} for each in sections}
    gone = ((each.kind, each.weight(stands[each.kind])) for each in sections)
    return [each for each in gone if each[1]]


def _gone(kind: str, number: int) -> str:
    nouns = {
        "pending": "open to-do",
        "refresh": "file to read again",
        "changed": "file changed by you",
        "done": "done to-do",
        "working": "file at hand",
        "request": "request",
        "result": "answer",
    }
    if kind in ("refresh", "changed", "working"):
        return count(number, "file") + nouns[kind].removeprefix("file")
    return count(number, nouns[kind])


def beginning(text: str, room: int) -> str:
    """The first so many characters of a text, on one line."""
    said = one_line(" ".join(text[: 8 * room].split()))
    cut = len(said) > room or len(text) > 8 * room
    return f"{said[: room - 1].rstrip()}…" if cut else said


def ending(text: str, room: int) -> str:
    """The last so many characters of a text, on one line."""
    said = one_line(" ".join(text[-8 * room :].split()))
    cut = len(said) > room or len(text) > 8 * room
    return f"…{said[-(room - 1) :].lstrip()}" if cut else said


NAMED = 3
"""Edited files, and reasons of one file, that are named."""


def reason(edited: str, why: str) -> str:
    """Why a file belongs to an edited one."""
    return f"{why} ({edited})"


def bundle(told: Bundle) -> str:
    """All of it."""
    return "\n".join(_bundle_lines(told))


def _bundle_lines(told: Bundle) -> Iterator[str]:
    yield f"Files that belong to what you edited ({named([one_line(path) for path in told.edited], NAMED)}), which you have not read as they are now:"
    for each in told.files:
        why = "; ".join(map(one_line, each.why[:NAMED]))
        yield f"{one_line(each.path)}, {count(each.lines, 'line')}, revision {short(each.revision)}: {why}"
        yield from numbered(each.text) if each.text is not None else ()
    if told.left_out:
        yield f"({count(told.left_out, 'more file')} left out.)"
    if told.unread:
        yield f"({count(told.unread, 'source')} not looked at yet for imports.)"


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

FILES_NAMED = 10
"""Files of a folder that are named for one reason."""

SILENT = ("host", "word")
"""What a model is told nothing of: it is the application's, or nothing at all."""


def blocks(mentioned: Mentioned) -> tuple[str, ...]:
    """Return one text for each mention that the model hears of, and one for the mentions that had
    no room."""
    found = [each for each in mentioned.found if each.state not in SILENT]
    told = ["".join(f"{line}\n" for line in _lines(each)) for each in found]
    if mentioned.left_out:
        more = count(mentioned.left_out, "further mention")
        told.append(f"Not looked at, there were too many: {more}. Read what you need of them.\n")
    return tuple(told)


def prompt(mentioned: Mentioned) -> str:
    """The user's text, with what is shown named as it is called: '@/src/a.py' becomes
    'src/a.py' (shown below). All else stands as it was written."""
    shown = {each.mention.same: each for each in mentioned.found if each.state == "shown"}

    def words(mention: Mention) -> str | None:
        each = shown.get(mention.same)
        return None if each is None else f"'{_called(each)}' (shown below)"

    return put(mentioned.text, words)


def mentions_json(mentioned: Mentioned) -> dict[str, Any]:
    """The same for programs."""
    found = [_json(each) for each in mentioned.found]
    return {"schema": 1, "mentions": found, "left_out": mentioned.left_out}


def _lines(each: Resolved) -> Iterator[str]:
    if each.state != "shown":
        yield f"{one_line(each.mention.value)} is not shown: {one_line(each.why)}"
        for near in each.candidates:
            yield f"  perhaps {one_line(near.path)} ({near.reason})"
    elif each.changes is not None:
        yield from _changes(each.changes)
    elif each.folder is not None:
        yield from _folder(each, each.folder)
    else:
        for file in each.files:
            yield from _file(file, each.mention.lines)


def _called(each: Resolved) -> str:
    if each.changes is not None:
        made = each.changes.commit
        return "changes not committed yet" if made is None else f"commit {short(made.id)}"
    if each.folder is not None:
        return "./" if each.folder.path == "." else f"{one_line(each.folder.path)}/"
    lines = each.mention.lines
    at = "" if lines is None else f", {spans((lines,))}"
    return one_line(each.files[0].path) + at


def _file(file: ShownFile, asked: tuple[int, int] | None) -> Iterator[str]:
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


def _part(file: ShownFile) -> str:
    if not file.total_lines:
        return "an empty file"
    if file.lines == (1, file.total_lines):
        return f"whole, {count(file.total_lines, 'line')}"
    return f"{spans((file.lines,))} of {file.total_lines}"


def _folder(each: Resolved, folder: DirectoryListing) -> Iterator[str]:
    yield f"{_called(each)}, a folder:"
    yield from listing(folder).split("\n")
    for file in each.files:
        if file.state != "none":
            yield ""
            yield from _file(file, None)
    yield from _unshown([file for file in each.files if file.state == "none"])


def _unshown(files: Sequence[ShownFile]) -> Iterator[str]:
    """Those of a folder of which no line is shown, once for each reason."""
    for why in dict.fromkeys(_reason(file) for file in files):
        paths = [one_line(file.path) for file in files if _reason(file) == why]
        yield f"Not shown: {named(paths, FILES_NAMED)}: {why}"


def _reason(file: ShownFile) -> str:
    return one_line(file.why.removeprefix(f"{file.path} "))


def _changes(held: ShownChanges) -> Iterator[str]:
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


def _touched(each: Touched) -> str:
    said = f"{one_line(each.path)}: {LETTERS.get(each.letter, each.letter)}"
    was = f" from {one_line(each.old)}" if each.old is not None else ""
    lines = f", +{each.added} -{each.removed}" if each.added is not None else ""
    return said + was + lines


def _json(each: Resolved) -> dict[str, Any]:
    mention, held, git = each.mention, each.folder, each.changes
    said: dict[str, Any] = {**structs.asdict(mention), "state": each.state, "why": each.why}
    said["files"] = [structs.asdict(file) for file in each.files]
    said["folder"] = None if held is None else listing_json(held)
    said["changes"] = None if git is None else _git_json(git)
    said["candidates"] = [structs.asdict(near) for near in each.candidates]
    return said


def _git_json(git: ShownChanges) -> dict[str, Any]:
    said = structs.asdict(git)
    said["commit"] = None if git.commit is None else structs.asdict(git.commit)
    said["files"] = [structs.asdict(touched) for touched in git.files]
    return said


TABLE_PATH_CELLS = 80
CHANGES_NAMED = 3
"""Changes of each file that the table names."""

DIGITS = 8
"""Of a revision, enough for a reader to tell two of one file apart."""

HEAD = ("file", "state", "seen", "size", "turns ago", "seen as", "now", "changes, newest first")


def lines(told: Registry) -> list[str]:
    """The table, and what is not in it."""
    if not told.entries:
        return ["No file was shown to this session yet."]
    rows = table([HEAD, *map(_row, told.entries)])
    if told.left_out:
        rows.append(f"{count(told.left_out, 'more file')} of {told.known} known ({told.rule}).")
    return rows


def _row(entry: Entry) -> tuple[str, ...]:
    same = entry.revision == entry.revision_seen
    return (
        middle(one_line(entry.path), TABLE_PATH_CELLS),
        entry.state,
        _seen(entry),
        size(entry.size),
        str(entry.aged),
        _short(entry.revision_seen),
        "=" if same else _short(entry.revision),
        _change_words(entry),
    )


def _seen(entry: Entry) -> str:
    """How much of it was shown, and by what."""
    whole = entry.seen_lines == ((1, entry.total_lines),) or not entry.total_lines
    much = "all" if whole else f"{spans(entry.seen_lines)} of {entry.total_lines}"
    return one_line(much if entry.last_via == "read" else f"{much}, by {entry.last_via}")


def _short(revision: str) -> str:
    return revision.rpartition(":")[2][:DIGITS]


def _change_words(entry: Entry) -> str:
    newest = [
        f"{each.what} by {_who(each.by)}" for each in reversed(entry.changes[-CHANGES_NAMED:])
    ]
    more = entry.change_count - len(newest)
    said = ", ".join(newest) or "none"
    return one_line(f"{said} and {more} earlier" if more > 0 else said)


def _who(by: ChangedBy | None) -> str:
    if by is None:
        return "somebody"
    words = {"agent": "you", "external": "somebody", "session": f"session {by.who}"}
    return words.get(by.kind, by.kind)


def registry_json(told: Registry) -> dict[str, Any]:
    """All of it as JSON has it: times in ISO 8601, revisions whole."""
    found: dict[str, Any] = _plain(told)
    return {"schema": 1, **found}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Struct):
        return {name: _plain(each) for name, each in structs.asdict(value).items()}
    return value.isoformat() if hasattr(value, "isoformat") else value
