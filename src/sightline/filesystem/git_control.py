"""Find where a tree's `.git` leads, and read the files of git's folders: anybody may have made them.

Three shapes are legal, as git makes them: a folder in the tree; the folder of a linked worktree,
whose `gitdir` names the tree's `.git`; the folder of a submodule, whose `core.worktree` names the
tree. Any other `.git`, `commondir` or symlink would make this tree a view of another repository:
LeadsOutside. Objects may be borrowed (`objects/info/alternates`, as of `git clone --shared`), but
then no name of a commit may be a symlink. git's files are read bounded, as regular files only,
without following symlinks.
"""

from __future__ import annotations

import os
import stat

from sightline.filesystem.system_calls import READ

TEXT_BYTES = 65_536
"""The limit of a file of git's that names something, for example `.git`, `commondir` or `config`."""

PARTS = (
    *("HEAD", "index", "packed-refs", "logs", "logs/HEAD", "logs/refs", "logs/refs/stash"),
    *("refs", "refs/heads", "objects", "objects/info", "objects/pack"),
)
"""Files and folders in git's folder that no symlink may put outside of git's folder."""


class LeadsOutside(Exception):
    """The `.git` of a tree leads to another repository."""


def git_top(root: str) -> str | None:
    """Return the top of the git tree around a folder; None when there is none."""
    top = root
    while not os.path.lexists(f"{top}/.git"):
        above = os.path.dirname(top)
        if above == top:
            return None
        top = above
    return top


def git_folders(top: str) -> tuple[str, str] | None:
    """Return the git folder of the tree at `top`, and the folder that all trees of the repository
    share; None where `.git` is no repository. LeadsOutside. top: without symlinks."""
    named = f"{top}/.git"
    if not os.path.isdir(named):
        text = read_text(top, ".git")
        if not text.startswith("gitdir: ") or "\0" in text:
            return None
        named = os.path.join(top, text.removeprefix("gitdir: ").strip())
    own = os.path.realpath(named)
    if not os.path.isdir(own) or not os.path.lexists(f"{own}/HEAD"):
        return None
    shared = read_text(own, "commondir").strip()
    common = os.path.realpath(os.path.join(own, shared.replace("\0", ""))) if shared else own
    if not _belongs(top, own, common) or _has_links_out(own) or _has_links_out(common):
        raise LeadsOutside(top)
    return own, common


def read_text(folder: str, name: str, *, tail: int = 0) -> str:
    """Return the beginning of a file of git's, TEXT_BYTES at most; "" where there is no regular
    file. tail: instead return at most this many bytes of the file's end."""
    at = f"{folder}/{name}"
    if os.path.realpath(os.path.dirname(at)) != os.path.dirname(at):
        return ""
    try:
        fd = os.open(at, READ)
    except (OSError, ValueError):
        return ""
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return ""
        if tail:
            os.lseek(fd, max(found.st_size - tail, 0), os.SEEK_SET)
        return os.read(fd, tail or TEXT_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(fd)


def is_owned(*places: str) -> bool:
    """Return whether the user of this process owns these places, as git itself demands before it
    follows the settings of a repository. Unknown on Windows: then True."""
    if os.name == "nt":
        return True
    users = {os.geteuid()}
    if 0 in users and os.environ.get("SUDO_UID", "").isdecimal():
        users.add(int(os.environ["SUDO_UID"]))
    try:
        return all(os.lstat(place).st_uid in users for place in places)
    except OSError:
        return False


def _belongs(top: str, own: str, common: str) -> bool:
    """Return whether a git folder is that of the tree at `top`."""
    if common == own:
        return _is_within(own, top) or _work_tree(own) == top
    if os.path.dirname(own) != f"{common}/worktrees":
        return False
    back = os.path.join(own, read_text(own, "gitdir").strip())
    return os.path.realpath(back) == f"{top}/.git"


def _work_tree(folder: str) -> str | None:
    """Return the tree that the settings in a git folder name; None for none."""
    for name in ("config.worktree", "config"):
        section = ""
        for line in map(str.strip, read_text(folder, name).splitlines()):
            if line.startswith("["):
                section = line.lower()
            key, _, value = line.partition("=")
            if section == "[core]" and key.strip().lower() == "worktree":
                plain = value.strip().strip('"').replace("\\\\", "\\")
                return os.path.realpath(os.path.join(folder, plain))
    return None


def _has_links_out(folder: str) -> bool:
    """Return whether a part of a git folder is a symlink that leads out of this folder."""
    for part in PARTS:
        at = f"{folder}/{part}"
        if os.path.islink(at) and not _is_within(os.path.realpath(at), folder):
            return True
    try:
        with os.scandir(f"{folder}/objects") as objects:
            if any(entry.is_symlink() for entry in objects):
                return True
    except FileNotFoundError:  # the folder of a linked worktree has none
        return False
    except OSError:
        return True
    if not os.path.lexists(f"{folder}/objects/info/alternates"):
        return False
    return any(
        os.path.islink(os.path.join(above, name))
        for above, folders, files in os.walk(f"{folder}/refs")
        for name in (*folders, *files)
    )


def _is_within(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))
