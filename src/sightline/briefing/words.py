"""Words of a briefing: the memory block within a budget, the bundle, the mentions, the registry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec import Struct

from sightline.briefing.contents import Bundle, BundledFile, Held, Memory, Stale, Work
from sightline.briefing.git_summary import ShownChanges
from sightline.briefing.mentions import Mentioned, Resolved, ShownFile
from sightline.briefing.registry import Entry, Registry
from sightline.errors import fenced
from sightline.filesystem.git.show import Touched
from sightline.model.agent_work import Report, Todo
from sightline.model.path import quoted
from sightline.model.results import ChangedBy
from sightline.notices.words import summary
from sightline.search.listing import DirectoryListing
from sightline.search.words import listing
from sightline.text.causes import NameOf
from sightline.text.phrases import count, joined, named, numbered, short, size, spans, table
from sightline.text.printable import one_line
from sightline.text.terminal_cells import middle
from sightline.text.tokens import Family, estimate

LEAST = 150
"""Tokens of the smallest useful memory block."""

RESERVE = 80
"""Tokens reserved for the lines about left out things and on how to go on."""

GROUPED = 30
ON_A_LINE = 8
"""More than GROUPED changed files are listed by folder, so many names on each line."""

TODO_CHARACTERS = 240
DETAIL_CHARACTERS = 400
TODO_FILES = 5
REPORT_CHARACTERS = 400
PATH_CELLS = 200

HEADING = "Where this session stands{}, from its record and from the files as they are on disk now:"

RESUME = "Go on with the first open to-do. Do not do again what is done."

FIRST = ("pending", "refresh", "changed", "reports")
THEN = ("request", "result", "steps", "done", "working")
"""Sections of the memory block by importance: the first ones in turn, then the others in order."""

NOUNS = {
    "pending": ("open to-do", ""),
    "refresh": ("file", " to read again"),
    "changed": ("file", " changed by you"),
    "done": ("done to-do", ""),
    "working": ("file", " at hand"),
    "request": ("request", ""),
    "result": ("answer", ""),
    "steps": ("next step", ""),
    "reports": ("report", " of your sub-agents"),
}


class Section(Struct, frozen=True):
    """A list in the memory block. kind: a key of NOUNS; lines: texts with the number of things that
    each tells of."""

    kind: str
    head: str
    lines: tuple[tuple[str, int], ...]

    def weight(self, chosen: Collection[tuple[str, int]]) -> int:
        """Return the number of things in the lines that are not chosen."""
        lines = enumerate(self.lines)
        return sum(things for at, (_, things) in lines if (self.kind, at) not in chosen)


class Block(Struct, frozen=True):
    """The memory block. left_out: (kind, number of things) without room."""

    text: str
    tokens: int
    left_out: tuple[tuple[str, int], ...]


def block(memory: Memory, budget: int, family: Family = "o200k") -> Block:
    """Return the memory in at most `budget` tokens; an empty text for an empty memory."""
    sections = {section.kind: section for section in _sections(memory) if section.lines}
    if not sections:
        return Block("", 0, ())
    heading = HEADING.format(f" in turn {memory.turn}" if memory.turn else "")
    room = budget - RESERVE - estimate(heading, family)
    chosen: list[tuple[str, int]] = []
    begun: set[str] = set()
    for kind, at in _ranked(sections):
        room -= estimate(f"- {sections[kind].lines[at][0]}\n", family)
        if kind not in begun:
            room -= estimate(f"{sections[kind].head}\n", family)
        if room < 0:
            break
        begun.add(kind)
        chosen.append((kind, at))
    while True:
        weights = ((kind, section.weight(chosen)) for kind, section in sections.items())
        left_out = tuple((kind, weight) for kind, weight in weights if weight)
        text = "\n".join([heading, *_block_lines(memory, sections, chosen, left_out)])
        tokens = estimate(text, family)
        if tokens <= budget or not chosen:
            return Block(text, tokens, left_out)
        chosen.pop()


def _sections(memory: Memory) -> Iterator[Section]:
    def section(kind: str, head: str, *texts: str | None) -> Section:
        return Section(kind, head, tuple((text, 1) for text in texts if text is not None))

    still_open = (_todo(todo) for todo in memory.pending)
    done = "Done:"
    if memory.done_count > len(memory.done):
        done = f"Done ({len(memory.done)} of {memory.done_count}, the last ones):"
    again = "Changed since you were shown them; read them again before you rely on them:"
    at_hand = "Files that you worked with, the newest first:"
    finished = (beginning(todo.text, TODO_CHARACTERS) for todo in memory.done)
    yield section("request", "The user asked last:", memory.request or None)
    yield section("pending", f"To do, {len(memory.pending)} open:", *still_open)
    yield section("refresh", again, *map(_stale, memory.refresh))
    changed = tuple(_changed_lines(memory.changed, memory.turn))
    yield Section("changed", "Changed by you:", changed)
    yield section("done", done, *finished)
    yield section("reports", "Your sub-agents reported:", *map(_report, memory.reports))
    head = "Your last answer:" if memory.is_summary else "Your last answer ended:"
    yield section("result", head, memory.result or None)
    steps = (beginning(step, TODO_CHARACTERS) for step in memory.next_steps)
    yield section("steps", "You offered to go on with:", *steps)
    yield section("working", at_hand, *map(_held, memory.working))


def _todo(todo: Todo) -> str:
    """Return an open to-do on one line: its text, its details, its files, and when it changed."""
    now = "now: " if todo.state == "in_progress" else ""
    detail = f" ({beginning(todo.detail, DETAIL_CHARACTERS)})" if todo.detail else ""
    files = f"; files: {named([*map(_path, todo.files)], TODO_FILES)}" if todo.files else ""
    turn = f"; since turn {todo.turn}" if todo.turn and todo.state == "in_progress" else ""
    return f"{now}{beginning(todo.text, TODO_CHARACTERS)}{detail}{files}{turn}"


def _report(report: Report) -> str:
    """Return the beginning of a sub-agent's report on one line."""
    return f"{one_line(report.about)}: {beginning(report.text, REPORT_CHARACTERS)}"


def _stale(file: Stale) -> str:
    new_path = None if file.moved_to is None else middle(file.moved_to, PATH_CELLS)
    return summary(middle(file.path, PATH_CELLS), file.what, one_line(file.by), new_path)


def _changed_lines(changed: Sequence[Work], turn: int) -> Iterator[tuple[str, int]]:
    """Yield a line for each file, with the turn of its last change; for many files, a line for each
    folder. turn: the present one."""
    folders: dict[tuple[str, str], list[str]] = {}
    for work in changed:
        deed = f"probably {work.deed}" if work.probable else work.deed
        if work.src or len(changed) <= GROUPED:
            source = f" (from {_path(work.src)})" if work.src else ""
            yield f"{deed} {_path(work.path)}{source}{_age(work.turn, turn)}", 1
        else:
            folder, _, name = work.path.rpartition("/")
            folders.setdefault((deed, folder), []).append(name)
    for (deed, folder), names in folders.items():
        where = f"in {quoted(folder)}/: " if folder else ""
        for at in range(0, len(names), ON_A_LINE):
            few = [middle(quoted(name), PATH_CELLS) for name in names[at : at + ON_A_LINE]]
            yield f"{deed} {where}{', '.join(few)}", len(few)


def _age(then: int, now: int) -> str:
    """Return words for the turn of a change; "" where no turn was counted then."""
    if not then:
        return ""
    ago = "this turn" if then == now else f"{count(now - then, 'turn')} ago"
    return f", turn {then} ({ago})"


def _held(file: Held) -> str:
    whole = file.lines == ((1, file.total),) or not file.total
    return f"{_path(file.path)}{'' if whole else f' ({spans(file.lines)} of {file.total})'}"


def _path(path: str) -> str:
    return middle(quoted(path), PATH_CELLS)


def _ranked(sections: dict[str, Section]) -> Iterator[tuple[str, int]]:
    """Yield all lines as (kind, number), the most important first. The sections in FIRST take turns,
    so that no long list takes the room of the others."""
    first = [sections[kind] for kind in FIRST if kind in sections]
    for at in range(max((len(section.lines) for section in first), default=0)):
        yield from ((section.kind, at) for section in first if at < len(section.lines))
    for kind in THEN:
        numbers = range(len(sections[kind].lines) if kind in sections else 0)
        yield from ((kind, at) for at in (reversed(numbers) if kind == "done" else numbers))


def _block_lines(
    memory: Memory,
    sections: dict[str, Section],
    chosen: Collection[tuple[str, int]],
    left_out: Sequence[tuple[str, int]],
) -> Iterator[str]:
    for section in sections.values():
        lines = enumerate(section.lines)
        texts = [f"- {text}" for at, (text, _) in lines if (section.kind, at) in chosen]
        yield from [section.head, *texts] if texts else []
    if left_out:
        counts = (count(number, NOUNS[kind][0]) + NOUNS[kind][1] for kind, number in left_out)
        yield f"Left out for room: {', '.join(counts)}."
    if memory.unread:
        many = count(memory.unread, "message")
        yield f"Of the conversation, {many} cannot be read: to-dos may be missing."
    if memory.pending:
        yield RESUME


def beginning(text: str, room: int) -> str:
    """Return the first `room` characters of a text, on one line."""
    line = one_line(" ".join(text[: 8 * room].split()))
    cut = len(line) > room or len(text) > 8 * room
    return f"{line[: room - 1].rstrip()}…" if cut else line


def ending(text: str, room: int) -> str:
    """Return the last `room` characters of a text, on one line."""
    line = one_line(" ".join(text[-8 * room :].split()))
    cut = len(line) > room or len(text) > 8 * room
    return f"…{line[-(room - 1) :].lstrip()}" if cut else line


NAMED_FILES = 15
"""Files that one line about a request names."""

NAMED = 3
"""Edited files, and reasons of one file, that the bundle names."""


def bundle(due: Bundle) -> str:
    """Return the text of a bundle."""
    edited = named([quoted(path) for path in due.edited], NAMED)
    lines = [f"Files related to those you edited ({edited}). You have not read their current text:"]
    for file in due.files:
        why = "; ".join(map(one_line, file.why[:NAMED]))
        path, many = file.path, count(file.lines, "line")
        lines.append(f"{quoted(path)}, {many}: {why}")
        lines += _body(file.text) if file.text else ()
    if due.left_out:
        lines.append(f"({count(due.left_out, 'more file')} left out.)")
    if due.unread:
        lines.append(f"({count(due.unread, 'source')} not searched for imports yet.)")
    return "\n".join(lines)


def request(name: str, patterns: Sequence[str], *, found: bool) -> str:
    """Return the head of a request for files."""
    asked = joined([one_line(pattern) for pattern in patterns], "or")
    called = f"{one_line(name)} ({asked})" if name else asked
    return f"You asked for {called}:" if found else f"You asked for {called}. No file matches."


def requested_file(file: BundledFile, most: int) -> Iterator[str]:
    """Yield the lines of a requested file. most: lines of a file that is shown."""
    long = f" (more than {most}: read it in parts)" if file.lines > most else ""
    yield f"{quoted(file.path)}, {count(file.lines, 'line')}, revision {short(file.revision)}{long}"
    yield from _body(file.text) if file.text else ()


def at_hand(paths: Sequence[str]) -> str:
    """Return words for files that the agent has as they are now."""
    return f"You have as it is now: {named([*map(quoted, paths)], NAMED_FILES)}."


def unshown(paths: Sequence[str]) -> str:
    """Return words for requested files whose text is not in the briefing."""
    return (
        f"Not shown: {named([*map(quoted, paths)], NAMED_FILES)}. They went, or are no plain text."
    )


def further(paths: Sequence[str]) -> str:
    """Return words for further files that match a request."""
    return f"These match, too: {named([*map(quoted, paths)], NAMED_FILES)}."


def offered(paths: Sequence[str]) -> str:
    """Return words for files with names like the wanted one."""
    return f"Similar names: {named([*map(quoted, paths)], NAMED_FILES)}."


def _body(text: str, first: int = 1) -> list[str]:
    """Return the lines of a file with their numbers, between fences."""
    return fenced("\n".join(numbered(text, first))).split("\n")


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


def blocks(mentioned: Mentioned) -> tuple[str, ...]:
    """Return a text for each mention that concerns the model, and one for the mentions without room."""
    found = [resolved for resolved in mentioned.found if resolved.state not in ("host", "word")]
    texts = ["".join(f"{line}\n" for line in _lines(resolved)) for resolved in found]
    if mentioned.left_out:
        more = count(mentioned.left_out, "further mention")
        texts.append(f"Too many mentions. Not shown: {more}. Read the files that you need.\n")
    return tuple(texts)


def _lines(resolved: Resolved) -> Iterator[str]:
    if resolved.state != "shown":
        yield f"{quoted(resolved.mention.value)} is not shown: {one_line(resolved.why)}"
        for candidate in resolved.candidates:
            yield f"  perhaps {quoted(candidate.path)} ({candidate.reason})"
    elif resolved.changes is not None:
        yield from _changes(resolved.changes)
    elif resolved.folder is not None:
        yield from _folder(resolved, resolved.folder)
    else:
        for file in resolved.files:
            yield from _file(file, resolved.mention.lines)


def _file(file: ShownFile, asked: tuple[int, int] | None) -> Iterator[str]:
    path, total = file.path, file.total_lines
    if file.state == "none":
        yield f"{quoted(path)} is not shown: {one_line(file.why)}"
        return
    first, last = file.lines
    part = f"{spans((file.lines,))} of {total}"
    if file.lines == (1, total):
        part = f"whole, {count(total, 'line')}"
    yield f"{quoted(path)}, {part if total else 'an empty file'}, revision {short(file.revision)}:"
    yield from _body(file.text, first) if last else ()
    wanted = min(asked[1], total) if asked is not None else total
    if last < wanted:
        yield f"({spans(((last + 1, wanted),))} not shown: read them if you need them)"


def _folder(resolved: Resolved, folder: DirectoryListing) -> Iterator[str]:
    yield f"{'.' if folder.path == '.' else one_line(folder.path)}/, a folder:"
    yield from listing(folder).split("\n")
    unshown: dict[str, list[str]] = {}
    for file in resolved.files:
        if file.state == "none":
            reason = one_line(file.why.removeprefix(f"{quoted(file.path)} "))
            unshown.setdefault(reason, []).append(quoted(file.path))
        else:
            yield ""
            yield from _file(file, None)
    for reason, paths in unshown.items():
        yield f"Not shown: {named(paths, FILES_NAMED)}: {reason}"


def _changes(shown: ShownChanges) -> Iterator[str]:
    commit = shown.commit
    if commit is None:
        yield f"Changes not committed yet: {count(len(shown.files), 'file')}"
    else:
        merge = " (a merge: against its first parent)" if commit.parents > 1 else ""
        yield f"Commit {commit.id} by {one_line(commit.author)}, {commit.at}{merge}"
        yield from fenced(commit.message).split("\n")
        yield f"It changes {count(len(shown.files), 'file')} of this workspace"
    yield from (f"  {_touched(file)}" for file in shown.files)
    if shown.more:
        yield "  and more: ask git for them"
    if shown.withheld:
        yield f"  and {count(shown.withheld, 'file')} that this session may not see"
    yield from fenced(shown.patch, "diff").split("\n") if shown.patch else ()
    if shown.cut:
        yield "(the patch goes on: ask git for the files you need)"


def _touched(file: Touched) -> str:
    source = f" from {quoted(file.old)}" if file.old is not None else ""
    lines = f", +{file.added} -{file.removed}" if file.added is not None else ""
    return f"{quoted(file.path)}: {LETTERS.get(file.letter, file.letter)}{source}{lines}"


TABLE_PATH_CELLS = 80
CHANGES_NAMED = 3
"""Changes of each file that the table names."""

HEAD = ("file", "state", "seen", "size", "turns ago", "changes, newest first")


def lines(
    registry: Registry,
    name_of: NameOf,
    drawn: Callable[[Sequence[Sequence[str]]], list[str]] = table,
) -> list[str]:
    """Return the table of known files, and a line about further files. drawn: makes lines of its rows."""
    if not registry.entries:
        return ["No file was shown to this session yet."]
    rows = drawn([HEAD, *(_row(entry, name_of) for entry in registry.entries)])
    if registry.left_out:
        more = count(registry.left_out, "more file")
        rows.append(f"{more} {'is' if registry.left_out == 1 else 'are'} known ({registry.rule}).")
    return rows


def _row(entry: Entry, name_of: NameOf) -> tuple[str, ...]:
    whole = entry.seen_lines == ((1, entry.total_lines),) or not entry.total_lines
    seen = "all" if whole else f"{spans(entry.seen_lines)} of {entry.total_lines}"
    newest = [
        f"{change.what} by {_author(change.by, name_of)}"
        for change in reversed(entry.changes[-CHANGES_NAMED:])
    ]
    changes = ", ".join(newest) or "none"
    if entry.change_count > len(newest):
        changes += f" and {entry.change_count - len(newest)} earlier"
    return (
        middle(quoted(entry.path), TABLE_PATH_CELLS),
        entry.state,
        one_line(seen if entry.last_via == "read" else f"{seen}, by {entry.last_via}"),
        size(entry.size),
        str(entry.aged),
        one_line(changes),
    )


def _author(by: ChangedBy | None, name_of: NameOf) -> str:
    if by is None or by.kind == "external":
        return "somebody"
    if by.kind == "session" and by.who:
        return name_of(by.who)
    return "you" if by.kind == "agent" else by.kind
