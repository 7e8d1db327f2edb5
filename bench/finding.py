"""Measure the list of all paths beside git's own.

    python bench/finding.py [--json] [--only NAME]...

A tree of 100,000 files is written once, and listed in turns by us, cold each time but for
"index-again", and by `git ls-files -co --exclude-standard`. Between the figures only git's index is
exchanged, or taken away with all of git: then git is told where it is, and we find none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed
from bench.speed import table
from bench.stopwatch import Figure, Limit, Row, interleaved, measure

from sightline.filesystem.disk import DiskWorkspace
from sightline.search.path_index import Index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.stopwatch import Times

FILES = 100_000
IN_FOLDER = 50
ROUNDS = 7
IGNORED = "*.log\n__pycache__/\nnode_modules/\nbuild/\n!kept.log\n"
IGNORED_EACH = 10
"""Every so many folders hold one that is ignored, with as many files."""

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
LISTING = ("ls-files", "-co", "--exclude-standard")
FLOOR = "git ls-files"


def write(root: str, files: int) -> None:
    """A tree of so many files that may be found, and some that may not."""
    os.makedirs(root)
    Path(root, ".gitignore").write_text(IGNORED, encoding="utf-8")
    for number in range(files // IN_FOLDER):
        folder = f"{root}/packages/part_{number % 40}/module_{number}"
        _fill(folder, [f"file_{each}.py" for each in range(IN_FOLDER)])
        if number % IGNORED_EACH == 0:
            _fill(f"{folder}/node_modules/dep", [f"index_{each}.js" for each in range(IN_FOLDER)])


def _fill(folder: str, names: Sequence[str]) -> None:
    os.makedirs(folder)
    for name in names:
        os.close(os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY))


def git(root: str, *words: str, given: bytes = b"") -> bytes:
    """Return what git answers."""
    return subprocess.run(
        ["git", "-C", root, *words],
        env={**os.environ, **QUIET},
        input=given,
        capture_output=True,
        check=True,
    ).stdout


def tracked(folder: str) -> str:
    """A git tree with all of its files tracked."""
    root = f"{folder}/tree"
    write(root, FILES)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    return root


@contextmanager
def away(root: str, name: str) -> Iterator[str]:
    """Without a part of a tree for as long as this lasts, and where it is meanwhile."""
    file, aside = f"{root}/{name}", f"{root}-{os.path.basename(name)}"
    os.rename(file, aside)
    try:
        yield aside
    finally:
        os.replace(aside, file)


def listing(root: str) -> DiskWorkspace:
    """A workspace that has listed nothing yet."""
    return DiskWorkspace(root, f"{root}-state")


def listed(root: str) -> int:
    """List a tree cold; how many paths may be found."""
    return len(listing(root).paths())


def in_git(root: str) -> Times:
    """The tree as it is."""
    return interleaved(partial(listed, root), partial(git, root, *LISTING), ROUNDS)


def with_one_new(root: str) -> Times:
    """One file more than git tracks."""
    new = Path(root, "packages/part_7/new.py")
    new.touch()
    try:
        return in_git(root)
    finally:
        new.unlink()


def half_tracked(root: str) -> Times:
    """Every second file untracked."""
    names = git(root, "ls-files", "-z").split(b"\0")[:-1]
    with away(root, ".git/index") as whole:
        shutil.copyfile(whole, f"{root}/.git/index")
        git(root, "update-index", "--force-remove", "-z", "--stdin", given=b"\0".join(names[::2]))
        return in_git(root)


def none_tracked(root: str) -> Times:
    """No file tracked."""
    with away(root, ".git/index"):
        return in_git(root)


def elsewhere(root: str) -> Times:
    """No git for us."""
    with away(root, ".git") as aside:
        beside = partial(git, root, f"--git-dir={aside}", f"--work-tree={root}", *LISTING)
        return interleaved(partial(listed, root), beside, ROUNDS)


def indexed(root: str) -> Times:
    """Measure the list of paths with the index of their names."""
    return interleaved(
        lambda: Index(listing(root).paths()).named("file_1.py"),
        partial(git, root, *LISTING),
        ROUNDS,
    )


def again(root: str) -> Times:
    """The list once more, when nothing has changed since it was made."""
    finder = listing(root)
    finder.paths()
    return interleaved(finder.paths, partial(git, root, *LISTING), ROUNDS)


CLOSE = Limit(ratio=3)
FIGURES = (
    Figure("index", "100,000 tracked files", FLOOR, CLOSE, in_git),
    Figure("index-one", "the same and a new one", FLOOR, CLOSE, with_one_new),
    Figure("index-half", "the same, half of them tracked", FLOOR, CLOSE, half_tracked),
    Figure("index-new", "the same, none tracked", FLOOR, CLOSE, none_tracked),
    Figure("index-elsewhere", "the same, no git tree", FLOOR, CLOSE, elsewhere),
    Figure("index-names", "tracked, and a name looked up", FLOOR, Limit(), indexed),
    Figure("index-again", "tracked, nothing changed", FLOOR, Limit(ms=50), again),
)


def run(only: Sequence[str]) -> Iterator[Row]:
    """Measure each figure whose name begins with the text, in one tree."""
    with TemporaryDirectory(prefix="sightline-finding-") as folder:
        root = tracked(folder)
        for figure in FIGURES:
            if figure.name.startswith(tuple(only)):
                yield measure(figure, root)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status."""
    return printed(__doc__, [each.name for each in FIGURES], run, table, arguments)


if __name__ == "__main__":
    sys.exit(main())
