"""A rewind: what does it cost beside git, and does it keep its promises in new histories?

    python bench/rewinding.py [--json] [--only NAME]... [--files N]

The figures stand beside a shadow git that does the same in the same run: `add -A` and `write-tree`
before, then `checkout` of the tree from before the edits. `promises` prints
counts, and ends with the first that is broken and the history that breaks it. Exit 1 when a limit
is missed or a promise broken.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.checkpoints import FILES, Bench, Row, Shadow, edit, opened, table, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sightline import RewindReport, Session

    Deed = Callable[[Session, Sequence[str]], None]

CHANGED, ROUNDS, LIMIT = 100, 7, 1
LEFT_ALONE_MAX = 0.10
LINES_MAX = 1_500
"""A read shows so many lines at most, and an agent edits what it was shown."""


class Rewinds:
    """The figures, on one tree that is made once."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        short = [path for path in bench.paths if self._lines(path) < LINES_MAX]
        self.paths = short[:: max(len(short) // CHANGED, 1)][:CHANGED]

    def _lines(self, path: str) -> int:
        return Path(self.bench.root, path).read_bytes().count(b"\n")

    def edited(self) -> Row:
        what = f"{CHANGED} of {self.bench.files} files, edited"
        return self._row("edited", what, _edit_each)

    def removed(self) -> Row:
        what = f"{CHANGED} files that a command removed"
        return self._row("removed", what, self._remove_each)

    def _remove_each(self, session: Session, paths: Sequence[str]) -> None:
        with session.ran(f"rm {' '.join(paths)}"):
            for path in paths:
                Path(self.bench.root, path).unlink()

    def _row(self, name: str, what: str, deed: Deed) -> Row:
        """In turns: the agent changes the files, the rewind; something else does, git."""
        shadow = Shadow(self.bench.root, self.bench.fresh())
        ours: list[float] = []
        git: list[float] = []
        with opened(self.bench.root, self.bench.fresh()) as session:
            for number in range(ROUNDS):
                for path in self.paths:
                    session.read(path)
                made = session.checkpoint()
                deed(session, self.paths)
                began = perf_counter()
                report = session.rewind(made)
                ours.append(perf_counter() - began)
                _check(report, self.paths)
                before = shadow.take()
                edit(self.bench.root, self.paths, f"{name} {number}")
                began = perf_counter()
                shadow.take()
                shadow("checkout", before, "--", ".")
                git.append(perf_counter() - began)
        return timed(name, what, (ours, git), "add -A, checkout", LIMIT)


def _edit_each(session: Session, paths: Sequence[str]) -> None:
    for path in paths:
        text = session.believed(path)
        assert text is not None
        session.write(path, f"{text}# the agent's\n")


def _check(report: RewindReport, paths: Sequence[str]) -> None:
    if report.restored != tuple(sorted(paths)):
        raise SystemExit(f"{len(report.restored)} files went back, not {len(paths)}: {report}")


def promises() -> int:
    """Run them and print; the exit status."""
    os.environ["SIGHTLINE_TEST_WIDE"] = "1"
    from tests.properties import test_rewind  # as wide as it is told when it is loaded

    began = perf_counter()
    for name, promise in vars(test_rewind).items():
        if not name.startswith("test_"):
            continue
        try:
            promise()
        except BaseException:  # noqa: BLE001 - whatever breaks a promise is printed, and is the exit status
            traceback.print_exc()
            print(f"{name}: broken")
            return 1
        print(f"{name}: held")
    counts = test_rewind.COUNTS
    for word, count in sorted(counts.items()):
        print(f"{word:>10} {count:8,}")
    share = counts["left alone"] / counts["paths"]
    both = share + counts["gone"] / counts["paths"]
    print(f"{'left alone':>10} {share:8.1%} of the paths that the agent touched")
    print(f"{'or gone':>10} {both:8.1%} with those where others removed all that was the agent's")
    print(f"{'seconds':>10} {perf_counter() - began:8,.0f}")
    return int(share >= LEFT_ALONE_MAX)


FIGURES = ("edited", "removed")
PROMISES = "promises"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen measurements and print them; the exit status, 2 when nothing has that name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--files", type=int, default=FILES, metavar="N")
    options = parser.parse_args(arguments)
    wanted = options.only or [*FIGURES, PROMISES]
    if not {*wanted} <= {*FIGURES, PROMISES}:
        print(f"Known: {' '.join((*FIGURES, PROMISES))}", file=sys.stderr)
        return 2
    rows = _measured([name for name in FIGURES if name in wanted], options.files)
    if rows and options.json:
        print(json.dumps({"schema": 1, "rows": [row._asdict() for row in rows]}))
    elif rows:
        print(table(rows))
    broken = promises() if PROMISES in wanted else 0
    return broken or int(any(row.met is False for row in rows))


def _measured(names: Sequence[str], files: int) -> list[Row]:
    if not names:
        return []
    with tempfile.TemporaryDirectory(prefix="sightline-rewinding-") as folder:
        rewinds = Rewinds(Bench(folder, files))
        return [getattr(rewinds, name.replace("-", "_"))() for name in names]


if __name__ == "__main__":
    sys.exit(main())
