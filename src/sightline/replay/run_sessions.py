"""Play recorded sessions under policies, one process for each core, and gather the outcomes.

How an agent would have behaved with less in its window is modelled, not observed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from hashlib import sha256
from time import process_time

from msgspec import structs

from sightline.replay.engine import measured
from sightline.replay.outcome import Outcome
from sightline.replay.played import Half, Order, Played, Replay, Unread
from sightline.replay.record import recorded
from sightline.replay.recording_reader import Segment, read, segments
from sightline.replay.recording_search import files

HALVES: dict[Half, tuple[int, ...]] = {"tuned": (0,), "held-out": (1,), "both": (0, 1)}
"""By the parity of the digest of a session's id. What is tuned is tuned on the first alone."""


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
    order = structs.replace(order, halves=HALVES[half])
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
    return Replay(
        order, half, counted, left, tuple(again), unread, sha256(listed.encode()).hexdigest()
    )


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


def play(order: Order, path: str) -> Played | Unread:
    """Play the session of a file under all policies, or say why the file holds none."""
    found = read(order.readers, path)
    if isinstance(found, Unread):
        return found
    mark = sha256((found.session or path).encode("utf-8", "surrogatepass")).hexdigest()
    parts = list(segments(found, order.setting.count))
    tokens = max((part.tokens for part in parts), default=0) + order.setting.prefix
    half = int(mark, 16) & 1
    mended = sum(part.mended for part in parts)
    told = Played(path, found.agent, found.session, mark, half, tokens, found.passed_over, mended)
    if tokens < order.least_tokens or half not in order.halves:
        return told
    return structs.replace(told, outcomes=_outcomes(order, parts))


def _outcomes(order: Order, parts: list[Segment]) -> tuple[Outcome, ...]:
    sums = [Outcome() for _ in order.policies]
    last_at: int | None = None
    for part in parts:
        record = recorded(part.blocks, part.times, last_at)
        last_at = next((turn.at for turn in reversed(record.turns) if turn.at), last_at)
        for number, made in enumerate(order.policies.values()):
            policy = made(order.setting)
            sums[number] += measured(record, policy, order.setting, part.wrong, process_time)
    return tuple(sums)
