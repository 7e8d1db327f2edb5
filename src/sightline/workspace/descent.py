"""Going through the folders of a tree, so that each name is looked up in the folder above it."""

from __future__ import annotations

import os

from sightline.workspace.folder import SEARCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Descent:
    """The folder of one path after the other, held open with those above it, so that only what
    differs is opened. As in Folder, no step down follows a symlink."""

    def __init__(self, open_: Callable[..., int], root: str) -> None:
        self._open = open_
        self._folder = ""
        self._parts: list[str] = []
        self._held = [open_(root, SEARCH & ~os.O_NOFOLLOW)]

    def to(self, folder: str) -> int:
        """A descriptor of a folder below the root, "" or ending in "/". OSError when it is not
        there any more."""
        if folder != self._folder:
            self._folder = "?"  # where it fails, none
            self._go(folder.split("/")[:-1])
            self._folder = folder
        return self._held[-1]

    def close(self) -> None:
        """Let go of all of them."""
        self._up(0)
        os.close(self._held.pop())

    def _go(self, parts: Sequence[str]) -> None:
        same = 0
        while same < len(self._parts) and self._parts[same : same + 1] == parts[same : same + 1]:
            same += 1
        self._up(same)
        for part in parts[same:]:
            self._held.append(self._open(part, SEARCH, dir_fd=self._held[-1]))
            self._parts.append(part)

    def _up(self, depth: int) -> None:
        while len(self._parts) > depth:
            self._parts.pop()
            os.close(self._held.pop())
