"""Reading manifests back: a step at a time, from the whole one that they begin with."""

from __future__ import annotations

from sightline.core.manifest import EMPTY, Whole, decode, fold
from sightline.errors import StoreError
from sightline.render import checkpoints as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.core.manifest import Manifest, Step
    from sightline.core.revision import Revision
    from sightline.store import Store


class Reader:
    """Reads manifests; one that is a step from the one read before costs only the step. steps: of
    the one read last; whole: the one that it begins with."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[Revision | None, Manifest] = (None, EMPTY)
        self.steps = 0
        self.whole: Whole | None = None
        self._bases: dict[Revision, Revision | None] = {}

    def read(self, revision: Revision) -> Manifest | None:
        """The manifest of a revision; None when it is not kept. StoreError when it is damaged."""
        waiting: list[Step] = []
        at: Revision | None = revision
        first = revision
        while at != self._last[0] and at is not None:
            data = self._store.blob(at)
            if data is None:
                return None
            try:
                kept = decode(data)
            except ValueError as wrong:
                raise StoreError(*words.unreadable(at, wrong)) from wrong
            self.steps = self.steps if waiting else kept.steps
            waiting.append(kept.step)
            self._bases[at] = kept.base
            first, at = at, kept.base
        found = self._last[1]
        if at is None:
            found = fold(EMPTY, waiting.pop())
            self.whole = Whole(first, found)
        for taken in reversed(waiting):
            found = fold(found, taken)
        self._last = (revision, found)
        return found

    def forerunners(self, revision: Revision) -> Iterator[Revision]:
        """A manifest that was read, and those that it is a step from, back to a whole one."""
        at: Revision | None = revision
        while at is not None:
            yield at
            at = self._bases[at]
