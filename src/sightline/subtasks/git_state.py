"""Read a repository's branches, tags, HEAD, stash, trees and settings; list the differences between
two looks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from msgspec import Struct

from sightline.errors import WorkspaceError
from sightline.filesystem.git_control import git_top, read_text
from sightline.subtasks import words
from sightline.subtasks.file_bytes import content_of
from sightline.subtasks.git_command import folders_of, git, lines, names

SETTINGS_BYTES = 1 << 20
"""Bytes of a file of git's settings above which the file is hashed in pieces."""


class GitState(Struct, frozen=True):
    """A repository at one moment. refs: name -> object; head: the branch, or "" for none; commit: of
    HEAD, "" for none; stash: object -> message, the newest first; trees: the folders of its other
    worktrees; settings: file -> hash; within: of the repositories within the tree, by their path."""

    refs: dict[str, str]
    head: str
    commit: str
    stash: dict[str, str]
    trees: tuple[str, ...]
    settings: dict[str, str]
    within: dict[str, GitState] = {}

    @property
    def objects(self) -> frozenset[str]:
        """Return the objects that the refs, the stash and HEAD name."""
        return frozenset((*self.refs.values(), *self.stash, self.commit)) - {""}


def state_of(top: str, within: Mapping[str, str] | None = None) -> GitState:
    """Return the state of the repository of a tree. within: of each repository within the tree its top,
    by its path. WorkspaceError."""
    own, common = folders_of(top)
    listed = lines(top, "for-each-ref", "--format=%(objectname) %(refname)")
    refs = {name: value for value, name in (line.split(" ", 1) for line in listed)}
    entries: list[str] = []
    if refs.pop("refs/stash", None):
        entries = names(git(top, "stash", "list", "-z", "--format=%H %gs"))
    trees: list[str] = []
    if os.path.isdir(os.path.join(common, "worktrees")):
        printed = lines(top, "worktree", "list", "--porcelain")
        trees = [line.removeprefix("worktree ") for line in printed if line[:9] == "worktree "]
    head = read_text(own, "HEAD").strip()
    branch = head.removeprefix("ref: ") if head.startswith("ref: ") else ""
    if branch == "refs/heads/.invalid":  # the refs are in tables, and so is HEAD
        branch = "".join(lines(top, "symbolic-ref", "--quiet", "HEAD"))
        head = "".join(lines(top, "rev-parse", "--verify", "--quiet", "HEAD"))
    return GitState(
        refs,
        branch,
        refs.get(branch, "") if branch else head,
        dict(entry.split(" ", 1) for entry in entries),
        tuple(sorted(tree for tree in trees if os.path.realpath(tree) != os.path.realpath(top))),
        settings_in(common),
        {path: found for path, at in (within or {}).items() if (found := known_state(at))},
    )


def known_state(top: str) -> GitState | None:
    """Return the state of the repository of a tree; None where git knows none there."""
    try:
        return state_of(top) if os.path.lexists(os.path.join(top, ".git")) else None
    except WorkspaceError:
        return None


def settings_in(common: str) -> dict[str, str]:
    """Return the files of git's settings, each with its hash. common: git's folder that all trees of a
    repository share."""
    files = [os.path.join(common, name) for name in ("config", "config.worktree")]
    for part in ("info", "hooks"):
        for parent, _, inside in os.walk(os.path.join(common, part)):
            files += [os.path.join(parent, name) for name in inside]
    return {
        f".git/{os.path.relpath(path, common)}": sha256(
            repr(content_of(path, SETTINGS_BYTES)).encode()
        ).hexdigest()
        for path in files
        if os.path.lexists(path)
    }


def look_at(root: str) -> GitState | None:
    """Return the state of a workspace's repository and of the repositories within its tree; None where
    git knows no repository there."""
    top = git_top(os.path.realpath(root))
    try:
        if top is None:
            return None
        listed = names(git(top, "ls-files", "--others", "--exclude-standard", "-z"))
        within = {path: os.path.join(top, path) for path in repositories_within(top, listed)}
        return state_of(top, within)
    except WorkspaceError:
        return None


def repositories_within(top: str, listed: Iterable[str]) -> list[str]:
    """Return the paths of repositories within a tree: those that git does not track, and submodules that are
    checked out. listed: names that git printed, those of repositories with a "/" at the end."""
    found = {name.rstrip("/") for name in listed if name.endswith("/")}
    for entry in names(git(top, "ls-files", "--stage", "-z")):
        mode, _, path = entry.partition("\t")
        if mode.startswith("160000 "):
            found.add(path)
    return sorted(path for path in found if os.path.lexists(os.path.join(top, path, ".git")))


def differences(before: GitState, now: GitState | None, at: str = "") -> Iterator[str]:
    """Yield a sentence for each thing that differs between two looks at a repository, its settings
    aside. now: None where the repository is gone. at: the path of the repository within its workspace."""
    if now is None:
        yield words.in_repository(at, words.REPOSITORY_GONE)
        return
    found: list[str] = []
    for name in sorted(before.refs.keys() | now.refs.keys()):
        old, new = before.refs.get(name), now.refs.get(name)
        if old != new:
            found.append(words.ref_changed(name, old, new))
    if before.head != now.head or (not now.head and before.commit != now.commit):
        found.append(words.head_moved(before.head, before.commit, now.head, now.commit))
    found += [
        words.stash_dropped(*each) for each in before.stash.items() if each[0] not in now.stash
    ]
    found += [words.stash_added(*each) for each in now.stash.items() if each[0] not in before.stash]
    found += [words.tree_added(tree) for tree in now.trees if tree not in before.trees]
    found += [words.tree_removed(tree) for tree in before.trees if tree not in now.trees]
    for sentence in found:
        yield words.in_repository(at, sentence)
    for path, inner in before.within.items():
        yield from differences(inner, now.within.get(path), f"{at}/{path}" if at else path)


def changed_settings(before: GitState, now: GitState) -> tuple[str, ...]:
    """Return the files of git's settings that differ between two looks."""
    return _differing(before.settings, now.settings)


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)
    )
