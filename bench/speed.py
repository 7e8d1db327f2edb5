"""Measure the verbs beside the least that could do the same work, in the same run.

    python bench/speed.py [--json] [--only NAME]...

Each figure is timed in turns with its floor: one system call, one bare SQLite transaction, one
import of the standard modules. Medians, and the fastest round beside them; a ratio says more than a millisecond, which is the
machine's. bench/README.md says how each is made.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed
from bench.figures import FIGURES
from bench.stopwatch import Row, measure_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen figures and print them. Exit 1 when a limit is missed, 2 when nothing has
    that name."""
    return printed(__doc__, (figure.name for figure in FIGURES), run, table, arguments)


def run(only: Sequence[str]) -> Iterator[Row]:
    """Measure each figure whose name begins so, in a folder of its own."""
    return measure_each(FIGURES, only, "sightline-speed-")


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| figure | what | ours | floor | ratio | fastest | limit | |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row.name} | {row.what} | {_ms(row.ours_ms)} | {_ms(row.floor_ms)} ({row.floor}) "
        f"| {row.ratio:.2f} | {_ms(row.best_ms)}, {row.best_ratio:.2f} | {row.limit} "
        f"| {_word(row.met)} |"
        for row in rows
    ]
    return "\n".join(lines)


def _ms(value: float) -> str:
    return f"{value:.3f} ms" if value < 1 else f"{value:.1f} ms"


def _word(met: bool | None) -> str:  # noqa: FBT001
    return {None: "", True: "kept", False: "MISSED"}[met]


if __name__ == "__main__":
    sys.exit(main())
