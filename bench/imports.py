"""Which files does a Python source import? Ours beside Python's own machinery, on real trees.

    python bench/imports.py [--json] [--only NAME]...

Trees are the standard library, the packages installed beside it, and Django, which pip downloads
into a folder of its own. The judge reads each source by `ast` and looks each import up by
`importlib`, in the order of the path that a program started there would have. Files that an import
runs count, its packages' `__init__` among them. The baseline is the rule of a widely used agent:
relative imports by an expression over the raw text. `related-warm` is what asking for an edited
file's related files takes in a tree of 10,000; `related-kept` what a new process takes for the first
question in a tree of 30,000 that stands as it did when an earlier one was asked; `related-first` what
the very first question takes in a tree of 30,000 with 120 imports each, which it answers in part.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import warnings
from importlib.machinery import BuiltinImporter, ModuleSpec, PathFinder
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed

import sightline
from bench import stopwatch
from sightline.codegraph.find_related import related
from sightline.codegraph.languages.python import Python, references
from sightline.config.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Import = tuple[str, int, tuple[str, ...]]
    """A module, its leading dots, and the names that are taken from it."""

    Edge = tuple[str, str]
    """A source and a file that it imports."""

MOST = 1_500
"""Files of a tree that are judged, at even distances; all of them are in the list of paths."""

PRECISION, RECALL, FILE_MS, RELATED = 0.98, 0.95, 10.0, 3.0
FILES, ROUNDS, DJANGO = 10_000, 20, "5.2.1"
MANY, STARTS, KEPT_MS = 30_000, 5, 1_500.0
IMPORTS, FIRST_MS = 120, 2_000.0


class Row(NamedTuple):
    """The figures of a tree. files: judged, of so many paths; edges: files that they import;
    misread: of the imports, those that ours reads otherwise than the parser. baseline: its
    precision and recall. ms: of a file, from its bytes to its files, in the middle; slow_ms: of the
    slowest hundredth."""

    name: str
    files: int
    paths: int
    edges: int
    misread: int
    precision: float
    recall: float
    baseline: tuple[float, float]
    ms: float
    slow_ms: float
    met: bool | None


class Judge:
    """Python's own machinery over one tree. projects: folders of it that are installed, so that
    all of its programs find what is in them."""

    def __init__(self, root: str, projects: Sequence[str] = ()) -> None:
        self.root = root
        self._projects = [f"{root}/{each}" for each in projects]
        self._standard = [sysconfig.get_paths()["stdlib"]]
        self._known: dict[tuple[str, tuple[str, ...]], ModuleSpec | None] = {}

    def targets(self, path: str, said: Import) -> set[str]:
        """The files of the tree that an import runs."""
        module, level, names = said
        parts = module.split(".") if module else []
        search = self._path(path)
        if level:
            above = path.split("/")[:-1]
            if level - 1 > len(above):
                return set()
            parts = [*above[: len(above) - level + 1], *parts]
            search = (self.root,)
            if not parts:
                return self._among("", search, names)
        return self._run(parts, search, names)

    def _run(self, parts: list[str], search: tuple[str, ...], names: Sequence[str]) -> set[str]:
        found: set[str] = set()
        name = ""
        for part in parts:
            name = f"{name}.{part}" if name else part
            spec = self._spec(name, search)
            if spec is None:
                return found
            found |= self._inside(spec)
            search = tuple(spec.submodule_search_locations or ())
            if not search:
                return found
        return found | self._among(name, search, names)

    def _among(self, package: str, search: tuple[str, ...], names: Sequence[str]) -> set[str]:
        wanted = [f"{package}.{name}" if package else name for name in names if name != "*"]
        specs = [self._spec(name, search) for name in wanted]
        return {file for spec in specs if spec for file in self._inside(spec)}

    def _spec(self, name: str, search: tuple[str, ...]) -> ModuleSpec | None:
        key = name, search
        if key not in self._known:
            built_in = BuiltinImporter.find_spec(name) if "." not in name else None
            last = name.rpartition(".")[2]  # a namespace asks for its parent, which is not loaded
            self._known[key] = built_in or PathFinder.find_spec(last, list(search))
        return self._known[key]

    def _inside(self, spec: ModuleSpec) -> set[str]:
        origin = spec.origin or ""
        if origin.endswith(".so"):  # a module that was compiled from the source beside it
            origin = f"{os.path.dirname(origin)}/{os.path.basename(origin).partition('.')[0]}.py"
        inside = spec.has_location and origin.startswith(f"{self.root}/") and origin.endswith(".py")
        inside = inside and os.path.exists(origin)
        return {origin[len(self.root) + 1 :]} if inside else set()

    def _path(self, path: str) -> tuple[str, ...]:
        """sys.path of a program that is started where the file's outermost package is."""
        folder = os.path.dirname(f"{self.root}/{path}")
        while folder != self.root and os.path.exists(f"{folder}/__init__.py"):
            folder = os.path.dirname(folder)
        return tuple(dict.fromkeys((folder, *self._standard, *self._projects, self.root)))


def parsed(source: bytes) -> list[Import] | None:
    """The imports of a source by Python's own parser; None where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: list[Import] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, 0, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append((node.module or "", node.level, names))
    return found


_RELATIVE = re.compile(r"^\s*from\s+(\.+)([\w.]*)\s+import", re.MULTILINE)


def baseline(path: str, source: bytes, paths: frozenset[str]) -> set[str]:
    """Return what the expression over the raw text takes for the files of a source."""
    found = set()
    for dots, module in _RELATIVE.findall(source.decode(errors="replace")):
        folder = path.split("/")[:-1]
        base = "/".join([*folder[: max(0, len(folder) - len(dots) + 1)], *module.split(".")])
        tried = (base, f"{base}.py", f"{base}/__init__.py")
        found |= {next((each for each in tried if each in paths), "")}
    return found - {""}


def installed(root: str) -> tuple[str, ...]:
    """Every file below a folder, without what is installed below it."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [each for each in folders if each not in ("site-packages", "__pycache__")]
        inside = os.path.relpath(folder, root).replace(os.sep, "/") + "/"
        found += [("" if inside == "./" else inside) + file for file in files]
    return tuple(sorted(found))


def judged(name: str, root: str, projects: Sequence[str] = ()) -> Row:
    """Compare over one tree; projects: as the judge takes them."""
    root = os.path.realpath(root)
    paths = installed(root)
    standard, builtin = sys.stdlib_module_names, sys.builtin_module_names
    ours = Python(paths, lambda _: None, standard=standard, builtin=builtin)
    known, judge = frozenset(paths), Judge(root, projects)
    sources = [path for path in paths if path.endswith(".py")]
    times, misread = list[float](), 0
    found: set[Edge] = set()
    truth: set[Edge] = set()
    rule: set[Edge] = set()
    for path in sources[:: max(1, len(sources) // MOST)]:
        source = Path(root, path).read_bytes()
        said = parsed(source)
        if said is None:
            continue
        began = perf_counter()
        refers = tuple(references(source))
        files = {file for each in refers for file in ours.targets(path, each)}
        times.append((perf_counter() - began) * 1e3)
        read = {(each.module, each.level, each.names) for each in refers if each.kind != "dynamic"}
        misread += len(read.symmetric_difference(said))
        found |= {(path, file) for file in files if file.endswith(".py")}
        truth |= {(path, file) for each in said for file in judge.targets(path, each) - {path}}
        rule |= {(path, file) for file in baseline(path, source, known)}
    times.sort()
    ms, slow = median(times), times[int(len(times) * 0.99) - 1]
    precision, recall = shares(found, truth)
    return Row(
        name,
        len(times),
        len(paths),
        len(truth),
        misread,
        precision,
        recall,
        shares(rule, truth),
        round(ms, 3),
        round(slow, 3),
        precision >= PRECISION and recall >= RECALL and ms <= FILE_MS,
    )


def shares(found: set[Edge], truth: set[Edge]) -> tuple[float, float]:
    """Precision and recall."""
    right = len(found & truth)
    return round(right / max(len(found), 1), 4), round(right / max(len(truth), 1), 4)


def made(folder: str, many: int, imports: int = 8) -> list[str]:
    """A tree of so many modules, each of which imports so many others."""
    files = [f"src/pkg{number // 100}/m{number % 100}.py" for number in range(many)]
    for number, file in enumerate(files):
        place = Path(folder, "tree", file)
        place.parent.mkdir(parents=True, exist_ok=True)
        others = (files[(number * 7 + step * 131) % many] for step in range(imports))
        lines = [f"from {other[4:-3].replace('/', '.')} import name\n" for other in others]
        place.write_text("".join(lines) + "def name(one):\n    return one\n\n\n" * 60)
    return files


def kept(folder: str) -> stopwatch.Times:
    """The first question of a new process in a tree of 30,000 of which it was kept what they import."""
    file, ask = made(folder, MANY)[3], commands(folder)
    ask("state", "related", "--complete", file)
    return stopwatch.interleaved(
        lambda: ask("state", "related", file), lambda: ask("state", "list", "src/pkg0"), STARTS
    )


def first(folder: str) -> stopwatch.Times:
    """The first question of all in a tree of 30,000 with 120 imports each: every round has no state yet."""
    file, ask = made(folder, MANY, IMPORTS)[3], commands(folder)
    states = (f"state{number}" for number in count())
    return stopwatch.interleaved(
        lambda: ask(next(states), "related", file),
        lambda: ask("listed", "list", "src/pkg0"),
        STARTS,
    )


def commands(folder: str) -> Callable[..., None]:
    """Run commands in the tree of a folder: the name of the folder for their state, then their words."""

    def command(state: str, *words: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "sightline", "--workspace", str(Path(folder, "tree")), *words],
            env={**os.environ, "SIGHTLINE_HOME": str(Path(folder, state)), "HOME": folder},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,  # no terminal, so the answer is not waited for to be complete
        )

    return command


def warm(folder: str) -> stopwatch.Times:
    """Asking for the related files of a file that was edited a moment ago, in a tree of 10,000."""
    files = made(folder, FILES)
    full = [str(Path(folder, "tree", file)) for file in files]
    settings = Settings(state_home=str(Path(folder, "state")))
    with sightline.open_session(Path(folder, "tree"), settings=settings) as session:
        ground = session._context  # noqa: SLF001 - what the faces ask, without them

        def edit() -> None:
            with open(full[3], "a") as edited:
                edited.write("import pkg5.m7\n")

        return stopwatch.interleaved(
            lambda: related(ground, files[3]),
            lambda: [os.lstat(each) for each in full],
            ROUNDS,
            before=edit,
        )


def trees(only: Sequence[str]) -> Iterator[Row]:
    """The trees whose names begin so."""
    paths = sysconfig.get_paths()
    for name, root in (("stdlib", paths["stdlib"]), ("installed", paths["purelib"])):
        if name.startswith(tuple(only)):
            yield judged(name, root)
    if "django".startswith(tuple(only)):
        with tempfile.TemporaryDirectory() as folder:
            yield judged("django", downloaded(folder))


def downloaded(folder: str) -> str:
    """The sources of Django, through pip."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    wanted = ["-d", folder, f"Django=={DJANGO}"]
    subprocess.run([*pip, *wanted], check=True)
    with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as packed:
        packed.extractall(folder, filter="data")
    return str(next(each for each in Path(folder).iterdir() if each.is_dir()))


def run(only: Sequence[str]) -> Iterator[Row | stopwatch.Row]:
    """The figures whose names begin so."""
    yield from trees(only)
    for figure in (WARM, KEPT, FIRST):
        if figure.name.startswith(tuple(only)):
            with tempfile.TemporaryDirectory() as folder:
                yield stopwatch.measure(figure, folder)


def table(rows: Sequence[Row | stopwatch.Row]) -> str:
    """The rows for a person."""
    head = (
        f"{'tree':<12} {'files':>6} {'edges':>7} {'misread':>8} {'precision':>10} {'recall':>7}"
        f" {'rule':>14} {'ms':>7} {'p99':>7}"
    )
    return "\n".join([head, *(_line(row) for row in rows)])


def _line(row: Row | stopwatch.Row) -> str:
    met = "met" if row.met else "MISSED"
    if isinstance(row, stopwatch.Row):
        floor = f"{row.floor}: {row.floor_ms:.1f} ms"
        return f"{row.name}: {row.what} {row.ours_ms:.1f} ms ({floor}), limit {row.limit} {met}"
    rule = "{:.3f} / {:.3f}".format(*row.baseline)
    return (
        f"{row.name:<12} {row.files:>6,} {row.edges:>7,} {row.misread:>8} {row.precision:>10.4f}"
        f" {row.recall:>7.4f} {rule:>14} {row.ms:>7.3f} {row.slow_ms:>7.3f}  {met}"
    )


WARM = stopwatch.Figure(
    "related-warm",
    "an edited file among 10,000",
    "a stat of each",
    stopwatch.Limit(ratio=RELATED),
    warm,
)

KEPT = stopwatch.Figure(
    "related-kept",
    "a new process, 30,000 sources",
    "a process that lists a folder",
    stopwatch.Limit(ms=KEPT_MS),
    kept,
)

FIRST = stopwatch.Figure(
    "related-first",
    "the first question, 30,000 sources",
    "a process that lists a folder",
    stopwatch.Limit(ms=FIRST_MS),
    first,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status."""
    names = ["stdlib", "installed", "django", WARM.name, KEPT.name, FIRST.name]
    return printed(__doc__, names, run, table, arguments)


if __name__ == "__main__":
    sys.exit(main())
