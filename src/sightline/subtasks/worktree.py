"""A tree for one attempt: the files of the workspace as they are now, with a repository of its own, and
what the attempt changed in it.

The repository borrows the objects of the workspace's, and has its commits, branches, settings and hooks,
but shares none of them: whatever a child does to branches, the stash, HEAD or settings stays in its tree.
Repositories within the workspace have such trees, too.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from msgspec import Struct, structs

from sightline.errors import WorkspaceError
from sightline.filesystem.git.repository import prefix_of
from sightline.filesystem.git_control import LeadsOutside, git_folders, git_top
from sightline.filesystem.private_files import make_folder
from sightline.subtasks import words
from sightline.subtasks.file_bytes import (
    FileBytes,
    content_of,
    is_executable,
    is_folder,
    put,
    read_bytes,
)
from sightline.subtasks.git_command import folders_of, git, lines, names, run, top_of
from sightline.subtasks.git_state import (
    GitState,
    changed_settings,
    differences,
    repositories_within,
    state_of,
)

OWN_GIT = ".git"
"""End of the name of our own git folder beside a tree."""

SETTINGS = re.compile(
    r"core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|sparsecheckout"
    r"|excludesfile|attributesfile)|extensions\.objectformat"
)
"""The settings that decide how git reads and compares files."""

NOT_COPIED = re.compile(
    r"core\.(bare|worktree)|include(if)?\..*"
    r"|extensions\.(worktreeconfig|refstorage|preciousobjects)"
)
"""The settings that belong to one folder of git's."""

DIFF = ("diff-index", "--no-renames", "--ignore-submodules=dirty", "-z")
"""Words for git, which prints files that differ from a commit. It looks at times and sizes of files, so
it prints some that are the same, and at no submodule's own files."""

EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""git's names of the tree without files, which every repository has."""

WITHIN_BYTES = 256_000_000
"""Bytes of files of all repositories within a workspace that a tree begins with."""


class Start(Struct, frozen=True):
    """Files that a tree begins with. commit: that it stands at, "" for none; prefix: of the workspace's
    paths from the top; dirty: the files that differ from the commit, by their path from the top; within:
    of the repositories within, by their path from the top; left_out: those that are not handed over."""

    commit: str
    prefix: str
    dirty: dict[str, FileBytes]
    within: dict[str, Start] = {}
    left_out: tuple[str, ...] = ()


class TreeChanges(Struct, frozen=True):
    """The changes that an attempt left in its tree. changes: files that differ from the beginning: the
    path from the top, the content then, the content now; notes: changes that the files do not hold,
    each as a sentence; is_kept: the tree has commits or files that are nowhere else."""

    changes: tuple[tuple[str, FileBytes, FileBytes], ...] = ()
    notes: tuple[str, ...] = ()
    is_kept: bool = False


class Worktree(Struct, frozen=True):
    """A tree. top: its folder; root: the workspace in it; own: our git folder for it, where no child looks;
    objects: the folder of the objects that it borrows; has_modes: git looks at permissions; state: of its repository at the beginning; within: the trees
    of repositories within, by their path; limit: bytes above which a file is large."""

    top: str
    root: str
    own: str
    start: Start
    objects: str
    has_modes: bool
    state: GitState
    within: dict[str, Worktree]
    limit: int

    def look(self) -> TreeChanges:
        """Return what differs from the beginning. git looks with a folder of our own (_keep_beginning), and
        at what the child added to its own index: nothing that a child tells git hides a change."""
        found = [self._look_here()]
        for at, tree in self.within.items():
            inner = tree.look()
            changes = ((f"{at}/{name}", before, now) for name, before, now in inner.changes)
            notes = (words.in_repository(at, note) for note in inner.notes)
            found.append(TreeChanges(tuple(changes), tuple(notes), inner.is_kept))
        return TreeChanges(
            tuple(change for each in found for change in each.changes),
            tuple(note for each in found for note in each.notes),
            any(each.is_kept for each in found),
        )

    def _look_here(self) -> TreeChanges:
        made: list[str] = []
        notes: list[str] = []
        special: dict[str, str] = {}
        is_kept = False
        for name, kind in self._unlisted() if is_folder(self.top) else ():
            if kind != ".git":
                special[name] = kind
            elif not self._is_submodule(name):
                made.append(name)
                notes.append(words.repository_made(name))
            elif self._is_used(name):
                is_kept = True
                notes.append(words.submodule_used(name))
        changes = tuple(self._changes(made))
        paths = {name for name, _, _ in changes}
        notes += [
            words.left_behind(name, kind)
            for name, kind in special.items()
            if name not in paths and not any(path.startswith(f"{name}/") for path in paths)
        ]
        is_kept |= bool(made)
        try:
            now = state_of(self.top) if os.path.lexists(os.path.join(self.top, ".git")) else None
        except WorkspaceError:
            now = None
        notes += differences(self.state, now)
        if now is not None:
            if changed := changed_settings(self.state, now):
                notes.append(words.settings_changed(changed))
            is_kept |= self._has_new(now)
        return TreeChanges(changes, tuple(notes), is_kept)

    def _is_submodule(self, path: str) -> bool:
        """Return whether a folder is a submodule that was not checked out at the beginning."""
        return self._compared("ls-files", "--stage", "-z", "--", path).startswith(b"160000 ")

    def _is_used(self, path: str) -> bool:
        """Return whether a child changed anything in a submodule that it checked out."""
        own = {"GIT_DIR": os.path.join(self.top, path, ".git")}
        folder = os.path.join(self.top, path)
        try:
            changed = git(folder, "status", "--porcelain", variables=own)
            head = git(folder, "rev-parse", "HEAD", variables=own).split()
            listed = self._compared("ls-files", "--stage", "-z", "--", path).split()
        except WorkspaceError:
            return True
        return bool(changed) or head != listed[1:2]

    def _has_new(self, now: GitState) -> bool:
        """Return whether the tree's repository names objects that the borrowed ones lack."""
        new = sorted(now.objects - self.state.objects)
        asked = "".join(f"{name}\n" for name in new).encode()
        answers = self._compared("cat-file", "--batch-check", data=asked) if new else b""
        return b" missing" in answers

    def _changes(self, made: Iterable[str]) -> Iterator[tuple[str, FileBytes, FileBytes]]:
        """Yield each file that differs from the beginning. made: the repositories that the child made."""
        differ = self._compared(*DIFF, "--name-only", self._base)
        listed = {
            *names(differ),
            *names(self._compared("ls-files", "--others", *self._excluded, "-z")),
        }
        listed |= {*self._added()}
        for path in made:
            listed |= {f"{path}/{name}" for name in self._inside(path)}
        before = os.path.join(self.own, "before")
        self._check_out(differ, before)
        for name in sorted(listed | self.start.dirty.keys()):
            if name.endswith("/") or any(name.startswith(f"{at}/") for at in self.within):
                continue  # a repository, which is looked at by itself
            old = self.start.dirty.get(name) or read_bytes(before, name, self.limit)
            now = read_bytes(self.top, name, self.limit)
            if (old.kind, old.revision) != (now.kind, now.revision) or self._is_mode_new(old, now):
                yield name, old, now

    def _added(self) -> list[str]:
        """Return the files that the child added to its own index, also those that git ignores."""
        own = os.path.join(self.top, ".git")
        asked = (*DIFF, "--cached", "--diff-filter=A", "--name-only", self._base)
        try:
            if not os.path.lexists(own):
                return []
            return names(
                git(self.top, *asked, variables={"GIT_DIR": own, "GIT_WORK_TREE": self.top})
            )
        except WorkspaceError:  # the child broke its repository
            return []

    def _inside(self, path: str) -> set[str]:
        """Return the files of a repository that the child made, by their path within the repository, and
        the files of the repositories within: tracked files, and files that git does not ignore."""
        folder = os.path.join(self.top, path)
        nothing = f"{self.own}/none"
        found = {*names(self._compared(*OTHERS, tree=folder, index=nothing))}
        own = os.path.join(folder, ".git")
        with suppress(WorkspaceError):
            found |= {*names(git(folder, "ls-files", "-z", variables={"GIT_DIR": own}))}
        inside = {name.rstrip("/") for name in found if is_folder(os.path.join(folder, name))}
        files = found - {name for name in found if name.rstrip("/") in inside}
        for name in inside:
            files |= {f"{name}/{each}" for each in self._inside(f"{path}/{name}")}
        return files

    def _unlisted(self) -> Iterator[tuple[str, str]]:
        """Yield what git does not list, in folders that it does not ignore: repositories that the child made
        (kind .git), pipes, sockets and devices, and empty folders."""
        others = ("ls-files", "--others", "--ignored", "--directory", *self._excluded, "-z")
        ignored = {name.rstrip("/") for name in names(self._compared(*others))}
        folders = [""]
        while folders:
            at = folders.pop()
            with os.scandir(os.path.join(self.top, at)) as entries:
                inside = sorted(entries, key=lambda each: each.name)
            if at and any(each.name == ".git" for each in inside):
                yield at, ".git"
                continue
            if at and not inside:
                yield at, words.EMPTY_FOLDER
            for entry in inside:
                name = f"{at}/{entry.name}" if at else entry.name
                if name in ignored or name in self.within or entry.name == ".git":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                    mode = entry.stat(follow_symlinks=False).st_mode
                    yield (
                        name,
                        words.kind_of_special(
                            is_pipe=stat.S_ISFIFO(mode), is_socket=stat.S_ISSOCK(mode)
                        ),
                    )

    @property
    def _base(self) -> str:
        """Return the commit of the beginning, or the empty tree."""
        return self.start.commit or EMPTY_TREE["sha256" if self._is_sha256 else "sha1"]

    @property
    def _is_sha256(self) -> bool:
        return "sha256" in "".join(
            lines(self.top, "config", "extensions.objectformat", variables={"GIT_DIR": self.own})
        )

    @property
    def _excluded(self) -> tuple[str, str]:
        return "--exclude-per-directory=.gitignore", f"--exclude-from={self.own}/info/exclude"

    def _compared(
        self, *words: str, tree: str | None = None, index: str = "index", data: bytes = b""
    ) -> bytes:
        """Return what git prints, with our own folder. tree: None for the tree of the attempt; index: a name
        in our folder; data: for git to read."""
        folder = tree or (self.top if is_folder(self.top) else os.path.join(self.own, "empty"))
        places = {
            "GIT_DIR": self.own,
            "GIT_INDEX_FILE": os.path.join(self.own, index),
            "GIT_WORK_TREE": folder,
            "GIT_OBJECT_DIRECTORY": self.objects,
        }
        return run(folder, words, places, data)  # the folder names no filters

    def _check_out(self, listed: bytes, folder: str) -> None:
        """Write files of the commit to a folder as git wrote them to the tree, also those that a sparse
        checkout leaves out. listed: names, each with a NUL byte behind it. In an empty tree git takes the
        attributes from the index: those of the beginning."""
        if not listed:
            return
        empty = os.path.join(self.own, "empty")
        whole = ("read-tree", "--no-sparse-checkout", self._base)
        self._compared(*whole, tree=empty, index="whole")
        asked = ("checkout-index", "--force", "-z", "--stdin", f"--prefix={folder}/")
        self._compared(*asked, tree=empty, index="whole", data=listed)

    def _is_mode_new(self, old: FileBytes, now: FileBytes) -> bool:
        """Return whether a file became executable, or is so no longer."""
        modes = old.mode, now.mode
        return self.has_modes and None not in modes and is_executable(old) != is_executable(now)


OTHERS = ("ls-files", "--others", "--exclude-per-directory=.gitignore", "-z")
"""Words for git, which prints the files that its index does not have."""


def can_have(root: str) -> bool:
    """Return whether a workspace can have trees: it lies in a git tree with a commit."""
    top = git_top(os.path.realpath(root))
    if top is None:
        return False
    try:
        git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except WorkspaceError:
        return False
    return True


def repository_of(root: str) -> str:
    """Return the name of a workspace's repository, the same in all its clones: the first commit of the
    line of first parents. WorkspaceError for a clone that lacks it."""
    top = top_of(root)
    if git(top, "rev-parse", "--is-shallow-repository").strip() != b"false":
        raise WorkspaceError(f"{top} is a shallow clone.", "Run: git fetch --unshallow")
    if not can_have(top):
        raise WorkspaceError(f"{top} has no commit yet.", "Commit once, and clone it again.")
    return git(top, "rev-list", "--max-parents=0", "--first-parent", "HEAD").decode().strip()


def start_of(root: str, limit: int, *, is_alone: bool = False) -> Start:
    """Return the files of the workspace as they are now, those that git ignores aside. limit: bytes above
    which a file is large. is_alone: leave out the repositories within. WorkspaceError."""
    top = top_of(root)
    found = _start(top, limit, -1 if is_alone else WITHIN_BYTES)
    return structs.replace(found, prefix=prefix_of(os.path.realpath(root), top))


def _start(top: str, limit: int, room: int) -> Start:
    """Return the files of a tree. room: bytes of the files of repositories within."""
    commit = "".join(lines(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"))
    asked = ("--porcelain=v1", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
    listed = [entry[3:] for entry in names(git(top, "status", *asked, "-z"))]
    dirty = {
        name: read_bytes(top, name, limit, is_hashed=False)
        for name in listed
        if not name.endswith("/")  # a repository within
    }
    within: dict[str, Start] = {}
    left_out: list[str] = []
    for path in repositories_within(top, listed):
        folder = os.path.join(top, path)
        try:
            size = _bytes_in(folder) if git_folders(folder) and _is_other(top, folder) else room + 1
            if size > room:
                left_out.append(path)
                continue
            within[path] = _start(folder, limit, room - size)
        except (WorkspaceError, LeadsOutside):
            left_out.append(path)
            continue
        room -= size
        left_out += [f"{path}/{each}" for each in within[path].left_out]
    return Start(commit, "", dirty, within, tuple(left_out))


def _is_other(top: str, folder: str) -> bool:
    """Return whether a tree belongs to another repository than the tree around it."""
    return folders_of(folder)[1] != folders_of(top)[1]


def _bytes_in(folder: str) -> int:
    """Return the number of bytes of the files of a repository that git does not ignore."""
    listed = names(git(folder, "ls-files", "--cached", "--others", "--exclude-standard", "-z"))
    size = 0
    for name in listed:
        with suppress(OSError):
            size += os.lstat(os.path.join(folder, name)).st_size
    return size


def make(root: str, start: Start, folder: str, limit: int) -> Worktree:
    """Make a tree in a folder, whose parent may not exist yet. root: in any tree of the repository.
    limit: bytes above which a file is large. WorkspaceError, also where the repository lacks the
    commit."""
    top, folder = top_of(root), os.path.abspath(folder)
    if os.path.lexists(folder):
        remove(folder)
    make_folder(os.path.dirname(folder))
    make_folder(folder)
    tree = _make(top, start, folder, f"{folder}{OWN_GIT}", limit)
    return structs.replace(tree, root=os.path.join(folder, start.prefix.rstrip("/")))


def _make(source: str, start: Start, folder: str, own: str, limit: int) -> Worktree:
    """Make a tree of the repository of another tree. own: our git folder for it."""
    for name in (*start.dirty, *start.within):
        if os.path.isabs(name) or ".." in name.split("/"):
            raise WorkspaceError(f"{name!r} lies outside of the tree.")
    if start.commit:
        try:
            git(source, "cat-file", "-e", f"{start.commit}^{{commit}}")
        except WorkspaceError as error:
            raise WorkspaceError(
                f"{source} does not have commit {start.commit[:12]}.", "Run there: git fetch"
            ) from error
    settings = _settings(source)
    common = _borrow(source, start.commit, folder, settings)
    if start.commit:
        git(folder, "read-tree", "-m", "-u", start.commit)
    _keep_beginning(folder, own, common, settings)
    ordered = sorted(start.dirty.items(), key=lambda each: not each[1].is_missing)
    dirty = {name: put(folder, name, content) for name, content in ordered}
    within = {}
    for number, (path, inner) in enumerate(start.within.items()):
        inside = os.path.join(folder, path)
        if os.path.lexists(inside) and not is_folder(inside):
            os.unlink(inside)
        os.makedirs(inside, exist_ok=True)
        below = os.path.join(own, f"within-{number}")
        within[path] = _make(os.path.join(source, path), inner, inside, below, limit)
    return Worktree(
        folder,
        folder,
        own,
        structs.replace(start, dirty=dirty),
        os.path.join(common, "objects"),
        dict(settings).get("core.filemode") != "false",
        state_of(folder),
        within,
        limit,
    )


def _borrow(source: str, commit: str, folder: str, settings: Iterable[tuple[str, str]]) -> str:
    """Make a repository in a folder that borrows the objects of another one, and has the same refs,
    settings and hooks. The stash stays away: who drops an entry of a stash means his own. Return git's folder
    that the trees of the other one share."""
    admin, common = folders_of(source)
    own = os.path.join(folder, ".git")
    for part in ("objects/info", "refs/heads", "info"):
        os.makedirs(os.path.join(own, part))
    for part in ("info", "hooks"):
        if os.path.isdir(os.path.join(common, part)):
            shutil.copytree(
                os.path.join(common, part),
                os.path.join(own, part),
                symlinks=True,
                dirs_exist_ok=True,
            )
    for name, place in (("shallow", common), ("info/sparse-checkout", admin)):
        with suppress(FileNotFoundError):
            shutil.copyfile(os.path.join(place, name), os.path.join(own, name))
    listed = lines(source, "for-each-ref", "--format=%(objectname) %(refname)")
    refs = [line for line in listed if not line.endswith(" refs/stash")]
    head = commit or _head_of(admin)
    files = {
        "HEAD": f"{head}\n",
        "config": _config_text([*_copied(settings), ("core.bare", "false")]),
        "objects/info/alternates": f"{common}/objects\n",
        "packed-refs": "".join(f"{line}\n" for line in ("# pack-refs with: sorted ", *refs)),
    }
    for name, text in files.items():
        with open(os.path.join(own, name), "wb") as file:
            file.write(os.fsencode(text))
    return common


def _head_of(admin: str) -> str:
    """Return the content of HEAD in a repository without a commit."""
    with open(os.path.join(admin, "HEAD"), encoding="utf-8", errors="surrogateescape") as file:
        return file.read().strip()


def _keep_beginning(folder: str, own: str, common: str, settings: list[tuple[str, str]]) -> None:
    """Make a git folder of our own for a new tree: the index, settings and attributes of the
    beginning, and the patterns of ignored files outside of the tree. It has no filters and no refs."""
    for part in ("info", "refs", "empty"):
        os.makedirs(os.path.join(own, part))
    with suppress(FileNotFoundError):  # there is no commit
        shutil.copyfile(os.path.join(folder, ".git", "index"), os.path.join(own, "index"))
    known = dict(settings)
    excluded = [known.get("core.excludesfile", ""), "info/exclude"]
    kept = [(name, value) for name, value in settings if SETTINGS.fullmatch(name)]
    kept += [("core.bare", "false"), ("core.repositoryformatversion", "1")]
    if "core.attributesfile" in known:
        kept.append(("core.attributesfile", f"{own}/attributes"))
    files = {
        "HEAD": b"ref: refs/heads/none\n",
        "config": os.fsencode(_config_text(kept)),
        "attributes": _content(common, known.get("core.attributesfile", "")),
        "info/attributes": _content(common, "info/attributes"),
        "info/exclude": b"\n".join(_content(common, path) for path in excluded),
    }
    for name, data in files.items():
        with open(os.path.join(own, name), "wb") as file:
            file.write(data)


def _settings(top: str) -> list[tuple[str, str]]:
    """Return a repository's settings, with the settings of its tree and of included files."""
    found = _listed(top, "--local")
    if dict(found).get("extensions.worktreeconfig") == "true":
        found += _listed(top, "--worktree")
    return found


def _listed(top: str, scope: str) -> list[tuple[str, str]]:
    try:
        found = git(top, "config", scope, "-z", "--list", "--includes")
    except WorkspaceError:  # there are none
        return []
    pairs = (pair.partition("\n") for pair in names(found))
    return [(name, value if is_given else "true") for name, is_given, value in pairs]


def _copied(settings: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for pair in settings if not NOT_COPIED.fullmatch(pair[0])]


def _config_text(settings: Iterable[tuple[str, str]]) -> str:
    """Return settings as a file of git's."""
    parts = []
    for name, value in settings:
        section, _, rest = name.partition(".")
        inner, _, word = rest.rpartition(".")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        escaped = inner.replace("\\", "\\\\").replace('"', '\\"')
        head = f'[{section} "{escaped}"]' if inner else f"[{section}]"
        parts.append(f'{head}\n\t{word} = "{quoted}"\n')
    return "".join(parts)


def _content(common: str, path: str) -> bytes:
    """Return the bytes of a file that git's settings name; b"" for none. common: git's folder."""
    if not path:
        return b""
    return content_of(os.path.join(common, os.path.expanduser(path)), sys.maxsize).data or b""


def remove(folder: str) -> None:
    """Remove a tree, or what a killed process left of one. WorkspaceError where its folder stays."""
    for path in (folder, f"{folder}{OWN_GIT}"):
        shutil.rmtree(path, onerror=_made_writable)
    if os.path.lexists(folder):
        raise WorkspaceError(f"{folder} cannot be removed.", "Remove it, and try again.")


def _made_writable(remove: Callable[[str], object], path: str, _: object) -> None:
    """Remove a file from a folder that a child made read-only, or such a folder."""
    with suppress(OSError):
        if os.path.lexists(path):
            os.chmod(os.path.dirname(path), 0o700)
        if is_folder(path):
            os.chmod(path, 0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            remove(path)
