"""Values of the disk port: a resolved path, the state of a file, and a replacement to make."""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from sightline.model.revision import MISSING, Revision, StatSignature, as_link

Kind = Literal["file", "missing", "directory", "symlink", "special", "unreadable"]

HiddenByGit = Literal["", "file", "folder"]


class ResolvedPath(Struct, frozen=True):
    """A named path, resolved. path: where its bytes are, canonical, relative, with "/"; name: the
    canonical path that was named, where a symlink inside the workspace led elsewhere; links: further
    names on the way from the name to the path, where one symlink leads to another."""

    path: str
    name: str | None = None
    links: tuple[str, ...] = ()


class FileState(Struct, frozen=True):
    """The state of a canonical path: its bytes, and the revision of those very bytes.

    kind: "symlink" is one that dangles or leaves the workspace; "unreadable" is anything that could
    not be read. why: the reason for "unreadable", and "too_large" where the bytes exceed the limit
    that was asked for (revision is still that of the content). data: None unless kind is "file" and
    the bytes were asked for. target: the target of a symlink as written; None where it is no Unicode.
    names: the number of names (hard links) of the file. saved_over: the answer to a write that took
    effect, and that somebody saved over before the file was read again.
    """

    path: str
    kind: Kind
    revision: Revision = MISSING
    data: bytes | None = None
    signature: StatSignature | None = None
    read_at_ns: int = 0
    why: str | None = None
    target: str | None = None
    names: int = 1
    saved_over: bool = False

    @property
    def content(self) -> Revision:
        """Return the value that a replacement compares: the revision, or the target of a symlink
        (see model.revision.as_link)."""
        return self.revision if self.target is None else as_link(self.target)


class Pieces(Protocol):
    """Receives the bytes of a file too large for memory."""

    def begin(self) -> None:
        """Forget all pieces: the file is read from its beginning, perhaps once more."""

    def take(self, piece: bytes) -> None:
        """Take the next bytes; none at the end of the file."""


class RefusedFile(Struct, frozen=True):
    """A file that an ignore file refuses. entry: the path that the ignore file hides: the file's own,
    or a folder above it ("/" at its end). rules: the name of the ignore file. hidden_by_git:
    .gitignore hides the file itself, or a folder above it, too."""

    path: str
    entry: str
    rules: str
    hidden_by_git: HiddenByGit = ""


class Link(Struct, frozen=True):
    """A symlink to put at a path. Its target is never followed."""

    target: str


class FileCopy(Struct, frozen=True):
    """The content of another file to put at a path, copied in pieces. source: its place; content: its
    revision."""

    source: str
    content: Revision


class Replacement(Struct, frozen=True):
    """New content (None: nothing) to put at a path that has the `expected` content (see
    FileState.content). token: part of the names of the temporary files, never empty. mendable: both
    contents are kept elsewhere, so that a file with several names may be overwritten in place.
    content: as FileState.content of `new`, where the caller knows it. same_as: for a new path, another
    path whose file gets a second name (a hard link), if it has this content; else a file is written."""

    path: str
    expected: Revision
    new: bytes | Link | FileCopy | None
    token: str
    mendable: bool = True
    content: Revision | None = None
    same_as: str | None = None
