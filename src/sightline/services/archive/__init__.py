"""Recorded conversations read in as archives: what their agents knew and did, at its own time.

An archive is a session of its own, its id begins with ARCHIVE. It never says what stands on disk.
"""

from __future__ import annotations

from itertools import groupby

from sightline.core.events import Imported, SessionEnded
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sightline.services.attend import Event
    from sightline.store import Store


class Origin(Value):
    """Where a recording comes from. source: its file; digest: of its bytes; session: the product's
    own id; root: the folder its paths are below, in the spelling of its own machine."""

    agent: str
    source: str
    digest: str
    session: str
    root: str
    parent: str | None = None


def read_in(
    store: Store,
    clock: Callable[[], int],
    origin: Origin,
    told: Iterable[tuple[int, Event]],
    may_store: Callable[[str], bool] = lambda _: True,
) -> int:
    """Read a recording in; how many facts that made. None when these very bytes were read in
    before or hold nothing; of one that has grown, only what is newer. told: its events, with their times (UTC
    microseconds) in order; those of one time are recorded together. may_store: whether a path's
    texts may be kept. StoreError."""
    from sightline.services.archive.folding import Archive

    archive = Archive(store, origin, may_store)
    newest = archive.newest()
    if newest is None:
        return 0
    made, at = 0, newest
    for at, group in groupby(told, lambda each: each[0]):
        if at > newest:
            made += archive.record(clock(), at, [event for _, event in group])
    if not made and not newest:
        return 0  # nothing that we would know of
    ended = [Imported(origin.source, origin.digest), SessionEnded("recorded")]
    return made + len(store.append(archive.session, ended, at=clock(), happened_at=max(at, newest)))
