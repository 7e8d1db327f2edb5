"""Index the files in blocks: uses, edits, mentions, the newest block that shows each line, and the
current text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from unicodedata import normalize

from msgspec import Struct, structs

from sightline.messages.blocks import Block, Excerpt, Rewrite
from sightline.model.path import is_at_or_below
from sightline.model.spans import Span

Run = tuple[int, int, int]
"""First line, last line, and the place of the newest block that shows these lines."""

FILES = ("read", "edit", "write")
"""What tools do with the text of files."""


class Files:
    """The files of one conversation. folder: absolute, in which relative paths begin; "" where that is
    unknown. touched: path -> step of the answer that last used the file;
    edited: path -> place of the last call that changed it; began: step of the first edit, None
    before; mentioned: paths that a user or a plan mentions; current: the text of the files."""

    def __init__(self, folder: str = "") -> None:
        self._folder = f"{folder.rstrip('/')}/" if folder.startswith("/") else ""
        self.touched: dict[str, int] = {}
        self.edited: dict[str, int] = {}
        self.began: int | None = None
        self.current = CurrentText()
        self._mentions = Mentions()
        self.mentioned = self._mentions.paths
        self._shown: dict[str, ShownLines] = {}
        self._paths: dict[int, set[str]] = {}  # by place, for blocks that show lines
        self._changes: dict[str, tuple[int, Block]] = {}  # calls without a result, by id

    def named(self, block: Block) -> Block:
        """Return a block that names each file in one way: in the folder, relative to it."""
        if not self._folder:
            return block
        if not (block.paths or block.excerpts or block.rewrites or block.restored):
            return block
        return structs.replace(
            block,
            paths=tuple(map(self._name, block.paths)),
            excerpts=tuple(structs.replace(e, path=self._name(e.path)) for e in block.excerpts),
            rewrites=tuple(structs.replace(r, path=self._name(r.path)) for r in block.rewrites),
            restored=tuple(map(self._name, block.restored)),
        )

    def _name(self, path: str) -> str:
        return path.removeprefix(self._folder).removeprefix("./")

    def add(self, place: int, block: Block) -> None:
        """Add the next block, as `named` returns it."""
        if block.kind == "user" or block.deed == "plan":
            self._mentions.add_text(block.text)
        for path in self.paths_of(block):
            self.touched[path] = block.step
            self._mentions.add_path(path)
        if block.excerpts:
            self._paths[place] = {excerpt.path for excerpt in block.excerpts}
        for path in self._paths.get(place, ()):
            excerpts = [excerpt for excerpt in block.excerpts if excerpt.path == path]
            spans = [(excerpt.first, excerpt.last) for excerpt in excerpts]
            whole = any(excerpt.whole for excerpt in excerpts)
            self._shown.setdefault(path, ShownLines()).show(place, spans, whole=whole)
        if block.kind == "call" and block.call is not None:
            if block.rewrites or block.restored:
                self._changes[block.call] = place, block
        elif block.kind == "result":
            changes = self._changes.pop(block.call or "", None)
            if changes is not None and not block.error:
                self._change(*changes, place)
            for excerpt in () if block.error else block.excerpts:
                self.current.show(place, excerpt)

    def _change(self, place: int, call: Block, result: int) -> None:
        """Carry out the changes of a call. place, result: of the call and of its result."""
        for rewrite in call.rewrites:
            self._edit(place, rewrite)
            if self.began is None and rewrite.old is not None:
                self.began = call.step
            self.current.rewrite(result, rewrite)
        for name in call.restored:
            for path in self.edited:
                if is_at_or_below(path, [name]):
                    self.edited[path] = place
                    self.touched[path] = call.step
                    self.current.forget(path, result)
                    if path in self._shown:
                        self._shown[path].restore()

    def _edit(self, place: int, rewrite: Rewrite) -> None:
        self.edited[rewrite.path] = place
        shown = self._shown.get(rewrite.path)
        if shown is None:
            return
        if rewrite.old is None:
            shown.rewrite(place)
        else:  # an edit without an old text inserts lines
            inserted = rewrite.new.count("\n") - rewrite.old.count("\n") + (not rewrite.old)
            shown.move(inserted)

    def paths_of(self, block: Block) -> tuple[str, ...]:
        """Return the paths of the files whose text a block shows or changes."""
        if block.excerpts or block.rewrites:
            return tuple(e.path for e in block.excerpts) + tuple(r.path for r in block.rewrites)
        return block.paths if block.deed in FILES else ()

    def hide(self, places: Iterable[int]) -> None:
        """Record that the blocks at these places show nothing any more."""
        for place in places:
            for path in self._paths.pop(place, ()):
                self._shown[path].hide(place)

    def is_superseded(self, place: int, block: Block) -> bool:
        """Return whether later blocks show, or wrote, all lines that a block shows."""
        for excerpt in block.excerpts:
            if not self._shown[excerpt.path].is_superseded(place):
                return False
        return bool(block.excerpts)

    def is_newest_write(self, place: int, block: Block) -> bool:
        """Return whether a block is the last to write one of its files."""
        for rewrite in block.rewrites:  # noqa: SIM110 - faster, and it runs for each block
            if self.edited.get(rewrite.path) == place:
                return True
        return False

    def has_changed_since(self, place: int, paths: Iterable[str]) -> bool:
        """Return whether the agent changed one of these files after the block at a place."""
        return any(self.edited.get(path, -1) > place for path in paths)


SHORTEST = 4
"""Characters of the shortest file name that is looked for: any text contains shorter ones."""

LETTER = re.compile(r"[^\W\u2e80-\U0010ffff]|-")
"""A character that continues a name. Chinese, Japanese and Korean letters follow a name without a
space, so they do not continue it."""


class Mentions:
    """The files that texts mention, whichever of the two comes first."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._paths: dict[str, set[str]] = {}  # by file name
        self._texts: list[str] = []

    def add_path(self, path: str) -> None:
        """Add a file that texts may mention."""
        name = _composed(path.replace("\\", "/").rsplit("/", 1)[-1])
        paths = self._paths.setdefault(name, set())
        if path not in paths:
            paths.add(path)
            if any(mentions(text, name) for text in self._texts):
                self.paths.add(path)

    def add_text(self, text: str) -> None:
        """Add a text that may mention files."""
        text = _composed(text)
        self._texts.append(text)
        for name, paths in self._paths.items():
            if mentions(text, name):
                self.paths |= paths


def mentions(text: str, name: str) -> bool:
    """Return whether a text contains a file name as a word of its own."""
    if len(name) < SHORTEST:
        return False
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not (LETTER.match(text[start - 1 : start]) or LETTER.match(text[end : end + 1])):
            return True
        start = text.find(name, start + 1)
    return False


def _composed(text: str) -> str:
    """Return a text in NFC: disks and keyboards compose accents in different ways."""
    return text if text.isascii() else normalize("NFC", text)


ERAS_MAX = 8
"""Edits that move lines, after which only the whole file supersedes earlier excerpts."""

NOBODY = -1


class Shown(Struct, frozen=True):
    """Lines that a block shows. whole: the file has no other lines."""

    place: int
    spans: tuple[Span, ...]
    whole: bool


class Era:
    """The time between two edits that moved lines. up, down: the farthest that lines of this era
    can have moved since, towards the first line (0 or less) and away from it."""

    def __init__(self) -> None:
        self.up = self.down = 0
        self.runs: list[Run] = []


UNKNOWN = 10**9
"""Lines that stand for any number of lines."""


class ShownLines:
    """The lines of one file that blocks show.

    A newer block supersedes an older one when it shows all lines of the older one. After an edit
    that moved lines nobody knows which lines moved; then newer blocks have to show the lines at all
    positions where they can be.
    """

    def __init__(self) -> None:
        self._all: list[Shown] = []
        self._log: list[Shown | int] = []
        self._is_current = True
        self._counts: Counter[int] = Counter()  # lines that only the block at a place shows
        self._eras = [Era()]

    def show(self, place: int, spans: Iterable[Span], *, whole: bool) -> None:
        """Record that a block shows lines; whole: the file has no others."""
        self._all.append(Shown(place, tuple(spans), whole))
        self._add(self._all[-1])

    def move(self, lines: int) -> None:
        """Record that an edit made the file longer (or, below 0, shorter) by a number of lines."""
        if lines and self._log:
            self._add(lines)

    def rewrite(self, place: int) -> None:
        """Record that the call at a place wrote the whole file: earlier blocks show old text."""
        self._log = [e for e in self._log if isinstance(e, Shown) and e.place > place]
        self._is_current = False

    def restore(self) -> None:
        """Record that the file has an earlier text again. Nobody knows which, so none of the blocks so
        far supersedes another."""
        self._log = []
        for shown in self._all:
            self._log += [structs.replace(shown, whole=False), UNKNOWN, -UNKNOWN]
        self._is_current = False

    def hide(self, place: int) -> None:
        """Record that a block shows nothing any more."""
        self._all = [shown for shown in self._all if shown.place != place]
        self._log = [e for e in self._log if isinstance(e, int) or e.place != place]
        self._is_current = self._is_current and not self._counts[place]

    def is_superseded(self, place: int) -> bool:
        """Return whether newer blocks show all lines of the block at a place."""
        if not self._is_current:
            self._bring_up_to_date()
        return not self._counts[place]

    def _bring_up_to_date(self) -> None:
        if self._is_current:
            return
        log, self._log = self._log, []
        self._counts, self._eras, self._is_current = Counter(), [Era()], True
        for entry in log:
            self._add(entry)

    def _add(self, entry: Shown | int) -> None:
        self._bring_up_to_date()
        self._log.append(entry)
        if isinstance(entry, int):
            if self._eras[-1].runs:
                self._eras = [*self._eras[-ERAS_MAX:], Era()]
            for era in self._eras[:-1]:
                era.up, era.down = era.up + min(entry, 0), era.down + max(entry, 0)
            return
        if entry.whole:
            self._counts, self._eras = Counter(), [Era()]
        for first, last in entry.spans:
            for era in self._eras[:-1]:
                self._put(era, 1 if first == 1 else first - era.up, last - era.down, NOBODY)
            self._put(self._eras[-1], first, last, entry.place)

    def _put(self, era: Era, first: int, last: int, place: int) -> None:
        """Give the lines of an era to the block at a place, and take them from all others."""
        if first > last:
            return
        runs = era.runs
        low = high = bisect_left(runs, first, key=itemgetter(1))
        pieces: list[Run] = [(first, last, place)]
        while high < len(runs) and runs[high][0] <= last:
            begin, end, owner = runs[high]
            self._counts[owner] -= min(end, last) - max(begin, first) + 1
            pieces += [(begin, first - 1, owner)] if begin < first else []
            pieces += [(last + 1, end, owner)] if end > last else []
            high += 1
        self._counts[place] += last - first + 1
        runs[low:high] = sorted(pieces)


# --- the current text

KnownLines = tuple[int, list[str]]
"""The number of the first line, and the lines."""


class CurrentText:
    """The known lines of the files of one conversation: lines that were read, with the agent's own
    edits applied. Changes by others stay unknown until a block shows them. The runs of a file do not
    touch each other."""

    def __init__(self) -> None:
        self._files: dict[str, list[KnownLines]] = {}
        self._complete_from: dict[str, int] = {}

    def rewrite(self, place: int, rewrite: Rewrite) -> None:
        """Apply a rewrite whose call has its result at a place."""
        if rewrite.old is None:
            lines = rewrite.new.removesuffix("\n").split("\n")
            self._restart(rewrite.path, [(1, lines)], 0)
        elif not self._replace(rewrite.path, rewrite.old, rewrite.new):
            self.forget(rewrite.path, place)

    def forget(self, path: str, place: int) -> None:
        """Forget the lines of a file, which the call with its result at a place changed."""
        self._restart(path, [], place + 1)

    def runs(self, path: str) -> Sequence[KnownLines]:
        """Return the known lines."""
        return self._files.get(path, ())

    def complete_from(self, path: str) -> int:
        """Return the place of the first block whose lines of a file are in the current text, as are
        those of all later blocks. Earlier blocks contradict an edit or a later read."""
        return self._complete_from.get(path, 0)

    def show(self, place: int, excerpt: Excerpt) -> None:
        """Add the lines that the result at a place shows."""
        lines = excerpt.text.split("\n")
        if excerpt.whole:
            self._restart(excerpt.path, [(excerpt.first, lines)], 0)
            return
        runs = self._files.get(excerpt.path, [])
        low = bisect_left(runs, excerpt.first - 1, key=_last_line)
        high = bisect_left(runs, excerpt.last + 2, key=_first_line)
        joined = _overlay(runs[low:high], excerpt.first, lines)
        shortened = excerpt.total is not None and runs and _last_line(runs[-1]) > excerpt.total
        if joined is None or shortened:  # others changed the file
            self._restart(excerpt.path, [(excerpt.first, lines)], place)
        else:
            self._files.setdefault(excerpt.path, runs)[low:high] = [joined]

    def _restart(self, path: str, runs: list[KnownLines], complete_from: int) -> None:
        """Replace the known lines of a file."""
        self._files[path] = runs
        self._complete_from[path] = complete_from

    def _replace(self, path: str, old: str, new: str) -> bool:
        """Apply an edit if its position is certain; return whether it was applied."""
        runs = self._files.get(path, [])
        texts = ["\n".join([*lines, ""]) for _, lines in runs]
        matches = [number for number, text in enumerate(texts) if old in text]
        if not old or len(matches) != 1 or texts[matches[0]].count(old) != 1:
            return False
        number = matches[0]
        text = texts[number].replace(old, new)
        if text and not text.endswith("\n"):
            return False
        first, before = runs[number]
        lines = text.split("\n")[:-1]
        moved = len(lines) - len(before)
        below = [(start + moved, rest) for start, rest in runs[number + 1 :]]
        runs[number:] = [(first, lines), *below] if lines else below
        return True


def _overlay(runs: Sequence[KnownLines], first: int, lines: list[str]) -> KnownLines | None:
    """Join lines with the runs that they touch; None where they contradict each other."""
    end = first + len(lines)
    above: list[str] = []
    below: list[str] = []
    for start, known in runs:
        low, high = max(start, first), min(start + len(known), end)
        if low < high and known[low - start : high - start] != lines[low - first : high - first]:
            return None
        above += known[: max(first - start, 0)]
        below += known[max(end - start, 0) :]
    return min([first, *map(_first_line, runs)]), [*above, *lines, *below]


def _first_line(run: KnownLines) -> int:
    return run[0]


def _last_line(run: KnownLines) -> int:
    return run[0] + len(run[1]) - 1
