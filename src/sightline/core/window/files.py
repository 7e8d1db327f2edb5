"""What the blocks say of files: when each was touched, edited, named, and which lines stand where."""

from __future__ import annotations

from sightline.core.window.naming import Named
from sightline.core.window.showing import Showing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.core.window.blocks import Block, Rewrite

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
