"""The face that benches of named figures share: --json, --only, a table, an exit code."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def printed(
    about: str | None,
    names: Iterable[str],
    run: Callable[[Sequence[str]], Iterable[Any]],
    table: Callable[[Any], str],
    arguments: Sequence[str] | None,
) -> int:
    """Measure the chosen figures and print them. Exit 1 when a limit is missed, 2 when nothing has
    that name.

    about: the bench's own docstring. run: how the names asked for begin -> rows, each a NamedTuple
    whose `met` is None without a limit.
    """
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="a figure, or how some begin"
    )
    options = parser.parse_args(arguments)
    rows = list(run(options.only or [""]))
    if not rows:
        only = " ".join(options.only)
        print(f"Nothing is called {only}. Known: {' '.join(names)}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({"schema": 1, "rows": [row._asdict() for row in rows]}))
    else:
        print(table(rows))
    return int(any(row.met is False for row in rows))
