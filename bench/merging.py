"""Merges of small texts with repeated lines, beside `git merge-file` and the definition.

    python bench/merging.py [--histories N] [--seed N]

The definition (docs/design/0014-merging.md) is tried by brute force, tests/model/merge_readings.py.
Exits 1 when a merge loses or doubles a line by the definition, or when more than 1 % of the
histories that git merges are conflicts here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HOME, os.path.join(HOME, "src")]

from tests.model.merge_readings import Text, histories, misses  # noqa: E402

from sightline.model.merge import merge  # noqa: E402 - the folders have to be on the path first

BATCH = 1_000


def main() -> int:
    """Run and print; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--histories", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    jobs = [
        (options.seed * 1_000_000 + start, min(BATCH, options.histories - start))
        for start in range(0, options.histories, BATCH)
    ]
    with ProcessPoolExecutor(2) as pool:
        counts = sum(pool.map(compare, jobs), Counter())
    both = counts["merged by git"]
    for name, count in counts.items():
        print(f"{name:>38} {count:8,}")
    for name in ("conflict, merged by git", "another text than git"):
        print(f"{name + ', %':>38} {100 * counts[name] / max(both, 1):8.2f}")
    print(f"{'lost':>38} {counts['lost']:8,}\n{'doubled':>38} {counts['doubled']:8,}")
    many = counts["conflict, merged by git"] * 100 > both
    return int(bool(counts["lost"] or counts["doubled"] or many))


def compare(job: tuple[int, int]) -> Counter[str]:
    """Count how merges of histories end. job: the seed, and how many histories."""
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        for base, ours, theirs in histories(job[1], job[0]):
            counts["histories"] += 1
            merged, by_git = merge(base, ours, theirs), git(folder, base, ours, theirs)
            counts["merged"] += merged.clean
            counts["merged by git"] += by_git is not None
            counts["conflict, merged by git"] += by_git is not None and not merged.clean
            counts["merged, conflict for git"] += by_git is None and merged.clean
            if merged.lines != merge(base, theirs, ours).lines:
                counts["other from the other side"] += 1
            if by_git is not None:
                lost, doubled = misses(base, ours, theirs, by_git)
                counts["lost by git"] += bool(lost)
                counts["doubled by git"] += bool(doubled)
            if merged.clean:
                counts["another text than git"] += by_git not in (None, merged.lines)
                lost, doubled = misses(base, ours, theirs, merged.lines)
                counts["lost"] += bool(lost)
                counts["doubled"] += bool(doubled)
                if lost or doubled:
                    print(base, ours, theirs, merged.lines)
    return counts


def git(folder: str, base: Text, ours: Text, theirs: Text) -> Text | None:
    """Return the text that git makes; None for a conflict."""
    names = [os.path.join(folder, name) for name in ("ours", "base", "theirs")]
    for name, text in zip(names, (ours, base, theirs), strict=True):
        Path(name).write_text("".join(text), "utf-8")
    command = ["git", "merge-file", "-p", "-q", *names]
    run = subprocess.run(command, capture_output=True, text=True, check=False, close_fds=False)
    if not 0 <= run.returncode < 128:
        raise OSError(run.stderr)
    return None if run.returncode else tuple(run.stdout.splitlines(keepends=True))


if __name__ == "__main__":
    sys.exit(main())
