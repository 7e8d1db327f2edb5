"""A git repository: its logs, read as files, and its commits, asked of the git program.

git runs without the user's hooks and configuration, and fetches nothing. Where git does not answer,
the answer is None or empty, not an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from threading import Timer

from sightline.filesystem.git.reflog import Move, moves, since
from sightline.filesystem.git_control import LeadsOutside, git_folders, is_owned, read_text

SLACK_NS = 20_000_000
"""Times of files step by the clock tick, so they may lie this much before the clock."""

LOG_BYTES = 65_536
"""The size of the end of a log that is read."""

STASH_LOG_BYTES = 1 << 20
"""The log of the stash is read whole, up to some 6,000 entries: what it lacks has left the stash."""

NAMED_MAX = 500
"""The limit of paths on a command line; for more paths, git lists the whole tree."""

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
"""git's whole environment, except the places of programs: it reads no settings of the user's."""

OURS = ("--no-pager", "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")

LIST_FILTERS = (
    *("-c", "filter.sightline.required=false"),  # always there: no answer means that git failed
    *("config", "-z", "--name-only", "--get-regexp"),
    r"^filter\..*\.(clean|smudge|process|required)$",
)
"""Words for git, which prints the names of the settings of all filters (`without_filters`)."""


class Repository:
    """A repository and its tree. top: the top folder of the tree; folder: the git folder of this tree;
    common: the git folder that all trees of the repository share. No method raises for errors of git
    or the disk."""

    def __init__(self, root: str, top: str, folder: str, common: str) -> None:
        self.root = root
        self.top = top
        self.folder = folder
        self.common = common
        self._algorithm = ""

    @property
    def prefix(self) -> str:
        """Return the beginning of git's names of workspace paths: "", or a folder ending in "/"."""
        return prefix_of(self.root, self.top)

    def moves(self, since_ns: int) -> tuple[Move, ...]:
        """Return the operations that moved the tree after a moment, oldest first, by the log of HEAD."""
        if not _newer(f"{self.folder}/logs/HEAD", since_ns):
            return ()
        return since(moves(self._log_of_head()), since_ns // 1_000_000_000)

    def head(self) -> str | None:
        """Return the commit that the tree stands at, by the log of HEAD."""
        log = moves(self._log_of_head())
        return log[-1].new if log else None

    def head_state(self) -> tuple[object, ...]:
        """Return a value that differs each time the tree comes to stand at another commit."""
        head = read_text(self.folder, "HEAD")
        branch = read_text(self.common, head.removeprefix("ref: ").strip())
        tables = [f"{self.common}/packed-refs", f"{self.common}/reftable/tables.list"]
        return (self.head(), head, branch, *map(_written, tables))

    def stashed(self) -> tuple[str, ...]:
        """Return the commits of the stash, the newest last."""
        log = read_text(self.common, "logs/refs/stash", tail=STASH_LOG_BYTES)
        return tuple(move.new for move in moves(log, newest=None))

    def stash_moved(self, since_ns: int) -> bool:
        """Return whether an entry was added to or removed from the stash after a moment."""
        log = f"{self.common}/logs/refs/stash"
        return _newer(log if os.path.exists(log) else os.path.dirname(log), since_ns)

    def moved_ns(self, *, index: bool) -> int:
        """Return when git last logged a move of the tree or of the stash, which it does after it wrote
        the files; 0 where it logged none. index: or when it wrote the index."""
        logs = [f"{self.folder}/logs/HEAD", f"{self.common}/logs/refs/stash"]
        written = map(_written, [*logs, f"{self.folder}/index"] if index else logs)
        return max((int(times[0]) for times in written if times), default=0)

    def index_moved(self, since_ns: int) -> bool:
        """Return whether git wrote the index after a moment. Applying a stash leaves no other trace."""
        return _newer(f"{self.folder}/index", since_ns)

    def busy(self) -> bool:
        """Return whether git is writing the tree now."""
        return os.path.exists(f"{self.folder}/index.lock")

    def stopped(self, since_ns: int) -> bool:
        """Return whether git stopped in the middle of an operation after a moment, and waits."""
        return any(_newer(f"{self.folder}/{name}", since_ns) for name in STOPPED)

    def algorithm(self) -> str:
        """Return the hash of this repository, sha1 or sha256, by the length of its object names."""
        if not self._algorithm:
            self._algorithm = "sha256" if len(self.head() or "") == 64 else "sha1"
        return self._algorithm

    def blobs(
        self, commit: str, paths: Sequence[str], deadline_s: float
    ) -> dict[str, str | None] | None:
        """Return the blob ids of workspace paths in a commit, None for a path that it does not have;
        None when git does not answer."""
        names = {
            os.path.relpath(f"{self.root}/{path}", self.top).replace(os.sep, "/"): path
            for path in paths
        }
        asked = list(names) if len(names) <= NAMED_MAX else []
        whole = [] if asked else ["-r"]
        words = ["ls-tree", "-z", "--full-tree", *whole, commit, "--", *asked]
        answer = self._ask(self.top, words, deadline_s)
        if answer is None:
            return None
        ids: dict[str, str | None] = dict.fromkeys(paths)
        for entry in answer.split(b"\0"):
            description, _, name = entry.partition(b"\t")
            path = names.get(os.fsdecode(name))
            if path is not None and description.split()[1] == b"blob":
                ids[path] = description.split()[2].decode()
        return ids

    def text(self, path: str, commit: str, deadline_s: float) -> bytes | None:
        """Return the bytes of a workspace path in a commit, or in the index for ""; None where it is not
        there, and where git does not answer."""
        name = os.path.relpath(f"{self.root}/{path}", self.top).replace(os.sep, "/")
        if commit.startswith("-"):
            return None
        return self._ask(self.top, ["cat-file", "blob", f"{commit}:{name}"], deadline_s)

    def is_untracked(self, path: str, deadline_s: float, *, ignored: bool | None) -> bool:
        """Return whether git does not track the file at a workspace path; False where git does not answer.
        ignored: whether its rules ignore the file, None for either."""
        name = os.path.relpath(f"{self.root}/{path}", self.top).replace(os.sep, "/")
        rules = [] if ignored is None else ["--exclude-standard", *["-i"] * ignored]
        words = ["--literal-pathspecs", "ls-files", "-o", "-z", *rules, "--", name]
        return bool(self._ask(self.top, words, deadline_s))

    def tracked_paths(self, deadline_s: float) -> list[str]:
        """Return the workspace paths that git tracks; none where git does not answer."""
        names = self._ask(self.root, ["ls-files", "-c", "-z"], deadline_s)
        return os.fsdecode(names).split("\0")[:-1] if names else []

    def holds(self, blob: str, deadline_s: float) -> bool:
        """Return whether git has a blob of this id, in a commit or left over from one."""
        return self._ask(self.top, ["cat-file", "-e", blob], deadline_s) is not None

    def environment(self) -> dict[str, str]:
        """Return git's environment: this repository, whatever folder git runs in and whatever tree
        the settings of the repository name, and nothing of the user's except the places of
        programs."""
        places = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        return {**places, **QUIET, "GIT_DIR": self.folder, "GIT_WORK_TREE": self.top}

    def run(
        self,
        words: Sequence[str],
        limit: int | None,
        deadline_s: float,
        variables: Mapping[str, str] | None = None,
    ) -> tuple[bytes, int] | None:
        """Run git and return its output, limit + 1 bytes at most, and its exit code; None where it
        cannot be run, or the repository is another user's. git is killed at the deadline (seconds)
        and when it prints more than the limit (bytes). variables: added to its environment."""
        from subprocess import DEVNULL, PIPE, Popen  # most looks read files alone

        git = program()
        if git is None or not self.is_owned():
            return None
        env = self.environment() | dict(variables or {})
        try:
            process = Popen([git, *words], env=env, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
        except (OSError, ValueError):
            return None
        with process:
            timer = Timer(deadline_s, process.kill)
            timer.start()
            try:
                assert process.stdout is not None
                output = process.stdout.read(-1 if limit is None else limit + 1)
                if limit is not None and len(output) > limit:
                    process.kill()
                return output, process.wait()
            finally:
                timer.cancel()
                process.kill()

    def is_owned(self) -> bool:
        """Return whether the repository is this user's own. git runs what settings name."""
        return is_owned(self.top, f"{self.top}/.git", self.folder)

    def _ask(self, folder: str, words: Sequence[str], deadline_s: float) -> bytes | None:
        """Return what git prints; None where it fails or does not end in time."""
        done = self.run(["-C", folder, *OURS, *words], None, deadline_s)
        return done[0] if done is not None and done[1] == 0 else None

    def _log_of_head(self) -> str:
        return read_text(self.folder, "logs/HEAD", tail=LOG_BYTES)


def without_filters(names: bytes) -> dict[str, str]:
    """Return the variables that switch git's filters off. names: what git printed for LIST_FILTERS. An
    option `-c` could not name a filter with "=" in its name."""
    keys = sorted(set(os.fsdecode(names).split("\0")) - {""})
    variables = {"GIT_CONFIG_COUNT": str(len(keys))}
    for at, key in enumerate(keys):
        variables[f"GIT_CONFIG_KEY_{at}"] = key
        variables[f"GIT_CONFIG_VALUE_{at}"] = "false" if key.endswith(".required") else ""
    return variables


def prefix_of(root: str, top: str) -> str:
    """Return the beginning of git's names of workspace paths: "", or a folder ending in "/". root: the
    workspace; top: the top folder of its tree."""
    folder = os.path.relpath(root, top).replace(os.sep, "/")
    return "" if folder == "." else f"{folder}/"


def repository(root: str, path: str) -> Repository | None:
    """Return the repository of a workspace path: that of the nearest `.git` above it. None where
    there is none, and where that `.git` leads to another repository."""
    folder = os.path.dirname(f"{root}/{path}")
    while True:
        try:
            found = git_folders(folder)
        except LeadsOutside:
            return None
        if found is not None:
            return Repository(root, folder, *found)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


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


def program() -> str | None:
    """Return the path of git, from a folder that PATH names in full; never from the current folder.
    Where there is no PATH, the folders of the system's own programs count."""
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.access(path, os.X_OK):
            return path
    return None
