"""What git's history says was renamed: where a path that is gone went."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sightline.filesystem.git.repository import OURS, bounded, repository

COMMITS = 2_000
"""Commits looked through, from the newest."""

DEADLINE_S = 2.0
"""After so long without an end, what git has said by then counts."""

BYTES_MAX = 4_000_000
"""Of git's answer; a history renames fewer files than that holds."""

COMPARED_MAX = 1_000
"""Files gone and files new in one commit, of which git compares each with each."""

TOLD_MAX = 20_000
"""Renames that are kept, the newest."""


class History:
    """What git says was renamed in a workspace, asked once for each commit that it stands at."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._kept: tuple[tuple[object, ...], dict[str, str]] | None = None

    def renames(self, deadline_s: float = DEADLINE_S) -> dict[str, str]:
        """As `renames`, within the time of one question; DEADLINE_S at most. What was cut off
        sooner than that counts for this question alone."""
        found = repository(self._root, ".")
        if found is None:
            return {}
        standing = found.standing()
        if self._kept is not None and self._kept[0] == standing:
            return self._kept[1]
        if deadline_s <= 0:
            return {}
        said, whole = _log(self._root, COMMITS, min(deadline_s, DEADLINE_S))
        told = _newest(said)
        if whole or deadline_s >= DEADLINE_S:
            self._kept = (standing, told)
        return told


def renames(root: str, *, commits: int = COMMITS, deadline_s: float = DEADLINE_S) -> dict[str, str]:
    """Old workspace paths and the newest ones, as git tells them of the last commits; a file that
    moved several times is told once for each of its old paths. {} where there is no git, no
    history, or no answer in time."""
    return _newest(_log(root, commits, deadline_s)[0])


def _newest(said: bytes) -> dict[str, str]:
    newest: dict[str, str] = {}
    for old, new in _pairs(said):
        if len(newest) == TOLD_MAX:
            break
        # The log goes back in time: where a new path went later stands in the table already.
        newest.setdefault(old, newest.get(new, new))
    return {old: new for old, new in newest.items() if old != new}


def _pairs(said: bytes) -> Iterator[tuple[str, str]]:
    """Old and new path of each rename, the newest first: a letter with a number, and two paths.
    What broke off at the end is left out."""
    words = iter(said.split(b"\0")[:-1])
    for old, new in ((next(words, b""), next(words, b"")) for _ in words):
        if new:
            yield _path(old), _path(new)


def _path(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _log(root: str, commits: int, deadline_s: float) -> tuple[bytes, bool]:
    """What git prints, up to the deadline and the limit, and whether more time would not tell
    more; a part that breaks off loses its end."""
    if not os.path.isdir(root):
        return b"", True
    limit = ["-c", f"diff.renameLimit={COMPARED_MAX}"]
    done = bounded(["-C", root, *OURS, *limit, *_words(commits)], BYTES_MAX, deadline_s)
    if done is None:
        return b"", True
    said, ended = done
    return said[:BYTES_MAX], ended >= 0 or len(said) > BYTES_MAX


def _words(commits: int) -> list[str]:
    """--relative: paths as the workspace has them, also where it is a folder of the repository."""
    return [
        *("log", f"--max-count={commits}", "--no-show-signature", "--no-ext-diff", "--no-textconv"),
        *("--diff-filter=R", "--name-status", "-M", "--format=", "-z", "--relative"),
    ]
