"""Renaming a file whose bytes are known, and cleaning up after a write that was killed."""

from __future__ import annotations

import errno
from collections.abc import Iterable

from sightline.filesystem.atomic_swap import Swap
from sightline.filesystem.file_state import FileState
from sightline.filesystem.folder import ASIDE, Folder
from sightline.filesystem.os_errors import refusal
from sightline.filesystem.read import ANSWER_LIMIT, read, standing
from sightline.filesystem.system_calls import Calls
from sightline.filesystem.temp_file import put_back, remove
from sightline.model.revision import MISSING, Revision


def move_if(calls: Calls, root: str, src: str, dst: str, expected: Revision) -> FileState:
    """See Workspace.move_if."""
    standing = read(calls, root, dst, ANSWER_LIMIT)
    if standing.kind != "missing" or expected == MISSING:
        return standing
    if read(calls, root, src, 0).revision != expected:
        return standing
    try:
        with Folder(calls, root, src) as old, Folder(calls, root, dst, make=True) as new:
            _move(old, new, expected)
    except OSError as error:
        raise refusal(src, error) from error
    return read(calls, root, dst, ANSWER_LIMIT)


def clean(
    calls: Calls,
    root: str,
    path: str,
    asides: Iterable[str],
    before: Revision | None = None,
    after: Revision | None = None,
) -> None:
    """See Workspace.clean."""
    try:
        with Folder(calls, root, path) as folder:
            for aside in asides:
                _clean(folder, aside, before, after)
            folder.sync()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return  # with its folder, all that could be left is gone from there
        raise refusal(path, error) from error


def _move(old: Folder, new: Folder, expected: Revision) -> None:
    calls = old.calls
    src, dst = old.at(old.name), new.at(new.name)
    try:
        calls.move(src, dst, src_fd=old.fd, dst_fd=new.fd)
    except FileExistsError:
        return
    try:
        kept = standing(new, new.name) == expected
        new.sync()
        old.sync()
    except OSError:
        calls.move(dst, src, src_fd=new.fd, dst_fd=old.fd)
        raise
    if not kept:
        calls.move(dst, src, src_fd=new.fd, dst_fd=old.fd)


def _clean(folder: Folder, aside: str, before: Revision | None, after: Revision | None) -> None:
    if not aside.startswith(ASIDE) or "/" in aside:
        raise ValueError(f"{aside!r} is not the name of an aside")
    left = standing(folder, aside)
    if left == MISSING:
        return
    stands = standing(folder, folder.name)
    # Killed between an exchange and its comparison, an aside may hold a save that slipped in. A
    # half-written one cannot be taken for it: it has the first name until it is whole.
    whole = before != after and not aside.endswith(".part")
    slipped = whole and left not in (before, after) and stands in (after, MISSING)
    if stands == MISSING and (slipped or aside.endswith(".old")):
        put_back(folder, aside)
        return
    if slipped:
        Swap(folder, aside, f"{aside}.old").exchange()
    remove(folder, aside)
