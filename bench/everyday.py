"""Measure the time that Sightline adds to each tool call of Claude Code, in a small tree and in large ones.

    python bench/everyday.py [--files NUMBER]... [--rounds NUMBER] [--json]

The real client works headless against a scripted model, once with our hooks and once alone, in turns. A
call takes from the model's answer that asks for it to the client's next request, which holds its
result. bench/README.md says more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.clients.claude import Claude
from tests.clients.stub import Body, Model, Step, serving

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = (100, 5_000, 50_000)
ROUNDS = 12
"""Calls of each kind in one turn."""

TURNS = 3
RUNS = 2
"""Conversations with our hooks, and as many without, for each size."""

P95_MS, FIRST_MS = 150, 1_000
"""The limits of what is added: the 95th percentile of all calls but the first of a kind, and that call."""

SHARE = 2
"""The limit of what is added to the median, as a multiple of the client's own call in the smallest tree: on
another machine the client is faster or slower, and so are the hooks."""

KINDS = ("Read", "Edit", "Write", "Bash that looks", "Bash that may write")
TEXT = "".join(f"value_{n} = compute({n})\n" for n in range(40))


class Call(NamedTuple):
    """One tool call. ms: from the model's answer to the client's next request."""

    turn: int
    kind: str
    ms: float


class Row(NamedTuple):
    """The calls of one kind in a tree of one size, in ms. first: the session's first such call. small: the
    median of the client's own call in the smallest tree."""

    files: int
    kind: str
    calls: int
    alone: float
    alone_p95: float
    ours: float
    ours_p95: float
    first: float
    small: float = 0.0

    @property
    def added(self) -> float:
        """The median that is added to a call."""
        return self.ours - self.alone

    @property
    def added_p95(self) -> float:
        """Return what 95 of 100 calls stay below, beside the client's median."""
        return self.ours_p95 - self.alone


class TimedModel(Model):
    """A scripted model that notes when it was asked, and when it answered."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[tuple[float, float]] = []

    def answer(self, body: Body) -> tuple[str, list[Body]]:
        asked = perf_counter()
        answered = super().answer(body)
        if body.get("tools"):
            self.times.append((asked, perf_counter()))
        return answered


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Exit 1 when a limit is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--files", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    for files in sorted(given.files or SIZES):
        rows += measured(files, given.rounds)
    rows = with_small_tree(rows)
    if given.json:
        print(json.dumps([row._asdict() for row in rows]))
    else:
        print(f"load {os.getloadavg()[0]:.1f}\n\n{table(rows)}")
    return 0 if all(map(is_met, rows)) else 1


def is_met(row: Row) -> bool:
    """Return whether a row keeps the limits."""
    is_in_time = row.added_p95 <= P95_MS and row.first - row.alone <= FIRST_MS
    return is_in_time and row.added <= SHARE * row.small


def with_small_tree(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the client's own call in the smallest tree, which stands first."""
    small = {row.kind: row.alone for row in reversed(rows)}
    return [row._replace(small=small[row.kind]) for row in rows]


def measured(files: int, rounds: int) -> list[Row]:
    """Return the rows of a tree of one size."""
    ours: list[list[Call]] = []
    alone: list[list[Call]] = []
    for _ in range(RUNS):
        ours.append(conversation(files, rounds, guarded=True))
        alone.append(conversation(files, rounds, guarded=False))
    rows = []
    for kind in KINDS:
        with_us = [[call.ms for call in run if call.kind == kind] for run in ours]
        without = [call.ms for run in alone for call in run if call.kind == kind]
        later = [ms for run in with_us for ms in run[1:]]
        first = max(run[0] for run in with_us)
        figures = (median(without), p95(without), median(later), p95(later), first)
        rows.append(Row(files, kind, len(later), *figures))
    return rows


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return quantiles(values, n=20)[18]


def conversation(files: int, rounds: int, *, guarded: bool) -> list[Call]:
    """Return the tool calls of one conversation of several turns."""
    with (
        tempfile.TemporaryDirectory(prefix="sl-") as folder,
        tempfile.TemporaryDirectory(prefix="sl-") as state,
        serving(TimedModel()) as model,
    ):
        claude = Claude(Path(folder).resolve(), model, Path(state))
        fill(claude.root, files)
        if guarded:
            claude.sightline("init", "claude-code")
        prompts = [f"Begin turn {turn}" for turn in range(TURNS)]
        asked: list[tuple[int, str]] = []
        for turn, prompt in enumerate(prompts):
            steps = script(claude, turn, rounds)
            asked += [(turn, kind) for kind, _ in steps] + [(turn, "")]
            model.script(prompt, *(step for _, step in steps), Step("Done."))
        done = claude.run(*prompts)
        assert done.code == 0, done.err
        assert not claude.faults, claude.faults
        claude.left()
        times = getattr(model, "times")  # noqa: B009 - serving() returns it as a Model
        assert len(times) == len(asked), (len(times), len(asked))
        return [
            Call(turn, kind, (times[at + 1][0] - times[at][1]) * 1e3)
            for at, (turn, kind) in enumerate(asked)
            if kind
        ]


def script(claude: Claude, turn: int, rounds: int) -> list[tuple[str, Step]]:
    """Return the calls of a turn: in turns one of each kind."""
    steps = []
    for at in range(rounds):
        name = f"work/file_{turn}_{at}.py"
        file = claude.put(name, TEXT)
        new = str(claude.root / f"work/new_{turn}_{at}.py")
        edit = {
            "file_path": file,
            "old_string": "value_7 = compute(7)",
            "new_string": "value_7 = 0",
        }
        tools: list[tuple[str, Body]] = [
            ("Read", {"file_path": file}),
            ("Edit", edit),
            ("Write", {"file_path": new, "content": TEXT}),
            ("Bash", {"command": f"head -3 {name}"}),
            ("Bash", {"command": f"sh -c 'echo built > work/built_{turn}_{at}.txt'"}),
        ]
        steps += [(kind, Step(tools=(tool,))) for kind, tool in zip(KINDS, tools, strict=True)]
    return steps


def fill(root: Path, files: int) -> None:
    """Put so many files into the tree, a hundred to a folder, and let git track them."""
    for at in range(files):
        folder = root / f"part{at // 2500:02}" / f"m{at // 100:03}"
        if at % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"f{at:05}.py").write_text(f"# module {at}\n" + f"x = {at}\n" * 20)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"]
    for command in (["add", "-A"], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*git, *command], cwd=root, check=True)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| files | call | client alone | p95 | with hooks | p95 | added | p95 | ratio | first adds | |",
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row.files:,} | {row.kind} | {row.alone:.0f} ms | {row.alone_p95:.0f} | {row.ours:.0f} "
        f"| {row.ours_p95:.0f} | {row.added:.0f} | {row.added_p95:.0f} | {row.added / row.small:.1f} x "
        f"| {row.first - row.alone:.0f} | {'kept' if is_met(row) else 'MISSED'} |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
