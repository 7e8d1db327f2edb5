"""Measure whether every change is seen at once, and its cost.

    python bench/watching.py [--json] [--only NAME]...

Watchers are processes of their own (bench/watching_worker.py), ours and a bare one beside it in
the same run: the kernel's folder watches read by the fewest lines that can. Linux only.
bench/README.md says how each figure is made.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.asking import printed
from bench.filling import opened, tracked
from bench.watching_worker import place_of

WORKER = str(Path(__file__).with_name("watching_worker.py"))
PER_FOLDER = 10
WRITES = 400
ROUNDS = 7


class Row(NamedTuple):
    """A figure: ours, and the bare watcher's in the same run. met is None without a limit."""

    name: str
    what: str
    unit: str
    ours: float
    bare: float
    limit: str
    met: bool | None


class Child:
    """A watcher in a process of its own."""

    def __init__(self, kind: str, root: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, WORKER, kind, root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.start = self.answer()

    def ask(self, word: str) -> None:
        """Put a question; answer() waits for what it says."""
        assert self._process.stdin is not None
        print(word, file=self._process.stdin, flush=True)

    def answer(self) -> Any:
        """The next answer."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def asked(self, word: str) -> Any:
        """Question and answer."""
        self.ask(word)
        return self.answer()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop a process for a while, as a loaded machine does."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Let it go."""
        self._process.communicate()


@contextmanager
def both(
    folder: str, files: int, kinds: Sequence[str] = ("ours", "bare")
) -> Iterator[dict[str, tuple[Child, str]]]:
    """Ours and the bare one, each on a tree of its own, so that neither wakes the other."""
    made = {}
    try:
        for kind in kinds:
            root = tree(f"{folder}/{kind}", files)
            made[kind] = Child(kind, root), root
        yield made
    finally:
        for child, _ in made.values():
            child.end()


def tree(root: str, files: int) -> str:
    """A root with so many files, ten to a folder, ten folders to a folder."""
    for number in range(files):
        folder = number // PER_FOLDER
        place = f"{root}/d{folder // 100}/e{folder // 10 % 10}/f{folder % 10}"
        if number % PER_FOLDER == 0:
            os.makedirs(place, exist_ok=True)
        with open(f"{place}/{number}.txt", "w", encoding="ascii") as file:
            file.write(f"{number}\n")
    return os.path.realpath(root)


def latency(folder: str) -> Iterator[Row]:
    """From the write to the watcher's answer, 400 times each in turns."""
    taken_ms: dict[str, list[float]] = {"ours": [], "bare": []}
    with both(folder, 10_000) as watchers:
        for number in range(WRITES):
            for kind, (child, root) in watchers.items():
                place = f"{root}/d{number % 10}/e1/f1/{number % 10 * 1000 + 110}.txt"
                fd = os.open(place, os.O_WRONLY)
                child.ask("arrived")
                sleep(random.uniform(0.002, 0.006))  # noqa: S311  so that it waits in its call
                wrote_s = perf_counter()
                os.write(fd, b"x")
                taken_ms[kind].append((child.answer() - wrote_s) * 1e3)
                os.close(fd)
                child.asked("drained") if number % 100 == 99 else _close_seen(child)
    for share, limit in ((50, 5.0), (90, None), (99, None)):
        ours, bare = (quantiles(taken_ms[kind], n=100)[share - 1] for kind in ("ours", "bare"))
        met = None if limit is None else ours <= limit * bare
        what = f"write to callback, p{share}"
        yield Row(f"latency-p{share}", what, "ms", ours, bare, f"{limit:g} x" if limit else "", met)


def stored(folder: str) -> Iterator[Row]:
    """From the write of a file that an agent was shown to the fact in the store."""
    taken_ms: dict[str, list[float]] = {"stored": [], "bare": []}
    with both(folder, 10_000, ("stored", "bare")) as watchers:
        for number in range(WRITES // 2):
            for kind, (child, root) in watchers.items():
                fd = os.open(f"{root}/{place_of(number)}", os.O_WRONLY)
                child.ask("arrived")
                sleep(random.uniform(0.002, 0.006))  # noqa: S311  as above
                wrote_s = perf_counter()
                os.write(fd, b"changed\n")
                taken_ms[kind].append((child.answer() - wrote_s) * 1e3)
                os.close(fd)
                if kind == "bare":
                    _close_seen(child)
        append_ms = watchers["stored"][0].asked("append") * 1e3
    for share in (50, 99):
        ours, bare = (quantiles(taken_ms[kind], n=100)[share - 1] for kind in ("stored", "bare"))
        met = ours <= 2 * 5 * bare + append_ms if share == 50 else None
        limit = f"10 x and {append_ms:.2f} ms, an append" if share == 50 else ""
        yield Row(
            f"stored-p{share}", f"write to stored fact, p{share}", "ms", ours, bare, limit, met
        )


def view(folder: str, files: int) -> Iterator[Row]:
    """Subscribing with the first look at every file of the timeline: fresh processes in turn."""
    session = opened(folder)
    tracked(session, files)
    session.close()
    takes: dict[str, list[float]] = {"view": [], "fresh": [], "bare-view": []}
    for number in range(ROUNDS + 1):
        for kind in sorted(takes, reverse=bool(number % 2)):
            child = Child(kind, f"{folder}/workspace")
            child.end()
            if number:
                takes[kind].append(child.start["took_s"] * 1e3)
    ours, fresh, bare = (median(takes[kind]) for kind in ("view", "fresh", "bare-view"))
    what = f"subscribing, and the first view of {files:,} files"
    kept = ours <= 1.5 * bare or min(takes["view"]) <= 1.5 * min(takes["bare-view"])
    yield Row(f"view-{files}", what, "ms", ours, bare, "1.5 x", kept)
    yield Row(f"fresh-{files}", "the same with reading the store", "ms", fresh, bare, "", None)


def _close_seen(child: Child) -> None:
    child.asked("arrived")  # closing after a write is an event of its own


def subscribe(folder: str, files: int) -> Iterator[Row]:
    """Subscribing to a tree: fresh processes in turn."""
    root = tree(f"{folder}/tree", files)
    starts: dict[str, list[dict[str, float]]] = {"ours": [], "bare": []}
    for number in range(ROUNDS + 1):
        for kind in sorted(starts, reverse=bool(number % 2)):
            child = Child(kind, root)
            child.end()
            if number:
                starts[kind].append(child.start)

    def middle(kind: str, key: str) -> float:
        return median(start[key] for start in starts[kind])

    what = f"subscribing to {files:,} files, {files // PER_FOLDER:,} folders"
    ours, bare = middle("ours", "took_s") * 1e3, middle("bare", "took_s") * 1e3
    fastest = [min(start["took_s"] for start in starts[kind]) for kind in ("ours", "bare")]
    kept = ours <= 1.5 * bare or fastest[0] <= 1.5 * fastest[1]
    yield Row(f"subscribe-{files}", what, "ms", ours, bare, "1.5 x", kept)
    ours, bare = middle("ours", "rss_kb") / 1024, middle("bare", "rss_kb") / 1024
    yield Row(f"memory-{files}", "the process then", "MB", ours, bare, "1.5 x", ours <= 1.5 * bare)
    ours, bare = middle("ours", "added_kb") / 1024, middle("bare", "added_kb") / 1024
    most = 2.0 * files / PER_FOLDER / 10_000
    limit = "2 MB more per 10,000 folders"
    yield Row(
        f"added-{files}", "of it by subscribing", "MB", ours, bare, limit, ours - bare <= most
    )


def idle(folder: str) -> Iterator[Row]:
    """The processor's share while nothing happens, and while two searches read every file."""
    with both(folder, 100_000) as watchers:
        for name, what in (("idle", "nothing happens"), ("idle-search", "two searches read all")):
            shares = {}
            for kind, (child, root) in watchers.items():
                child.ask("spent")
                with searching(root, 2 * (name == "idle-search")) as rounds:
                    shares[kind] = child.answer() * 10  # of 10 s, in %
                if rounds:
                    what = f"two searches read 100,000 files, {sum(rounds)} times"
            met = shares["ours"] < 0.5
            yield Row(name, what, "% of a core", shares["ours"], shares["bare"], "0.5 %", met)


@contextmanager
def searching(root: str, searches: int) -> Iterator[list[int]]:
    """So many programs that read the whole tree over and over; afterwards, how often each did."""
    rounds: list[int] = []
    search = "rg -uu" if shutil.which("rg") else "grep -r"
    script = f"trap 'echo $n; exit' TERM; n=0; while :; do {search} nothing-has-this . ; n=$((n+1)); done"
    running = [
        subprocess.Popen(["sh", "-c", script], cwd=root, stdout=subprocess.PIPE, text=True)
        for _ in range(searches)
    ]
    try:
        yield rounds
    finally:
        for each in running:
            each.terminate()
            rounds.append(int(each.communicate()[0] or 0))


def paused(folder: str) -> Iterator[Row]:
    """20,000 files are written while the watcher is stopped: those it does not know of after it
    goes on. Told that everything may have changed, it looks at everything."""
    lost = {}
    with both(folder, 20_000) as watchers:
        for kind, (child, root) in watchers.items():
            files = [str(path) for path in Path(root).rglob("*.txt")]
            child.ask("drained")
            with child.stopped():
                for file in files:
                    with open(file, "a", encoding="ascii") as opened:
                        opened.write("more\n")
            lost[kind] = missed(child.answer(), [os.path.relpath(file, root) for file in files])
    what = "20,000 files change while it is stopped"
    yield Row("paused", what, "lost", lost["ours"], lost["bare"], "0", lost["ours"] == 0)


def checkout(folder: str) -> Iterator[Row]:
    """`git checkout` of 5,000 other files, half of them in folders that it makes; back and forth,
    three times."""
    lost = {"ours": 0, "bare": 0}
    grown: dict[str, float] = {}
    for kind in ("ours", "bare"):
        root = tree(f"{folder}/{kind}", 10_000)
        changed = branches(root)
        child = Child(kind, root)
        for branch in ("other", "main") * 3:
            child.ask("drained")
            git(root, "checkout", "-q", branch)
            said = child.answer()
            if branch == "other":
                lost[kind] += missed(said, changed)
        grown[kind] = child.asked("peak") / child.start["rss_kb"]
        child.end()
    what = "git checkout of 5,000 files, three times"
    yield Row("checkout", what, "missed", lost["ours"], lost["bare"], "0", lost["ours"] == 0)
    met = grown["ours"] < 2
    yield Row(
        "checkout-memory", "the most it took then", "x", grown["ours"], grown["bare"], "2 x", met
    )


def branches(root: str) -> list[str]:
    """A repository whose branch "other" changes 2,500 files and adds 2,500; which they are."""
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "main")
    git(root, "checkout", "-q", "-b", "other")
    files = sorted(str(path) for path in Path(root).glob("d*/e*/f*/*.txt"))[:2500]
    for number in range(2500):
        files.append(f"{root}/new{number // 500}/g{number // 50}/h{number // 5}/{number}.txt")
    for file in files:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "a", encoding="ascii") as opened:
            opened.write("other\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "other")
    git(root, "checkout", "-q", "main")
    return [os.path.relpath(file, root) for file in files]


def git(root: str, *words: str) -> None:
    options = (
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "-c",
        "gc.auto=0",
        "-c",
        "core.fsync=none",
    )
    subprocess.run(["git", *options, *words], cwd=root, check=True, capture_output=True)


def missed(said: dict[str, Any], files: Sequence[str]) -> int:
    """Of these files, how many nothing that was said stands for."""
    if said["everything"]:
        return 0
    named = set(said["paths"])
    return sum(named.isdisjoint((file, *_above(file))) for file in files)


def _above(file: str) -> Iterator[str]:
    while "/" in file:
        file = file.rpartition("/")[0]
        yield file


FIGURES: dict[str, Callable[[str], Iterator[Row]]] = {
    "latency": latency,
    "stored": stored,
    "view-10000": lambda folder: view(folder, 10_000),
    "view-100000": lambda folder: view(folder, 100_000),
    "subscribe-10000": lambda folder: subscribe(folder, 10_000),
    "subscribe-100000": lambda folder: subscribe(folder, 100_000),
    "idle": idle,
    "paused": paused,
    "checkout": checkout,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen figures and print them. Exit 1 when a limit is missed, 2 when nothing has
    that name."""
    return printed(__doc__, FIGURES, run, table, arguments)


def run(only: Sequence[str]) -> Iterator[Row]:
    """Measure each figure whose name begins so, in a folder of its own."""
    for name, figure in FIGURES.items():
        if name.startswith(tuple(only)):
            with tempfile.TemporaryDirectory(prefix="sightline-watching-") as folder:
                yield from figure(folder)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    word = {None: "", True: "kept", False: "MISSED"}
    lines = ["| figure | what | ours | bare | ratio | limit | |", "|---|---|--:|--:|--:|---|---|"]
    for row in rows:
        ratio = f"{row.ours / row.bare:.2f}" if row.bare else ""
        figures = f"{row.ours:.4g} {row.unit} | {row.bare:.4g}"
        lines.append(
            f"| {row.name} | {row.what} | {figures} | {ratio} | {row.limit} | {word[row.met]} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
