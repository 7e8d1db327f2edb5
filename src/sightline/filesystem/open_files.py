"""Name the lack of file descriptors. It can meet every call that opens a file, late imports too."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sightline.errors import TooManyOpenFiles

HINT = "Close files, or raise the limit (ulimit -n), and try again."


@contextmanager
def enough_files() -> Iterator[None]:
    """Raise TooManyOpenFiles instead of the OSError that says so."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        whose = "this process" if error.errno == errno.EMFILE else "the machine"
        name = f" to open {error.filename}" if error.filename else ""
        message = f"Too many files are open in {whose}{name}."
        raise TooManyOpenFiles(message, HINT) from error
