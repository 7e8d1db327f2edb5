"""What git says of changes and of commits, for somebody to read: bounded, and nothing run for it.

Beside what holds for all of git here (git.py), the repository's own settings may not run programs
either: no external diffs, no conversions, no filters, no checks of signatures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from sightline.filesystem.git.repository import OURS, Repository, bounded

NAMES_BYTES = 1 << 20
"""Of a list of names that is read."""

PATHS_MAX = 500
"""Paths that one patch is asked for."""

MESSAGE_BYTES = 20_000

SETTINGS = (
    *("-c", "core.quotepath=false", "-c", f"core.excludesFile={os.devnull}"),
    *("-c", "diff.suppressBlankEmpty=false"),
    *("-c", "diff.autoRefreshIndex=false"),  # it would write the index
)

DIFF = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative", "-M", "-l400"),
    *("--ignore-submodules=dirty", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--inter-hunk-context=0", "--diff-algorithm=histogram", f"-O{os.devnull}"),
)

FORMAT = "--format=%H%x00%an <%ae>%x00%aI%x00%P%x00%B"

LIST_FILTERS = (
    *("config", "-z", "--name-only", "--get-regexp"),
    r"^filter\..*\.(clean|smudge|process|required)$",
)

ONE_FILTER = "filter.sightline.required=false"
"""There is always one, so that no answer is none because git failed."""


class Touched(Struct, frozen=True):
    """A file that differs. letter: A added, D deleted, M modified, R renamed, T of another kind, U
    in conflict, ? not tracked; old: its name before; added, removed: lines, None of no text."""

    letter: str
    path: str
    old: str | None = None
    added: int | None = None
    removed: int | None = None


class Commit(Struct, frozen=True):
    """A commit. before: its first parent, or the tree of nothing; parents: how many it has; at: an
    ISO time."""

    id: str
    author: str
    at: str
    message: str
    before: str
    parents: int


class Patch(Struct, frozen=True):
    """A patch as git writes it. cut: there is more of it."""

    text: str
    cut: bool


class Telling:
    """A repository that is asked about the files of a workspace; paths are relative to its root.
    None is answered where git does not answer, or has no such thing."""

    def __init__(self, root: str, repository: Repository, deadline_s: float) -> None:
        self._root = root
        self._top = repository.top
        self._prefix = repository.prefix
        self._deadline_s = deadline_s
        self._overriding: dict[str, str] | None = None

    def head(self) -> str | None:
        """What the tree is compared with: the commit it stands at, or the tree of nothing."""
        return self._line(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) or self._nothing()

    def commit(self, name: str) -> Commit | None:
        """The commit of a name, which is its id or the beginning of it."""
        asked = f"{name}^{{commit}}"
        whole = self._line(["rev-parse", "--verify", "--quiet", "--end-of-options", asked])
        show = ["show", "-s", "--no-show-signature", "--no-notes", "--encoding=UTF-8", FORMAT]
        said = self._ask([*show, whole], MESSAGE_BYTES) if whole else None
        if said is None:
            return None
        parts = said[0].decode("utf-8", "replace").split("\0", 4)
        if len(parts) < 5:  # no person has a name that long
            return None
        name, author, at, parents, message = parts
        before = parents.split()[0] if parents else self._nothing()
        if before is None:
            return None
        return Commit(name, author, at, message.strip(), before, len(parents.split()))

    def touched(self, before: str, after: str | None) -> tuple[list[Touched], bool] | None:
        """The files that differ, and whether there are more; after: None for the tree on disk."""
        names = [before] if after is None else [before, after]
        said = self._ask([*DIFF, "--raw", "--numstat", "-z", *names, "--"], NAMES_BYTES)
        if said is None:
            return None
        found = _touched(said[0], cut=said[1])
        return (found if after else self._really(found)), said[1]

    def _really(self, found: list[Touched]) -> list[Touched]:
        """Without files that only their times tell from what was committed. Of a text its lines
        tell; of others git is asked once more, by what looks into them and writes nothing."""
        doubtful = [each.path for each in found if each.letter == "M" and each.added is None]
        if not doubtful:
            return found
        words = ["status", "--porcelain=v1", "-z", "--no-renames", "-uno"]
        paths = doubtful[:PATHS_MAX]
        said = self._ask([*words, "--ignore-submodules=dirty", "--", *paths], NAMES_BYTES)
        if said is None:
            return found
        differ = {os.fsdecode(each[3:]) for each in said[0].split(b"\0")}
        alike = {path for path in paths if self._prefix + path not in differ}
        return [each for each in found if each.path not in alike]

    def untracked(self) -> tuple[list[Touched], bool] | None:
        """The files that git does not track, and does not ignore."""
        said = self._ask(["ls-files", "-o", "--exclude-standard", "-z"], NAMES_BYTES)
        if said is None:
            return None
        return [Touched("?", os.fsdecode(each)) for each in said[0].split(b"\0")[:-1]], said[1]

    def patch(
        self, before: str, after: str | None, paths: Sequence[str], limit: int
    ) -> Patch | None:
        """What differs in these files, in so many bytes at most."""
        names = [before] if after is None else [before, after]
        said = self._ask([*DIFF, "-p", "-U3", *names, "--", *paths[:PATHS_MAX]], limit)
        if said is None:
            return None
        body, cut = said
        whole = body[: body.rfind(b"\n") + 1] if cut else body
        return Patch(whole.decode("utf-8", "replace"), cut or len(paths) > PATHS_MAX)

    def _nothing(self) -> str | None:
        return self._line(["hash-object", "-t", "tree", "--stdin"])

    def _line(self, words: Sequence[str]) -> str | None:
        said = self._ask(words, NAMES_BYTES)
        return said[0].decode("ascii", "replace").strip() or None if said else None

    def _ask(self, words: Sequence[str], limit: int) -> tuple[bytes, bool] | None:
        if self._overriding is None:
            found = self._run(["-c", ONE_FILTER, *LIST_FILTERS], {}, NAMES_BYTES)
            if found is None or found[1]:
                return None
            self._overriding = _without(found[0])
        return self._run(words, self._overriding, limit)

    def _run(
        self, words: Sequence[str], more: dict[str, str], limit: int
    ) -> tuple[bytes, bool] | None:
        every = ["-C", self._root, *OURS, *SETTINGS, *words]
        ceiling = {"GIT_CEILING_DIRECTORIES": os.path.dirname(self._top)}
        return _run(every, more | ceiling, limit, self._deadline_s)


def _without(names: bytes) -> dict[str, str]:
    """The environment in which the filters of these settings do nothing. A word `-c` could not name
    one with "=" in its name."""
    keys = sorted(set(os.fsdecode(names).split("\0")) - {""})
    told = {"GIT_CONFIG_COUNT": str(len(keys))}
    for at, key in enumerate(keys):
        told[f"GIT_CONFIG_KEY_{at}"] = key
        told[f"GIT_CONFIG_VALUE_{at}"] = "false" if key.endswith(".required") else ""
    return told


def _touched(said: bytes, *, cut: bool) -> list[Touched]:
    """Of `--raw --numstat -z`: all files with their letters, then those that differ by more than
    their times with their lines."""
    parts = iter([os.fsdecode(part) for part in said.split(b"\0")[:-1]])
    found: dict[str, Touched] = {}
    times_alone: set[str] = set()
    for part in parts:
        if part.startswith(":"):
            before, after, _, _, letter = part[1:].split(" ")
            made = _lettered(letter[:1], parts)
            if made.path:
                found[made.path] = made
            if made.letter == "M" and before == after and not cut:
                times_alone.add(made.path)
            continue
        added, removed, path = part.split("\t", 2)
        if not path:
            next(parts, "")
            path = next(parts, "")
        times_alone.discard(path)
        if path in found and added != "-":
            found[path] = structs.replace(found[path], added=int(added), removed=int(removed))
    return [each for path, each in found.items() if path not in times_alone]


def _lettered(letter: str, parts: Iterator[str]) -> Touched:
    first = next(parts, "")
    return Touched(letter, next(parts, ""), first) if letter in "RC" else Touched(letter, first)


def _run(
    words: Sequence[str], more: dict[str, str], limit: int, deadline_s: float
) -> tuple[bytes, bool] | None:
    """What git prints, in so many bytes at most, and whether there was more; None when it fails
    or takes too long."""
    said = bounded(words, limit, deadline_s, more)
    if said is None:
        return None
    body, code = said
    if len(body) > limit:
        return body[:limit], True
    return (body, False) if code == 0 else None
