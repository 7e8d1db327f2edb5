"""Packing as zlib does, by ISA-L where that is installed: what it makes zlib unpacks, and it takes a
fourth of the time for the same room."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

LEVEL = 2
"""Of both, where there is much. Of zlib: as quick as level 1, and smaller. Of ISA-L: level 3 saves a twentieth of the
room and takes twice as long, which somebody waits for at a first checkpoint."""

MEMORY = 9
"""Of zlib: saves a twentieth of its time."""

WORTH_LOADING = 32 << 10
"""Bytes below which zlib is done before the other is loaded: a hook packs no more."""


def deflated(data: bytes) -> bytes:
    """The bytes as a zlib stream."""
    return _packer()(data) if len(data) >= WORTH_LOADING else _by_zlib(data)


@cache
def _packer() -> Callable[[bytes], bytes]:
    try:
        from isal.isal_zlib import compress
    except ImportError:  # there is none for this machine
        return _by_zlib
    return lambda data: compress(data, LEVEL)


def _by_zlib(data: bytes) -> bytes:
    import zlib

    packing = zlib.compressobj(LEVEL, memLevel=MEMORY)
    return packing.compress(data) + packing.flush()
