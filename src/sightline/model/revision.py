"""Identify the content of a file, and compare files by their stat alone."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from msgspec import Struct

Freshness = Literal["same", "differs", "cannot_tell"]

Revision = str
"""SHA-256 of a file's bytes in hexadecimal, or MISSING or UNKNOWN. Revisions have no order."""

MISSING: Revision = "missing"
"""The path has no file."""

UNKNOWN: Revision = "unknown"
"""The path has a file, but its bytes could not be determined."""


def revision_of(data: bytes) -> Revision:
    """Return the revision of bytes."""
    return sha256(data).hexdigest()


def named(texts: Iterable[bytes] | dict[Revision, bytes]) -> dict[Revision, bytes]:
    """Return texts by their revisions. A dict has them already and is returned as it is."""
    return texts if isinstance(texts, dict) else {revision_of(data): data for data in texts}


def known(revision: Revision) -> bool:
    """Return whether a revision names content, being neither MISSING nor UNKNOWN."""
    return revision not in (MISSING, UNKNOWN)


LINK = "symlink to "


def as_link(target: str) -> Revision:
    """Return the value that is compared in place of a symlink's revision. The timeline never has
    it: there the revision of a symlink is UNKNOWN, and its target has a field."""
    return LINK + target


def link_of(standing: Revision) -> str | None:
    """Return the target in a value of as_link(); None for the revision of a file."""
    return standing.removeprefix(LINK) if is_link(standing) else None


def is_link(revision: Revision) -> bool:
    """Return whether a value came from as_link()."""
    return revision.startswith(LINK)


class StatSignature(Struct, frozen=True):
    """The result of one stat. Times are in nanoseconds; mode includes the kind bits."""

    size: int
    mtime_ns: int
    ctime_ns: int
    dev: int
    ino: int
    mode: int


class Stamp(Struct, frozen=True):
    """A signature and the revision of the same bytes. read_at_ns: the wall clock then."""

    signature: StatSignature
    revision: Revision
    read_at_ns: int


def compare(stamp: Stamp, now: StatSignature, tick_ns: int) -> Freshness:
    """Compare the file of a stamp with its signature now.

    tick_ns is the coarsest step the file system's times may take. A file touched within two
    ticks of its own stamp is *racy* (git, Documentation/technical/racy-git.txt; jj, own_mtime):
    a later write may have left the same times, so the result is "cannot_tell" and the caller
    hashes. A changed size always differs; after a change of any other field the content decides.
    """
    recorded = stamp.signature
    if recorded.size != now.size:
        return "differs"
    if recorded != now:
        return "cannot_tell"
    newest = max(recorded.mtime_ns, recorded.ctime_ns)
    return "same" if newest + 2 * tick_ns < stamp.read_at_ns else "cannot_tell"
