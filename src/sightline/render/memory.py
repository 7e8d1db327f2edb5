"""Words for memory: the block that tells an agent what was going on, within a budget of tokens."""

from __future__ import annotations

from sightline.core.value import Value
from sightline.core.window.tokens import estimate
from sightline.render import spans
from sightline.render.cells import middle
from sightline.render.notices import summary
from sightline.render.views import count, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from sightline.core.regions import Spans
    from sightline.core.todos import Todo
    from sightline.core.window.tokens import Family

    class Stale(Protocol):
        """A file to be read again, as services.remembering tells it."""

        @property
        def path(self) -> str: ...
        @property
        def what(self) -> str: ...
        @property
        def by(self) -> str: ...
        @property
        def moved_to(self) -> str | None: ...

    class Work(Protocol):
        """A file that the session changed."""

        @property
        def path(self) -> str: ...
        @property
        def deed(self) -> str: ...
        @property
        def src(self) -> str | None: ...

    class Held(Protocol):
        """A file that the session touched lately."""

        @property
        def path(self) -> str: ...
        @property
        def lines(self) -> Spans: ...
        @property
        def total(self) -> int: ...

    class Memory(Protocol):
        """What was going on, as services.remembering tells it."""

        @property
        def request(self) -> str | None: ...
        @property
        def step(self) -> str | None: ...
        @property
        def pending(self) -> Sequence[Todo]: ...
        @property
        def done(self) -> Sequence[Todo]: ...
        @property
        def done_count(self) -> int: ...
        @property
        def refresh(self) -> Sequence[Stale]: ...
        @property
        def changed(self) -> Sequence[Work]: ...
        @property
        def working(self) -> Sequence[Held]: ...
        @property
        def result(self) -> str | None: ...
        @property
        def unread(self) -> int: ...


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


class Section(Value):
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


class Block(Value):
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
    yield Section("pending", _open(told), tuple(map(_todo, told.pending)))
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


def _open(told: Memory) -> str:
    return f"To do, {len(told.pending)} open:"


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
