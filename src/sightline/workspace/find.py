"""All paths of a tree that may be found, as one sorted list.

A walk says what stands. In a git tree git says beside it, in one process, what it tracks: its own
rules are asked about the rest alone. A list is given again as long as the times of every folder
and every ignore file vouch for it, as in workspace.tree.
"""

from __future__ import annotations

import os
from bisect import bisect_right

from sightline.workspace.cline import Cline
from sightline.workspace.pathwalk import Walk, not_listed, stamp, unchanged
from sightline.workspace.rules import IgnoreRules, git_rules, git_top
from sightline.workspace.scan import encodes, settled, unlisted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

NUL = "\0"

AGENTS = (".rooignore", ".kilocodeignore", ".cursorignore", ".geminiignore", ".aiexclude")
"""Ignore files of agents' products, beside .clineignore: they hide from finding, and refuse
nothing."""


class Finder:
    """The list of one tree, kept as long as it stands."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._found: _Found | None = None

    def paths(self) -> tuple[str, ...]:
        """Every file that no rule hides, and every symlink that leads to one of them."""
        found = self._found
        if found is None or not found.stands():
            found = self._found = _find(self._root)
        return found.with_links()


def names(root: str, folder: str) -> tuple[str, ...]:
    """What stands in a folder, as Workspace.names tells it."""
    try:
        listed = os.listdir(f"{root}/{folder}")
    except OSError as error:
        raise not_listed(folder, error) from error
    return tuple(sorted(name for name in listed if not unlisted(name)))


class _Found:
    """What a walk found, and all that it looked at."""

    def __init__(self, top: str | None, walk: Walk, paths: list[str], links: list[str]) -> None:
        self._root = walk.root
        self._top = top
        self._paths = tuple(paths)
        self._links = links
        self._began_ns = walk.began_ns
        self._folders = walk.folders
        self._noted = walk.noted

    def stands(self) -> bool:
        """Whether all that was looked at is as it was: nothing has a time that is younger than
        the look, or so near to it that it may have changed after the look, too."""
        began_ns, root = self._began_ns, self._root
        return (
            git_top(root) == self._top
            and all(stamp(path) == was for path, was in self._noted.items())
            and all(not was or settled(*was[2:], began_ns) for was in self._noted.values())
            and all(unchanged(f"{root}/{each}"[:-1], began_ns) for each in self._folders)
        )

    def with_links(self) -> tuple[str, ...]:
        """The list with the symlinks that lead to a file in it. That is asked every time: what
        they lead through may lie where no stamp tells."""
        if not self._links:
            return self._paths
        known, inside = set(self._paths), os.path.join(self._root, "")
        leading = {link: os.path.realpath(inside + link) for link in self._links}
        links = [
            link
            for link, real in leading.items()
            if real.startswith(inside) and real[len(inside) :].replace(os.sep, "/") in known
        ]
        return tuple(sorted([*known, *links])) if links else self._paths


def _find(root: str) -> _Found:
    from sightline.workspace.gitnames import ask

    top = git_top(root)
    others = [IgnoreRules(root, name) for name in (".sightlineignore", *AGENTS)]
    walk = Walk(root, git_rules(root), [*others, Cline(root)])
    tracked = ""
    asked = None if top is None else ask(root, top)
    if asked is None:
        walk.go()
    else:
        with asked:
            walk.note([asked.index])
            walk.go()
            tracked = _sayable(asked.text() or "")
    return _Found(top, walk, _files(walk, tracked), _links(walk, tracked))


def _files(walk: Walk, tracked: str) -> list[str]:
    """The files that stand, and that git tracks or no rule of its own hides. tracked: in order,
    though git names a file several times while it is unmerged; each name ends in a NUL."""
    found: list[str] = []
    at = 0
    for folder, names in walk.pieces:
        text = f"{folder}{f'{NUL}{folder}'.join(names)}{NUL}"
        if tracked.startswith(text, at):  # as in most folders: one text at once
            at += len(text)
        else:
            end = _behind(folder + names[-1], tracked, at, len(text))
            text = _mixed(walk, folder, names, text, tracked[at:end])
            at = end
        found.append(text)
    return _split("".join(found)) + _elsewhere(walk, _split(tracked[at:]))


def _behind(last: str, tracked: str, at: int, size: int) -> int:
    """Where the names end, from a place on, that do not come after this one. size: characters
    that are looked at together."""
    while at < len(tracked):
        end = max(tracked.rfind(NUL, at, at + size), tracked.find(NUL, at))
        names = tracked[at:end].split(NUL)
        count = bisect_right(names, last)
        at += sum(map(len, names[:count])) + count
        if count < len(names):
            break
    return at


def _mixed(walk: Walk, folder: str, names: list[str], text: str, tracked: str) -> str:
    """What is found of one piece, of which not all is tracked, or that git knows more of. text:
    all of it; tracked: what git knows there."""
    known = _below(folder, tracked) if tracked else frozenset()
    untracked = [name for name in names if name not in known] if known else names
    away = walk.hidden(folder, untracked) if untracked else ()
    more: list[str] = []
    if tracked.count(NUL) > len(names) - len(untracked):
        more = _elsewhere(walk, {*_split(tracked)}.difference(_split(text)))
    if not (away or more):
        return text
    return _text(sorted([folder + name for name in names if name not in away] + more))


def _below(folder: str, tracked: str) -> set[str]:
    """What paths in a folder are called there."""
    if f"{NUL}{tracked}".count(f"{NUL}{folder}") == tracked.count(NUL):
        return set(f"{NUL}{tracked}".replace(f"{NUL}{folder}", NUL)[1:].split(NUL))
    cut = len(folder)
    return {path[cut:] for path in _split(tracked) if path.startswith(folder)}


def _elsewhere(walk: Walk, tracked: Iterable[str]) -> list[str]:
    """Of tracked files that no walk saw, those that stand."""
    return [path for path in dict.fromkeys(tracked) if walk.stands(path)]


def _links(walk: Walk, tracked: str) -> list[str]:
    """The symlinks that git tracks, or that no rule of its own hides."""
    found: list[str] = []
    known: set[str] | None = None
    for folder, names in walk.links:
        away = walk.hidden(folder, names)
        if away and known is None:
            known = set(_split(tracked))
        found += [folder + n for n in names if n not in away or folder + n in (known or ())]
    return found


def _sayable(tracked: str) -> str:
    """Without names that are no Unicode: they are out of order, and no walk tells them."""
    if encodes(tracked):
        return tracked
    return _text([path for path in _split(tracked) if encodes(path)])


def _split(text: str) -> list[str]:
    return text.split(NUL)[:-1]


def _text(paths: Iterable[str]) -> str:
    return "".join([f"{path}{NUL}" for path in paths])
