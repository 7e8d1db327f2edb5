"""Thousands of rows at once: what a process reads that begins to look after a large tree. It is no
part of what a hook imports until it has to."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import cache

from sightline.core.context import DiskFile, Knowledge
from sightline.core.events import Belief
from sightline.core.revision import Stamp, StatSignature
from sightline.store import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeVar

    Made = TypeVar("Made")

    Row = tuple[Any, ...]


@cache
def _maker(kind: type[Made]) -> Callable[..., Made]:
    """What makes values of a kind from all of their fields, in order, four times as fast as the
    kind itself. To have it takes as long as making a hundred: for who makes many thousands."""
    fields = kind._fields  # type: ignore[attr-defined]
    names = [f"v{number}" for number in range(len(fields))]
    puts = "".join(f" put{number}(made, v{number})\n" for number in range(len(fields)))
    space: dict[str, Any] = {"new": object.__new__, "kind": kind}
    space |= {f"put{n}": getattr(kind, field).__set__ for n, field in enumerate(fields)}
    exec(f"def make({', '.join(names)}):\n made = new(kind)\n{puts} return made", space)  # noqa: S102
    made: Callable[..., Made] = space["make"]
    return made


def stamps_of(rows: Sequence[Row]) -> dict[str, Stamp]:
    """Rows of the stamps table, by path."""
    signature, stamp, untext = _maker(StatSignature), _maker(Stamp), codec.untext
    with _uncollected():
        return {
            untext(path): stamp(signature(*map(int, numbers.split())), revision, read_at_ns)
            for path, numbers, revision, read_at_ns in rows
        }


def disks_of(rows: Sequence[Row]) -> dict[str, DiskFile]:
    """Rows of the disk table, by path."""
    disk, untext, cause_of = _maker(DiskFile), codec.untext, codec.cause_of
    with _uncollected():
        return {
            (name := untext(path)): disk(
                name, revision, position, at, cause and cause_of(cause), mode, untext(moved), edited
            )
            for path, revision, position, at, cause, mode, moved, edited in rows
        }


def known_of(rows: Sequence[Row]) -> dict[str, Knowledge]:
    """Rows of the knowledge table behind its session, by path."""
    know, belief = _maker(Knowledge), _maker(Belief)
    untext, spans_of = codec.untext, codec.spans_of
    with _uncollected():
        return {
            (path := untext(row[0])): know(
                path,
                belief(row[8], spans_of(row[9]), spans_of(row[10]), row[11]),
                untext(row[3]),
                row[2],
                *row[4:8],
                untext(row[1]),
            )
            for row in rows
        }


@contextmanager
def _uncollected() -> Iterator[None]:
    """While so much is made that stays, looking for what could go takes as long as making it."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
