"""Imports of Rust, judged by the compiler and by Cargo.

    python bench/imports_rust.py --tree FOLDER... [--only PACKAGE]... [--seen N]

Judges packages where they lie; nothing is fetched, and what they depend on need not be there. `cargo
metadata` says which crates there are and what they call each other. Of each, `rustc` prints its tree
after names are resolved: which module lies in which file, and which module every path leads to. What
is compiled for other systems, or made by macros, it does not see, and so it is not judged. Exits 1
below the promised figures.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from msgspec import Struct

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(HOME, "src")]

from sightline.codegraph.languages.rust import (  # noqa: E402
    Rust,
    references,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.codegraph.language import Reference

PRECISION, RECALL, MILLISECONDS = 0.98, 0.95, 2.5
OWN = ("crate", "super", "self", "{{root}}", "")
Names = tuple[str, ...]
Named = tuple[str, Names]
"""A source, and the names of a path in it, without those that say where it begins."""


class Judged(Struct, frozen=True):
    """The compiler's answers about a tree. pairs: sources and the files that they lead to, each with the
    files that will do as well; paths: the files that each path leads to; sources: what was compiled."""

    pairs: dict[tuple[str, str], set[str]]
    paths: dict[Named, set[str]]
    sources: set[str]


class Crate(Struct, frozen=True):
    """A crate of Cargo's. called: the libraries of the tree that it may name, by name."""

    name: str
    root: str
    edition: str
    features: tuple[str, ...]
    called: dict[str, str]


class Row(Struct, frozen=True):
    """The counts of right answers of one way of reading a tree. judged: its answers that the compiler saw."""

    tree: str
    way: str
    right: int
    judged: int
    found: int
    wanted: int
    times: tuple[float, ...]

    @property
    def kept(self) -> bool:
        """Return whether it is as good as was promised."""
        right = self.right >= PRECISION * self.judged and self.found >= RECALL * self.wanted
        return right and median(self.times) <= MILLISECONDS


def main() -> int:
    """Run and print; the exit status."""
    parser = argparse.ArgumentParser(description="Imports of Rust against its compiler.")
    parser.add_argument("--tree", action="append", required=True, help="a tree to judge")
    parser.add_argument("--only", action="append", default=[], help="a package to judge")
    parser.add_argument("--seen", type=int, default=0, help="print so many differences")
    options = parser.parse_args()
    rows = [row for tree in options.tree for row in measured(os.path.realpath(tree), options)]
    print(f"{'tree':<15}{'way':<9}{'wanted':>8}{'judged':>8}{'precision':>11}{'recall':>9}", end="")
    print(f"{'median ms':>11}{'mean ms':>9}{'p99 ms':>8}")
    for row in rows:
        times = sorted(row.times)
        print(f"{row.tree:<15}{row.way:<9}{row.wanted:>8}{row.judged:>8}", end="")
        print(
            f"{row.right / max(1, row.judged):>11.4f}{row.found / max(1, row.wanted):>9.4f}", end=""
        )
        print(f"{median(times):>11.3f}{sum(times) / len(times):>9.3f}", end="")
        print(f"{times[len(times) * 99 // 100]:>8.2f}")
    return int(not all(row.kept for row in rows if row.way == "ours"))


def measured(tree: str, options: argparse.Namespace) -> list[Row]:
    """The rows of a tree: ours, and what a simple expression finds."""
    paths = listing(tree)
    files = frozenset(paths)
    crates = [
        crate for crate in crates_of(tree, paths) if not options.only or crate.name in options.only
    ]
    said = judged(tree, crates, files)
    resolver = Rust(paths, lambda path: source_of(tree, path) if path in files else None)
    ours: dict[Named, set[str]] = defaultdict(set)
    pairs, times = set(), []
    for path in sorted(said.sources):
        source = source_of(tree, path)
        began = process_time()
        found = [(each, resolver.targets(path, each)) for each in references(source)]
        times.append((process_time() - began) * 1000)
        pairs |= {(path, target) for _, targets in found for target in targets}
        for each, _ in found:
            for names, one in single(each):
                ours[path, names].update(resolver.targets(path, one))
    name = os.path.basename(tree)
    row = compared(name, "ours", said, ours, pairs, tuple(times), options.seen)
    return [row, old_rule(name, tree, files, said)]


def single(reference: Reference) -> Iterator[tuple[Names, Reference]]:
    """A reference as one for each name that it takes, and those names as the compiler has them."""
    from sightline.codegraph.language import Reference

    if reference.kind != "import":
        return
    module = tuple(each for each in reference.module.split("::") if each not in OWN)
    for name in reference.names or ("*",):
        names = module if name == "*" else (*module, name)
        yield names, Reference(reference.module, 1, reference.level, (name,))


def compared(
    tree: str,
    way: str,
    said: Judged,
    given: dict[Named, set[str]],
    pairs: set[tuple[str, str]],
    times: tuple[float, ...],
    seen: int = 0,
) -> Row:
    """Count the right answers, and print the first wrong ones."""
    wanted = {pair: either for pair, either in said.pairs.items() if pair[0] != pair[1]}
    found = {
        pair for pair, either in wanted.items() if any((pair[0], one) in pairs for one in either)
    }
    mine = {key: files for key, files in given.items() if key in said.paths and files}
    right = {key for key, files in mine.items() if files <= said.paths[key]}
    for key in sorted(mine.keys() - right)[:seen]:
        print(f"{way} wrong: {key} is {said.paths[key]}, not {mine[key]}")
    for pair in sorted(wanted.keys() - found)[:seen]:
        print(f"{way} missing: {pair}")
    return Row(tree, way, len(right), len(mine), len(found), len(wanted), times)


def listing(tree: str) -> list[str]:
    """The files of a tree, without what is built."""
    found = []
    for folder, folders, names in os.walk(tree):
        folders[:] = [each for each in folders if each not in ("target", ".git")]
        found += [os.path.relpath(os.path.join(folder, name), tree) for name in names]
    return sorted(found)


def source_of(tree: str, path: str) -> bytes:
    """The bytes of a file."""
    with open(os.path.join(tree, path), "rb") as file:
        return file.read()


def crates_of(tree: str, paths: list[str]) -> list[Crate]:
    """The crates of a tree, by Cargo."""
    packages: dict[str, dict[str, Any]] = {}
    for path in paths:
        if path.rpartition("/")[2] == "Cargo.toml" and os.path.join(tree, path) not in packages:
            asking = ("cargo", "metadata", "--no-deps", "--offline", "--format-version", "1")
            place = os.path.dirname(os.path.join(tree, path))
            done = subprocess.run(asking, cwd=place, check=False, capture_output=True, text=True)
            for package in json.loads(done.stdout)["packages"] if done.returncode == 0 else ():
                packages[package["manifest_path"]] = package
    return [crate for package in packages.values() for crate in crates_in(tree, package, packages)]


def crates_in(
    tree: str, package: dict[str, Any], packages: dict[str, dict[str, Any]]
) -> Iterator[Crate]:
    """The crates of one package."""
    called = {}
    for needed in package["dependencies"]:
        manifest = os.path.join(needed.get("path") or "?", "Cargo.toml")
        for target in packages.get(manifest, {}).get("targets", ()):
            if library(target):
                name = needed["rename"] or target["name"]
                called[name.replace("-", "_")] = os.path.relpath(target["src_path"], tree)
    for target in package["targets"]:
        if library(target):
            own = {target["name"].replace("-", "_"): os.path.relpath(target["src_path"], tree)}
            called = own | called
    for target in package["targets"]:
        root = os.path.relpath(target["src_path"], tree)
        features = tuple(package["features"])
        yield Crate(package["name"], root, target["edition"], features, called)


def library(target: dict[str, Any]) -> bool:
    """Return whether other crates may name a target."""
    return not {"lib", "proc-macro", "rlib", "dylib", "cdylib"}.isdisjoint(target["kind"])


class Path:
    """A path as the compiler prints it. modules: where its beginnings lead that are modules; itself:
    where all of it leads, when that is one; defined: else what it names."""

    def __init__(self, indent: int) -> None:
        self.indent = indent
        self.file = ""
        self.names: list[str] = []
        self.modules: list[str] = []
        self.owner = ""
        self.itself: str | None = None
        self.defined: list[str] = []


class Tree:
    """The compiler's output for one crate, read line by line."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.declared: list[tuple[str, str]] = []
        self.paths: list[Path] = []
        self._open: list[Path] = []
        self._owner = ""
        self._module: str | None = None
        self._before = ("", "")

    def read(self, lines: Iterable[str]) -> None:
        """All of it."""
        for line in lines:
            text = line.lstrip(" ")
            indent = len(line) - len(text)
            text = text.rstrip("\n")
            if text == "Path {":
                self._open.append(Path(indent))
            elif self._open:
                self._in_path(indent, text)
            if text.startswith("owner_id: DefId("):
                self._owner = module_of(text)
            elif text == "kind: Mod(":
                self._module = self._owner
            elif self._module is not None and text.startswith("inner_span: "):
                self.files[self._module] = file_of(text)
                self._module = None
            elif text.startswith("inner_span: "):
                self.files.setdefault("", file_of(text))
            self._before = (self._before[1], text)

    def _in_path(self, indent: int, text: str) -> None:
        path = self._open[-1]
        if indent == path.indent and text.startswith("}"):
            self._open.pop()
            self.paths.append(path)
        elif text.startswith("span: ") and not path.file:
            path.file = file_of(text) if text.endswith("(#0),") else "?"
        elif text.startswith("ident: ") and indent == path.indent + 12:
            path.names.append(text[7:].rpartition("#")[0].removeprefix("r#"))
        elif text.startswith("hir_id: HirId(") and indent == path.indent + 12:
            path.owner = path.owner or module_of(text)
        elif text.startswith("DefId(0:") and not path.names and self._before[1] != "Mod,":
            path.defined.append(module_of(text))
        elif self._before[1] == "Mod," and self._before[0].endswith("Def("):
            module = module_of(text) if text.startswith("DefId(0:") else "?"
            if indent >= path.indent + 12 and path.names:
                path.modules.append(module)
            else:
                path.itself = module


def module_of(text: str) -> str:
    """Return the path of the item that a line identifies, in its crate."""
    whole = re.search(r"DefId\(\d+:\d+ ~ [^\[]+\[\w+\](?:::)?([^)]*)", text)
    return whole[1] if whole else ""


def file_of(text: str) -> str:
    """The file of a line that says where something is."""
    place = text.partition(": ")[2]
    found = re.match(r"(.+?):\d+:\d+: ", place)
    return os.path.normpath(found[1]) if found else "?"


def judged(tree: str, crates: list[Crate], files: frozenset[str]) -> Judged:
    """Return what the compiler says of all crates."""
    trees = {crate.root: compiled(tree, crate) for crate in crates}
    said = Judged(defaultdict(set), defaultdict(set), set())
    for crate in crates:
        read = trees[crate.root]
        for module, file in read.files.items():
            said.sources.add(file)
            above = module.rpartition("::")[0]
            if module and above in read.files:
                said.pairs[read.files[above], file].add(file)
        for path in read.paths:
            target = led(crate, read, path, trees)
            if target in files and path.file in files:
                defined = [longest(read.files, each.split("::")) for each in path.defined]
                either = {target, *(file for file in defined if file is not None)}
                said.paths[path.file, tuple(n for n in path.names if n not in OWN)] |= either
                if path.names[0] in OWN or "{use#" in path.owner:
                    said.pairs[path.file, target] |= either
    said.sources.intersection_update(files)
    return said


def compiled(tree: str, crate: Crate) -> Tree:
    """Return what the compiler prints of a crate."""
    command = ["rustc", "--edition", crate.edition, "--crate-name", "judged", "--test", crate.root]
    command += ["-Zunpretty=hir-tree", "--cap-lints", "allow", "--cfg", "tokio_unstable"]
    command += [part for name in crate.features for part in ("--cfg", f'feature="{name}"')]
    asking = os.environ | {
        "RUSTC_BOOTSTRAP": "1",
        "CARGO_MANIFEST_DIR": tree,
        "CARGO_PKG_VERSION": "1",
    }
    printed = Tree()
    with subprocess.Popen(
        command, cwd=tree, env=asking, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        printed.read(running.stdout)
    printed.files.setdefault("", crate.root)
    return printed


def led(crate: Crate, read: Tree, path: Path, trees: dict[str, Tree]) -> str | None:
    """The file that a path leads to: of the last module that it names."""
    if not path.names:
        return None
    if path.itself is not None or path.modules:
        return read.files.get(path.modules[-1] if path.itself is None else path.itself)
    names = [name for name in path.names if name != "{{root}}"]
    if names[:1] == ["crate"]:
        return read.files[""]
    ups = sum(1 for name in names if name == "super")
    if ups or names[:1] == ["self"]:
        here = path.owner.split("::")
        while here and "::".join(here) not in read.files:
            here.pop()
        return read.files.get("::".join(here[: len(here) - ups])) if ups <= len(here) else None
    root = crate.called.get(names[0]) if names else None
    if root is None or root not in trees:
        return None
    return longest(trees[root].files, names[1:])


def longest(files: dict[str, str], names: list[str]) -> str | None:
    """The file of the longest beginning of a path that is a module of a crate; None where it may go
    on through a module that is brought in there."""
    for count in range(len(names), -1, -1):
        if "::".join(names[:count]) in files:
            onward = len(names) - count > 1 and names[count].islower()
            return None if onward else files["::".join(names[:count])]
    return None


OLD = re.compile(
    rb"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:use\s+(crate|super|self)::([\w:]+)|mod\s+(\w+)\s*;)",
    re.MULTILINE,
)


def old_rule(name: str, tree: str, files: frozenset[str], said: Judged) -> Row:
    """Return what an expression over raw source finds: `use` and `mod` at the beginning of a line."""
    given: dict[Named, set[str]] = defaultdict(set)
    pairs, times = set(), []
    for path in sorted(said.sources):
        source = source_of(tree, path)
        began = process_time()
        folder = os.path.dirname(path)
        for start, rest, module in OLD.findall(source):
            base = {b"crate": "src", b"super": os.path.dirname(folder)}.get(start, folder)
            names = (rest or module).decode().strip(":").split("::")
            for count in range(len(names), 0, -1):
                stem = os.path.join(base, *names[:count])
                found = [end for end in (f"{stem}.rs", f"{stem}/mod.rs") if end in files]
                if found:
                    pairs.add((path, found[0]))
                    given[path, tuple(names)].add(found[0])
                    break
        times.append((process_time() - began) * 1000)
    return compared(name, "lines", said, given, pairs, tuple(times))


if __name__ == "__main__":
    sys.exit(main())
