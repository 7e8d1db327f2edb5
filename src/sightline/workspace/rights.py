"""Giving a file the rights back that it had."""

from __future__ import annotations

import os
from stat import S_IMODE, S_ISREG

from sightline.workspace.folder import Folder
from sightline.workspace.reading import ANSWER_LIMIT, read
from sightline.workspace.refusing import refusal
from sightline.workspace.syscalls import READ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.workspace import Found
    from sightline.workspace.syscalls import Calls


def set_mode(calls: Calls, root: str, path: str, expected: int, mode: int) -> Found:
    """See Workspace.set_mode."""
    try:
        with Folder(calls, root, path) as folder:
            fd = calls.open(folder.at(folder.name), READ, dir_fd=folder.fd)
            try:
                now = calls.fstat(fd).st_mode
                if S_ISREG(now) and S_IMODE(now) == expected and hasattr(os, "fchmod"):
                    calls.fchmod(fd, mode)
                    calls.fsync(fd)
            finally:
                os.close(fd)
    except OSError as error:
        raise refusal(path, error) from error
    return read(calls, root, path, ANSWER_LIMIT)
