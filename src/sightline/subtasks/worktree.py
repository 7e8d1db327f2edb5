"""A git worktree for one attempt: the tree as it is now, and what the attempt changed in it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from hashlib import sha256

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

OWN_GIT = ".git"
"""End of the name of our own git folder beside a worktree."""

SETTINGS = (
    r"^core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|sparsecheckout"
    r"|excludesfile|attributesfile)$|^extensions\.objectformat$"
)
"""The settings that decide how git reads and compares files."""

DIFF = ("diff-index", "--no-renames", "--ignore-submodules=dirty", "-z")
"""Words for git, which prints files that differ from a commit. It looks at times and sizes of files, so
it prints some that are the same, and at no submodule's own files."""

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


class GitSettings(Struct, frozen=True):
    """The files of git's settings that all trees of a repository share, with their hashes. common: git's
    folder that they share."""

    common: str
    files: dict[str, str]

    def changed(self) -> tuple[str, ...]:
        """Return the files that differ now."""
        now = _settings(self.common).files
        names = sorted(self.files.keys() | now.keys())
        return tuple(name for name in names if self.files.get(name) != now.get(name))


class Worktree(Struct, frozen=True):
    """A worktree. top: its folder; root: the workspace in it; admin: git's folder for it; settings: of
    git, which a child may change for all trees; has_modes: git looks at permissions."""

    top: str
    root: str
    start: Start
    admin: str
    settings: GitSettings
    has_modes: bool

    def changes(self) -> Iterator[tuple[str, FileBytes, FileBytes]]:
        """Yield each file that differs from the beginning: its path from the top, its content then,
        and its content now. Git looks with a folder of our own (_keep_beginning), and at what the
        child added to its own index: nothing that a child tells git hides a change."""
        commit = self.start.commit
        differ = self._compared(*DIFF, "--name-only", commit)
        excluded = (
            "--exclude-per-directory=.gitignore",
            f"--exclude-from={self._own}/info/exclude",
        )
        new = self._compared("ls-files", "--others", *excluded, "-z")
        words = (*DIFF, "--cached", "--diff-filter=A", "--name-only")
        added = _git(
            self.top, *words, commit, variables={"GIT_DIR": self.admin, "GIT_WORK_TREE": self.top}
        )
        before = os.path.join(self._own, "before")
        self._check_out(differ, before)
        names = {os.fsdecode(name) for name in (differ + added + new).split(b"\0") if name}
        for name in sorted(names | self.start.dirty.keys()):
            old = self.start.dirty.get(name) or read_bytes(before, name)
            now = read_bytes(self.top, name)
            if (old.data, old.kind) != (now.data, now.kind) or self._is_mode_new(old, now):
                yield name, old, now

    @property
    def _own(self) -> str:
        return f"{self.top}{OWN_GIT}"

    def _compared(
        self, *words: str, tree: str | None = None, index: str = "index", data: bytes = b""
    ) -> bytes:
        """Return what git prints, with our own folder. tree: None for the worktree; index: a name in our
        folder; data: for git to read."""
        folder = tree or self.top
        places = {
            "GIT_DIR": self._own,
            "GIT_INDEX_FILE": os.path.join(self._own, index),
            "GIT_WORK_TREE": folder,
            "GIT_OBJECT_DIRECTORY": os.path.join(self.settings.common, "objects"),
        }
        return _git(folder, *words, variables=places, data=data)

    def _check_out(self, names: bytes, folder: str) -> None:
        """Write files of the commit to a folder as git wrote them to the worktree, also those that a sparse
        checkout leaves out. names: each with a NUL byte behind it. In an empty tree git takes the attributes
        from the index: those of the beginning."""
        empty = os.path.join(self._own, "empty")
        whole = ("read-tree", "--no-sparse-checkout", self.start.commit)
        self._compared(*whole, tree=empty, index="whole")
        words = ("checkout-index", "--force", "-z", "--stdin", f"--prefix={folder}/")
        self._compared(*words, tree=empty, index="whole", data=names)

    def _is_mode_new(self, old: FileBytes, now: FileBytes) -> bool:
        """Return whether a file became executable, or is so no longer."""
        modes = old.mode, now.mode
        return self.has_modes and None not in modes and is_executable(old) != is_executable(now)


def is_folder(path: str) -> bool:
    """Return whether a folder is at a path, and no symlink to one."""
    return os.path.isdir(path) and not os.path.islink(path)


def is_executable(file: FileBytes) -> bool:
    """Return whether the owner of a file may execute it."""
    return bool((file.mode or 0) & 0o100)


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
    if not can_have(top):
        raise WorkspaceError(f"{top} has no commit yet.", "Commit once, and clone it again.")
    return _git(top, "rev-list", "--max-parents=0", "--first-parent", "HEAD").decode().strip()


def start_of(root: str) -> Start:
    """Return the files of the workspace as they are now, those that git ignores aside. WorkspaceError."""
    top = _top(root)
    commit = _git(top, "rev-parse", "HEAD").decode().strip()
    words = ("--porcelain=v1", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
    status = _git(top, "status", *words, "-z")
    names = (os.fsdecode(entry[3:]) for entry in status.split(b"\0"))
    return Start(
        commit,
        prefix_of(os.path.realpath(root), top),
        {
            name: read_bytes(top, name)
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
    common, admin = _common_folder(folder), os.path.join(folder, _path(folder, "--git-dir"))
    settings = _compare_settings(folder)
    _keep_beginning(folder, admin, common, settings)
    for name in start.dirty:
        if os.path.isabs(name) or ".." in name.split("/"):
            raise WorkspaceError(f"{name!r} lies outside of the tree.")
    for name, content in sorted(start.dirty.items(), key=lambda each: each[1].data is not None):
        _put(folder, name, content)
    root = os.path.join(folder, start.prefix.rstrip("/"))
    has_modes = settings.get("core.filemode") != "false"
    return Worktree(folder, root, start, admin, _settings(common), has_modes)


def _keep_beginning(folder: str, admin: str, common: str, settings: Mapping[str, str]) -> None:
    """Make a git folder of our own beside a new worktree: the index, settings and attributes of the
    beginning, and the patterns of ignored files outside of the tree. It has no filters and no refs."""
    own = f"{folder}{OWN_GIT}"
    for part in ("info", "refs", "empty"):
        os.makedirs(os.path.join(own, part))
    shutil.copyfile(os.path.join(admin, "index"), os.path.join(own, "index"))
    excluded = [settings.get("core.excludesfile", ""), "info/exclude"]
    files = {
        "HEAD": b"ref: refs/heads/none\n",
        "config": _config(folder, settings),
        "attributes": _content(common, settings.get("core.attributesfile", "")),
        "info/attributes": _content(common, "info/attributes"),
        "info/exclude": b"\n".join(_content(common, path) for path in excluded),
    }
    for name, data in files.items():
        with open(os.path.join(own, name), "wb") as file:
            file.write(data)


def _config(folder: str, settings: Mapping[str, str]) -> bytes:
    """Return the settings of our own git folder beside a worktree."""
    own = {**settings, "core.bare": "false", "core.repositoryformatversion": "1"}
    if "core.attributesfile" in own:
        own["core.attributesfile"] = f"{folder}{OWN_GIT}/attributes"
    lines = []
    for name, value in own.items():
        section, _, word = name.partition(".")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{section}]\n{word} = "{quoted}"\n')
    return os.fsencode("".join(lines))


def _content(common: str, path: str) -> bytes:
    """Return the bytes of a file that git's settings name; b"" for none. common: git's folder."""
    if not path:
        return b""
    return content_of(os.path.join(common, os.path.expanduser(path))).data or b""


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
    shutil.rmtree(f"{folder}{OWN_GIT}", ignore_errors=True)
    if os.path.lexists(folder):
        raise WorkspaceError(f"{folder} cannot be removed.", "Remove it, and try again.")


def read_bytes(top: str, name: str) -> FileBytes:
    """Return the content of a file below a folder, as content_of() does; below a symlink there is none."""
    parts = name.split("/")
    if any(os.path.islink(os.path.join(top, *parts[:n])) for n in range(1, len(parts))):
        return FileBytes(None)
    return content_of(os.path.join(top, name))


def content_of(path: str) -> FileBytes:
    """Return the content of a file; a symlink's is its target, and a folder is no file."""
    try:
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode):
            return FileBytes(None)
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


def _put(top: str, name: str, content: FileBytes) -> None:
    """Write a file of the beginning, or delete it, and the folders that it leaves empty. Deletions come
    first: they make room."""
    target = os.path.join(top, name)
    if content.data is None:
        if os.path.lexists(target) and not is_folder(target):  # a repository within is no file
            os.unlink(target)
        with suppress(OSError):  # a folder holds more
            for above in range(name.count("/"), 0, -1):
                os.rmdir(os.path.join(top, *name.split("/")[:above]))
        return
    if content.kind == "other":
        return
    if is_folder(target):  # a file or a symlink took its place
        shutil.rmtree(target)
    elif os.path.lexists(target):
        os.unlink(target)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if content.kind == "link":
        os.symlink(os.fsdecode(content.data), target)
        return
    with open(target, "wb") as file:
        file.write(content.data)
    os.chmod(target, content.mode or 0o600)


def _common_folder(folder: str) -> str:
    """Return git's folder that all trees of a repository share."""
    return os.path.join(folder, _path(folder, "--git-common-dir"))


def _path(folder: str, word: str) -> str:
    """Return what `git rev-parse` prints for a word."""
    return os.fsdecode(_git(folder, "rev-parse", word)[:-1])


def _compare_settings(folder: str) -> dict[str, str]:
    """Return the settings of a repository that decide how git reads and compares files."""
    try:
        found = _git(folder, "config", "-z", "--get-regexp", SETTINGS)
    except WorkspaceError:  # there are none
        return {}
    pairs = (os.fsdecode(pair).partition("\n") for pair in found.split(b"\0") if pair)
    return {name: value if is_given else "true" for name, is_given, value in pairs}


def settings_of(root: str) -> GitSettings | None:
    """Return git's settings for a workspace; None where git knows no repository there."""
    top = git_top(os.path.realpath(root))
    try:
        return None if top is None else _settings(_common_folder(top))
    except WorkspaceError:
        return None


def _settings(common: str) -> GitSettings:
    """Return git's settings as they are now. common: git's folder."""
    files = [os.path.join(common, name) for name in ("config", "config.worktree")]
    for part in ("info", "hooks"):
        for parent, _, names in os.walk(os.path.join(common, part)):
            files += [os.path.join(parent, name) for name in names]
    hashes = {
        f".git/{os.path.relpath(path, common)}": sha256(repr(content_of(path)).encode()).hexdigest()
        for path in files
        if os.path.lexists(path)
    }
    return GitSettings(common, hashes)


def _git(
    folder: str, *arguments: str, variables: Mapping[str, str] | None = None, data: bytes = b""
) -> bytes:
    """Return what git prints. variables: added to its environment; data: for git to read. It runs no filter:
    whoever worked in a worktree may have set one, for all worktrees of the repository. WorkspaceError
    where git fails."""
    own = variables or {}
    filters = without_filters(_run(folder, LIST_FILTERS, own))
    return _run(folder, arguments, {**filters, **own}, data)


def _run(
    folder: str, arguments: Sequence[str], variables: Mapping[str, str], data: bytes = b""
) -> bytes:
    git = program()
    if git is None:
        raise WorkspaceError("git is not installed, or not on PATH.", "")
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    try:
        done = subprocess.run(
            [git, *OURS, "-c", "core.splitIndex=false", "-C", folder, *arguments],
            input=data,
            capture_output=True,
            env={**environ, **QUIET, "GIT_NO_REPLACE_OBJECTS": "1", **variables},
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
