"""The ignore files of a tree, and their common answer for a path."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from errno import ELOOP, ENAMETOOLONG
from time import time_ns

from sightline.errors import Unverifiable
from sightline.filesystem.folder import ASIDE
from sightline.filesystem.git.tracked import Tracked
from sightline.filesystem.git_control import LeadsOutside, git_folders, git_top
from sightline.filesystem.ignore.gitignore import PATTERN_MAX, PatternSet, lines_of
from sightline.filesystem.scan import settled
from sightline.filesystem.system_calls import READ
from sightline.model.path import folders_above, quoted

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

OPEN = (0,)
"""In place of an ignore file's stamp: git tracks this path, although a pattern ignores it."""

_EMPTY = PatternSet(())

_EVERYTHING = PatternSet(("*",))


class IgnoreRules:
    """Ignore files of one name (".gitignore", ".sightlineignore") in every folder from `top` down.

    top: for .gitignore the top of the git tree, so that a workspace that is a part of a repository
    follows all rules of it. exclude: a further file, weaker than all others. Files are read again
    when their stat changed. strict: a file that cannot be read, or past the limits, is Unverifiable;
    else the patterns that were read, within the limits, hold. left_out: what was left out, by file.
    unread: files that the disk did not read. Their stat does not tell when the disk reads them again.
    """

    def __init__(
        self,
        root: str,
        name: str,
        *,
        top: str | None = None,
        exclude: str = "",
        strict: bool = True,
    ) -> None:
        self.name = name
        self.left_out: dict[str, str] = {}
        self.unread: set[str] = set()
        self._strict = strict
        self.top = top or root
        self._below = "" if self.top == root else root[len(self.top.rstrip("/")) + 1 :] + "/"
        self._folders = ["", *folders_above(self._below)]
        self._exclude = exclude
        self._read: dict[str, tuple[tuple[int, ...], PatternSet]] = {}

    def refuses(self, path: str, *, folder: bool = False) -> bool:
        """Return whether a path of the workspace is ignored, by itself or through a folder above."""
        chain = self.chain()
        full = self._below + path
        for above in folders_above(full)[self._below.count("/") :]:
            if self.hides(chain, above[:-1], folder=True):
                return True
            chain = self.extend(chain, above)
        return self.hides(chain, full, folder=folder)

    def hides(self, chain: Chain, path: str, *, folder: bool) -> bool:
        """Return whether an entry (from the top) is ignored, and is not open. chain: of its folder."""
        return ignored(chain, path, folder=folder)

    def hidden_names(self, chain: Chain, folder: str, names: Sequence[str]) -> set[str]:
        """Return those of a folder's files that hides() hides."""
        return hidden(chain, folder, names)

    def chain(self) -> Chain:
        """Return the chain for the entries of the workspace's root."""
        exclude = self._load(self._exclude) if self._exclude else _EMPTY
        chain: Chain = ((exclude, 0),) if exclude else ()
        for folder in self._folders:
            chain = self.extend(chain, folder)
        return chain

    def extend(self, chain: Chain, folder: str) -> Chain:
        """Return the chain for the entries of a folder (relative to the top, "" or ending in "/"),
        from the chain for the folder above it."""
        own = self._load(f"{self.top}/{folder}{self.name}")
        return ((own, len(folder)), *chain) if own else chain

    def above(self) -> list[str]:
        """Return the ignore files for the root of the workspace, whether they exist or not."""
        files = [f"{self.top}/{folder}{self.name}" for folder in self._folders]
        return [self._exclude, *files] if self._exclude else files

    def full(self, path: str) -> str:
        """Return a path of the workspace as the rules name it, from the top."""
        return self._below + path

    def _load(self, file: str) -> PatternSet:
        try:
            found = os.lstat(file)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            self.left_out.pop(file, None)
            return _EMPTY
        except PermissionError:
            return _EMPTY  # a folder that may not be entered: nothing in it can be reached either
        except OSError as error:
            if error.errno in (ELOOP, ENAMETOOLONG):
                return _EMPTY  # a `.git` may name a folder that cannot be
            return self._without(file, error)
        if not stat.S_ISREG(found.st_mode):  # git does not follow a symlink here either
            self.left_out[file] = words_of_unread(file, "it is no regular file")
            return _EMPTY
        signature = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
        known = self._read.get(file)
        if known is None or known[0] != signature or not settled(*signature[:2], time_ns()):
            self.unread.discard(file)
            try:
                known = self._read[file] = (signature, self._patterns(file))
            except OSError as error:
                return self._without(file, error)
        return known[1]

    def _without(self, file: str, error: OSError) -> PatternSet:
        """Return the patterns of a file that the disk does not read: none. Unverifiable for a strict
        one: to go on would show, or let be written, what the file is there to keep away."""
        if self._strict:
            raise _unread(file, error) from error
        self._read.pop(file, None)
        self.unread.add(file)
        self.left_out[file] = words_of_unread(file, error.strerror or type(error).__name__)
        return _EMPTY

    def _patterns(self, file: str) -> PatternSet:
        self.left_out.pop(file, None)
        data = contents(file, BYTES_MAX, cut=not self._strict)
        patterns = bounded(file, lines_of(data), strict=self._strict)
        past = patterns.wildcards > WILDCARDS_MAX or patterns.characters > CHARACTERS_MAX
        if past or len(data) > BYTES_MAX:
            self.left_out[file] = words_of_rest(file)
        elif patterns.too_long:
            self.left_out[file] = words_of_long(file, patterns.too_long)
        return patterns


class GitRules(IgnoreRules):
    """The .gitignore files of a git tree. They hide no file that git tracks, as in git: a file that was
    added by force, or before its pattern. A folder that they ignore is open where it holds such a file, and
    they hide everything else in it. tracked: of the tree. open: the paths (from the top) that are
    tracked and ignored, as far as they were asked for."""

    def __init__(self, root: str, tracked: Tracked, *, top: str, exclude: str = "") -> None:
        super().__init__(root, ".gitignore", top=top, exclude=exclude, strict=False)
        self.tracked = tracked
        self.open: set[str] = set()

    def chain(self) -> Chain:
        self.tracked.refresh()
        return super().chain()

    def extend(self, chain: Chain, folder: str) -> Chain:
        is_below = len(folder) > len(self._below)  # the root is listed, whatever ignores it
        if chain and is_below and ignored(chain, folder[:-1], folder=True):
            return ((_EVERYTHING, len(folder)),)
        return super().extend(chain, folder)

    def hides(self, chain: Chain, path: str, *, folder: bool) -> bool:
        return ignored(chain, path, folder=folder) and not self._is_open(path, folder=folder)

    def hidden_names(self, chain: Chain, folder: str, names: Sequence[str]) -> set[str]:
        found = hidden(chain, folder, names)
        return {name for name in found if not self._is_open(folder + name, folder=False)}

    def is_tracked(self, path: str) -> bool:
        """Return whether git tracks a file, or any file in a folder (ending in "/"), from the top."""
        return self.tracked.holds(path.rstrip("/"), folder=path.endswith("/"))

    def _is_open(self, path: str, *, folder: bool) -> bool:
        if not self.tracked.holds(path, folder=folder):
            return False
        self.open.add(f"{path}/" if folder else path)
        return True


INCLUDE = "!include "
"""The beginning of a line that names another file. In an included file it is a pattern like any
other, as it is to Cline, so included files include nothing."""

INCLUDE_BYTES = 1_000_000
"""The limit of one included file."""

INCLUDED_BYTES = 10_000_000
"""The limit of all included files of a tree together; each include counts."""

INCLUDES_MAX = 1_000
"""The limit of lines in one tree that include a file."""


class Cline(IgnoreRules):
    """The rules of a tree's .clineignore files and of the files that they include. Unverifiable past
    the limits."""

    def __init__(self, root: str) -> None:
        super().__init__(root, ".clineignore")
        self._root = root
        self._included: dict[str, None] = {}
        self._whole: dict[str, tuple[PatternSet, PatternSet]] = {}
        self._sizes: dict[str, list[int]] = {}

    def above(self) -> list[str]:
        """Return the files for the root, and all files that were included so far."""
        return [*super().above(), *self._included]

    def _load(self, file: str) -> PatternSet:
        plain = super()._load(file)
        if not plain:
            return plain
        known = self._whole.get(file)
        if known is None or known[0] is not plain:
            try:
                known = self._whole[file] = (plain, self._with_included(file, plain))
            except OSError as error:
                raise _unread(file, error) from error
        return known[1]

    def _with_included(self, file: str, plain: PatternSet) -> PatternSet:
        lines = lines_of(contents(file, INCLUDE_BYTES))
        if not any(line.startswith(INCLUDE) for line in lines):
            return plain
        self._sizes[file] = []
        patterns: list[str] = []
        for line in lines:
            patterns += self._include(file, line) if line.startswith(INCLUDE) else [line]
        return bounded(file, patterns)

    def _include(self, file: str, line: str) -> list[str]:
        """Return the patterns of a named file; none where it is absent or outside the root."""
        name = line.removeprefix(INCLUDE).strip()
        path = "" if "\0" in name else os.path.realpath(os.path.join(os.path.dirname(file), name))
        inside = path.startswith(os.path.join(self._root, ""))
        if inside:
            self._included[path] = None
        data = contents(path, INCLUDE_BYTES) if inside and os.path.isfile(path) else b""
        self._sizes[file].append(len(data))
        sizes = [size for each in self._sizes.values() for size in each]
        if len(sizes) > INCLUDES_MAX or sum(sizes) > INCLUDED_BYTES:
            words = (
                f"{quoted(file)} is where this tree's {self.name} files come to include more than"
            )
            words += f" {INCLUDES_MAX:,} files or {INCLUDED_BYTES:,} bytes."
            raise Unverifiable(file, words, "Include less, or write the patterns into one file.")
        return lines_of(data)


class RuleSet:
    """Several kinds of ignore files together. Folders are "" or end in "/", relative to the root."""

    def __init__(self, rules: Iterable[IgnoreRules]) -> None:
        self._rules = tuple(rules)
        self.git = next((rule for rule in self._rules if isinstance(rule, GitRules)), None)
        self.names = frozenset(rule.name for rule in self._rules)
        """The names of ignore files."""
        self._looked_for = 0  # the state of git's index in which hidden files were looked for

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
        """Return the chains for a folder's entries, from the chains for the folder above. names: of
        the folder's entries, where they are known."""
        dotted = None if names is None else {n.lower() for n in names if n.startswith(".")}
        is_open = self.git is not None and self.git.full(folder) in self.git.open
        if dotted is not None and not is_open and dotted.isdisjoint(self.names):
            return chains
        return tuple(
            rule.extend(chain, rule.full(folder))
            if dotted is None or rule.name in dotted or (is_open and rule is self.git)
            else chain
            for rule, chain in zip(self._rules, chains, strict=True)
        )

    def hides(self, chains: Chains, path: str, *, is_folder: bool) -> bool:
        """Return whether an entry is not listed. chains: for the entries of its folder."""
        return is_unlisted(path[path.rfind("/") + 1 :]) or any(
            rule.hides(chain, rule.full(path), folder=is_folder)
            for rule, chain in zip(self._rules, chains, strict=True)
            if chain
        )

    def hidden_names(self, chains: Chains, folder: str, names: Sequence[str]) -> set[str]:
        """Return those of a folder's files that a rule ignores."""
        found: set[str] = set()
        for rule, chain in zip(self._rules, chains, strict=True):
            if chain:
                found |= rule.hidden_names(chain, rule.full(folder), names)
        return found

    def left_out(self) -> tuple[str, ...]:
        """Describe the patterns that were left out, of the files that were read so far."""
        return tuple(text for rule in self._rules for text in rule.left_out.values())

    def unread(self) -> set[str]:
        """Return the files that the disk did not read. Their stat says nothing of what they hide."""
        return {file for rule in self._rules for file in rule.unread}

    def open_stamps(
        self,
        last: Mapping[str, tuple[int, ...] | None],
        hidden_entries: Callable[[], Iterable[str]],
    ) -> dict[str, tuple[int, ...] | None]:
        """Return the paths that are open (see GitRules) as an earlier answer names them: OPEN, or None
        for one that is not open any more; and those of the hidden entries that are open now. Paths
        are absolute; a folder's ends in "/"."""
        if self.git is None:
            return {}
        git, top = self.git, self.git.top
        git.tracked.refresh()
        before = {path[len(top) + 1 :] for path, stamp in last.items() if stamp == OPEN}
        git.open |= before
        if self._looked_for != git.tracked.changes:
            self._looked_for = git.tracked.changes
            git.open |= {each for each in map(git.full, hidden_entries()) if git.is_tracked(each)}
            git.open = {each for each in git.open if git.is_tracked(each)}
        opened = {f"{top}/{path}": OPEN for path in git.open}
        return {**dict.fromkeys((f"{top}/{path}" for path in before), None), **opened}

    def refuses(self, path: str, *, is_folder: bool = False) -> bool:
        """Return whether a path is ignored, by itself or through a folder above it."""
        return any(rule.refuses(path, folder=is_folder) for rule in self._rules)


def is_unlisted(name: str) -> bool:
    """Return whether no entry of this name is ever listed: version control's, our own files
    beside others, and names that are no Unicode, which could not be stored or printed."""
    return name in (".git", ".hg") or name.startswith(ASIDE) or not encodes(name)


def encodes(name: str) -> bool:
    """Return whether a name is Unicode."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def contents(file: str, limit: int, *, cut: bool = False) -> bytes:
    """Return the bytes of an ignore file. Unverifiable where it is too large; OSError. cut: return the
    beginning of a file that is too large."""
    try:
        with open(os.open(file, READ), "rb") as opened:
            data = opened.read(limit + 1)
    except FileNotFoundError:
        return b""  # it went since it was seen
    if len(data) > limit and not cut:
        words = f"{quoted(file)} is too large for an ignore file: more than {limit:,} bytes."
        raise Unverifiable(file, words, "Make it smaller, or remove it.")
    return data


def bounded(file: str, lines: Iterable[str], *, strict: bool = True) -> PatternSet:
    """Return the patterns of an ignore file. strict: Unverifiable where too many patterns have
    wildcards, or patterns with wildcards are too long together."""
    patterns = PatternSet(lines, WILDCARDS_MAX, CHARACTERS_MAX)
    if not strict:
        return patterns
    if patterns.characters > CHARACTERS_MAX:
        words = (
            f"{quoted(file)} has patterns with wildcards of more than {CHARACTERS_MAX:,} characters"
        )
        words += " together, which is the limit."
        raise Unverifiable(file, words, "Replace them by names, paths or endings (*.log).")
    if patterns.wildcards > WILDCARDS_MAX:
        words = f"{quoted(file)} has more than {WILDCARDS_MAX:,} patterns with wildcards"
        words += " that must be compared one by one, which is the limit."
        raise Unverifiable(file, words, "Replace them by names, paths or endings (*.log).")
    return patterns


def words_of_long(file: str, number: int) -> str:
    """Say that patterns of a file are too long."""
    are = "a pattern" if number == 1 else f"{number:,} patterns"
    return f"{quoted(file)} has {are} of more than {PATTERN_MAX:,} characters, left out."


def words_of_rest(file: str) -> str:
    """Say that a file has more patterns than can be compared."""
    limits = f"{WILDCARDS_MAX:,} patterns with wildcards, {CHARACTERS_MAX:,} characters in these"
    return f"{quoted(file)} is past a limit ({limits}, {BYTES_MAX:,} bytes): the rest of it is left out."


def words_of_unread(file: str, why: str) -> str:
    """Say that a file is not read."""
    return f"{quoted(file)} is not read, so none of its patterns holds: {why}."


def _unread(file: str, error: OSError) -> Unverifiable:
    words = f"{quoted(file)} could not be read: {error.strerror}."
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


def git_rules(root: str, *, by_index: bool = False) -> IgnoreRules:
    """.gitignore files from the top of the repository around `root`, and its info/exclude. by_index:
    they hide no file that git tracks.

    The user's global ignore file is left out: it is not the same for two people of one team.
    """
    top = git_top(root)
    if top is None:
        return IgnoreRules(root, ".gitignore", strict=False)
    try:
        folders = git_folders(top) or (f"{top}/.git", f"{top}/.git")
    except LeadsOutside:
        return IgnoreRules(root, ".gitignore", top=top, strict=False)
    exclude = f"{folders[1]}/info/exclude"
    if not by_index:
        return IgnoreRules(root, ".gitignore", top=top, exclude=exclude, strict=False)
    return GitRules(root, Tracked(f"{folders[0]}/index"), top=top, exclude=exclude)
