"""The ignore files of a tree, and their common answer for a path."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from errno import ELOOP, ENAMETOOLONG
from time import time_ns

from sightline.errors import Unverifiable
from sightline.filesystem.folder import ASIDE
from sightline.filesystem.ignore.gitignore import PatternSet, lines_of
from sightline.filesystem.scan import settled

Chain = tuple[tuple[PatternSet, int], ...]
"""The pattern sets for one folder's entries, strongest first. The number is the length of the folder
of the pattern set: its patterns match the path behind that."""

Chains = tuple[Chain, ...]
"""The chain of each rule of a RuleSet, for one folder's entries."""

BYTES_MAX = 2_000_000
"""The limit of an ignore file."""

WILDCARDS_MAX = 2_000
"""The limit of patterns of one ignore file that no table holds (see gitignore): each path is
compared with all of them, so more would make every look slow."""

CHARACTERS_MAX = 100_000
"""The limit of characters in one file's patterns with wildcards: compiling 100,000 takes a second."""

_EMPTY = PatternSet(())


class IgnoreRules:
    """Ignore files of one name (".gitignore", ".sightlineignore") in every folder from `top` down.

    top: for .gitignore the top of the git tree, so that a workspace that is a part of a repository
    follows all rules of it. exclude: a further file, weaker than all others. Files are read again
    when their stat changed.
    """

    def __init__(self, root: str, name: str, *, top: str | None = None, exclude: str = "") -> None:
        self.name = name
        self._top = top or root
        self._below = "" if self._top == root else root[len(self._top.rstrip("/")) + 1 :] + "/"
        self._exclude = exclude
        self._read: dict[str, tuple[tuple[int, ...], PatternSet]] = {}

    def refuses(self, path: str, *, folder: bool = False) -> bool:
        """Return whether a path of the workspace is ignored, by itself or through a folder above."""
        chain = self.chain()
        full = self._below + path
        for above in folders_above(full)[self._below.count("/") :]:
            if ignored(chain, above[:-1], folder=True):
                return True
            chain = self.extend(chain, above)
        return ignored(chain, full, folder=folder)

    def chain(self) -> Chain:
        """Return the chain for the entries of the workspace's root."""
        exclude = self._load(self._exclude) if self._exclude else _EMPTY
        chain: Chain = ((exclude, 0),) if exclude else ()
        for folder in ["", *folders_above(self._below)]:
            chain = self.extend(chain, folder)
        return chain

    def extend(self, chain: Chain, folder: str) -> Chain:
        """Return the chain for the entries of a folder (relative to the top, "" or ending in "/"),
        from the chain for the folder above it."""
        own = self._load(f"{self._top}/{folder}{self.name}")
        return ((own, len(folder)), *chain) if own else chain

    def above(self) -> list[str]:
        """Return the ignore files for the root of the workspace, whether they exist or not."""
        folders = ["", *folders_above(self._below)]
        files = [f"{self._top}/{folder}{self.name}" for folder in folders]
        return [self._exclude, *files] if self._exclude else files

    def full(self, path: str) -> str:
        """Return a path of the workspace as the rules name it, from the top."""
        return self._below + path

    def _load(self, file: str) -> PatternSet:
        try:
            found = os.lstat(file)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return _EMPTY
        except PermissionError:
            return _EMPTY  # a folder that may not be entered: nothing in it can be reached either
        except OSError as error:
            if error.errno in (ELOOP, ENAMETOOLONG):
                return _EMPTY  # a `.git` may name a folder that cannot be
            raise _unread(file, error) from error
        if not stat.S_ISREG(found.st_mode):
            return _EMPTY  # git does not follow a symlink here either
        signature = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        known = self._read.get(file)
        if known is None or known[0] != signature or not settled(*signature[:2], time_ns()):
            known = self._read[file] = (
                signature,
                bounded(file, lines_of(contents(file, BYTES_MAX))),
            )
        return known[1]


class RuleSet:
    """Several kinds of ignore files together. Folders are "" or end in "/", relative to the root."""

    def __init__(self, rules: Iterable[IgnoreRules]) -> None:
        self._rules = tuple(rules)
        self.names = frozenset(rule.name for rule in self._rules)
        """The names of ignore files."""

    def files_of_root(self) -> list[str]:
        """Return the ignore files that speak for the root, whether they exist or not."""
        return [file for rule in self._rules for file in rule.above()]

    def chains_of_root(self) -> Chains:
        """Return the chains for the root's entries."""
        return tuple(rule.chain() for rule in self._rules)

    def chains(self, folder: str) -> Chains | None:
        """Return the chains for a folder's entries; None when the folder itself is ignored."""
        chains = self.chains_of_root()
        for above in folders_above(folder):
            if self.hides(chains, above[:-1], is_folder=True):
                return None
            chains = self.extend(chains, above)
        return chains

    def extend(self, chains: Chains, folder: str, names: Iterable[str] | None = None) -> Chains:
        """Return the chains for a folder's entries, from the chains for the folder above. names: the
        folder's files, where they are known."""
        dotted = None if names is None else {n.lower() for n in names if n.startswith(".")}
        if dotted is not None and dotted.isdisjoint(self.names):
            return chains
        return tuple(
            rule.extend(chain, rule.full(folder))
            if dotted is None or rule.name in dotted
            else chain
            for rule, chain in zip(self._rules, chains, strict=True)
        )

    def hides(self, chains: Chains, path: str, *, is_folder: bool) -> bool:
        """Return whether an entry is not listed. chains: for the entries of its folder."""
        return is_unlisted(path[path.rfind("/") + 1 :]) or any(
            ignored(chain, rule.full(path), folder=is_folder)
            for rule, chain in zip(self._rules, chains, strict=True)
            if chain
        )

    def hidden_names(self, chains: Chains, folder: str, names: Sequence[str]) -> set[str]:
        """Return those of a folder's files that a rule ignores."""
        found: set[str] = set()
        for rule, chain in zip(self._rules, chains, strict=True):
            if chain:
                found |= hidden(chain, rule.full(folder), names)
        return found

    def refuses(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether a path is ignored, by itself or through a folder above it."""
        return any(rule.refuses(path, folder=is_folder) for rule in self._rules)


def folders_above(path: str) -> list[str]:
    """Return the folders above a path, each ending in "/": "a/b/c" has "a/" and "a/b/"."""
    return [path[: at + 1] for at, sign in enumerate(path) if sign == "/"]


def is_unlisted(name: str) -> bool:
    """Return whether no entry of this name is ever listed: version control's, our own files
    beside others, and names that are no Unicode, which could not be stored or printed."""
    return name in (".git", ".hg") or name.startswith(ASIDE) or not encodes(name)


def encodes(name: str) -> bool:
    """Return whether a name is Unicode."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def contents(file: str, limit: int) -> bytes:
    """Return the bytes of an ignore file. Unverifiable where it is too large or unreadable."""
    try:
        with open(file, "rb") as opened:
            data = opened.read(limit + 1)
    except FileNotFoundError:
        return b""  # it went since it was seen
    except OSError as error:
        # Going on without it would show, or let be written, what it is there to keep away.
        raise _unread(file, error) from error
    if len(data) > limit:
        words = f"{file} is too large for an ignore file: more than {limit:,} bytes."
        raise Unverifiable(file, words, "Make it smaller, or remove it.")
    return data


def bounded(file: str, lines: Iterable[str]) -> PatternSet:
    """Return the patterns of an ignore file. Unverifiable where too many patterns have wildcards, or
    patterns with wildcards are too long together."""
    patterns = PatternSet(lines, WILDCARDS_MAX, CHARACTERS_MAX)
    if patterns.characters > CHARACTERS_MAX:
        words = f"{file} has patterns with wildcards of more than {CHARACTERS_MAX:,} characters"
        words += " together, which is the limit."
        raise Unverifiable(file, words, "Replace them by names, paths or endings (*.log).")
    if patterns.wildcards > WILDCARDS_MAX:
        words = f"{file} has more than {WILDCARDS_MAX:,} patterns with wildcards"
        words += " that must be compared one by one, which is the limit."
        raise Unverifiable(file, words, "Replace them by names, paths or endings (*.log).")
    return patterns


def _unread(file: str, error: OSError) -> Unverifiable:
    words = f"{file} could not be read: {error.strerror}."
    return Unverifiable(file, words, "Make it readable, or remove it.")


def ignored(chain: Chain, path: str, *, folder: bool) -> bool:
    """Return whether an entry is ignored: the strongest set with a verdict decides."""
    for patterns, cut in chain:
        verdict = patterns.verdict(path[cut:], folder=folder)
        if verdict is not None:
            return verdict
    return False


def hidden(chain: Chain, folder: str, names: Sequence[str]) -> set[str]:
    """Return the ignored files of one folder (from the top; "" or ending in "/")."""
    asked = {name for patterns, cut in chain for name in patterns.concerned(folder[cut:], names)}
    return {name for name in asked if ignored(chain, folder + name, folder=False)}


def git_rules(root: str) -> IgnoreRules:
    """.gitignore files from the top of the repository around `root`, and its info/exclude.

    The user's global ignore file is left out: it is not the same for two people of one team.
    """
    top = git_top(root)
    if top is None:
        return IgnoreRules(root, ".gitignore")
    exclude = git_folders(top)[1] + "/info/exclude"
    return IgnoreRules(root, ".gitignore", top=top, exclude=exclude)


def git_top(root: str) -> str | None:
    """Return the top of the git tree around a folder; None when there is none."""
    top = root
    while not os.path.lexists(f"{top}/.git"):
        above = os.path.dirname(top)
        if above == top:
            return None
        top = above
    return top


def git_folders(top: str) -> tuple[str, str]:
    """Return the git folder of a tree, and the one that all worktrees of the repository share."""
    own = f"{top}/.git"
    if not os.path.isfile(own):
        return own, own
    own = os.path.join(top, _first_line(own).removeprefix("gitdir: "))
    if not os.path.isfile(f"{own}/commondir"):
        return own, own
    return own, os.path.join(own, _first_line(f"{own}/commondir"))


def _first_line(file: str) -> str:
    with open(file, encoding="utf-8", errors="surrogateescape") as opened:
        return opened.readline().rstrip("\n")
