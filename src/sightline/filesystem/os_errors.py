"""What the disk refused, in words, with what to do about it."""

from __future__ import annotations

import errno

from sightline.errors import Unverifiable


def refusal(path: str, error: OSError) -> Unverifiable:
    """What the disk refused, and what to do about it."""
    why = error.strerror or type(error).__name__
    stands = f"{why}. The file is as it was."
    if error.errno == errno.ENOTDIR:
        stands = "a file stands where its folder was. Nothing was changed."
    return Unverifiable(path, f"{path} could not be written: {stands}", _hint(error.errno))


def _hint(code: int | None) -> str:
    if code in (errno.EACCES, errno.EPERM):
        return "Check who may write to the file and its folder."
    if code in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space on that disk and try again."
    if code == errno.EROFS:
        return "The file system is mounted read-only: work on a copy, or mount it writable."
    if code == errno.EBUSY:
        return "Another program keeps saving this file: try again when it is done."
    if code == errno.ENOTDIR:
        return "A file stands where a folder of this path would have to be: choose another path."
    return "Check the disk, then try again."
