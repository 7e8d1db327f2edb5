"""Putting a new file at a name in one step, and taking it back when it displaced a save.

The two names are exchanged, so the name always holds a whole file and the aside holds exactly
what was displaced. Only then is the displaced file compared: what was not expected goes back by
the same step.
"""

from __future__ import annotations

import errno
from collections.abc import Generator

from sightline.errors import Unverifiable
from sightline.filesystem.folder import Folder
from sightline.filesystem.lease import Gone, Lease, Stood
from sightline.filesystem.read import standing
from sightline.filesystem.temp_file import remove
from sightline.model.revision import Revision

ROUNDS = 8
"""How often a write gives way to other programs that are saving the same file just then."""


def swap_in(
    swap: Swap, expected: Revision, revision: Revision
) -> Generator[Folder | Gone, None, Stood | None]:
    """Put the aside at the name if that displaces `expected`; else leave all as it was. What
    took the name, where nobody can have written to it meanwhile; else None."""
    folder = swap.folder
    for _ in range(ROUNDS):
        # Both leased: whoever comes to write to either file waits until it is settled which
        # of the two keeps the name.
        with Lease(folder, folder.name) as old, Lease(folder, swap.aside) as ours:
            if standing(folder, folder.name) != expected:
                return None
            swap.exchange()
            try:
                yield folder
                displaced = standing(folder, swap.aside)
                if displaced == expected and old.quiet():
                    folder.calls.unlink(folder.at(swap.aside), dir_fd=folder.fd)
                    stood = ours.stands()
                    yield old.hand_over()
                    return stood
            except OSError:
                swap.undo()
                raise
            swap.undo()
        # Who came to write to ours while it had the name is let in first: a lease is not to be
        # had before they have closed it.
        with Lease(folder, swap.aside):
            saved_over = standing(folder, swap.aside) != revision
        if saved_over:
            # That save came last, so it stays, as it would have without us.
            swap.exchange()
            remove(folder, swap.aside)
            return None
    raise OSError(errno.EBUSY, "other programs keep saving it")


class Swap:
    """A name and its aside, and whether they have changed places."""

    def __init__(self, folder: Folder, aside: str, kept: str) -> None:
        self.folder, self.aside, self.kept = folder, aside, kept
        self.done = False

    def exchange(self) -> None:
        """Let the two names change places, in one step where the system has it."""
        folder = self.folder
        one, other = folder.at(self.aside), folder.at(folder.name)
        try:
            folder.calls.exchange(one, other, dir_fd=folder.fd)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            self._exchange_by_steps(one, other, folder.at(self.kept))
        self.done = not self.done

    def undo(self) -> None:
        """Exchange again; Unverifiable, naming where the old content is, when that fails."""
        try:
            self.exchange()
        except OSError as error:
            path = self.folder.path
            raise Unverifiable(
                path,
                f"{path} holds the new content, and could not be set back: {error.strerror}.",
                f"What it held before is beside it, in {self.aside}.",
            ) from error

    def discard(self) -> None:
        """Remove the aside, unless it holds what could not be put back."""
        if not self.done:
            remove(self.folder, self.aside)

    def _exchange_by_steps(self, aside: str, name: str, kept: str) -> None:
        calls, fd = self.folder.calls, self.folder.fd
        try:
            calls.link(name, kept, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
                raise
            # No links here: for a moment nothing stands at the name, and clean() knows it.
            calls.replace(name, kept, src_dir_fd=fd, dst_dir_fd=fd)
        try:
            calls.replace(aside, name, src_dir_fd=fd, dst_dir_fd=fd)
            calls.replace(kept, aside, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError:
            calls.replace(kept, name, src_dir_fd=fd, dst_dir_fd=fd)
            # Renaming one of two links onto the other does nothing: the second is still there.
            remove(self.folder, self.kept)
            raise
