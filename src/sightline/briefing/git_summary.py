"""Summarise git's changes for the agent, without refused files and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.errors import PathError, UnknownName, Unverifiable
from sightline.filesystem.git.show import ChangeReader, Commit, Touched
from sightline.filesystem.ignore.rules import encodes
from sightline.guard.reads import Look
from sightline.model.patches import PatchSyntax, parse_patch
from sightline.model.text import decode

FILES_MAX = 200
"""Files in a list of changes."""

HUNKS_MAX = 100
"""Hunks of a patch that are recorded as seen."""


class ShownChanges(Struct, frozen=True):
    """Changes that git reports. commit: None for uncommitted changes; files: the changed files, new
    ones included; cut: the patch is incomplete; more: the list of files is incomplete; withheld:
    number of files that are refused to this session or secret."""

    commit: Commit | None
    files: tuple[Touched, ...]
    patch: str
    cut: bool
    more: bool
    withheld: int


def git_changes(context: SessionContext, name: str | None, room: int) -> ShownChanges:
    """Return a commit's changes to this workspace, or the uncommitted ones. name: the beginning of
    the commit's id; room: bytes of the patch. UnknownName for an unknown commit and outside a
    repository, Unverifiable when git does not answer."""
    repository = context.workspace.repository(".")
    if repository is None:
        raise UnknownName("This workspace is not in a git repository.")
    git = ChangeReader(context.workspace.root, repository, context.settings.deadline_s)
    commit = None if name is None else git.commit(name)
    if name is not None and commit is None:
        raise UnknownName(f"git knows no commit {name} here, or more than one.")
    before, after = (git.head(), None) if commit is None else (commit.before, commit.id)
    tracked = git.touched(before, after) if before is not None else None
    new = git.untracked() if commit is None else ([], False)
    if before is None or tracked is None or new is None:
        raise Unverifiable("git", "git did not answer.", "Try again later.")

    touched = [*tracked[0], *new[0]]
    names = [name for file in touched for name in _names(file)]
    secret = {name for name in names if not encodes(name) or not context.may_store(name)}
    refused = context.workspace.refused(names) | secret
    files = [file for file in touched if refused.isdisjoint(_names(file))]

    listed = [name for file in files if file.letter != "?" for name in _names(file)]
    patch = git.patch(before, after, listed, max(room, 1)) if listed else None
    if listed and patch is None:
        raise Unverifiable("git", "git did not answer.", "Try again later.")
    text, cut = (patch.text, patch.cut) if patch is not None else ("", False)
    more = tracked[1] or new[1] or len(files) > FILES_MAX
    withheld = len(touched) - len(files)
    return ShownChanges(commit, tuple(files[:FILES_MAX]), text, cut, more, withheld)


def _names(touched: Touched) -> list[str]:
    return [touched.path] if touched.old is None else [touched.old, touched.path]


def looks(context: SessionContext, patch: str) -> Iterator[Look]:
    """Yield the lines on disk that a patch of uncommitted changes shows."""
    for path, first, new in islice(_new_lines(patch), HUNKS_MAX):
        try:
            data = context.look(context.workspace.locate(path).path).data
        except PathError:
            continue  # removed since git read it
        text = decode(data)
        last = first + len(new) - 1
        if text is not None and tuple(text.lines[first - 1 : last]) == new:
            yield Look(path, (first, last), "".join(new), "mention")


def _new_lines(patch: str) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield (path, first line, new lines) of each hunk. A binary or incomplete section has none."""
    for section in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE):
        try:
            files = parse_patch(section)
        except PatchSyntax:
            continue
        for file in files:
            shift = 0
            for hunk in file.hunks:
                if file.new is not None and hunk.new and hunk.start is not None:
                    yield file.new, hunk.start + shift + (not hunk.old), hunk.new
                shift += len(hunk.new) - len(hunk.old)
