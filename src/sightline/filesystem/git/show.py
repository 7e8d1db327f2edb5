"""Changes and commits as git describes them, bounded, for a person or an agent to read.

Beyond the rules of `repository`, the repository's own settings may not run programs here: no external
diffs, no conversions, no filters, no checks of signatures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from sightline.filesystem.git.repository import (
    LIST_FILTERS,
    OURS,
    Repository,
    without_filters,
)

NAMES_BYTES = 1 << 20
"""The limit of a list of names."""

PATHS_MAX = 500
"""The limit of paths for one patch."""

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


class ChangeReader:
    """Reads changes and commits of a workspace's files from its repository. Paths are relative to the
    workspace's root. Methods return None where git does not answer or has no such object."""

    def __init__(self, root: str, repository: Repository, deadline_s: float) -> None:
        self._root = root
        self._repository = repository
        self._prefix = repository.prefix
        self._deadline_s = deadline_s
        self._overriding: dict[str, str] | None = None

    def head(self) -> str | None:
        """Return the commit that the tree stands at, or the empty tree where there is no commit."""
        return self._line(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) or self._nothing()

    def commit(self, name: str) -> Commit | None:
        """Return the commit with this id, or with an id that begins so."""
        asked = f"{name}^{{commit}}"
        whole = self._line(["rev-parse", "--verify", "--quiet", "--end-of-options", asked])
        show = ["show", "-s", "--no-show-signature", "--no-notes", "--encoding=UTF-8", FORMAT]
        answer = self._ask([*show, whole], MESSAGE_BYTES) if whole else None
        if answer is None:
            return None
        parts = answer[0].decode("utf-8", "replace").split("\0", 4)
        if len(parts) < 5:  # no person has a name that long
            return None
        name, author, at, parents, message = parts
        before = parents.split()[0] if parents else self._nothing()
        if before is None:
            return None
        return Commit(name, author, at, message.strip(), before, len(parents.split()))

    def touched(self, before: str, after: str | None) -> tuple[list[Touched], bool] | None:
        """Return the files that differ, and whether there are more. after: None for the tree on disk."""
        names = [before] if after is None else [before, after]
        answer = self._ask([*DIFF, "--raw", "--numstat", "-z", *names, "--"], NAMES_BYTES)
        if answer is None:
            return None
        found = _touched(answer[0], cut=answer[1])
        return (found if after else self._without_touched_times(found)), answer[1]

    def _without_touched_times(self, found: list[Touched]) -> list[Touched]:
        """Leave out files that differ from the commit in their times alone. The lines of a text show
        that; for other files git is asked again, by a command that reads them and writes nothing."""
        doubtful = [each.path for each in found if each.letter == "M" and each.added is None]
        if not doubtful:
            return found
        words = ["status", "--porcelain=v1", "-z", "--no-renames", "-uno"]
        paths = doubtful[:PATHS_MAX]
        answer = self._ask([*words, "--ignore-submodules=dirty", "--", *paths], NAMES_BYTES)
        if answer is None:
            return found
        differ = {os.fsdecode(each[3:]) for each in answer[0].split(b"\0")}
        alike = {path for path in paths if self._prefix + path not in differ}
        return [each for each in found if each.path not in alike]

    def untracked(self) -> tuple[list[Touched], bool] | None:
        """Return the files that git neither tracks nor ignores, and whether there are more."""
        answer = self._ask(["ls-files", "-o", "--exclude-standard", "-z"], NAMES_BYTES)
        if answer is None:
            return None
        return [Touched("?", os.fsdecode(name)) for name in answer[0].split(b"\0")[:-1]], answer[1]

    def patch(
        self, before: str, after: str | None, paths: Sequence[str], limit: int
    ) -> Patch | None:
        """Return a patch of these files, of `limit` bytes at most."""
        names = [before] if after is None else [before, after]
        answer = self._ask([*DIFF, "-p", "-U3", *names, "--", *paths[:PATHS_MAX]], limit)
        if answer is None:
            return None
        body, cut = answer
        whole = body[: body.rfind(b"\n") + 1] if cut else body
        return Patch(whole.decode("utf-8", "replace"), cut or len(paths) > PATHS_MAX)

    def _nothing(self) -> str | None:
        return self._line(["hash-object", "-t", "tree", "--stdin"])

    def _line(self, words: Sequence[str]) -> str | None:
        answer = self._ask(words, NAMES_BYTES)
        return answer[0].decode("ascii", "replace").strip() or None if answer else None

    def _ask(self, words: Sequence[str], limit: int) -> tuple[bytes, bool] | None:
        if self._overriding is None:
            found = self._run(LIST_FILTERS, {}, NAMES_BYTES)
            if found is None or found[1]:
                return None
            self._overriding = without_filters(found[0])
        return self._run(words, self._overriding, limit)

    def _run(
        self, words: Sequence[str], variables: dict[str, str], limit: int
    ) -> tuple[bytes, bool] | None:
        """Return git's output, of `limit` bytes at most, and whether there is more; None when git fails
        or takes too long."""
        every = ["-C", self._root, *OURS, *SETTINGS, *words]
        done = self._repository.run(every, limit, self._deadline_s, variables)
        if done is None:
            return None
        output, code = done
        if len(output) > limit:
            return output[:limit], True
        return (output, False) if code == 0 else None


def _touched(answer: bytes, *, cut: bool) -> list[Touched]:
    """Parse the output of `--raw --numstat -z`: all files with their letters, then the files that
    differ in more than their times, with their lines."""
    parts = iter([os.fsdecode(part) for part in answer.split(b"\0")[:-1]])
    found: dict[str, Touched] = {}
    times_alone: set[str] = set()
    for part in parts:
        if part.startswith(":"):
            before, after, _, _, letter = part[1:].split(" ")
            file = _lettered(letter[:1], parts)
            if file.path:
                found[file.path] = file
            if file.letter == "M" and before == after and not cut:
                times_alone.add(file.path)
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
