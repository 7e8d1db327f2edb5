"""S1 to S7: what file times say and content does not, and the other way round."""

from __future__ import annotations

from bench.scenarios.model import FORMATTED, FRESH, PATH, STALE, Scenario, module
from bench.world import EPOCH_NS, SECOND, World

BASE = module().encode()
SAME_SIZE = module().replace("value + 6\n", "value + 7\n", 1).encode()
"""One byte differs: step 6 adds 7, so that line now stands there twice."""

CHANGED = FORMATTED.encode()


def _time_of(world: World) -> int:
    return world.entries()[PATH].mtime_ns


def _restored(world: World) -> None:
    world.put(PATH, SAME_SIZE, mtime_ns=_time_of(world))


def _same_tick(world: World) -> None:
    was = _time_of(world)
    world.save(PATH, SAME_SIZE, mtime_ns=was)


def _older(world: World) -> None:
    world.save(PATH, CHANGED, mtime_ns=EPOCH_NS - 86_400 * SECOND)


def _recreated(world: World) -> None:
    world.remove(PATH)
    world.put(PATH, BASE)


TIMES = (
    Scenario(1, "touched", FRESH, between=lambda world: world.touch(PATH)),
    Scenario(2, "saved, same bytes", FRESH, between=lambda world: world.put(PATH, BASE)),
    Scenario(3, "one byte, same mtime", STALE, between=_restored),
    Scenario(4, "same tick, same size", STALE, between=_same_tick),
    Scenario(5, "older file moved in", STALE, between=_older),
    Scenario(6, "atomic save", FRESH, "same bytes", between=lambda world: world.save(PATH, BASE)),
    Scenario(6, "atomic save", STALE, "changed", between=lambda world: world.save(PATH, CHANGED)),
    Scenario(7, "deleted and recreated", FRESH, between=_recreated),
)
