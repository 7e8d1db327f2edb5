"""Merges of small texts with repeated lines, beside `git merge-file` and the definition; and where
the lines that an agent means stand after a user's changes.

    python bench/merging.py [--histories N] [--seed N] [--places N]

The definition (docs/design/0014-merging.md) is tried by brute force, tests/model/merge_readings.py.
Exits 1 when a merge loses or doubles a line by the definition, or when more than 1 % of the
histories that git merges are conflicts here. --places N plays N files with twins and N real files
instead (tests/model/twin_histories.py), beside the rule "the lines stand once in either text"; it exits
1 when a place is another line's.
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

# The folders have to be on the path first.
from tests.model import twin_histories  # noqa: E402
from tests.model.merge_readings import Text, histories, misses  # noqa: E402

from sightline.model.diff import diff  # noqa: E402
from sightline.model.merge import merge  # noqa: E402
from sightline.model.relocation import Places  # noqa: E402
from sightline.model.spans import collide  # noqa: E402

BATCH = 1_000


def main() -> int:
    """Run and print; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--histories", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", type=int, help="play this many files of either kind")
    options = parser.parse_args()
    if options.places:
        return places(options.places, options.seed)
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


def places(number: int, seed: int) -> int:
    """Print for two rules how often a line was found at another line's place, and how often one that
    nobody changed was not found; the exit status."""
    real = [path.read_text("utf-8") for path in sorted(Path(HOME, "src").rglob("*.py"))]
    kinds = {
        "files with twins": twin_histories.histories(number, seed * 1_000_000),
        "real files": twin_histories.real_histories(real, number, seed),
    }
    wrong = 0
    print(f"{'':18}{'rule':12}{'wrong place':>14}{'missed':>16}{'missed, moved':>16}")
    for kind, made in kinds.items():
        counts: Counter[tuple[str, str]] = Counter()
        for each in made:
            which = "moved" if each.moved else "left"
            counts["all", "all"] += 1
            counts["stand", which] += each.stands
            for name, rule in RULES.items():
                place = rule(
                    [line.text for line in each.base], [line.text for line in each.disk], each.meant
                )
                counts[name, "wrong"] += place is not None and not each.may_land(place)
                counts[name, which] += place is None and each.stands
        for name in RULES:
            cells = [f"{counts[name, 'wrong']:,} of {counts['all', 'all']:,}"]
            cells += [f"{counts[name, w]:,} of {counts['stand', w]:,}" for w in ("left", "moved")]
            print(f"{kind:18}{name:12}" + "".join(f"{cell:>16}" for cell in cells))
        wrong += counts["sightline", "wrong"]
    return int(wrong > 0)


def found(base: list[str], disk: list[str], meant: int) -> int | None:
    """Return where the line meant stands, as the guard says."""
    return Places(base, disk, diff(base, disk)).find(meant, meant + 1)


def once(base: list[str], disk: list[str], meant: int) -> int | None:
    """Return where the line meant stands: where the diff puts it, or where it stands once."""
    hunks = diff(base, disk)
    if not any(collide(hunk, (meant, meant + 1, 0, 0)) for hunk in hunks):
        return meant + sum((b1 - b0) - (a1 - a0) for a0, a1, b0, b1 in hunks if a1 <= meant)
    is_once = base.count(base[meant]) == disk.count(base[meant]) == 1
    return disk.index(base[meant]) if is_once else None


RULES = {"once": once, "sightline": found}


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
