"""Measure a chain of patterns beside one str.endswith over the list of paths.

    python bench/chains.py [--json] [--only NAME]...

A made tree of 100,000 paths, nearly every name in it another one, is asked in turns with its floor:
going through the list once with str.endswith. The index is warm, but no answer is kept. Medians, and
the fastest round beside them.
"""

from __future__ import annotations

import random
import sys
from functools import cache
from itertools import cycle, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed
from bench.speed import table
from bench.stopwatch import Figure, Limit, Row, interleaved, measure

from sightline.search.path_index import Index
from sightline.search.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.stopwatch import Times

PATHS = 100_000
FOLDERS = 9_000
WORDS = (
    *("user", "order", "cart", "page", "list", "item", "view", "model", "store", "util", "helper"),
    *("test", "api", "client", "server", "route", "main", "index", "config", "auth", "token"),
    *("session", "file", "tree", "node", "graph"),
)
ENDINGS = (".py", ".ts", ".tsx", ".js", ".json", ".md", ".css", ".go")
ROUNDS = 30
FLOOR = "one endswith scan"


@cache
def tree(paths: int = PATHS) -> tuple[str, ...]:
    """Made-up paths, the same on every run, as people name files."""
    drawn = random.Random(1)  # noqa: S311 - the same on every run
    folders = [_folder(drawn) for _ in range(FOLDERS)]
    made: set[str] = set()
    while len(made) < paths:
        name = f"{drawn.choice(WORDS)}_{drawn.choice(WORDS)}{drawn.randrange(200)}"
        made.add(f"{drawn.choice(folders)}/{name}{drawn.choice(ENDINGS)}")
    return tuple(sorted(made))


def _folder(drawn: random.Random) -> str:
    parts = [drawn.choice(WORDS) + drawn.choice(["", str(drawn.randrange(30))]) for _ in range(6)]
    return "/".join(parts[: drawn.randrange(1, 7)])


def asked(chains: Sequence[Sequence[str]], *, wins: bool | None) -> Callable[[str], Times]:
    """Chains in turn until the first pattern that matches. wins: whether the last one does, or,
    None, whether any matches is not looked at."""

    def measured(_: str) -> Times:
        paths = tree()
        index = Index(paths)
        turns = cycle([[pattern(text) for text in chain] for chain in chains])

        def chain() -> list[str]:
            for each in next(turns):
                found = index.matching(each)
                if found and wins is not None:
                    break
            assert wins is None or bool(found) is wins
            return found

        for _each in chains:
            chain()  # what an index makes when it is asked first
        return interleaved(chain, lambda: _scan(paths), ROUNDS)

    return measured


def cold(_: str) -> Times:
    """An index made and asked for the first time: all of its tables."""
    paths = tree()
    text = pattern("**/order*/**/cart_page*.ts")
    return interleaved(lambda: Index(paths).matching(text), lambda: _scan(paths), 5)


def _scan(paths: Sequence[str]) -> list[str]:
    return [path for path in paths if path.endswith("/user_cart17.ts")]


def _paths() -> list[list[str]]:
    return [[path] for path in tree()[:: PATHS // 50]]


def _names() -> list[list[str]]:
    return [[path.rpartition("/")[2]] for path in tree()[:: PATHS // 50]]


def _five(last: str) -> list[list[str]]:
    """Chains of five, from a path to a name's part in any folder."""
    return [
        [
            f"src/{one}/{one}_{two}.ts",
            f"**/{one}_{two}.ts",
            f"src/**/{one}_{two}*.ts",
            f"**/{two}-{one}*.{{ts,tsx}}",
            last.format(one=one, two=two),
        ]
        for one, two in pairwise(WORDS)
    ]


@cache
def figures() -> tuple[Figure, ...]:
    """In the order of the table."""
    quick, chain, any_ = Limit(ms=0.1), Limit(ms=250), Limit(ms=100)
    one = "**/test*/**/[a-m]*.{py,ts}"
    return (
        Figure("path", "one path, there", FLOOR, quick, asked(_paths(), wins=True)),
        Figure("path-missing", "one path, not there", FLOOR, quick, asked([["src/no.py"], ["a/b"]], wins=False)),
        Figure("name", "one name in any folder", FLOOR, quick, asked(_names(), wins=True)),
        Figure("chain", "five patterns, the last matches", FLOOR, chain, asked(_five("**/{one}_{two}*"), wins=True)),
        Figure("chain-nothing", "five patterns, none matches", FLOOR, chain, asked(_five("**/*{two}{one}*"), wins=False)),
        Figure("ending", "**/*.py, 12,000 match", FLOOR, any_, asked([["**/*.py"], ["**/*.go"]], wins=True)),
        Figure("folders", "a glob of folders and a class", FLOOR, any_, asked([[one]], wins=True)),
        Figure("letters", "**/*a*e*i*o, no text of three", FLOOR, any_, asked([["**/*a*e*i*o"]], wins=None)),
        Figure("hard", "**/**/**/a*a*a*a*b", FLOOR, any_, asked([["**/**/**/a*a*a*a*b"]], wins=False)),
        Figure("all", "**, 100,000 match", FLOOR, Limit(), asked([["**"]], wins=True)),
        Figure("cold", "a new index, its first glob", FLOOR, Limit(), cold),
    )  # fmt: skip


def run(only: Sequence[str]) -> Iterator[Row]:
    """The figures whose names begin so."""
    return (measure(each, "") for each in figures() if each.name.startswith(tuple(only)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status."""
    return printed(__doc__, [each.name for each in figures()], run, table, arguments)


if __name__ == "__main__":
    sys.exit(main())
