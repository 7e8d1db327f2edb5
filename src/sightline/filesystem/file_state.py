"""TODO: module docstring"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from sightline.model.revision import MISSING, Revision, StatSignature, as_link

Kind = Literal["file", "missing", "directory", "symlink", "special", "unreadable"]


class ResolvedPath(Struct, frozen=True):
    """A path that was asked for. path: where its bytes are, canonical, relative, with "/";
    name: as asked for (canonical too) when a symlink inside the workspace led elsewhere."""

    path: str
    name: str | None = None


class FileState(Struct, frozen=True):
    """What stands at a canonical path now: bytes, and the revision of those very bytes.

    kind "symlink" is one that dangles or leaves the workspace; "unreadable" is whatever could
    not be read, with `why`. data is None unless kind is "file" and the bytes were asked for
    and within the size limit (`why` says "too_large" then, and revision is still the content's).
    target: where a symlink leads, as it is written there; None where that is no Unicode.
    """

    path: str
    kind: Kind
    revision: Revision = MISSING
    data: bytes | None = None
    signature: StatSignature | None = None
    read_at_ns: int = 0
    why: str | None = None
    target: str | None = None

    @property
    def standing(self) -> Revision:
        """What a replacement compares: the revision, or where a symlink leads."""
        return self.revision if self.target is None else as_link(self.target)


class Link(Struct, frozen=True):
    """A symlink to stand at a path. It is never followed."""

    target: str


class Replacement(Struct, frozen=True):
    """What is to stand at a path (None: nothing) where `expected` stands (Found.standing); token:
    as replace_if takes it, never empty."""

    path: str
    expected: Revision
    new: bytes | Link | None
    token: str
