"""Recorded sessions of a real agent, played through Sightline edit by edit.

    python bench/recorded.py [PATH]... [--json]

PATH is a recording or a folder of them; the default is the team's corpus beside the repository.
Says how often Sightline's idea of a file was that file, how its verdicts compare with the
product's, and whether the same bytes came out. Exit 1 when a difference, or a refusal of ours
alone, stays unexplained.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.recordings.replay import replay  # noqa: E402 (needs the path above)
from bench.recordings.tally import Tally  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CORPUS = ROOT.parent / "shared" / "corpus" / "claude-code"


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the chosen recordings and print the counts. Exit 2 when there is no recording."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[CORPUS], metavar="PATH")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    found = list(recordings(options.paths))
    if not found:
        print(f"No recording (*.jsonl) in {' '.join(map(str, options.paths))}", file=sys.stderr)
        return 2
    tally = Tally()
    for path in found:
        tally.add(replay(path))
    print(json.dumps(tally.as_json()) if options.json else tally.report())
    return 1 if tally.unexplained or tally.only_we_refused else 0


def recordings(paths: Sequence[Path]) -> Iterator[Path]:
    """The recordings named, and those in folders named, in order."""
    for path in paths:
        yield from sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]


if __name__ == "__main__":
    sys.exit(main())
