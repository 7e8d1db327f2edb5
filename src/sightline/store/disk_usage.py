"""Measure the room that an embedded store takes, and give freed room back to the system."""

from __future__ import annotations

import os
from time import sleep

from sightline.store.blobs import ROW_BYTES
from sightline.store.database import Database
from sightline.store.port import Room

PAGES_AT_ONCE = 48
"""Free pages given back in one transaction, which holds the writers' lock for some milliseconds."""

REST_S = 0.003
"""Seconds between two transactions. A waiting writer tries every millisecond, so it comes first."""

FREE_KEPT_BYTES = 1 << 20
"""Free room that stays in the file for the next facts and texts."""

FACTS = (
    "SELECT coalesce(sum(length(body) + length(session) + length(kind)"
    " + coalesce(length(path), 0) + 30), 0) FROM events"
)
STAMPS = (
    "SELECT coalesce(sum(length(path) + length(signature) + length(revision) + 20), 0) FROM stamps"
)
TEXTS = f"SELECT coalesce(sum(length(frame) + {ROW_BYTES}), 0) FROM texts"  # noqa: S608  all ours


def measured(base: Database) -> Room:
    """Return the room by use. Facts, stats and texts count their rows, with a few bytes for the head
    of each row; views count the remaining pages."""
    facts, caches, texts = (base.run(sql)[0][0] for sql in (FACTS, STAMPS, TEXTS))
    page = _pragma(base, "page_size")
    free = _pragma(base, "freelist_count") * page
    used = _pragma(base, "page_count") * page - free
    views = max(used - facts - caches - texts, 0)
    return Room(facts, views, caches, texts, free, base.log_bytes())


def give_back(base: Database) -> int:
    """Shorten the file by its free pages while other processes go on writing. Return the bytes by
    which the file is smaller."""

    def drop() -> None:
        for _ in range(min(PAGES_AT_ONCE, _pragma(base, "freelist_count") - kept)):
            base.run("PRAGMA incremental_vacuum(1)")  # one page, whatever number it is given

    base.checkpoint()  # only then the file has its final length
    if _pragma(base, "auto_vacuum") == 0:
        return 0  # a store in memory, or of an older version: both use freed pages again
    before = os.path.getsize(base.file)
    kept = FREE_KEPT_BYTES // _pragma(base, "page_size")
    rounds = 0
    while (free := _pragma(base, "freelist_count")) > kept:
        base.write(drop)
        if _pragma(base, "freelist_count") >= free:
            break  # others free pages as fast, or no page can be given back: try the next time
        rounds += 1
        if rounds % 16 == 0:
            base.checkpoint()  # until then the log has the pages that were moved
        sleep(REST_S)
    if rounds:
        base.checkpoint()
    return max(before - os.path.getsize(base.file), 0)


def _pragma(base: Database, name: str) -> int:
    return int(base.run(f"PRAGMA {name}")[0][0])
