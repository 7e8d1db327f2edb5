"""What the blocks say of files: when each was touched, edited, named, and which lines stand where."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from unicodedata import normalize

from msgspec import Struct

from sightline.conversation.window.blocks import Block, Rewrite
from sightline.model.spans import Span

Run = tuple[int, int, int]
"""Lines, and the place of the block that shows them newest."""

FILES = ("read", "edit", "write")
"""What tools do that are about the text of files."""


class Files:
    """The files of one conversation. touched: path -> the answer that last did something with it;
    edited: path -> the place of the last call that changed it."""

    def __init__(self) -> None:
        self.touched: dict[str, int] = {}
        self.edited: dict[str, int] = {}
        self._named = Named()
        self._showing: dict[str, Showing] = {}
        self._shown: dict[int, tuple[str, ...]] = {}
        self._given: dict[str, tuple[int, tuple[Rewrite, ...]]] = {}
        self._about: dict[str, list[int]] = {}

    @property
    def named(self) -> set[str]:
        """Files that a person or a plan names."""
        return self._named.paths

    def add(self, place: int, block: Block) -> list[int]:
        """The next block. The places of earlier ones of which more may be known by it: that they
        are superseded, no longer what the agent gave a file last, or of a file that was edited."""
        news: list[int] = []
        if block.kind == "user" or block.deed == "plan":
            self._named.text(block.text)
        for path in self.of(block):
            self.touched[path] = block.step
            self._named.path(path)
            self._about.setdefault(path, []).append(place)
        self._show(place, block, news)
        if block.kind == "call" and block.call is not None and block.rewrites:
            self._given[block.call] = place, block.rewrites
        elif block.kind == "result" and block.call in self._given:
            given = self._given.pop(block.call)
            if not block.error:
                self._put(*given, news)
        return news

    def _show(self, place: int, block: Block, news: list[int]) -> None:
        if block.excerpts:
            self._shown[place] = tuple(dict.fromkeys(each.path for each in block.excerpts))
        for path in self._shown.get(place, ()):
            own = [each for each in block.excerpts if each.path == path]
            spans = [(each.first, each.last) for each in own]
            whole = any(each.whole for each in own)
            showing = self._showing.setdefault(path, Showing())
            showing.show(place, spans, whole=whole)
            news += showing.news
            showing.news.clear()

    def _put(self, place: int, rewrites: tuple[Rewrite, ...], news: list[int]) -> None:
        """What a call was given stands in its files now."""
        for rewrite in rewrites:
            last = self.edited.get(rewrite.path)
            news += self._about[rewrite.path] if last is None else [last]
            self.edited[rewrite.path] = place
            showing = self._showing.get(rewrite.path)
            if showing is not None and rewrite.old is None:
                showing.rewritten(place)
                news += showing.news
                showing.news.clear()
            elif showing is not None:
                showing.move(_longer(rewrite))

    def of(self, block: Block) -> tuple[str, ...]:
        """The files whose text a block shows or changes."""
        if block.excerpts or block.rewrites:
            return tuple(e.path for e in block.excerpts) + tuple(r.path for r in block.rewrites)
        return block.paths if block.deed in FILES else ()

    def fold(self, gone: Iterable[int]) -> None:
        """These blocks show nothing any more."""
        for place in gone:
            for path in self._shown.pop(place, ()):
                self._showing[path].gone(place)

    def superseded(self, place: int, block: Block) -> bool:
        """Whether later blocks show, or wrote, all the lines that this one shows."""
        return bool(block.excerpts) and all(
            self._showing[excerpt.path].superseded(place) for excerpt in block.excerpts
        )

    def newest_write(self, place: int, block: Block) -> bool:
        """Whether nothing that the agent put into one of its files since is newer."""
        return any(self.edited.get(rewrite.path) == place for rewrite in block.rewrites)

    def changed_since(self, place: int, block: Block) -> bool:
        """Whether the agent changed one of its files after it."""
        return any(self.edited.get(path, -1) > place for path in self.of(block))


def _longer(rewrite: Rewrite) -> int:
    """By how many lines an edit makes its file longer. Without an old text it puts in lines."""
    old = rewrite.old or ""
    return rewrite.new.count("\n") - old.count("\n") + (not old)


SHORTEST = 4
"""Characters of a name that is looked for: shorter ones stand in any text."""

LETTER = r"(?:[^\W\u2e80-\U0010ffff]|-)"
"""What a name may go on with. Not the letters of Chinese, Japanese and Korean, which are written
next to a name without a space."""

PLAIN_WORD, WORD = re.compile(r"[\w-]+"), re.compile(f"{LETTER}+")
LETTERS = re.compile(LETTER)


class Named:
    """The files that texts name, whichever of the two comes first. A name is looked for in a text
    only where all its words are."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._names: dict[str, set[str]] = {}
        self._begun: dict[str, list[str]] = {}
        self._texts: dict[str, list[str]] = {"": []}

    def path(self, path: str) -> None:
        """A file that texts may name."""
        name = _plain(path.replace("\\", "/").rsplit("/", 1)[-1])
        known = self._names.setdefault(name, set())
        if path in known:
            return
        known.add(path)
        words = _words(name) or [""]
        if len(known) == 1:
            self._begun.setdefault(words[0], []).append(name)
        texts = min((self._texts.get(word, ()) for word in words), key=len)
        if any(names(text, name) for text in texts):
            self.paths.add(path)

    def text(self, text: str) -> None:
        """A text that may name files."""
        text = _plain(text)
        words = {"", *_words(text)}
        for word in words:
            self._texts.setdefault(word, []).append(text)
            for name in self._begun.get(word, ()):
                if words.issuperset(_words(name)) and names(text, name):
                    self.paths |= self._names[name]


def names(text: str, name: str) -> bool:
    """Whether a file's name stands in a text as a word of its own."""
    if len(name) < SHORTEST:
        return False
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (LETTERS.match(before) or LETTERS.match(after)):
            return True
        at = text.find(name, at + 1)
    return False


def _words(text: str) -> list[str]:
    word = PLAIN_WORD if text.isascii() else WORD
    return list(dict.fromkeys(found[0] for found in word.finditer(text)))


def _plain(text: str) -> str:
    """With accents as one letter, however a disk or a keyboard puts them together."""
    return text if text.isascii() else normalize("NFC", text)


ERAS_MAX = 8
"""How often lines may move until what was shown before is superseded by the whole file alone."""

NOBODY = -1


class Shown(Struct, frozen=True):
    """What a block shows. whole: the file has no other lines."""

    place: int
    spans: tuple[Span, ...]
    whole: bool


class Era:
    """The time between two edits that moved lines. up, down: how far at most its lines moved
    since, towards the first line (0 or less) and away from it."""

    def __init__(self) -> None:
        self.up = self.down = 0
        self.runs: list[Run] = []


class Showing:
    """One file. A block is superseded when newer ones show all its lines: surely, so where an edit
    moved lines, nobody knows which, newer ones have to show them wherever they are. news: the
    blocks that were superseded since somebody emptied it, among others maybe."""

    def __init__(self) -> None:
        self._log: list[Shown | int] = []
        self._owned: Counter[int] = Counter()
        self._eras = [Era()]
        self._right = True
        self.news: list[int] = []

    def show(self, place: int, spans: Iterable[Span], *, whole: bool) -> None:
        """A block shows lines; whole: there are no others."""
        self._add(Shown(place, tuple(spans), whole))

    def move(self, by: int) -> None:
        """An edit made the file longer by so many lines, or shorter."""
        if by and self._log:
            self._add(by)

    def rewritten(self, place: int) -> None:
        """All of the file was given by the call at a place: what showed it before is not true."""
        shown = [each for each in self._log if isinstance(each, Shown)]
        self.news += [each.place for each in shown if each.place <= place]
        self._log = [each for each in shown if each.place > place]
        self._right = False

    def gone(self, place: int) -> None:
        """A block shows nothing any more."""
        self._log = [each for each in self._log if isinstance(each, int) or each.place != place]
        self._right = self._right and not self._owned[place]

    def superseded(self, place: int) -> bool:
        """Whether there is nothing that only this block shows."""
        if not self._right:
            self._again()
        return not self._owned[place]

    def _again(self) -> None:
        log, self._log = self._log, []
        self._owned, self._eras, self._right = Counter(), [Era()], True
        for each in log:
            self._add(each)

    def _add(self, told: Shown | int) -> None:
        if not self._right:
            self._again()
        self._log.append(told)
        if isinstance(told, int):
            self._moved(told)
            return
        if told.whole:
            self.news += self._owned
            self._owned, self._eras = Counter(), [Era()]
        for first, last in told.spans:
            for era in self._eras[:-1]:
                self._put(era, 1 if first == 1 else first - era.up, last - era.down, NOBODY)
            self._put(self._eras[-1], first, last, told.place)

    def _moved(self, by: int) -> None:
        if self._eras[-1].runs:
            self._eras = [*self._eras[-ERAS_MAX:], Era()]
        for era in self._eras[:-1]:
            era.up, era.down = era.up + min(by, 0), era.down + max(by, 0)

    def _put(self, era: Era, first: int, last: int, place: int) -> None:
        """These lines are shown by a block now, and by none before it."""
        if first > last:
            return
        runs = era.runs
        low = high = bisect_left(runs, first, key=_last)
        left: list[Run] = [(first, last, place)]
        while high < len(runs) and runs[high][0] <= last:
            begin, end, owner = runs[high]
            self._owned[owner] -= min(end, last) - max(begin, first) + 1
            if not self._owned[owner]:
                self.news.append(owner)
            left += [(begin, first - 1, owner)] if begin < first else []
            left += [(last + 1, end, owner)] if end > last else []
            high += 1
        self._owned[place] += last - first + 1
        runs[low:high] = sorted(left)


def _last(run: Run) -> int:
    return run[1]
