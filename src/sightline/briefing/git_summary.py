"""What git tells of a workspace, for its agent: without the files it may not see, and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.errors import PathError, UnknownName, Unverifiable
from sightline.filesystem.git.show import Commit, Telling, Touched
from sightline.filesystem.scan import encodes
from sightline.guard.reads import Look
from sightline.model.attempts import PatchSyntax, parse_patch
from sightline.model.text import decode

FILES_MAX = 200
"""Files that are listed."""

RUNS_MAX = 100
"""Runs of lines in a patch that are recorded."""


class ShownChanges(Struct, frozen=True):
    """What git says. commit: None for what is not committed yet; files: those that differ, with
    new ones; withheld: files that are not for this session, or whose texts are secrets; cut: there is
    more of the patch; more: there are more files than are listed."""

    commit: Commit | None
    files: tuple[Touched, ...]
    patch: str
    cut: bool
    more: bool
    withheld: int


def uncommitted(ground: SessionContext, room: int) -> ShownChanges:
    """What is not committed yet, its patch in so many bytes at most. UnknownName without a
    repository, Unverifiable when git does not answer."""
    git = _telling(ground)
    return _shown(ground, git, git.head(), None, room)


def committed(ground: SessionContext, name: str, room: int) -> ShownChanges:
    """What a commit did to this workspace. name: the beginning of its id. As
    uncommitted; but it need not stand on disk any more, and is no look."""
    git = _telling(ground)
    commit = git.commit(name)
    if commit is None:
        raise UnknownName(f"git knows no commit {name} here, or more than one.")
    return _shown(ground, git, commit.before, commit, room)


def _telling(ground: SessionContext) -> Telling:
    repository = ground.workspace.repository(".")
    if repository is None:
        raise UnknownName("This workspace is not in a git repository.")
    return Telling(ground.workspace.root, repository, ground.settings.deadline_s)


def _shown(
    ground: SessionContext, git: Telling, before: str | None, commit: Commit | None, room: int
) -> ShownChanges:
    after = None if commit is None else commit.id
    touched = git.touched(before, after) if before is not None else None
    new = git.untracked() if commit is None else ([], False)
    if before is None or touched is None or new is None:
        raise _silent()
    ours, withheld = _allowed(ground, [*touched[0], *new[0]])
    asked = [name for each in ours if each.letter != "?" for name in _names(each)]
    patch = git.patch(before, after, asked, max(room, 1)) if asked else None
    if asked and patch is None:
        raise _silent()
    text, cut = (patch.text, patch.cut) if patch is not None else ("", False)
    more = touched[1] or new[1] or len(ours) > FILES_MAX
    return ShownChanges(commit, tuple(ours[:FILES_MAX]), text, cut, more, withheld)


def _allowed(ground: SessionContext, touched: Sequence[Touched]) -> tuple[list[Touched], int]:
    """Those that a path of would be let through, and how many would not."""
    names = [name for each in touched for name in _names(each)]
    may_store = ground.settings.may_store
    kept_back = {name for name in names if not encodes(name) or not may_store(name)}
    refused = ground.workspace.refused(names) | kept_back
    ours = [each for each in touched if refused.isdisjoint(_names(each))]
    return ours, len(touched) - len(ours)


def _names(touched: Touched) -> list[str]:
    return [touched.path] if touched.old is None else [touched.old, touched.path]


def looks(ground: SessionContext, patch: str) -> Iterator[Look]:
    """The lines of the files on disk that stand in a patch of what is not committed."""
    for path, first, new in islice(_new_sides(patch), RUNS_MAX):
        try:
            data = ground.look(ground.workspace.locate(path).path).data
        except PathError:
            continue  # it went away since git looked at it
        text = decode(data) if data is not None else None
        last = first + len(new) - 1
        if text is not None and tuple(text.lines[first - 1 : last]) == new:
            yield Look(path, (first, last), "".join(new), "mention")


def _new_sides(patch: str) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Of each hunk: the file, and where its new lines stand there. What is no text, or cut off,
    has none."""
    for section in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE):
        try:
            files = parse_patch(section)
        except PatchSyntax:
            continue
        for each in files:
            moved = 0
            for hunk in each.hunks:
                if each.new is not None and hunk.new:
                    yield each.new, hunk.start + moved + (not hunk.old), hunk.new
                moved += len(hunk.new) - len(hunk.old)


def _silent() -> Unverifiable:
    return Unverifiable("git", "git did not answer.", "Try again later.")
