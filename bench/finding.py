"""How long does the list of all paths take, beside git's own?

    python bench/finding.py [--json] [--only NAME]...

A tree of 100,000 files is written, and listed in turns by us, cold each time but for "index-again",
and by `git ls-files -co --exclude-standard`, which always runs in a git tree of the same files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed
from bench.speed import table
from bench.stopwatch import Figure, Limit, Row, interleaved, measure_each

from sightline.core.finding.index import Index
from sightline.workspace.find import Finder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.stopwatch import Times

FILES = 100_000
IN_FOLDER = 50
ROUNDS = 9
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


def git(root: str, *words: str) -> bytes:
    """What git answers."""
    return subprocess.run(
        ["git", "-C", root, *words], env={**os.environ, **QUIET}, capture_output=True, check=True
    ).stdout


def tracked(folder: str) -> str:
    """A git tree with all of its files tracked."""
    root = untracked(folder)
    git(root, "add", "--all")
    return root


def untracked(folder: str) -> str:
    """A git tree with none of its files tracked."""
    root = f"{folder}/tree"
    write(root, FILES)
    git(root, "init", "--quiet")
    return root


def listed(root: str) -> int:
    """List a tree cold; how many paths may be found."""
    return len(Finder(root).paths())


def in_git(folder: str, *, new: bool = False) -> Times:
    """A git tree."""
    root = untracked(folder) if new else tracked(folder)
    return interleaved(partial(listed, root), partial(git, root, *LISTING), ROUNDS)


def elsewhere(folder: str) -> Times:
    """The same files outside of any git tree, beside git in one."""
    root, plain = tracked(folder), f"{folder}/plain"
    write(plain, FILES)
    return interleaved(partial(listed, plain), partial(git, root, *LISTING), ROUNDS)


def indexed(folder: str) -> Times:
    """The list, and the index of it that names are looked up in."""
    root = tracked(folder)
    return interleaved(
        lambda: Index(Finder(root).paths()).named("file_1.py"),
        partial(git, root, *LISTING),
        ROUNDS,
    )


def again(folder: str) -> Times:
    """The list once more, when nothing has changed since it was made."""
    root = tracked(folder)
    finder = Finder(root)
    finder.paths()
    return interleaved(finder.paths, partial(git, root, *LISTING), ROUNDS)


FIGURES = (
    Figure("index", "100,000 tracked files", FLOOR, Limit(ratio=1.2), in_git),
    Figure(
        "index-new", "the same, none tracked", FLOOR, Limit(ratio=1.2), partial(in_git, new=True)
    ),
    Figure("index-elsewhere", "the same, no git tree", FLOOR, Limit(ratio=2.5), elsewhere),
    Figure("index-names", "tracked, and a name looked up", FLOOR, Limit(), indexed),
    Figure("index-again", "tracked, nothing changed", FLOOR, Limit(ms=50), again),
)


def run(only: Sequence[str]) -> Iterator[Row]:
    """Measure each figure whose name begins so, in a folder of its own."""
    return measure_each(FIGURES, only, "sightline-finding-")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status."""
    return printed(__doc__, [each.name for each in FIGURES], run, table, arguments)


if __name__ == "__main__":
    sys.exit(main())
