"""What the blocks say of files: when each was touched, edited, named, and which lines stand where."""

from __future__ import annotations

from sightline.core.regions import covers, spans
from sightline.core.window.naming import Named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.regions import Span
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
        self._shown: dict[str, dict[int, list[Span]]] = {}
        self._whole: dict[str, int] = {}
        self._given: dict[str, tuple[int, tuple[Rewrite, ...]]] = {}

    @property
    def named(self) -> set[str]:
        """Files that a person or a plan names."""
        return self._named.paths

    def add(self, place: int, block: Block) -> None:
        """The next block."""
        if block.kind == "user" or block.deed == "plan":
            self._named.text(block.text)
        for path in self.of(block):
            self.touched[path] = block.step
            self._named.path(path)
        for excerpt in block.excerpts:
            last = excerpt.first + max(excerpt.text.count("\n"), 0)
            shown = self._shown.setdefault(excerpt.path, {})
            shown.setdefault(place, []).append((excerpt.first, last))
        if block.kind == "call" and block.call is not None and block.rewrites:
            self._given[block.call] = place, block.rewrites
        elif block.kind == "result" and block.call in self._given:
            given = self._given.pop(block.call)
            if not block.error:
                self._put(*given)

    def _put(self, place: int, rewrites: tuple[Rewrite, ...]) -> None:
        """What a call was given stands in its files now."""
        for rewrite in rewrites:
            self.edited[rewrite.path] = place
            if rewrite.old is None:
                self._whole[rewrite.path] = place

    def of(self, block: Block) -> tuple[str, ...]:
        """The files whose text a block shows or changes."""
        if block.excerpts or block.rewrites:
            return tuple(e.path for e in block.excerpts) + tuple(r.path for r in block.rewrites)
        return block.paths if block.deed in FILES else ()

    def fold(self, gone: set[int]) -> None:
        """These blocks show nothing any more."""
        for shown in self._shown.values():
            for place in gone & shown.keys():
                del shown[place]

    def superseded(self, place: int, block: Block) -> bool:
        """Whether later blocks show, or wrote, all the lines that this one shows."""
        return bool(block.excerpts) and all(
            self._whole.get(excerpt.path, -1) > place or self._covered(place, excerpt.path)
            for excerpt in block.excerpts
        )

    def _covered(self, place: int, path: str) -> bool:
        shown = self._shown.get(path, {})
        later = [span for at, lines in shown.items() if at > place for span in lines]
        return bool(later) and covers(spans(later), spans(shown.get(place, [])))

    def newest_write(self, place: int, block: Block) -> bool:
        """Whether nothing that the agent put into one of its files since is newer."""
        return any(self.edited.get(rewrite.path) == place for rewrite in block.rewrites)

    def changed_since(self, place: int, block: Block) -> bool:
        """Whether the agent changed one of its files after it."""
        return any(self.edited.get(path, -1) > place for path in self.of(block))
