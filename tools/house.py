"""Measure how the source tree is built, and refuse figures that rise.

python tools/house.py [--check | --write [--force] | --list FIGURE] [SRC]

Without an option, print every figure with its aim. Only the text of the tree is read; nothing is
imported. A late import (inside a function) and an import for the type checker count like any
other import. tools/house.json holds the figures that may not rise. --check names every figure
that rose and its new offenders. --write lowers the figures in the file. --list prints what makes
up one figure, chosen by any part of its name.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import signal
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sightline"
LIMITS = ROOT / "tools" / "house.json"

ORDER = (
    *(
        "errors",
        "model",
        "text",
        "filesystem",
        "config",
        "store",
        "shell_parsing",
        "changes",
    ),
    *("sessions", "guard", "notices", "checkpoints", "codegraph", "messages", "window", "search"),
    *("briefing", "history", "subtasks", "answers", "recordings", "exchange", "audit", "api"),
    *("agents", "hooks", "frameworks", "server", "reference_agent", "cli"),
)
"""The planned packages, lowest first. A package may import those before it, never those after."""

UNBOUND = {"testing", "__init__", "__main__"}
"""Top-level modules that may import every other module."""

ABOVE_API = {"api", "reference_agent", "agents", "frameworks", "hooks", "cli", "server"}
"""Packages that may import the public names of the root package."""

BANNED = {
    *("told", "said", "made", "found", "kept", "heard", "seen", "taken", "given", "left", "rest"),
    *("of", "standing", "stands", "each", "one", "these", "those"),
}
"""Words that may not be the whole name of a function or a class."""

MAY_NAME_CLASSES = {"model", "core"}
"""Packages of facts, where a banned word may name a class, such as Seen."""

SHARED_NAMES = {"__init__", "words", "__main__"}
FAMILIES = {"agents", "cli", "server"}
FAMILY_FOLDER = re.compile(r"\.(languages|formats)\.")
"""Module names that may occur twice: shared names, and members of families of like modules."""

TINY = 5
"""A function is tiny when fewer than this many lines lie between its first line and its last."""

PASSIVE_VERBS = (
    "told|said|asked|held|heard|meant|known|spoken|given|taken|put|stood|gone|let|looked"
)
RIDDLES = {
    "opens without a subject": re.compile(
        r"^(What|Where|How|Whether|Who|Whose|Which|That|It|Of|To be|From where|Those|These|As"
        r"|When|If)\b"
    ),
    "passive": re.compile(rf"\b(is|are|was|were|be|been|being) ({PASSIVE_VERBS})\b"),
    "pronoun for a noun": re.compile(
        r"\b(of|with|by|from|to|for|at|in|on) (what|which|whom|it|them|that|those)\b"
    ),
}
"""Reasons to read a docstring again, each with the pattern that its first sentence matches."""

SENTENCE_END = re.compile(r"(?<=[.:;?!])\s")

AIMS: dict[str, float] = {
    "folders not in the plan": 0,
    "imports against the order": 0,
    "imports past public modules": 0,
    "modules in cycles": 0,
    "modules that ask TYPE_CHECKING": 10,
    "late imports": 60,
    "private C modules": 0,
    "module names used twice": 12,
    "banned whole names": 0,
    "docstrings to read again, percent": 3.0,
}

RATCHETED = (
    *AIMS,
    *("modules with one importer", "private functions with one use"),
    "docstrings to read again",
)
"""The figures that may not rise."""

SHORT = 20
"""A list of at most this many entries is printed whole when its figure rose."""


class Import(NamedTuple):
    """An import of one module by another. kind: "top", "late" or "types"."""

    importer: str
    imported: str
    kind: str = "top"

    def __str__(self) -> str:
        note = {"top": "", "late": " (late)", "types": " (types only)"}[self.kind]
        return f"{self.importer or '(root)'} imports {self.imported or '(root)'}{note}"


class Cycle(NamedTuple):
    """Modules of which each imports every other by some path, and the imports among them."""

    modules: list[str]
    imports: list[Import]


class PrivateFunction(NamedTuple):
    """A private function that its module uses once."""

    name: str
    tiny: bool


class Riddle(NamedTuple):
    """A docstring to read again: its place, its first sentence, and the reasons."""

    place: str
    sentence: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence[:110]} ({', '.join(self.reasons)})"


@dataclass(frozen=True)
class Measures:
    """The figures of one source tree, as lists where a figure counts things."""

    lines: int
    lines_of_code: int
    modules: list[str]
    folders_not_in_plan: list[str]
    imports_against_order: list[Import]
    imports_past_public: list[Import]
    cycles: list[Cycle]
    asking_type_checking: list[str]
    late_imports: list[str]
    private_c_modules: list[Import]
    single_importers: list[Import]
    functions: int
    private_once: list[PrivateFunction]
    names_twice: dict[str, list[str]]
    banned_names: list[str]
    docstrings: int
    riddles: list[Riddle]

    @cached_property
    def largest_folder(self) -> int:
        """Return the number of modules directly in the most crowded folder."""
        folders = Counter(module.rpartition(".")[0] for module in self.modules if module)
        return max(folders.values(), default=0)

    def figures(self) -> dict[str, float]:
        """Return every figure as a number, in the order of the table."""
        percent = 100 * len(self.riddles) / self.docstrings if self.docstrings else 0.0
        return {
            "lines": self.lines,
            "lines of code": self.lines_of_code,
            "modules": len(self.modules),
            "largest folder": self.largest_folder,
            "folders not in the plan": len(self.folders_not_in_plan),
            "imports against the order": len(self.imports_against_order),
            "imports past public modules": len(self.imports_past_public),
            "cycles": len(self.cycles),
            "modules in cycles": sum(len(cycle.modules) for cycle in self.cycles),
            "modules that ask TYPE_CHECKING": len(self.asking_type_checking),
            "late imports": len(self.late_imports),
            "private C modules": len(self.private_c_modules),
            "modules with one importer": len(self.single_importers),
            "functions": self.functions,
            "private functions with one use": len(self.private_once),
            "of these under five lines": sum(function.tiny for function in self.private_once),
            "module names used twice": len(self.names_twice),
            "banned whole names": len(self.banned_names),
            "docstrings": self.docstrings,
            "docstrings to read again": len(self.riddles),
            "docstrings to read again, percent": round(percent, 1),
        }

    def lists(self) -> dict[str, list[str]]:
        """Return, for each figure that counts things, one line of text per thing."""
        riddles = [str(riddle) for riddle in self.riddles]
        return {
            "modules": [module or "(root)" for module in self.modules],
            "folders not in the plan": self.folders_not_in_plan,
            "imports against the order": [str(each) for each in self.imports_against_order],
            "imports past public modules": [str(each) for each in self.imports_past_public],
            "cycles": [line for cycle in self.cycles for line in _cycle_lines(cycle)],
            "modules in cycles": [m or "(root)" for cycle in self.cycles for m in cycle.modules],
            "modules that ask TYPE_CHECKING": [m or "(root)" for m in self.asking_type_checking],
            "late imports": self.late_imports,
            "private C modules": [str(each) for each in self.private_c_modules],
            "modules with one importer": [
                f"{each.imported}: only {each.importer or '(root)'}"
                for each in self.single_importers
            ],
            "private functions with one use": [function.name for function in self.private_once],
            "of these under five lines": [f.name for f in self.private_once if f.tiny],
            "module names used twice": [
                f"{name}: {', '.join(modules)}" for name, modules in self.names_twice.items()
            ],
            "banned whole names": self.banned_names,
            "docstrings to read again": riddles,
            "docstrings to read again, percent": riddles,
        }


def _cycle_lines(cycle: Cycle) -> Iterator[str]:
    yield f"{len(cycle.modules)} modules: {', '.join(m or '(root)' for m in cycle.modules)}"
    for each in cycle.imports:
        yield f"  {each}"


# Measure a tree


def measure(src: Path = SOURCE) -> Measures:
    """Measure the package in a folder. The folder's name is the package's name."""
    files = sorted(src.rglob("*.py"))
    texts = {file.relative_to(src).as_posix(): file.read_text("utf-8") for file in files}
    return measure_texts(src.resolve().name, texts)


def measure_texts(package: str, texts: Mapping[str, str]) -> Measures:
    """Measure a package from its files: path below the package's folder -> text."""
    tree = Tree(package, texts)
    lines, code = _lines(tree)
    docstrings, riddles = _riddles(tree)
    functions, private_once = _functions(tree)
    return Measures(
        lines=lines,
        lines_of_code=code,
        modules=sorted(tree.files),
        folders_not_in_plan=sorted({_top(m) for m in tree.files} - {*ORDER} - UNBOUND),
        imports_against_order=_against_order(tree),
        imports_past_public=_past_public(tree),
        cycles=_cycles(tree),
        asking_type_checking=sorted(m for m, file in tree.files.items() if file.asks_type_checking),
        late_imports=sorted(late for file in tree.files.values() for late in file.late_imports),
        private_c_modules=_private_c_modules(tree),
        single_importers=_single_importers(tree),
        functions=functions,
        private_once=private_once,
        names_twice=_names_twice(tree),
        banned_names=_banned_names(tree),
        docstrings=docstrings,
        riddles=riddles,
    )


class _Statement(NamedTuple):
    """An import statement, the functions around it, and whether only the type checker runs it."""

    node: ast.Import | ast.ImportFrom
    functions: tuple[str, ...]
    types_only: bool

    @property
    def kind(self) -> str:
        return "types" if self.types_only else "late" if self.functions else "top"


class SourceFile:
    """One module: its dotted name below the package ("" for the root), its text and its tree."""

    def __init__(self, path: str, text: str) -> None:
        parts = PurePosixPath(path).with_suffix("").parts
        self.path = path
        self.is_package = parts[-1] == "__init__"
        self.module = ".".join(parts[:-1] if self.is_package else parts)
        self.text = text
        self.nodes = list(ast.walk(tree := ast.parse(text)))
        self.imports = list(_import_statements(tree))

    @property
    def late_imports(self) -> Iterator[str]:
        """An import counts once for each function around it."""
        for statement in self.imports:
            for function in statement.functions:
                what = ast.unparse(statement.node).replace("\n", " ")
                yield f"{self.module}.{function}:{statement.node.lineno} {what}"

    @property
    def asks_type_checking(self) -> bool:
        """Whether it sets TYPE_CHECKING, imports it from typing, or reads it from a module."""
        return any(map(_asks_type_checking, self.nodes))

    @property
    def public_modules(self) -> set[str]:
        """The names in PUBLIC = (…), where this is a package's __init__."""
        names: set[str] = set()
        for node in ast.iter_child_nodes(self.nodes[0]):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(t, ast.Name) and t.id == "PUBLIC" for t in targets):
                    elements = getattr(node.value, "elts", [])
                    names = {str(e.value) for e in elements if isinstance(e, ast.Constant)}
        return names


def _asks_type_checking(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(t, ast.Name) and t.id == "TYPE_CHECKING" for t in node.targets)
    if isinstance(node, ast.ImportFrom) and node.module == "typing":
        return any(alias.name == "TYPE_CHECKING" for alias in node.names)
    return isinstance(node, ast.Attribute) and node.attr == "TYPE_CHECKING"


def _import_statements(
    node: ast.AST, functions: tuple[str, ...] = (), *, types_only: bool = False
) -> Iterator[_Statement]:
    """Find every import below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield _Statement(child, functions, types_only)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _import_statements(child, (*functions, child.name), types_only=types_only)
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            body = ast.Module(body=child.body, type_ignores=[])
            yield from _import_statements(body, functions, types_only=True)
            other = ast.Module(body=child.orelse, type_ignores=[])
            yield from _import_statements(other, functions, types_only=types_only)
        else:
            yield from _import_statements(child, functions, types_only=types_only)


class Tree:
    """The modules of a package and the imports among them."""

    def __init__(self, package: str, texts: Mapping[str, str]) -> None:
        self.package = package
        files = [SourceFile(path, text) for path, text in texts.items()]
        self.files = {file.module: file for file in files}
        self.imports = self._all_imports()

    def _all_imports(self) -> dict[str, dict[str, Import]]:
        """Return importer -> imported -> the import; one at the top outranks late and typed ones."""
        kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
        for module, file in self.files.items():
            for statement in file.imports:
                for imported in self._targets(file, statement.node):
                    if imported in self.files and imported != module:
                        kinds[module, imported].add(statement.kind)
        imports: dict[str, dict[str, Import]] = {module: {} for module in self.files}
        for (module, imported), found_kinds in sorted(kinds.items()):
            kind = next(kind for kind in ("top", "late", "types") if kind in found_kinds)
            imports[module][imported] = Import(module, imported, kind)
        return imports

    def all_imports(self) -> Iterator[Import]:
        """Every import of one module of the package by another, each pair once."""
        for imports in self.imports.values():
            yield from imports.values()

    def base(self, file: SourceFile, node: ast.ImportFrom) -> str | None:
        """Return the module that a from-import names; None for one outside the package."""
        if node.level:
            up = node.level - file.is_package
            parts = file.module.split(".")
            parent = parts[: len(parts) - up] if up else [file.module]
            return ".".join(part for part in (*parent, node.module or "") if part)
        return self._below(node.module or "")

    def _below(self, name: str) -> str | None:
        """Return a full module name without the package; None for a name outside the package."""
        if name == self.package:
            return ""
        return (
            name.removeprefix(self.package + ".") if name.startswith(f"{self.package}.") else None
        )

    def _targets(self, file: SourceFile, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (t for t in (self._below(a.name) for a in node.names) if t is not None)
        elif (base := self.base(file, node)) is not None:
            for alias in node.names:
                full = f"{base}.{alias.name}" if base else alias.name
                yield full if full in self.files else base


def _top(module: str) -> str:
    """Return the first part of a module's name; "__init__" for the root."""
    return module.partition(".")[0] or "__init__"


def _against_order(tree: Tree) -> list[Import]:
    rank = {package: number for number, package in enumerate(ORDER)}
    found: list[Import] = []
    for each in tree.all_imports():
        importer, imported = _top(each.importer), _top(each.imported)
        if importer not in rank:
            continue
        if each.imported == "":
            if importer not in ABOVE_API:
                found.append(each)
        elif rank.get(imported, -1) > rank[importer]:
            found.append(each)
    return sorted(found)


def _past_public(tree: Tree) -> list[Import]:
    """Find imports from another top-level package of a module that its PUBLIC does not name."""
    public = {m: file.public_modules for m, file in tree.files.items() if file.is_package}
    found: list[Import] = []
    for each in tree.all_imports():
        package, _, name = each.imported.rpartition(".")
        crosses = _top(each.importer) not in {_top(each.imported), *UNBOUND}
        is_module = bool(package) and each.imported not in public
        if crosses and is_module and name not in public.get(package, ()):
            found.append(each)
    return sorted(found)


def _cycles(tree: Tree) -> list[Cycle]:
    """Find the groups of modules that import one another, the largest first."""
    groups = [sorted(group) for group in _components(tree.imports) if len(group) > 1]
    return [
        Cycle(group, [i for m in group for i in tree.imports[m].values() if i.imported in group])
        for group in sorted(groups, key=lambda group: (-len(group), group))
    ]


def _components(graph: Mapping[str, Iterable[str]]) -> Iterator[set[str]]:
    """Yield the strongly connected components of a graph (Kosaraju's algorithm)."""
    backward: dict[str, list[str]] = defaultdict(list)
    for start, ends in graph.items():
        for end in ends:
            backward[end].append(start)
    placed: set[str] = set()
    for start in reversed(_finish_order(graph)):
        if start not in placed:
            component, waiting = {start}, [start]
            while waiting:
                for other in backward[waiting.pop()]:
                    if other not in placed | component:
                        component.add(other)
                        waiting.append(other)
            placed |= component
            yield component


def _finish_order(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the nodes in the order in which a depth-first walk leaves them."""
    order: list[str] = []
    visited: set[str] = set()
    for root in graph:
        if root in visited:
            continue
        visited.add(root)
        path = [(root, iter(graph[root]))]
        while path:
            node, ends = path[-1]
            following = next((end for end in ends if end not in visited), None)
            if following is None:
                order.append(node)
                path.pop()
            else:
                visited.add(following)
                path.append((following, iter(graph[following])))
    return order


def _private_c_modules(tree: Tree) -> list[Import]:
    """Find imports of modules of other packages whose name begins with one underscore."""
    found: set[Import] = set()
    for module, file in tree.files.items():
        for statement in file.imports:
            node = statement.node
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module or ""] if tree.base(file, node) is None else []
            found |= {Import(module, name) for name in names if re.match("_(?!_)", name)}
    return sorted(found)


def _single_importers(tree: Tree) -> list[Import]:
    """Find the modules that exactly one other imports. Packages are left out."""
    importers: dict[str, list[Import]] = defaultdict(list)
    for each in tree.all_imports():
        importers[each.imported].append(each)
    single = [i for (i, *others) in importers.values() if not others]
    return sorted(i for i in single if not tree.files[i.imported].is_package)


def _functions(tree: Tree) -> tuple[int, list[PrivateFunction]]:
    """Count all functions, and find the private ones that their own module names once."""
    count, found = 0, []
    for module, file in tree.files.items():
        uses = Counter(x.id for x in file.nodes if isinstance(x, ast.Name))
        uses.update(x.attr for x in file.nodes if isinstance(x, ast.Attribute))
        for node in file.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count += 1
                if re.match("_(?!_)", node.name) and uses[node.name] == 1:
                    tiny = (node.end_lineno or node.lineno) - node.lineno < TINY
                    found.append(PrivateFunction(f"{module}.{node.name}", tiny))
    return count, sorted(found)


def _names_twice(tree: Tree) -> dict[str, list[str]]:
    """Return every module name that more than one module has -> those modules."""
    modules: dict[str, list[str]] = defaultdict(list)
    for module in sorted(tree.files):
        if module and _top(module) not in FAMILIES and not FAMILY_FOLDER.search(module):
            modules[module.rpartition(".")[2]].append(module)
    twice = {name: same for name, same in modules.items() if len(same) > 1}
    return {name: same for name, same in sorted(twice.items()) if name not in SHARED_NAMES}


def _banned_names(tree: Tree) -> list[str]:
    found = []
    for module, file in tree.files.items():
        for node in file.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                banned = node.name in BANNED
            elif isinstance(node, ast.ClassDef):
                banned = node.name.lower() in BANNED and _top(module) not in MAY_NAME_CLASSES
            else:
                continue
            if banned:
                found.append(f"{module}.{node.name}")
    return sorted(found)


def _lines(tree: Tree) -> tuple[int, int]:
    """Count lines, and lines of code: without blank lines, comments and docstrings."""
    lines = code = 0
    for file in tree.files.values():
        text = file.text.splitlines()
        documented = _documented_lines(file)
        lines += len(text)
        code += sum(
            bool(line.strip()) and not line.strip().startswith("#") and number not in documented
            for number, line in enumerate(text, 1)
        )
    return lines, code


def _documented_lines(file: SourceFile) -> set[int]:
    """Return the lines of all strings that stand as statements of their own."""
    numbers: set[int] = set()
    for node in file.nodes:
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                numbers |= {*range(value.lineno, (value.end_lineno or value.lineno) + 1)}
    return numbers


def _riddles(tree: Tree) -> tuple[int, list[Riddle]]:
    """Count docstrings, and find those whose first sentence may hide its subject."""
    count, found = 0, []
    for file in tree.files.values():
        for node in file.nodes:
            if not isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            ):
                continue
            docstring = ast.get_docstring(node)
            if docstring:
                count += 1
                sentence = SENTENCE_END.split(" ".join(docstring.split()))[0]
                reasons = riddle_reasons(sentence)
                if reasons:
                    name = getattr(node, "name", "module")
                    place = f"{file.path}:{getattr(node, 'lineno', 1)} {name}"
                    found.append(Riddle(place, sentence, reasons))
    return count, sorted(found, key=lambda riddle: (-len(riddle.reasons), riddle))


def riddle_reasons(sentence: str) -> tuple[str, ...]:
    """Return the reasons to read a sentence again, none for a plain one."""
    return tuple(reason for reason, pattern in RIDDLES.items() if pattern.search(sentence))


# Keep the figures from rising


class Rise(NamedTuple):
    """A figure that is higher than its limit."""

    figure: str
    limit: float
    now: float

    def __str__(self) -> str:
        return f"{self.figure} rose from {self.limit:g} to {self.now:g}"


def ratcheted(measures: Measures) -> dict[str, float]:
    """Return the figures that may not rise, sorted by name."""
    figures = measures.figures()
    return {name: figures[name] for name in sorted(RATCHETED)}


def read_limits(file: Path = LIMITS) -> dict[str, float]:
    """Read the highest allowed value of each figure."""
    limits: dict[str, float] = json.loads(file.read_text("utf-8"))
    return limits


def rises(now: Mapping[str, float], limits: Mapping[str, float]) -> list[Rise]:
    """Return the figures above their limits. A figure without a limit may have any value."""
    return [
        Rise(name, limits[name], figure)
        for name, figure in now.items()
        if name in limits and figure > limits[name]
    ]


def write_limits(now: Mapping[str, float], file: Path = LIMITS) -> None:
    """Make the present figures the limits."""
    file.write_text(json.dumps(now, indent=2, sort_keys=True) + "\n", "utf-8")


def offenders(figure: str, now: Measures, before: Measures | None) -> list[str]:
    """Return the entries of a risen figure that are new; the whole list where it is short."""
    entries = now.lists().get(figure, [])
    if before is not None:
        known = Counter(map(_without_line, before.lists()[figure])) if entries else Counter()
        new = [entry for entry in entries if not _discarded(known, _without_line(entry))]
        if new:
            return new
    if len(entries) <= SHORT:
        return entries
    return [f'{len(entries)} in all; see them with --list "{figure}"']


def _without_line(entry: str) -> str:
    """Drop line numbers, so that an entry stays the same when the lines above it change."""
    return re.sub(r":\d+", "", entry)


def _discarded(counter: Counter[str], entry: str) -> bool:
    """Take one occurrence of an entry out of a counter. False when it holds none."""
    if counter[entry] == 0:
        return False
    counter[entry] -= 1
    return True


def measure_at_limits(src: Path, file: Path) -> Measures | None:
    """Measure the tree of the last commit that changed the limits; None when git cannot tell."""

    def git(*arguments: str) -> bytes:
        command = ["git", "-C", str(file.parent), *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout

    try:
        commit = git("log", "-1", "--format=%H", "--", file.name).decode().strip()
        top = Path(git("rev-parse", "--show-toplevel").decode().strip())
        folder = src.resolve().relative_to(top.resolve()).as_posix()
        archive = git("-C", str(top), "archive", "--format=tar", commit, "--", folder)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    texts: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            data = tar.extractfile(member)
            if data is not None and member.name.endswith(".py"):
                path = PurePosixPath(member.name).relative_to(folder).as_posix()
                texts[path] = io.TextIOWrapper(data, "utf-8").read()
    return measure_texts(src.resolve().name, texts)


# The command


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, print one list, check the limits, or lower them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="fail when a figure rose")
    action.add_argument("--write", action="store_true", help="lower the limits to the figures")
    action.add_argument("--list", metavar="FIGURE", help="print what makes up a figure")
    parser.add_argument("--force", action="store_true", help="let --write raise limits, too")
    parser.add_argument("--limits", type=Path, default=LIMITS, help="the file of the limits")
    parser.add_argument("src", type=Path, nargs="?", default=SOURCE, help="the package's folder")
    options = parser.parse_args(arguments)
    measures = measure(options.src)
    if options.check:
        return check(measures, options.src, options.limits)
    if options.write:
        return lower(measures, options.limits, force=options.force)
    if options.list is not None:
        return print_list(measures, options.list)
    print_table(measures)
    return 0


def check(measures: Measures, src: Path, file: Path) -> int:
    """Print every figure that rose, with its new offenders. Return the exit code."""
    risen = rises(ratcheted(measures), read_limits(file))
    before = measure_at_limits(src, file) if risen else None
    for rise in risen:
        print(f"! {rise}", file=sys.stderr)
        for entry in offenders(rise.figure, measures, before):
            print(f"    {entry}", file=sys.stderr)
    return 1 if risen else 0


def lower(measures: Measures, file: Path, *, force: bool) -> int:
    """Write the present figures as limits. Without force, refuse when one rose."""
    now = ratcheted(measures)
    risen = rises(now, read_limits(file)) if file.exists() else []
    if risen and not force:
        for rise in risen:
            print(f"! {rise}", file=sys.stderr)
        print("Nothing is written. Pass --force to raise a limit.", file=sys.stderr)
        return 1
    write_limits(now, file)
    return 0


def print_list(measures: Measures, part: str) -> int:
    """Print the entries of the figure whose name is, or else contains, the given text."""
    lists = measures.lists()
    names = [name for name in lists if name == part] or [name for name in lists if part in name]
    if not names:
        print(f"No list has {part!r} in its name: {', '.join(lists)}", file=sys.stderr)
        return 2
    for entry in lists[names[0]]:
        print(entry)
    return 0


def print_table(measures: Measures) -> None:
    """Print every figure; mark those that miss their aim with "!"."""
    missed = 0
    for name, figure in measures.figures().items():
        aim = AIMS.get(name)
        misses = aim is not None and figure > aim
        missed += misses
        goal = "" if aim is None else f"  (aim {aim:g})"
        print(f"{'!' if misses else ' '} {name:34} {figure:>7}{goal}")
    print(f"{missed} of {len(AIMS)} aims missed")


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    sys.exit(main())
