"""Measure a checkpoint beside git, tar and the bare walk, in the same run.

    python bench/checkpoints.py [--json] [--only NAME]... [--files N]

The tree is made of real texts of this machine. git works as a tool's shadow repository does: its
folder elsewhere, `add -A`, `write-tree`, the untracked cache on. bench/README.md says how each
figure is made.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.stopwatch import interleaved

import sightline
from sightline.checkpoints import take
from sightline.config.settings import Settings
from sightline.model.events import TurnBegan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.stopwatch import Times

    from sightline import Session

FILES, MANY = 10_000, 100_000
ENDINGS = (".py", ".pyi", ".h", ".hpp", ".c", ".js", ".ts", ".md", ".rst", ".txt", ".css", ".html")
LARGEST = 1 << 20
TAKEN, EDITED = 100, 10


class Row(NamedTuple):
    """A figure beside what stands next to it, in ms or MB; limit: of the ratio, or of ours."""

    name: str
    what: str
    unit: str
    ours: float
    other: float
    beside: str
    ratio: float
    limit: str
    met: bool | None


def texts() -> Iterator[tuple[str, Path]]:
    """Real texts of this machine, and where they lie: the libraries of Python, then of the
    system."""
    roots = [sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), "/usr/include"]
    for number, root in enumerate([*roots, "/usr/share"]):
        for folder, below, names in os.walk(root):
            below[:] = sorted(name for name in below if name not in ("__pycache__", ".git"))
            for name in sorted(names):
                file = Path(folder, name)
                if name.endswith(ENDINGS) and not file.is_symlink():
                    yield f"{number}/{file.relative_to(root).as_posix()}", file


def grow(root: str, files: int) -> list[str]:
    """A tree of so many different real texts, in the folders they really lie in; their paths."""
    made: list[str] = []
    seen: set[bytes] = set()
    for path, source in texts():
        data = source.read_bytes()
        if len(data) > LARGEST or data in seen:
            continue
        seen.add(data)
        file = Path(root, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        made.append(path)
        if len(made) == files:
            return made
    raise SystemExit(f"This machine has only {len(made)} texts of the {files} that are needed.")


def grow_small(root: str, files: int) -> None:
    """A tree of many small files."""
    for number in range(files):
        file = Path(root, f"d{number // 1000}", f"e{number // 40 % 25}", f"f{number}.py")
        if number % 40 == 0:
            file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"number = {number}\n", encoding="ascii")


class Shadow:
    """A git repository of a tree whose folder is elsewhere."""

    def __init__(self, root: str, folder: str) -> None:
        self.folder = folder
        self._run = ["git", f"--git-dir={folder}", f"--work-tree={root}"]
        self._env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        self("init", "-q")
        for key, value in (("core.untrackedCache", "true"), ("gc.auto", "0")):
            self("config", key, value)
        self._commit = ""

    def __call__(self, *args: str) -> str:
        done = subprocess.run([*self._run, *args], check=True, env=self._env, capture_output=True)
        return done.stdout.decode().strip()

    def take(self) -> str:
        self("add", "-A")
        return self("write-tree")

    def take_as_commit(self) -> None:
        """So that packing finds it."""
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        behind = ("-p", self._commit) if self._commit else ()
        self._commit = self(*who, "commit-tree", self.take(), *behind, "-m", "taken")
        self("update-ref", "refs/heads/main", self._commit)


def bare_walk(root: str) -> int:
    """List every folder, and lstat every file."""
    found = 0
    for folder, _, names in os.walk(root):
        for name in names:
            os.lstat(f"{folder}/{name}")
            found += 1
    return found


@contextmanager
def opened(root: str, state: str) -> Iterator[Session]:
    settings = Settings(state)
    with sightline.open_session(root, id="bench", settings=settings) as session:
        yield session


def edit(root: str, paths: Sequence[str], word: str) -> None:
    """Change a line in each, as an editor saves."""
    for path in paths:
        file = Path(root, path)
        lines = file.read_bytes().splitlines(keepends=True)
        middle = len(lines) // 2
        lines[middle : middle + 1] = [f"# {word}\n".encode()]
        file.write_bytes(b"".join(lines))


class Bench:
    """The figures, on one tree that is made once."""

    def __init__(self, folder: str, files: int) -> None:
        self.folder = folder
        self.root = f"{folder}/tree"
        self.files = files
        self.paths = grow(self.root, files)
        self._number = 0

    def fresh(self) -> str:
        """A folder that is not there yet."""
        self._number += 1
        return f"{self.folder}/{self._number}"

    def first(self) -> Row:
        """Everything read, hashed, packed and stored."""
        times = self._first(lambda: Shadow(self.root, self.fresh()).take())
        return timed("first", f"first checkpoint of {self.files} files", times, "git", 0.5)

    def first_tar(self) -> Row:
        """The same beside a copy that can find nothing again."""

        def tar() -> None:
            subprocess.run(["tar", "-cf", self.fresh(), "-C", self.root, "."], check=True)

        return timed("first-tar", "the same", self._first(tar), "tar", None)

    def _first(self, other: Callable[[], object]) -> Times:
        def ours() -> None:
            state = self.fresh()
            with opened(self.root, state) as session:
                session.checkpoint()

        def clean() -> None:
            for number in range(self._number + 1):
                shutil.rmtree(f"{self.folder}/{number}", ignore_errors=True)
                Path(f"{self.folder}/{number}").unlink(missing_ok=True)

        return interleaved(ours, other, 3, before=clean, before_floor=clean)

    def one(self) -> Row:
        """One file that is known to have changed, as a hook knows it before it lets an edit go on:
        the edit's own journal is synced right after, and this with it. The limit is of ours."""
        return self._known("one", 1, 30, None, durable=False)

    def one_event(self) -> Row:
        """The same beside the least that is as safe: one fact on the platter."""
        with opened(self.root, self.fresh()) as session:
            session.checkpoint()
            ground = session._context  # noqa: SLF001 - no verb takes paths
            words = iter(range(10**6))

            def change() -> None:
                edit(self.root, self.paths[:1], f"event {next(words)}")

            times = interleaved(
                lambda: take.take(ground, paths=self.paths[:1]),
                lambda: ground.append([TurnBegan(next(words))], durable=True),
                50,
                before=change,
            )
        return timed("one-event", "the same", times, "a durable fact", 5)

    def hundred(self) -> Row:
        return self._known("hundred", 100, 10, 0.5)

    def _known(
        self,
        name: str,
        changed: int,
        rounds: int,
        limit: float | None,
        *,
        durable: bool = True,
    ) -> Row:
        shadow = Shadow(self.root, self.fresh())
        shadow.take()
        step = len(self.paths) // changed
        paths = self.paths[:: max(step, 1)][:changed]
        words = iter(range(10**6))
        with opened(self.root, self.fresh()) as session:
            session.checkpoint()
            ground = session._context  # noqa: SLF001 - no verb takes paths

            def change() -> None:
                edit(self.root, paths, f"{name} {next(words)}")

            def ours() -> object:
                return take.take(ground, paths=paths, durable=durable)

            times = interleaved(ours, shadow.take, rounds, before=change, before_floor=change)
        what = f"{changed} of {self.files} files known to have changed"
        row = timed(name, what, times, "git", limit)
        return row if limit else row._replace(limit="10 ms", met=row.ours <= 10)

    def unhinted(self) -> Row:
        """Nothing changed, and nobody said so; the session is open."""
        times = self._unhinted(self.root, 20)
        return timed("unhinted", f"{self.files} files, nothing changed", times, "bare walk", 3)

    def _unhinted(self, root: str, rounds: int) -> Times:
        with opened(root, self.fresh()) as session:
            session.checkpoint()
            return interleaved(session.checkpoint, lambda: bare_walk(root), rounds)

    def unhinted_cold(self) -> Row:
        """The same by a session that was just opened: what was remembered has to be read."""
        state = self.fresh()
        with opened(self.root, state) as session:
            session.checkpoint()

        def ours() -> None:
            with opened(self.root, state) as session:
                session.checkpoint()

        times = interleaved(ours, lambda: bare_walk(self.root), 10)
        return timed("unhinted-cold", "the same, opened anew", times, "bare walk", None)

    def unhinted_git(self) -> Row:
        shadow = Shadow(self.root, self.fresh())
        shadow.take()
        with opened(self.root, self.fresh()) as session:
            session.checkpoint()
            times = interleaved(session.checkpoint, shadow.take, 10)
        return timed("unhinted-git", "the same", times, "git", None)

    def many(self) -> Row:
        """Many more files; what they hold does not matter when nothing changed."""
        root = self.fresh()
        grow_small(root, MANY)
        times = self._unhinted(root, 5)
        return timed("many", f"{MANY} files, nothing changed", times, "bare walk", 3)

    def size(self) -> Row:
        """Return what is stored after many checkpoints, beside git's after it packed all."""
        shadow = Shadow(self.root, self.fresh())
        state = self.fresh()
        with opened(self.root, state) as session:
            session.checkpoint()
            shadow.take_as_commit()
            for number in range(TAKEN):
                paths = self.paths[number * 7 :: len(self.paths) // EDITED][:EDITED]
                edit(self.root, paths, f"size {number}")
                take.take(session._context, paths=paths)  # noqa: SLF001
                shadow.take_as_commit()
        shadow("repack", "-a", "-d", "-q")
        shadow("prune-packed", "-q")
        ours, theirs = megabytes(state), megabytes(f"{shadow.folder}/objects")
        ratio = ours / theirs
        what = f"after {TAKEN} checkpoints with {EDITED} edits each"
        return Row("size", what, "MB", ours, theirs, "git, packed", ratio, "2 x", ratio <= 2)


def timed(name: str, what: str, times: Times, beside: str, limit: float | None) -> Row:
    """A figure from its rounds: medians."""
    ours, other = (median(side) * 1e3 for side in times)
    ratio = ours / other
    said = "" if limit is None else f"{limit:g} x"
    met = None if limit is None else ratio <= limit
    return Row(name, what, "ms", ours, other, beside, ratio, said, met)


def megabytes(folder: str) -> float:
    """Return what the files below a folder hold."""
    sizes = [
        os.path.getsize(os.path.join(at, name))
        for at, _, names in os.walk(folder)
        for name in names
    ]
    return sum(sizes) / 1e6


FIGURES = (
    *(
        "first",
        "first_tar",
        "one",
        "one_event",
        "hundred",
        "unhinted",
        "unhinted_cold",
        "unhinted_git",
    ),
    *("many", "size"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen figures and print them. Exit 1 when a limit is missed, 2 when nothing has
    that name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--files", type=int, default=FILES, metavar="N")
    options = parser.parse_args(arguments)
    wanted = tuple(name.replace("-", "_") for name in options.only or FIGURES)
    if not set(wanted) <= set(FIGURES):
        print(f"Known: {' '.join(FIGURES).replace('_', '-')}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="sightline-checkpoints-") as folder:
        bench = Bench(folder, options.files)
        rows: list[Row] = [getattr(bench, name)() for name in FIGURES if name in wanted]
    if options.json:
        print(json.dumps({"schema": 1, "rows": [row._asdict() for row in rows]}))
    else:
        print(table(rows))
    return int(any(row.met is False for row in rows))


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| figure | what | ours | beside | ratio | limit | |", "|---|---|--:|--:|--:|--:|---|"]
    words = {None: "", True: "kept", False: "MISSED"}
    for row in rows:
        ours, other = (f"{value:.2f} {row.unit}" for value in (row.ours, row.other))
        lines.append(
            f"| {row.name} | {row.what} | {ours} | {other} ({row.beside}) | {row.ratio:.2f} "
            f"| {row.limit} | {words[row.met]} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
