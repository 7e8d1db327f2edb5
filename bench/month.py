"""Measure the store of a month of heavy use, and the verbs on that store.

    python bench/month.py [--json] [--sessions N] [--operations N]

200 sessions do 500 operations each on 600 real files, with the verbs of the library; bench/usage.py
says which. Printed are the room by kind before and after gc, and usual verbs beside the same ones
on the store of one short session. Exit 1 when a limit is missed. The whole takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.stopwatch import interleaved
from bench.usage import MONTH_US, Usage

from sightline.checkpoints.gc import gc
from sightline.history import session_history
from sightline.history.session_history import LogQuery
from sightline.history.why import why

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sightline import Session

FACTS_LIMIT = 1_000
"""Bytes for each operation that stay for ever: facts and what is derived from them."""

STORE_LIMIT = 400_000_000
"""Bytes of a month's whole store once gc ran with the default settings: 1,000 of each of the 100,000
operations for facts and views, 2,500 for texts, and 50 MB for the log, free pages and slack."""

VERB_LIMIT = 1.5
"""Times what a verb takes on a small store. Lists of everything grow with it and have none."""

ROUNDS = 15


class Size(NamedTuple):
    """A store's bytes at one moment; seconds: what gc took to get there."""

    moment: str
    facts: int
    views: int
    caches: int
    texts: int
    free: int
    log: int
    total: int
    kept: int
    seconds: float = 0.0


class Speed(NamedTuple):
    """A verb on the month's store and on a small one: medians in milliseconds."""

    verb: str
    month_ms: float
    small_ms: float
    ratio: float
    limit: str
    met: bool | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the month, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--sessions", type=int, default=200, metavar="N")
    parser.add_argument("--operations", type=int, default=500, metavar="N", help="of each session")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sightline-month-") as folder:
        for name in ("month", "small"):
            Path(folder, name).mkdir()
        month, small = Usage(f"{folder}/month"), Usage(f"{folder}/small", seed=2)
        month.run(options.sessions, options.operations)
        small.run(1, 50)
        done = options.sessions * options.operations
        sizes = [size(month, "the month's end")]
        speeds = [*verbs(month, small)]
        sizes += [
            swept(month, "gc, as the settings have it"),
            swept(month, "gc --older-than 7d", age_us=7 * MONTH_US // 30),
            swept(month, "gc --max-size 50M", room=50 << 20),
        ]
        month.clock.advance(us=MONTH_US)
        sizes.append(swept(month, "a month without a session, gc"))
        wrong = month.store.verify()
    rows = report(sizes, speeds, done)
    print(json.dumps(rows) if options.json else words(sizes, speeds, rows))
    print(*wrong, sep="\n", file=sys.stderr, end="\n" if wrong else "")
    missed = [speed for speed in speeds if speed.met is False]
    return int(bool(missed or wrong or not rows["met"]))


def size(usage: Usage, moment: str, seconds: float = 0.0) -> Size:
    """The room that a store takes now."""
    room, kept = usage.store.room(), len(usage.store.texts())
    texts = room.texts
    sizes = (room.facts, room.views, room.caches, texts, room.free, room.log, room.total)
    return Size(moment, *sizes, kept, seconds)


def swept(usage: Usage, moment: str, *, age_us: int | None = None, room: int | None = None) -> Size:
    """The same after a gc."""
    keeper = usage.session("keeper")
    began = perf_counter()
    ground = keeper._context  # noqa: SLF001  the command does the same
    gc(ground, usage.settings, age_us=age_us, room=room)
    return size(usage, moment, round(perf_counter() - began, 2))


def verbs(month: Usage, small: Usage) -> list[Speed]:
    """Usual verbs in turns on both stores. Those whose answer grows with the store have no limit."""
    ours, floor = (usage.session("timer") for usage in (month, small))
    path = month.names[0]
    for usage, session in ((month, ours), (small, floor)):
        for name in usage.names[:40]:
            session.read(name)
    timed: list[tuple[str, Callable[[Session], object], bool]] = [
        ("read", lambda s: s.read(path), True),
        ("check", lambda s: s.check(path), True),
        ("edit", partial(_edit, path), True),
        ("notice", lambda s: s.notice(), True),
        ("changes", lambda s: s.changes(), True),
        ("log, the newest 10", _log, True),
        ("why", lambda s: why(s._context, path), False),  # noqa: SLF001
        ("sessions", lambda s: session_history.sessions(s._context), False),  # noqa: SLF001
    ]
    return [_speed(verb, work, ours, floor, limited=limited) for verb, work, limited in timed]


def _speed(
    verb: str, work: Callable[[Session], object], ours: Session, floor: Session, *, limited: bool
) -> Speed:
    times = interleaved(lambda: work(ours), lambda: work(floor), ROUNDS)
    middle, middle_floor = map(median, times)
    fastest, fastest_floor = map(min, times)
    ratio = round(middle / middle_floor, 2)
    met = min(ratio, fastest / fastest_floor) <= VERB_LIMIT if limited else None
    limit = f"{VERB_LIMIT:g} x" if limited else ""
    return Speed(verb, round(middle * 1e3, 2), round(middle_floor * 1e3, 2), ratio, limit, met)


def _edit(path: str, session: Session) -> None:
    """There and back, so that the file stays what it is."""
    text = session.read(path).text
    line = next(line for line in text.split("\n") if len(line) > 8 and text.count(line) == 1)
    session.edit(path, line, f"{line} # x")
    session.edit(path, f"{line} # x", line)


def _log(session: Session) -> list[object]:
    return list(session_history.select(session._context.store, LogQuery(newest=10)))  # noqa: SLF001


def report(sizes: Sequence[Size], speeds: Sequence[Speed], done: int) -> dict[str, Any]:
    """Return the whole report as one object."""
    first, after = sizes[0], sizes[1]
    each = (first.facts + first.views + first.caches) / done
    return {
        "schema": 1,
        "operations": done,
        "bytes_per_operation": round(each),
        "limits": {"bytes_per_operation": FACTS_LIMIT, "store": STORE_LIMIT},
        "met": each <= FACTS_LIMIT and after.total <= STORE_LIMIT,
        "sizes": [row._asdict() for row in sizes],
        "rows": [row._asdict() for row in speeds],
    }


def words(sizes: Sequence[Size], speeds: Sequence[Speed], said: dict[str, Any]) -> str:
    """Two Markdown tables."""
    lines = [
        "| MB | facts | views | stats | texts | free | log | all | texts kept | took |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in sizes:
        parts = (row.facts, row.views, row.caches, row.texts, row.free, row.log, row.total)
        took = f"{row.seconds:.1f} s" if row.seconds else ""
        cells = " | ".join(f"{part / 1e6:.1f}" for part in parts)
        lines.append(f"| {row.moment} | {cells} | {row.kept:,} | {took} |")
    lines += [
        "",
        _sum(sizes, said),
        "",
        "| verb | on the month's store | on a small one | ratio | limit | |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for speed in speeds:
        met = {None: "", True: "kept", False: "MISSED"}[speed.met]
        lines.append(
            f"| {speed.verb} | {speed.month_ms} ms | {speed.small_ms} ms | {speed.ratio} "
            f"| {speed.limit} | {met} |"
        )
    return "\n".join(lines)


def _sum(sizes: Sequence[Size], said: dict[str, Any]) -> str:
    each, done = said["bytes_per_operation"], said["operations"]
    whole, kept = sizes[1].total / 1e6, "kept" if said["met"] else "MISSED"
    return (
        f"{each} bytes stay of each of {done:,} operations (limit {FACTS_LIMIT}), the whole store "
        f"takes {whole:.0f} MB after gc (limit {STORE_LIMIT / 1e6:.0f} MB): {kept}."
    )


if __name__ == "__main__":
    sys.exit(main())
