"""A git worktree for one attempt: the tree as it is now, and what the attempt changed in it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from msgspec import Struct

from sightline.errors import WorkspaceError
from sightline.filesystem.git.repository import (
    LIST_FILTERS,
    OURS,
    QUIET,
    prefix_of,
    program,
    without_filters,
)
from sightline.filesystem.git_control import git_top
from sightline.filesystem.private_files import make_folder

TIMEOUT_S = 120.0

Lock = Callable[[], AbstractContextManager[object]]


class FileBytes(Struct, frozen=True):
    """The content of a file. data: None for no file. kind: file, link, other, or
    secret for one whose content was not sent."""

    data: bytes | None
    mode: int | None = None
    kind: str = "file"


class Start(Struct, frozen=True):
    """A tree that a worktree begins with. commit: that it stands at; prefix: of the workspace's paths
    from the top; dirty: the files that differ from the commit, by their path from the top."""

    commit: str
    prefix: str
    dirty: dict[str, FileBytes]


class Worktree(Struct, frozen=True):
    """A worktree. top: its folder; root: the workspace in it; repository: another tree of the same
    repository."""

    top: str
    root: str
    start: Start
    repository: str

    def changes(self) -> Iterator[tuple[str, FileBytes, FileBytes]]:
        """Yield each file that differs from the beginning: its path from the top, its content then,
        and its content now."""
        changed = _git(
            self.top,
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--name-only",
            "--no-renames",
            "-z",
            self.start.commit,
        )
        new = _git(self.top, "ls-files", "--others", "--exclude-standard", "-z")
        names = {os.fsdecode(name) for name in (changed + new).split(b"\0") if name}
        for name in sorted(names | self.start.dirty.keys()):
            before = self.start.dirty.get(name)
            if before is None:
                before = FileBytes(_committed(self.top, self.start.commit, name))
            after = read_bytes(os.path.join(self.top, name))
            if (before.data, before.kind) != (after.data, after.kind):
                yield name, before, after


def can_have(root: str) -> bool:
    """Return whether a workspace can have worktrees: it lies in a git tree with a commit."""
    top = git_top(os.path.realpath(root))
    if top is None:
        return False
    try:
        _git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except WorkspaceError:
        return False
    return True


def repository_of(root: str) -> str:
    """Return the name of a workspace's repository, the same in all its clones: the first commit of the
    line of first parents. WorkspaceError for a clone that lacks it."""
    top = _top(root)
    if _git(top, "rev-parse", "--is-shallow-repository").strip() != b"false":
        raise WorkspaceError(f"{top} is a shallow clone.", "Run: git fetch --unshallow")
    return _git(top, "rev-list", "--max-parents=0", "--first-parent", "HEAD").decode().strip()


def start_of(root: str) -> Start:
    """Return the files of the workspace as they are now, those that git ignores aside. WorkspaceError."""
    top = _top(root)
    commit = _git(top, "rev-parse", "HEAD").decode().strip()
    status = _git(top, "status", "--porcelain=v1", "--no-renames", "--untracked-files=all", "-z")
    names = (os.fsdecode(entry[3:]) for entry in status.split(b"\0"))
    return Start(
        commit,
        prefix_of(os.path.realpath(root), top),
        {
            name: read_bytes(os.path.join(top, name))
            for name in names
            if name and not name.endswith("/")  # a repository within
        },
    )


def make(root: str, start: Start, folder: str, lock: Lock) -> Worktree:
    """Make a worktree in a folder that does not exist yet. root: in any tree of the repository.
    lock: as for remove. WorkspaceError, also where the repository lacks the commit."""
    top = _top(root)
    if os.path.lexists(folder):
        remove(top, folder, lock)
    make_folder(os.path.dirname(folder))
    try:
        _git(top, "cat-file", "-e", f"{start.commit}^{{commit}}")
    except WorkspaceError as error:
        raise WorkspaceError(
            f"{top} does not have commit {start.commit[:12]}.", "Run there: git fetch"
        ) from error
    with lock():
        _git(top, "worktree", "add", "--detach", "--quiet", folder, start.commit)
    for name, content in start.dirty.items():
        if os.path.isabs(name) or ".." in name.split("/"):
            raise WorkspaceError(f"{name!r} lies outside of the tree.")
        _put(os.path.join(folder, name), content)
    return Worktree(folder, os.path.join(folder, start.prefix.rstrip("/")), start, top)


def remove(repository: str, folder: str, lock: Lock) -> None:
    """Remove a worktree, or what a killed process left of one. repository: any tree of its repository.
    lock: git removes the folder of all worktrees with the last one, so one process at a time makes or
    removes one. WorkspaceError where its folder stays."""
    with lock():
        try:
            _git(repository, "worktree", "remove", "--force", "--force", folder)
        except WorkspaceError:  # git does not know it, or only half of it was made
            shutil.rmtree(folder, ignore_errors=True)
            _git(repository, "worktree", "prune")
    if os.path.lexists(folder):
        raise WorkspaceError(f"{folder} cannot be removed.", "Remove it, and try again.")


def read_bytes(path: str) -> FileBytes:
    """Return the content of a file; a link's is its target."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return FileBytes(os.fsencode(os.readlink(path)), None, "link")
        if not stat.S_ISREG(found.st_mode):
            return FileBytes(b"", None, "other")
        with open(path, "rb") as file:
            return FileBytes(file.read(), stat.S_IMODE(found.st_mode))
    except (FileNotFoundError, NotADirectoryError):
        return FileBytes(None)


def _top(root: str) -> str:
    top = git_top(os.path.realpath(root))
    if top is None:
        raise WorkspaceError(f"{root} is in no git tree.", "Sub-tasks can work in the shared tree.")
    return top


def _put(target: str, content: FileBytes) -> None:
    if os.path.lexists(target):
        os.unlink(target)
    if content.data is None or content.kind == "other":
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if content.kind == "link":
        os.symlink(os.fsdecode(content.data), target)
        return
    with open(target, "wb") as file:
        file.write(content.data)
    os.chmod(target, content.mode or 0o600)


def _committed(top: str, commit: str, name: str) -> bytes | None:
    """Return a file of a commit as git writes it to a tree; None where the commit lacks it."""
    try:
        return _git(top, "cat-file", "--filters", f"{commit}:{name}")
    except WorkspaceError:
        return None


def _git(folder: str, *arguments: str) -> bytes:
    """Return what git prints. It runs no filter: whoever worked in a worktree may have set one, for all
    worktrees of the repository. WorkspaceError where git fails."""
    return _run(folder, arguments, without_filters(_run(folder, LIST_FILTERS, {})))


def _run(folder: str, arguments: Sequence[str], variables: Mapping[str, str]) -> bytes:
    git = program()
    if git is None:
        raise WorkspaceError("git is not installed, or not on PATH.", "")
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    try:
        done = subprocess.run(
            [git, *OURS, "-C", folder, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**environ, **QUIET, **variables},
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkspaceError(f"git {arguments[0]} cannot be run: {error}.", "") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise WorkspaceError(
            f"git {arguments[0]} failed: {said[-1] if said else done.returncode}.", ""
        )
    return done.stdout
