"""What git says of a tree: its logs are read, and its program is asked what a commit holds.

Nothing of the user's is run: no hooks, no configuration but the repository's own, nothing that
would be fetched. Whatever git does not answer is no error: it is no answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from subprocess import DEVNULL, PIPE, Popen
from threading import Timer

from sightline.filesystem.git.reflog import Move, moves, since

SLACK_NS = 20_000_000
"""Times of files step by the clock tick, and may lie that much before the clock."""

LOG_BYTES = 65_536
"""The end of a log that is read."""

LINK_BYTES = 4_096
"""The most of a `.git` file that is read: it names a folder."""

NAMED_MAX = 500
"""Paths that a command line names; of more, the whole tree is listed."""


class Repository:
    """A repository and its tree. top: the tree; folder: what `.git` is, of this tree alone;
    common: what its trees share. Its methods never raise for what git or the disk say."""

    def __init__(self, root: str, top: str, folder: str) -> None:
        self._root = root
        self.top = top
        self.folder = folder
        self.common = _common(folder)
        self._algorithm = ""

    @property
    def prefix(self) -> str:
        """What git's names of workspace paths begin with: "", or a folder ending in "/"."""
        folder = os.path.relpath(self._root, self.top).replace(os.sep, "/")
        return "" if folder == "." else f"{folder}/"

    def moves(self, since_ns: int) -> tuple[Move, ...]:
        """What moved the tree after a moment, oldest first, by the log of HEAD."""
        log = f"{self.folder}/logs/HEAD"
        if not _newer(log, since_ns):
            return ()
        return since(moves(_tail(log)), since_ns // 1_000_000_000)

    def head(self) -> str | None:
        """The commit that the tree stands at, by the log of HEAD."""
        log = moves(_tail(f"{self.folder}/logs/HEAD"))
        return log[-1].new if log else None

    def standing(self) -> tuple[object, ...]:
        """What is another each time that the tree comes to stand at another commit."""
        head = _text(f"{self.folder}/HEAD")
        branch = f"{self.common}/{head.removeprefix('ref: ').strip()}"
        tables = [f"{self.common}/packed-refs", f"{self.common}/reftable/tables.list"]
        return (self.head(), head, _text(branch), *map(_written, tables))

    def stashed(self) -> tuple[str, ...]:
        """The commits of the stash, the newest last."""
        return tuple(move.new for move in moves(_tail(f"{self.common}/logs/refs/stash")))

    def stash_moved(self, since_ns: int) -> bool:
        """Whether the stash was put on, or taken from, after a moment."""
        log = f"{self.common}/logs/refs/stash"
        return _newer(log if os.path.exists(log) else os.path.dirname(log), since_ns)

    def index_moved(self, since_ns: int) -> bool:
        """Whether the index was written after a moment. Applying a stash leaves no other trace."""
        return _newer(f"{self.folder}/index", since_ns)

    def busy(self) -> bool:
        """Whether git is in the middle of writing the tree."""
        return os.path.exists(f"{self.folder}/index.lock")

    def stopped(self, since_ns: int) -> bool:
        """Whether git has stopped in the middle of something after a moment, and waits."""
        return any(_newer(f"{self.folder}/{name}", since_ns) for name in STOPPED)

    def algorithm(self) -> str:
        """The hash that names objects here, by the length of the names."""
        if not self._algorithm:
            self._algorithm = "sha256" if len(self.head() or "") == 64 else "sha1"
        return self._algorithm

    def blobs(
        self, commit: str, paths: Sequence[str], deadline_s: float
    ) -> dict[str, str | None] | None:
        """The blob ids of workspace paths in a commit, None for what it does not have; None when
        git does not answer."""
        names = {self._name(path): path for path in paths}
        asked = list(names) if len(names) <= NAMED_MAX else []
        whole = [] if asked else ["-r"]
        done = _ask(
            self.top, ["ls-tree", "-z", "--full-tree", *whole, commit, "--", *asked], deadline_s
        )
        if done is None:
            return None
        found: dict[str, str | None] = dict.fromkeys(paths)
        for entry in done.split(b"\0"):
            said, _, name = entry.partition(b"\t")
            path = names.get(os.fsdecode(name))
            if path is not None and said.split()[1] == b"blob":
                found[path] = said.split()[2].decode()
        return found

    def tracked_paths(self, deadline_s: float) -> list[str]:
        """Return the workspace paths that git tracks; none where git does not answer."""
        names = _ask(self._root, ["ls-files", "-c", "-z"], deadline_s)
        return os.fsdecode(names).split("\0")[:-1] if names else []

    def holds(self, blob: str, deadline_s: float) -> bool:
        """Whether git has a blob of this id, in a commit or left over from one."""
        return _ask(self.top, ["cat-file", "-e", blob], deadline_s) is not None

    def _name(self, path: str) -> str:
        return os.path.relpath(f"{self._root}/{path}", self.top).replace(os.sep, "/")


def repository(root: str, path: str) -> Repository | None:
    """The repository that a workspace path belongs to: that of the nearest `.git` above it."""
    folder = os.path.dirname(f"{root}/{path}")
    while True:
        found = _control(f"{folder}/.git")
        if found is not None:
            return Repository(root, folder, found)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _control(at: str) -> str | None:
    """The folder that a `.git` is, or names; that of a worktree or submodule is a file."""
    if os.path.isdir(at):
        return at if os.path.exists(f"{at}/HEAD") else None
    named = _text(at)
    if not named.startswith("gitdir: "):
        return None
    folder = os.path.join(os.path.dirname(at), named.removeprefix("gitdir: ").strip())
    return folder if os.path.isdir(folder) else None


def _common(folder: str) -> str:
    shared = _text(f"{folder}/commondir").strip()
    return os.path.normpath(os.path.join(folder, shared)) if shared else folder


def _text(at: str) -> str:
    if not os.path.isfile(at):
        return ""  # opening a pipe would wait for who writes into it
    try:
        with open(at, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(LINK_BYTES)
    except OSError:
        return ""


def _tail(log: str) -> str:
    try:
        with open(log, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - LOG_BYTES, 0))
            return file.read(LOG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _newer(at: str, since_ns: int) -> bool:
    try:
        return os.stat(at).st_mtime_ns + SLACK_NS >= since_ns
    except OSError:
        return False


def _written(at: str) -> tuple[int, ...]:
    try:
        found = os.stat(at)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


STOPPED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")

QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # older ones do not know the line above
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}
"""All that git is told, but where programs are: it reads nothing of the user's."""

OURS = ("--no-pager", "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")


def environment() -> dict[str, str]:
    """The environment that git runs in: nothing of the user's but where programs are."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, **QUIET}


def _ask(top: str, words: Sequence[str], deadline_s: float) -> bytes | None:
    there = program()
    if there is None:
        return None

    try:
        done = subprocess.run(
            [there, "-C", top, *OURS, *words],
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=deadline_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def bounded(
    words: Sequence[str], limit: int, deadline_s: float, more: dict[str, str] | None = None
) -> tuple[bytes, int] | None:
    """What git prints, in limit + 1 bytes at most, and what it ended with; it is ended at the
    deadline, and once it has said enough. more: of its environment. None where it cannot be run."""
    there = program()
    if there is None:
        return None

    env = environment() | (more or {})
    try:
        git = Popen([there, *words], env=env, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
    except (OSError, ValueError):
        return None
    with git:
        late = Timer(deadline_s, git.kill)
        late.start()
        try:
            assert git.stdout is not None
            said = git.stdout.read(limit + 1)
            if len(said) > limit:
                git.kill()
            return said, git.wait()
        finally:
            late.cancel()
            git.kill()


def program() -> str | None:
    """git, from a folder that PATH names in full: never from the one that happens to be current."""
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        there = os.path.join(folder, name)
        if os.path.isabs(folder) and os.access(there, os.X_OK):
            return there
    return None
