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
    """The content of a file. data: None for no file. kind: file, link or other."""

    data: bytes | None
    mode: int | None = None
    kind: str = "file"


class Worktree(Struct, frozen=True):
    """A worktree. top: its folder; root: the workspace in it; commit: that it stands at; dirty: the
    files that differ from the commit from the beginning, by their path from the top."""

    top: str
    root: str
    prefix: str
    commit: str
    dirty: dict[str, FileBytes]
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
            self.commit,
        )
        new = _git(self.top, "ls-files", "--others", "--exclude-standard", "-z")
        names = {os.fsdecode(name) for name in (changed + new).split(b"\0") if name}
        for name in sorted(names | self.dirty.keys()):
            before = self.dirty.get(name)
            if before is None:
                before = FileBytes(_committed(self.top, self.commit, name))
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


def make(root: str, folder: str, lock: Lock) -> Worktree:
    """Make a worktree in a folder that does not exist yet, with the files of the workspace as they
    are now, those that git ignores aside. lock: as for remove. WorkspaceError."""
    root = os.path.realpath(root)
    top = git_top(root)
    if top is None:
        raise WorkspaceError(f"{root} is in no git tree.", "Use the shared tree.")
    prefix = prefix_of(root, top)
    if os.path.lexists(folder):
        remove(top, folder, lock)
    make_folder(os.path.dirname(folder))
    commit = _git(top, "rev-parse", "HEAD").decode().strip()
    with lock():
        _git(top, "worktree", "add", "--detach", "--quiet", folder, commit)
    status = _git(top, "status", "--porcelain=v1", "--no-renames", "--untracked-files=all", "-z")
    dirty: dict[str, FileBytes] = {}
    for entry in status.split(b"\0"):
        name = os.fsdecode(entry[3:])
        if name and not name.endswith("/"):  # a repository within
            dirty[name] = _copy(os.path.join(top, name), os.path.join(folder, name))
    return Worktree(folder, os.path.join(folder, prefix.rstrip("/")), prefix, commit, dirty, top)


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


def _copy(source: str, target: str) -> FileBytes:
    found = read_bytes(source)
    if os.path.lexists(target):
        os.unlink(target)
    if found.data is None or found.kind == "other":
        return found
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if found.kind == "link":
        os.symlink(os.fsdecode(found.data), target)
        return found
    with open(target, "wb") as file:
        file.write(found.data)
    os.chmod(target, found.mode or 0o600)
    return found


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
