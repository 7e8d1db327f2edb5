"""Recorded sessions over all cores, and what became of them put together.

Replay: recorded sessions played under policies, over all cores, and what that says.

How an agent would have behaved with less in its window is modelled, not observed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Literal

from sightline.model.lean import digest
from sightline.model.value import Value
from sightline.replay.comparison import Row, compared
from sightline.replay.recording_search import Unread, files
from sightline.replay.run_session import Order, Played, play

Half = Literal["tuned", "held-out", "both"]

HALVES: dict[Half, tuple[int, ...]] = {"tuned": (0,), "held-out": (1,), "both": (0, 1)}
"""By the parity of the digest of a session's id. What is tuned is tuned on the first alone."""


class Replay(Value):
    """What was played. sessions: those that count; others: how many do not, for their size or
    their half; again: files that hold a session that an earlier file held; unread: files that
    hold none, and why; digest: of the list of sessions, the same for the same sessions."""

    order: Order
    half: Half
    sessions: tuple[Played, ...]
    others: int
    again: tuple[str, ...]
    unread: tuple[Unread, ...]
    digest: str

    def rows(
        self, cheats: frozenset[str] = frozenset(), beside: Sequence[str] = ("none",)
    ) -> list[Row]:
        """Return a row for each policy, in the order of the request. Without a session, return none.
        cheats: policies that see the future; beside: those that the others are tested against."""
        if not self.sessions:
            return []
        made = {
            name: [session.outcomes[at] for session in self.sessions]
            for at, name in enumerate(self.order.policies)
        }
        return compared(made, beside, cheats)


def replay(
    paths: Sequence[str],
    order: Order,
    half: Half = "both",
    *,
    limit: int | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """Play what these files and folders hold. limit: files; workers: processes, None: one for each
    core; progress: is told how many files are done, and of how many. FileMissing."""
    order = order.replace(halves=HALVES[half])
    found = files(paths)[:limit]
    told = progress or (lambda *_: None)
    told(0, len(found))
    made: dict[str, Played | Unread] = {}
    for path, each in _played(order, found, workers):
        made[path] = each
        told(len(made), len(found))
    return _gathered(order, half, [made[path] for path in found])


def _gathered(order: Order, half: Half, made: Sequence[Played | Unread]) -> Replay:
    """Of a session that is in several files the longest is taken."""
    sessions: dict[str, Played] = {}
    again: list[str] = []
    for each in made:
        if isinstance(each, Unread):
            continue
        other = sessions.get(each.digest, each)
        longer, shorter = (each, other) if each.tokens > other.tokens else (other, each)
        sessions[each.digest] = longer
        if other is not each:
            again.append(shorter.source)
    counted = tuple(sessions[mark] for mark in sorted(sessions) if sessions[mark].outcomes)
    listed = "\n".join(session.digest for session in counted)
    unread = tuple(each for each in made if isinstance(each, Unread))
    left = len(sessions) - len(counted)
    return Replay(order, half, counted, left, tuple(again), unread, digest(listed.encode()))


def _played(
    order: Order, paths: Sequence[str], workers: int | None
) -> Iterator[tuple[str, Played | Unread]]:
    """Each file with what it made, as they are done. The largest begin, so that no core waits for
    the last one."""
    workers = min(workers or os.cpu_count() or 1, len(paths))
    if workers <= 1:
        for path in paths:
            yield path, play(order, path)
        return

    pool = ProcessPoolExecutor(workers, initializer=_deaf)
    try:
        largest = sorted(paths, key=_size, reverse=True)
        begun = {pool.submit(play, order, path): path for path in largest}
        for done in as_completed(begun):
            yield begun[done], done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:  # who reads it will say why
        return 0


def _deaf() -> None:
    """Ctrl-C is for the process that started this one: it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
