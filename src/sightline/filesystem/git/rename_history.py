"""Renames in git's history: where a path that is gone went."""

from __future__ import annotations

from sightline.filesystem.git.repository import OURS, Repository, repository

COMMITS = 2_000
"""The number of commits to look through, from the newest."""

DEADLINE_S = 2.0
"""Seconds after which the answer so far counts."""

BYTES_MAX = 4_000_000
"""The limit of git's answer; a history renames fewer files than that holds."""

COMPARED_MAX = 1_000
"""The limit of deleted and of new files in one commit that git compares with each other."""

RENAMES_MAX = 20_000
"""The limit of renames that are kept, the newest."""


class History:
    """The renames in a workspace's history, asked once for each commit that the tree stands at."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._kept: tuple[tuple[object, ...], dict[str, str]] | None = None

    def renames(self, deadline_s: float = DEADLINE_S) -> dict[str, str]:
        """Return the renames as `renames` does, within `deadline_s` seconds, DEADLINE_S at most. An answer
        that was cut off sooner than DEADLINE_S is not kept."""
        found = repository(self._root, ".")
        if found is None:
            return {}
        state = found.head_state()
        if self._kept is not None and self._kept[0] == state:
            return self._kept[1]
        if deadline_s <= 0:
            return {}
        answer, is_whole = _log(found, COMMITS, min(deadline_s, DEADLINE_S))
        newest = _newest(answer)
        if is_whole or deadline_s >= DEADLINE_S:
            self._kept = (state, newest)
        return newest


def renames(root: str, *, commits: int = COMMITS, deadline_s: float = DEADLINE_S) -> dict[str, str]:
    """Return old workspace paths and their newest paths, of the last commits. A file that moved
    several times is under each of its old paths. {} where there is no git, no history, or no
    answer in time."""
    found = repository(root, ".")
    return _newest(_log(found, commits, deadline_s)[0]) if found is not None else {}


def _newest(answer: bytes) -> dict[str, str]:
    newest: dict[str, str] = {}
    # Each rename is a letter with a number, and two paths; a part that broke off has no new path.
    words = iter([word.decode("utf-8", "replace") for word in answer.split(b"\0")[:-1]])
    for old, new in ((next(words, ""), next(words, "")) for _ in words):
        if len(newest) == RENAMES_MAX:
            break
        if new:
            # The log goes back in time: the later way of a new path is in the table already.
            newest.setdefault(old, newest.get(new, new))
    return {old: new for old, new in newest.items() if old != new}


def _log(found: Repository, commits: int, deadline_s: float) -> tuple[bytes, bool]:
    """Return git's answer up to the deadline and the limit, and whether more time would not give
    more."""
    words = [
        *("-C", found.root, *OURS, "-c", f"diff.renameLimit={COMPARED_MAX}"),
        *("log", f"--max-count={commits}", "--no-show-signature", "--no-ext-diff", "--no-textconv"),
        # --relative: paths as the workspace has them, also where it is a folder of the repository.
        *("--diff-filter=R", "--name-status", "-M", "--format=", "-z", "--relative"),
    ]
    done = found.run(words, BYTES_MAX, deadline_s)
    if done is None:
        return b"", True
    answer, code = done
    return answer[:BYTES_MAX], code >= 0 or len(answer) > BYTES_MAX
