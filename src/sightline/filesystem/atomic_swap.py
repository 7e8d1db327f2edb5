"""Put a new file at a name in one step, and take it back when it displaced a save.

The two names are exchanged, so the name always holds a whole file, and the temporary file holds exactly
the displaced content. Then the displaced content is compared. Unexpected content goes back by the
same step.
"""

from __future__ import annotations

import errno
from collections.abc import Generator

from sightline.errors import Unverifiable
from sightline.filesystem.folder import Folder
from sightline.filesystem.lease import Lease, TimedStat
from sightline.filesystem.read import content_of
from sightline.filesystem.temp_file import remove
from sightline.model.revision import Revision

ROUNDS = 8
"""How often a write gives way to other programs that are saving the same file."""


def swap_in(
    swap: Swap, expected: Revision, new: Revision
) -> Generator[Folder, None, TimedStat | None]:
    """Put the temporary file at the name if that displaces the `expected` content; otherwise leave
    everything as it was. Return the stat of the file at the name; None unless it is known that nobody
    wrote to it meanwhile. new: the content of the temporary file."""
    folder = swap.folder
    for _ in range(ROUNDS):
        # Both are leased: a program that comes to write to either file waits until it is decided
        # which of the two keeps the name.
        with Lease(folder, folder.name) as old, Lease(folder, swap.temp) as ours:
            if content_of(folder, folder.name) != expected:
                return None
            swap.exchange()
            try:
                yield folder
                if content_of(folder, swap.temp) == expected and old.is_quiet():
                    folder.calls.unlink(folder.at(swap.temp), dir_fd=folder.fd)
                    return ours.stat_if_unwritten()
            except OSError:
                swap.undo()
                raise
            swap.undo()
        # A program that came to write to our file while it had the name goes first: a lease is not
        # granted before that program has closed the file.
        with Lease(folder, swap.temp):
            is_saved_over = content_of(folder, swap.temp) != new
        if is_saved_over:
            # That save came last, so it stays, as it would have without us.
            swap.exchange()
            remove(folder, swap.temp)
            return None
    raise OSError(errno.EBUSY, "other programs keep saving it")


class Swap:
    """A name and its temporary file. is_done: they have changed places; spare: a name for the steps
    where the system cannot exchange two names."""

    def __init__(self, folder: Folder, temp: str, spare: str) -> None:
        self.folder, self.temp, self.spare = folder, temp, spare
        self.is_done = False

    def exchange(self) -> None:
        """Let the two names change places, in one step where the system has such a step."""
        folder = self.folder
        temp, name = folder.at(self.temp), folder.at(folder.name)
        try:
            folder.calls.exchange(temp, name, dir_fd=folder.fd)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            self._exchange_by_steps(temp, name, folder.at(self.spare))
        self.is_done = not self.is_done

    def undo(self) -> None:
        """Exchange the names again. Unverifiable, naming the file with the old content, when that
        fails."""
        try:
            self.exchange()
        except OSError as error:
            path = self.folder.path
            raise Unverifiable(
                path,
                f"{path} holds the new content, and could not be set back: {error.strerror}.",
                f"What it held before is beside it, in {self.temp}.",
            ) from error

    def discard(self) -> None:
        """Remove the temporary file, unless an undo failed and it holds the old content."""
        if not self.is_done:
            remove(self.folder, self.temp)

    def _exchange_by_steps(self, temp: str, name: str, spare: str) -> None:
        calls, fd = self.folder.calls, self.folder.fd
        try:
            calls.link(name, spare, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
                raise
            # No links here: for a moment nothing stands at the name, and clean() knows that.
            calls.replace(name, spare, src_dir_fd=fd, dst_dir_fd=fd)
        try:
            calls.replace(temp, name, src_dir_fd=fd, dst_dir_fd=fd)
            calls.replace(spare, temp, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError:
            calls.replace(spare, name, src_dir_fd=fd, dst_dir_fd=fd)
            # Renaming one of two links onto the other does nothing: the second is still there.
            remove(self.folder, self.spare)
            raise
