"""Measure the decision what to fold beside one copy of the list of blocks.

    python bench/folding.py [--json] [--only NAME]...

Long conversations are played answer by answer: the folder is told what came and asked what to fold.
Time is that of the processor. Of the last thousand answers the slowest hundredth is left out.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed

from sightline.audit.engine import View
from sightline.messages.blocks import Block, Excerpt, Rewrite
from sightline.window.folding import DEFAULT, Folding
from sightline.window.words import stub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sightline.messages.blocks import Deed
    from sightline.window.folding import Rules

    Talk = Iterator[list[Block]]
    """What came before each answer."""

LAST = 1_000
LIMIT_MS = 5.0
LINE = "    return first + second  # a line of code, as long as most\n"


class Figure(NamedTuple):
    """A conversation and the rules that it is played under. limit: in ms, of the 99th percentile."""

    name: str
    what: str
    talk: Callable[[int], Talk]
    blocks: int
    rules: Rules
    limit: float | None


class Row(NamedTuple):
    """The measured times, in ms: of an answer, and of copying the list of blocks once."""

    name: str
    what: str
    blocks: int
    answers: int
    folds: int
    p50_ms: float
    p99_ms: float
    worst_ms: float
    copy_ms: float
    limit_ms: float | None
    met: bool | None


def call(
    step: int,
    tool: str,
    deed: Deed,
    text: str,
    shown: tuple[Excerpt, ...] = (),
    put: tuple[Rewrite, ...] = (),
) -> list[Block]:
    """A call and its result."""
    named = (step, f"c{step}", tool, deed)
    given = Block(step, 0, "call", "{}" * 300, 150, *named, rewrites=put)
    return [given, Block(step, 1, "result", text, len(text) // 4, *named, excerpts=shown)]


def read(step: int, path: str, first: int, lines: int) -> list[Block]:
    """Lines of a file."""
    text = (LINE * lines)[:-1]
    return call(step, "Read", "read", text, (Excerpt(path, first, text),))


def usual(blocks: int) -> Talk:
    """Reading, editing and running, in ever other files, and a person who says something."""
    drawn = random.Random(7)  # noqa: S311 - the same on every run
    for step in range(1, blocks // 2):
        path = f"src/part_{step // 60}/module_{drawn.randrange(40)}.py"
        what = drawn.random()
        if what < 0.4:
            yield read(step, path, drawn.randrange(1, 400), drawn.randrange(10, 200))
        elif what < 0.6:
            put = (Rewrite(path, LINE, LINE * 2),)
            yield call(step, "Edit", "edit", "done", put=put)
        elif what < 0.98:
            yield call(step, "Bash", "run", LINE * drawn.randrange(1, 80))
        else:
            said = f"now see to module_{drawn.randrange(40)}.py, please"
            yield [Block(step, 0, "user", said, 9, step, fixed=True)]


def held(blocks: int) -> Talk:
    """Files that a person named and nobody edited yet: none of them may go."""
    files = [f"module_{number}.py" for number in range(blocks // 2)]
    yield [Block(0, 0, "user", " ".join(files), len(files) * 3, 0, fixed=True)]
    for step, path in enumerate(files, 1):
        yield read(step, path, 1, 20)


def one_file(blocks: int) -> Talk:
    """One file, read in ever other pieces; a person named it, so it stays while nothing newer shows
    the same lines."""
    drawn = random.Random(7)  # noqa: S311 - the same on every run
    yield [Block(0, 0, "user", "see to module.py", 5, 0, fixed=True)]
    for step in range(1, blocks // 2):
        yield read(step, "module.py", drawn.randrange(1, 90_000), 40)


def edited(blocks: int) -> Talk:
    """Edits, each in one of many files that are all at work."""
    for step in range(1, blocks // 4):
        yield read(2 * step, f"module_{step}.py", 1, 20)
        put = (Rewrite(f"module_{step}.py", LINE, LINE * 2),)
        yield call(2 * step + 1, "Edit", "edit", "done", put=put)


NEVER = structs.replace(DEFAULT, name="never", share=10**9)
FIGURES = (
    Figure("usual", "reads, edits and commands", usual, 5_000, DEFAULT, LIMIT_MS),
    Figure("held", "2,500 reads, none may go", held, 5_000, DEFAULT, LIMIT_MS),
    Figure("one-file", "2,500 pieces of a file", one_file, 5_000, DEFAULT, LIMIT_MS),
    Figure("edited", "1,250 files at work", edited, 5_000, NEVER, LIMIT_MS),
    Figure(
        "forced",
        "2,500 reads, far too many",
        held,
        5_000,
        structs.replace(DEFAULT, hard=80_000),
        LIMIT_MS,
    ),
    Figure("long", "as usual, four times as long", usual, 20_000, DEFAULT, None),
    Figure("long-one-file", "10,000 pieces of a file", one_file, 20_000, DEFAULT, None),
)


def measured(figure: Figure) -> Row:
    """Play a conversation."""
    made = Folding(figure.rules, _count, stub)
    view, blocks, times, folds = View(0), list[Block](), list[float](), 0
    for came in figure.talk(figure.blocks):
        blocks += came
        view.add(came)
        began = thread_time()
        for block in came:
            made.add(block)
        decision = made.decide(view.tokens)
        times.append((thread_time() - began) * 1e3)
        folds += len(decision.folds)
        view.apply(decision)
    last = sorted(times[-LAST:])
    p99 = last[int(len(last) * 0.99) - 1]
    return Row(
        figure.name,
        figure.what,
        len(blocks),
        len(times),
        folds,
        round(last[len(last) // 2], 4),
        round(p99, 4),
        round(max(times), 4),
        round(copied(blocks), 4),
        figure.limit,
        None if figure.limit is None else p99 <= figure.limit,
    )


def copied(blocks: Sequence[Block]) -> float:
    """Return what copying the list once takes, in ms: the fastest of many."""
    times = []
    for _ in range(200):
        began = thread_time()
        list(blocks)
        times.append(thread_time() - began)
    return min(times) * 1e3


def _count(text: str) -> int:
    return len(text) // 4


def run(only: Sequence[str]) -> Iterator[Row]:
    """The figures whose names begin so."""
    return (measured(each) for each in FIGURES if each.name.startswith(tuple(only)))


def table(rows: Sequence[Row]) -> str:
    """The rows for a person."""
    head = f"{'figure':<14} {'blocks':>8} {'folds':>7} {'p50 ms':>8} {'p99 ms':>8} {'worst':>8} {'copy':>8}  limit"
    lines = [
        f"{row.name:<14} {row.blocks:>8,} {row.folds:>7,} {row.p50_ms:>8.3f} {row.p99_ms:>8.3f}"
        f" {row.worst_ms:>8.1f} {row.copy_ms:>8.4f}  {_limit(row)}"
        for row in rows
    ]
    return "\n".join([head, *lines])


def _limit(row: Row) -> str:
    if row.limit_ms is None:
        return row.what
    return f"{row.limit_ms:g} ms {'met' if row.met else 'MISSED'}: {row.what}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status."""
    return printed(__doc__, [each.name for each in FIGURES], run, table, arguments)


if __name__ == "__main__":
    sys.exit(main())
