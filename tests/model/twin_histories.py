"""Files with twins and what a user does to them; who knows each line knows the place that was meant.

A twin is a line with the text that the agent means, or one that becomes it: `port = 80` under
another section, `return a - b  # sub` whose comment is dropped. Each line is an object with an id,
so the history says where the line that the agent means stands afterwards, whatever the texts say.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import count

from msgspec import Struct, structs


class Line(Struct, frozen=True):
    """One line of a file. head: it begins a section or a function."""

    id: int
    text: str
    head: bool = False

    @property
    def is_blank(self) -> bool:
        """Return whether the line has no text."""
        return not self.text.strip()


class History(Struct, frozen=True):
    """base: the file that the agent was shown. meant: the index of the line that it means to
    change. disk: the file after the user's changes. moved: the user moved the line or its block."""

    base: tuple[Line, ...]
    meant: int
    disk: tuple[Line, ...]
    moved: bool

    @property
    def line(self) -> Line:
        """Return the line that the agent means, as it was shown."""
        return self.base[self.meant]

    @property
    def stands(self) -> bool:
        """Return whether that line is on disk with the text that was shown."""
        return any((each.id, each.text) == (self.line.id, self.line.text) for each in self.disk)

    def may_land(self, place: int) -> bool:
        """Return whether an edit may land at an index of the disk's lines: at the line meant, or, where
        the texts alone cannot tell, at an equal line in its own section with no line between
        that the agent was shown. Equal lines side by side are one place."""
        return any(self._may_land(self.disk[each].id) for each in _equal(self.disk, place))

    def _may_land(self, id: int) -> bool:
        meant = self.line
        if id in {self.base[each].id for each in _equal(self.base, self.meant)}:
            return True
        original = {each.id for each in self.base}
        at = {each.id: n for n, each in enumerate(self.disk)}
        place = at[id]
        there = self.disk[place]
        if not self._is_own_section(place, at):
            return False
        if meant.id in at:
            if there.id in original:
                return False
            low, high = sorted((at[meant.id], place))
            between = self.disk[low + 1 : high]
            return not any(
                each.id in original and not each.is_blank and each.text != there.text
                for each in between
            )
        if there.id not in original:
            return True  # taken out here and put in there: a move
        standing = [each.id for each in self.base if each.id in at and not each.is_blank]
        order = [each.id for each in self.base]
        before = [each for each in standing if order.index(each) < self.meant]
        behind = [each for each in standing if order.index(each) > self.meant]
        return there.id in (*before[-1:], *behind[:1])

    def _is_own_section(self, place: int, at: dict[int, int]) -> bool:
        own, now = _head(self.base, self.meant), _head(self.disk, place)
        if own is None or now is None:
            return own is now
        if own.id == now.id:
            return True
        is_new = now.id not in {each.id for each in self.base}
        if own.id in at or not is_new:
            return False
        # Its head was taken out and another put in: the texts cannot tell that from a new name.
        order = [each.id for each in self.base]
        here = at[now.id]
        before = [at[each] for each in order[: order.index(own.id)] if each in at]
        behind = [at[each] for each in order[order.index(own.id) :] if each in at]
        return all(n < here for n in before[-1:]) and all(n > here for n in behind[:1])


def _equal(lines: Sequence[Line], place: int) -> range:
    """Return the indexes of the equal lines side by side of which one stands at an index."""
    first = last = place
    while first and lines[first - 1].text == lines[place].text:
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].text == lines[place].text:
        last += 1
    return range(first, last + 1)


def _head(lines: Sequence[Line], place: int) -> Line | None:
    return next((each for each in reversed(lines[: place + 1]) if each.head), None)


TWINS = ("{}  # {}", "{}{}", "{} + {}", "{} if {} else 0")


def histories(number: int, seed: int) -> Iterator[History]:
    """Yield histories of functions, sections and lists, in turns."""
    for n in range(number):
        made = _User(random.Random(seed + n), ("functions", "sections", "list")[n % 3])
        yield made.history(random.Random(seed + n).randint(1, 5))


class _User:
    """Makes a file with twins, and changes it at random. kind: functions, sections or list."""

    def __init__(self, chance: random.Random, kind: str) -> None:
        self.chance, self.kind = chance, kind
        self.ids, self.words = count(), count(1)
        self.indent = "    " if kind == "functions" else ""
        self.text = self.indent + ("return a - b" if kind == "functions" else "port = 80")
        self.meant = self.line(self.text)
        parts = [self.section(self.meant)]
        for _ in range(chance.randint(1, 3)):
            again = self.line(self.text) if chance.random() < 0.15 else self.twin()
            middle = again if chance.random() < 0.7 else self.line(self.fresh())
            parts.append(self.section(middle))
        chance.shuffle(parts)
        self.base = [line for part in parts for line in part]
        self.disk = list(self.base)
        self.has_moved = False

    def history(self, steps: int) -> History:
        """Return the file before and after some changes."""
        changes = [self.rewrite, self.drop, self.drop, self.put, self.put, self.change, self.change]
        changes += [self.insert, self.delete, self.move, self.rename, self.take_out, self.add]
        for _ in range(steps):
            self.chance.choice(changes)()
        base = self.base
        return History(tuple(base), base.index(self.meant), tuple(self.disk), self.has_moved)

    def line(self, text: str, *, head: bool = False) -> Line:
        return Line(next(self.ids), text + "\n", head)

    def fresh(self) -> str:
        name = self.chance.choice(["note", "call", "keep", "value"])
        return f"{self.indent}{name}_{next(self.words)} = {self.chance.randint(0, 3)}"

    def twin(self) -> Line:
        return self.line(self.chance.choice(TWINS).format(self.text, next(self.words)))

    def section(self, middle: Line) -> list[Line]:
        head = {"functions": "def name_{}(a, b):", "sections": "[section_{}]"}.get(self.kind)
        begin = [self.line(head.format(next(self.words)), head=True)] if head else []
        if head and self.chance.random() < 0.3:
            begin.append(self.line(f"{self.indent}begin = 1"))
        above, below = (
            [self.line(self.fresh()) for _ in range(self.chance.choice([0, 0, 1, 2]))]
            for _ in range(2)
        )
        return [*begin, *above, middle, *below, *([self.line("")] if head else [])]

    def place(self) -> int:
        """Return the index of a line with words that is no head."""
        return self.chance.choice(
            [n for n, line in enumerate(self.disk) if not line.head and not line.is_blank] or [0]
        )

    def own(self) -> int | None:
        return next((n for n, line in enumerate(self.disk) if line.id == self.meant.id), None)

    def starts(self) -> list[int]:
        return [n for n, line in enumerate(self.disk) if line.head]

    def set_text(self, place: int, text: str) -> None:
        self.disk[place] = structs.replace(self.disk[place], text=text)

    def rewrite(self) -> None:
        own = self.own()
        if own is not None:
            self.set_text(own, self.fresh() + "\n")

    def drop(self) -> None:
        twins = [
            n
            for n, line in enumerate(self.disk)
            if line.text.startswith(self.text) and line.text != self.meant.text
        ]
        if twins:
            self.set_text(self.chance.choice(twins), self.meant.text)

    def put(self) -> None:
        self.disk.insert(self.place() + self.chance.choice([0, 1]), self.line(self.text))

    def insert(self) -> None:
        self.disk.insert(self.place() + self.chance.choice([0, 1]), self.line(self.fresh()))

    def change(self) -> None:
        place = self.place()
        if place != self.own():
            self.set_text(place, self.fresh() + "\n")

    def delete(self) -> None:
        place = self.place()
        if place != self.own() and len(self.disk) > 2:
            del self.disk[place]

    def take_out(self) -> None:
        own = self.own()
        if own is not None and len(self.disk) > 2 and self.chance.random() < 0.5:
            del self.disk[own]

    def rename(self) -> None:
        for place in self.starts()[:1]:
            name = self.disk[place].text.replace("_", f"_{next(self.words)}_", 1)
            self.set_text(place, name)

    def add(self) -> None:
        middle = self.line(self.text) if self.chance.random() < 0.5 else self.twin()
        place = self.chance.choice([*(self.starts() or [0]), len(self.disk)])
        self.disk[place:place] = self.section(middle)

    def move(self) -> None:
        """Move a section."""
        bounds = [*self.starts(), len(self.disk)]
        if len(bounds) < 3:
            return
        which = self.chance.randrange(len(bounds) - 1)
        block = self.disk[bounds[which] : bounds[which + 1]]
        del self.disk[bounds[which] : bounds[which + 1]]
        place = self.chance.choice([*self.starts(), len(self.disk)])
        self.disk[place:place] = block
        self.has_moved = self.has_moved or self.meant in block


def real_histories(files: Sequence[str], number: int, seed: int) -> Iterator[History]:
    """Yield histories of real Python files: a function moves in every second one, and a user edits
    lines near the line meant and elsewhere. The line meant itself stays."""
    chance = random.Random(seed)
    for n in range(number):
        base = [
            Line(at, line, line.startswith(("def ", "class ", "async def ")))
            for at, line in enumerate(chance.choice(files).splitlines(keepends=True))
        ]
        heads = [at for at, line in enumerate(base) if line.head]
        inside = [at for at, line in enumerate(base) if not line.head and not line.is_blank]
        meant = chance.choice([at for at in inside if heads and at > heads[0]] or inside)
        disk = list(base)
        if n % 2 and len(heads) > 1:
            bounds = [*heads, len(base)]
            which = max(at for at, head in enumerate(heads) if head < meant)
            block = disk[bounds[which] : bounds[which + 1]]
            del disk[bounds[which] : bounds[which + 1]]
            place = chance.choice([at for at, line in enumerate(disk) if line.head] + [len(disk)])
            disk[place:place] = block
        for step in range(chance.randint(0, 5)):
            own = next(at for at, line in enumerate(disk) if line.id == meant)
            near = own + chance.choice([-3, -2, -1, 1, 2, 3])
            place = min(max(near if step % 2 else chance.randrange(len(disk)), 0), len(disk) - 1)
            beside = disk[place]
            full = next((line.text for line in disk[place:] if not line.is_blank), "")
            blank = full[: len(full) - len(full.lstrip())]
            text = f"{blank}changed_{n}_{step} = {chance.choice(base).text.strip()!r}\n"
            if chance.random() < 0.4:
                disk.insert(place, Line(len(base) + n * 10 + step, text))
            elif beside.id != meant and not beside.text.rstrip().endswith((":", "(", ",")):
                disk[place : place + 1] = (
                    [] if chance.random() < 0.3 else [structs.replace(beside, text=text)]
                )
        yield History(tuple(base), meant, tuple(disk), moved=n % 2 == 1)
