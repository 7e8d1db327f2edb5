"""Identity of a file's content, and what a stat alone can say about it."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from msgspec import Struct

Freshness = Literal["same", "differs", "cannot_tell"]

Revision = str
"""SHA-256 of a file's bytes in hexadecimal, or one of the two words below. No order is promised."""

MISSING: Revision = "missing"
"""Nothing stands at this path."""

UNKNOWN: Revision = "unknown"
"""Something stands there, but which bytes could not be pinned down."""


def revision_of(data: bytes) -> Revision:
    """The revision of these bytes."""
    return sha256(data).hexdigest()


def named(texts: Iterable[bytes] | dict[Revision, bytes]) -> dict[Revision, bytes]:
    """Texts by their revisions; as they are where the caller had worked these out."""
    return texts if isinstance(texts, dict) else {revision_of(data): data for data in texts}


def known(revision: Revision) -> bool:
    """Whether the revision names content (neither missing nor unknown)."""
    return revision not in (MISSING, UNKNOWN)


LINK = "symlink to "


def as_link(target: str) -> Revision:
    """What is compared in place of a revision where a symlink stands: where it leads. On no
    timeline: there a symlink's revision is UNKNOWN, and its target a field of its own."""
    return LINK + target


def link_of(standing: Revision) -> str | None:
    """Where a symlink leads that this stands for; None when it stands for a file or nothing."""
    return standing.removeprefix(LINK) if is_link(standing) else None


def is_link(revision: Revision) -> bool:
    """Whether it stands for a symlink."""
    return revision.startswith(LINK)


class StatSignature(Struct, frozen=True):
    """What one stat says of a file; times in nanoseconds, mode with the kind bits."""

    size: int
    mtime_ns: int
    ctime_ns: int
    dev: int
    ino: int
    mode: int


class Stamp(Struct, frozen=True):
    """A signature, the revision of the bytes it was taken with, and the wall clock then (ns)."""

    signature: StatSignature
    revision: Revision
    read_at_ns: int


def compare(stamp: Stamp, now: StatSignature, tick_ns: int) -> Freshness:
    """Whether the bytes behind a stamp can have changed since it was taken.

    tick_ns is the coarsest step the file system's times may take. A file touched within two
    ticks of its own stamp is *racy* (git, Documentation/technical/racy-git.txt; jj, own_mtime):
    a later write may have left the same times, so the answer is "cannot_tell" and the caller
    hashes. A changed size always differs; any other changed field only raises the question,
    because content decides.
    """
    recorded = stamp.signature
    if recorded.size != now.size:
        return "differs"
    if recorded != now:
        return "cannot_tell"
    newest = max(recorded.mtime_ns, recorded.ctime_ns)
    return "same" if newest + 2 * tick_ns < stamp.read_at_ns else "cannot_tell"
