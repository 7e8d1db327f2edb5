"""Measure the processor time that a command takes to start and answer, beside a bare interpreter.

    python bench/starting.py [--json] [--only NAME]...

Each figure is of a process of its own, in a workspace with a file that a session was shown. Compiled
modules are warm. Processor time, user and system, does not count the work of other programs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed
from bench.command import SOURCE, START
from bench.speed import table
from bench.stopwatch import Figure, Limit, Row, measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.stopwatch import Times

ROUNDS = 20
LIMITS = {"help": 120.0, "status": 200.0, "log": None, "check": None}
"""Figure -> milliseconds at most."""

CALLS = {"help": ["--help"], "status": ["status"], "log": ["log"], "check": ["check", "a.py"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen figures and print them. Exit 1 when a limit is missed, 2 when nothing has
    that name."""
    return printed(__doc__, CALLS, run, table, arguments)


def run(only: Sequence[str]) -> Iterator[Row]:
    """Measure what has such a name, each in a folder of its own."""
    for name, call in CALLS.items():
        if name.startswith(tuple(only)):
            figure = Figure(
                name,
                f"sightline {' '.join(call)}, processor time",
                "a bare interpreter",
                Limit(ms=LIMITS[name]),
                lambda folder, call=call: starts(folder, call),  # type: ignore[misc]
            )
            with TemporaryDirectory(prefix="sl-") as folder:
                yield measure(figure, folder)


def starts(folder: str, call: Sequence[str]) -> Times:
    """Return the processor time of a command's rounds, and of a bare interpreter's, in turns."""
    workspace = Path(folder, "workspace")
    workspace.mkdir()
    (workspace / "a.py").write_text("a = 1\n", encoding="utf-8")
    keep = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "HOME": folder}
    place = ["--workspace", str(workspace), "--store", f"sqlite://{folder}/store.db"]
    command = [sys.executable, "-c", START, *call, *place]

    def spent(words: Sequence[str]) -> float:
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run(words, check=True, capture_output=True, env=keep)
        after = getrusage(RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    spent([sys.executable, "-c", START, "read", "a.py", *place])  # the modules are compiled, too
    spent(command)
    rounds = [(spent(command), spent([sys.executable, "-c", "pass"])) for _ in range(ROUNDS)]
    return [ours for ours, _ in rounds], [floor for _, floor in rounds]


if __name__ == "__main__":
    raise SystemExit(main())
