"""How much room an embedded store takes, and giving back what was freed."""

from __future__ import annotations

import os
from time import sleep

from sightline.store.blobs import ROW_BYTES
from sightline.store.database import Database
from sightline.store.port import Room

PAGES_AT_ONCE = 48
"""Free pages given back in one transaction: some milliseconds of the writers' lock."""

REST_S = 0.003
"""Between two of them. A writer that waits looks every millisecond, so that it comes first."""

FREE_KEPT_BYTES = 1 << 20
"""Free room that is left as it is: the next facts and texts take it."""

FACTS = (
    "SELECT coalesce(sum(length(body) + length(session) + length(kind)"
    " + coalesce(length(path), 0) + 30), 0) FROM events"
)
STAMPS = (
    "SELECT coalesce(sum(length(path) + length(signature) + length(revision) + 20), 0) FROM stamps"
)
TEXTS = f"SELECT coalesce(sum(length(frame) + {ROW_BYTES}), 0) FROM texts"  # noqa: S608  all ours


def measured(base: Database) -> Room:
    """The room by what it is used for: of the facts, stats and texts the rows themselves, a few
    bytes for each row's head included; views are what remains."""
    facts, caches, texts = (base.run(each)[0][0] for each in (FACTS, STAMPS, TEXTS))
    page = _number(base, "page_size")
    free = _number(base, "freelist_count") * page
    used = _number(base, "page_count") * page - free
    views = max(used - facts - caches - texts, 0)
    return Room(facts, views, caches, texts, free, base.log_bytes())


def give_back(base: Database) -> int:
    """Shorten the file by its free pages; by how many bytes. Other processes go on writing."""
    base.checkpoint()  # the file is as long as it has to be only then
    before = _bytes(base)
    if _number(base, "auto_vacuum") == 0:
        return 0  # of a store made before this was asked for; what is freed is used again
    left = FREE_KEPT_BYTES // _number(base, "page_size")
    rounds = 0
    while (free := _number(base, "freelist_count")) > left:
        base.write(lambda: _drop(base, left))
        if _number(base, "freelist_count") >= free:
            break  # others free as fast, or none can be given back: the next time will do
        rounds += 1
        if rounds % 16 == 0:
            base.checkpoint()  # the pages that were moved stand in the log until then
        sleep(REST_S)
    if rounds:
        base.checkpoint()
    return max(before - _bytes(base), 0)


def _drop(base: Database, left: int) -> None:
    for _ in range(min(PAGES_AT_ONCE, _number(base, "freelist_count") - left)):
        # Each run of it gives back one page, whatever number is asked for.
        base.run("PRAGMA incremental_vacuum(1)")


def _bytes(base: Database) -> int:
    return os.path.getsize(base.file)


def _number(base: Database, pragma: str) -> int:
    return int(base.run(f"PRAGMA {pragma}")[0][0])
