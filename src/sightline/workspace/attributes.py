"""What belongs to a file besides its bytes: owner, mode, extended attributes, ACLs."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.workspace.syscalls import Calls


def copy_attributes(calls: Calls, source: int, target: int) -> None:
    """Give one open file the owner, ACL, attributes and mode of another, and never more rights
    than the other had. OSError when the disk refuses what a file's owner may do."""
    wanted = calls.fstat(source)
    mode = _own(calls, wanted, target)
    _copy_xattrs(calls, source, target)
    if hasattr(os, "fchmod"):
        # Last, because giving a file away drops its set-id bits.
        calls.fchmod(target, mode)


def _own(calls: Calls, wanted: os.stat_result, target: int) -> int:
    """Owner and group as far as we may give them; answers the mode that is safe with them."""
    mode = stat.S_IMODE(wanted.st_mode)
    made = calls.fstat(target)
    if not hasattr(os, "fchown") or (made.st_uid, made.st_gid) == (wanted.st_uid, wanted.st_gid):
        return mode
    try:
        calls.fchown(target, wanted.st_uid, wanted.st_gid)
        return mode
    except PermissionError:
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
    try:
        calls.fchown(target, -1, wanted.st_gid)
        return mode
    except PermissionError:
        # Another group than the old one may now do no more than everybody could.
        return mode & (~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3)


if sys.platform == "linux":

    def _copy_xattrs(calls: Calls, source: int, target: int) -> None:
        wanted, inherited = _xattrs(calls, source), _xattrs(calls, target)
        for name in inherited.keys() - wanted.keys():
            # A folder's default ACL would give rights that the old file did not.
            with _allowed(name):
                calls.removexattr(target, name)
        for name, value in wanted.items():
            if inherited.get(name) != value:
                with _allowed(name):
                    calls.setxattr(target, name, value)

    def _xattrs(calls: Calls, fd: int) -> dict[str, bytes]:
        try:
            return {name: calls.getxattr(fd, name) for name in calls.listxattr(fd)}
        except OSError as error:
            if error.errno == errno.ENOTSUP:
                return {}
            raise

    @contextmanager
    def _allowed(name: str) -> Iterator[None]:
        # Security modules and root's own attributes are not the owner's to set.
        try:
            yield
        except OSError as error:
            system = name.startswith(("security.", "trusted."))
            if not system or error.errno not in (errno.ENOTSUP, errno.EPERM, errno.EACCES):
                raise

else:

    def _copy_xattrs(calls: Calls, source: int, target: int) -> None:
        """No call of Python's standard library reads them here."""
