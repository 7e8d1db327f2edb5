"""How often the file that a wrong guess meant comes first, and among the first five.

Trees of real packages, mistakes made with a seed, half of the paths kept out of tuning (by a hash
of the path), beside a baseline: the same name elsewhere, else difflib's close matches.
`--corpus FOLDER`: the failed reads of recorded sessions, with what would have been answered.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter, defaultdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.misreadings import failed_reads
from bench.mistakes import MISTAKES

from sightline.search.guesses import Guesser

if TYPE_CHECKING:
    from collections.abc import Callable

TYPESCRIPT = (
    *("effect@4.1.0", "viem@2.57.20", "rxjs@7.8.2", "tldraw@5.1.1"),
    *("@tldraw/editor@5.1.1", "@trpc/server@11.25.2"),
)
MIXED = ("react-native@0.76.5",)
MIXED_PYTHON = ("django==5.2.19",)

TEXTS = re.compile(
    r"\.(?:pyi?|pyx|[jt]sx?|[cm]js|json|md|rst|txt|toml|cfg|ya?ml|html|css|h|hpp|c|cc|cpp|mm?"
    r"|java|kts?|gradle|rb|sh|cmake|podspec|swift)$"
)
"""Endings of what agents read: what a package builds is left out of the trees."""

BUILT = frozenset(
    ["__pycache__", "_types", "_esm", "_cjs", "dist", "dist-cjs", "dist-esm", "node_modules"]
)


def listing(root: str) -> list[str]:
    """The texts below a folder that somebody wrote."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(n for n in folders if n not in BUILT and not n.endswith("-info"))
        found += [os.path.relpath(os.path.join(folder, name), root) for name in sorted(names)]
    return [path.replace(os.sep, "/") for path in found if TEXTS.search(path)]


def python_tree() -> list[str]:
    """The standard library and what is installed beside us."""
    both = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))
    found = [path for root in both for path in listing(root) if "site-packages/" not in path]
    return sorted(set(found))


def packages(folder: str, npm: tuple[str, ...], wheels: tuple[str, ...] = ()) -> list[str]:
    """The sources of published packages beside each other. Fetched, unpacked, never run."""
    for name in npm:
        into = os.path.join(folder, "packages", name.rpartition("@")[0])
        os.makedirs(into)
        pack = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", into, name]
        subprocess.run(pack, check=True, stdout=subprocess.DEVNULL)
        archive = next(Path(into).glob("*.tgz"))
        subprocess.run(["tar", "xzf", archive, "-C", into, "--strip-components=1"], check=True)
    for name in wheels:
        pip = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--dest", folder]
        subprocess.run([*pip, "--only-binary", ":all:", name], check=True)
        wheel = str(next(Path(folder).glob("*.whl")))
        subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, folder], check=True)
    return listing(folder)


def trees(folder: str) -> dict[str, list[str]]:
    """The three trees."""
    return {
        "python": python_tree(),
        "typescript": packages(os.path.join(folder, "typescript"), TYPESCRIPT),
        "mixed": packages(os.path.join(folder, "mixed"), MIXED, MIXED_PYTHON),
    }


def half(path: str) -> str:
    """Which half a path belongs to; only the first was looked at while tuning."""
    return ("tuned", "kept out")[sha256(path.encode()).digest()[0] % 2]


def made(paths: list[str], kind: str, count: int) -> list[tuple[str, str]]:
    """Guesses of one kind, each with the path it meant: none is a path of the tree."""
    random = Random(f"{kind} 7")  # noqa: S311  the same guesses on every run
    there = set(paths)
    folders = sorted({part for path in paths for part in path.split("/")[:-1]})
    found: dict[str, str] = {}
    for _ in range(count * 200):
        if len(found) == count:
            break
        path = random.choice(paths)
        guess = MISTAKES[kind](path, random, folders)
        if guess not in there:
            found.setdefault(guess, path)
    return list(found.items())


def baseline(paths: list[str]) -> Callable[[str], list[str]]:
    """The same name, nearest folder first as difflib sees it; else the closest of all names."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_name[path.rpartition("/")[2].lower()].append(path)

    def answer(asked: str) -> list[str]:
        name = asked.rpartition("/")[2].lower()
        names = [name] if name in by_name else difflib.get_close_matches(name, by_name, 5, 0.6)
        under = [path for close in names for path in by_name[close]]
        return difflib.get_close_matches(asked, under[:2_000], 5, 0) or under[:5]

    return answer


class Score:
    """Guesses, how many had the right path first, and among the first five."""

    def __init__(self) -> None:
        self.asked = self.first = self.five = 0

    def add(self, answers: list[str], right: str) -> None:
        """One more guess and what was answered."""
        self.asked += 1
        self.first += answers[:1] == [right]
        self.five += right in answers[:5]

    def __str__(self) -> str:
        share = max(self.asked, 1)
        return f"{self.first / share:5.0%} {self.five / share:5.0%}"


Scores = dict[tuple[str, str, str, str], Score]
"""By tree, kind, half and who answered."""


def measure(listed: dict[str, list[str]], count: int, *, floor: bool, misses: bool) -> Scores:
    """Every kind of guess on every tree."""
    scores: Scores = defaultdict(Score)
    for tree, paths in listed.items():
        guesser, plain = Guesser(paths), baseline(paths)
        for kind in MISTAKES:
            for asked, right in made(paths, kind, count):
                old = {asked: right} if kind == "renamed" else {}
                ours = [one.path for one in guesser.candidates(asked, renamed=old)]
                at = half(right)
                scores[tree, kind, at, "ours"].add(ours, right)
                if floor:
                    scores[tree, kind, at, "baseline"].add(plain(asked), right)
                if misses and at == "tuned" and ours[:1] != [right]:
                    print(f"{tree} {kind}: {asked}\n    meant {right}\n    said  {ours[:3]}")
    return scores


def table(scores: Scores, trees: list[str]) -> None:
    """Both halves apart, kind by kind and tree by tree; each cell: first, and among five."""
    print("| tree | kind | guesses | ours, tuned | ours, kept out | baseline, kept out |")
    print("|---|---|--:|--:|--:|--:|")
    for tree in trees:
        for kind in (*MISTAKES, "all"):
            cells = [_sum(scores, tree, kind, at, "ours") for at in ("tuned", "kept out")]
            floor = _sum(scores, tree, kind, "kept out", "baseline")
            asked = sum(cell.asked for cell in cells)
            print(f"| {tree} | {kind} | {asked} | {cells[0]} | {cells[1]} | {floor} |")


def _sum(scores: Scores, tree: str, kind: str, at: str, who: str) -> Score:
    whole = Score()
    for (one, other, where, whose), score in scores.items():
        if one == tree and kind in (other, "all") and (where, whose) == (at, who):
            whole.asked += score.asked
            whole.first += score.first
            whole.five += score.five
    return whole


def speed(paths: list[str], size: int = 100_000) -> None:
    """The time to make a long list ready, and that of a guess."""
    random = Random(7)  # noqa: S311
    many = dict.fromkeys(paths)
    while len(many) < size:
        many[f"packages/p{random.randrange(3_000)}/{random.choice(paths)}"] = None
    listed = list(many)[:size]
    ready = min(_timed(lambda: Guesser(listed)) for _ in range(5))
    guesser = Guesser(listed)
    asked = [guess for kind in MISTAKES for guess, _ in made(paths, kind, 10)]
    asked += ["\N{GRINNING FACE}" * 10_000, "a\n" * 5_000, "ab/" * 3_333, "x" * 10_000]
    times = sorted(_timed(partial(guesser.candidates, guess)) for guess in asked)
    print(f"\n{size:,} paths: ready in {ready * 1e3:.0f} ms; a guess takes a median of "
          f"{times[len(times) // 2] * 1e3:.1f} ms, 95th percentile "
          f"{times[len(times) * 95 // 100] * 1e3:.1f}, worst {times[-1] * 1e3:.1f}")  # fmt: skip


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def corpus(folder: str) -> None:
    """Each recorded read that failed, what we would have said and what the agent opened next."""
    told: Counter[str] = Counter()
    for read in failed_reads(folder):
        answers = Guesser(read.known).candidates(read.asked, seen=read.seen)
        right = [one.path for one in answers].index(read.next) + 1 if read.next in {
            one.path for one in answers} else 0  # fmt: skip
        told["opened next: " + (f"our number {right}" if right else "not ours")] += 1
        print(f"\n{read.session}\n  asked  {read.asked}\n  next   {read.next or '-'}")
        for one in answers[:3]:
            print(f"  ours   {one.path} ({one.score:.2f}: {one.reason})")
    print("\n" + "\n".join(f"{what}: {count}" for what, count in told.most_common()))


def main() -> None:
    """Run the chosen measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="guesses of a kind on a tree")
    parser.add_argument("--misses", action="store_true", help="list the misses of the tuned half")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--only", help="one tree")
    parser.add_argument("--corpus", help="a folder of recorded sessions with an INDEX.tsv")
    given = parser.parse_args()
    if given.corpus:
        corpus(given.corpus)
        return
    with tempfile.TemporaryDirectory() as folder:
        listed = trees(folder)
    if given.only:
        listed = {given.only: listed[given.only]}
    print(", ".join(f"{tree}: {len(paths):,} paths" for tree, paths in listed.items()))
    scores = measure(listed, given.count, floor=not given.no_baseline, misses=given.misses)
    table(scores, list(listed))
    speed(next(iter(listed.values())))


if __name__ == "__main__":
    main()
