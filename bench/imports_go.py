"""Imports of Go, judged by Go itself.

    python bench/imports_go.py [--tree FOLDER]... [--seen N]

Judges the tree of Go's own library, which is wherever `go` is, and those named by `--tree`, where they
lie. `go/parser` says what a source imports and which names it takes, `go list` which folder that is.
Nothing is fetched: what leads out of a tree is left open. Exits 1 below the promised figures.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from msgspec import Struct

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(HOME, "src")]

from sightline.codegraph.languages.go import (  # noqa: E402
    Go,
    references,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PRECISION, RECALL, MILLISECONDS = 0.98, 0.95, 2.5
SYSTEMS = ("linux", "windows", "darwin")
KINDS = ("GoFiles", "CgoFiles", "IgnoredGoFiles")
LIST = ("go", "list", "-e", "-deps", "-test", f"-json=ImportPath,Dir,{','.join(KINDS)}")
FIRST = 3
"""So many files of a package are looked at for what a source takes from it."""

JUDGE = r"""
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
)

type source struct {
	Package string
	Imports map[string]string
	Declared []string
	Taken map[string][]string
}

func read(path string) *source {
	file, _ := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if file == nil || file.Name == nil {
		return nil
	}
	found := &source{file.Name.Name, map[string]string{}, nil, map[string][]string{}}
	for _, spec := range file.Imports {
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			found.Imports[path] = name
		}
	}
	for name := range file.Scope.Objects {
		found.Declared = append(found.Declared, name)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if each, is := node.(*ast.SelectorExpr); is {
			if from, is := each.X.(*ast.Ident); is && from.Obj == nil {
				found.Taken[from.Name] = append(found.Taken[from.Name], each.Sel.Name)
			}
		}
		return true
	})
	return found
}

func main() {
	answers := map[string]*source{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if found := read(lines.Text()); found != nil {
			answers[lines.Text()] = found
		}
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
"""

Sources = dict[str, dict[str, Any]]
"""What Go's parser read in each source."""

Triple = tuple[str, str, str]
"""A source, what it imports, and the folder or file that this is."""


class Row(Struct, frozen=True):
    """The counts of right answers of one way of reading a tree. first: of the files that define what sources
    take from packages of several, the share that is among the first answered; by: by the alphabet."""

    tree: str
    way: str
    right: int
    given: int
    wanted: int
    times: tuple[float, ...]
    first: float = 0.0
    by: float = 0.0

    @property
    def kept(self) -> bool:
        """Return whether it is as good as was promised."""
        right = self.right >= PRECISION * self.given and self.right >= RECALL * self.wanted
        return right and median(self.times) <= MILLISECONDS


def main() -> int:
    """Run and print; the exit status."""
    parser = argparse.ArgumentParser(description="Imports against Go's own tools.")
    parser.add_argument("--tree", action="append", default=[], help="another tree to judge")
    parser.add_argument("--seen", type=int, default=0, help="print so many differences")
    options = parser.parse_args()
    library = said("go", "env", "GOROOT").strip()
    trees = [("library", library)]
    trees += [(os.path.basename(os.path.abspath(tree)), tree) for tree in options.tree]
    rows = [row for name, tree in trees for row in measured(name, os.path.realpath(tree), options)]
    print(f"{'tree':<12}{'way':<10}{'wanted':>8}{'given':>8}{'precision':>11}{'recall':>9}", end="")
    print(f"{'median ms':>11}{'mean ms':>9}{'p99 ms':>8}{'first':>8}{'a to z':>8}")
    for row in rows:
        times = sorted(row.times)
        print(f"{row.tree:<12}{row.way:<10}{row.wanted:>8}{row.given:>8}", end="")
        print(
            f"{row.right / max(1, row.given):>11.4f}{row.right / max(1, row.wanted):>9.4f}", end=""
        )
        print(f"{median(times):>11.3f}{sum(times) / len(times):>9.3f}", end="")
        print(f"{times[len(times) * 99 // 100]:>8.2f}{row.first:>8.3f}{row.by:>8.3f}")
    return int(not all(row.kept for row in rows if row.way == "ours"))


def said(*command: str, cwd: str | None = None, given: str = "", system: str = "linux") -> str:
    """Return what a command prints."""
    environment = os.environ | {"GOFLAGS": "", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    environment["GOOS"] = system
    done = subprocess.run(
        command, cwd=cwd, input=given, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode and command[1] != "list":  # which may be asked in what is no module
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return done.stdout


def measured(name: str, tree: str, options: argparse.Namespace) -> list[Row]:
    """The rows of a tree: ours, and the rule of old."""
    paths = listing(tree)
    asked = [path for path in paths if path.endswith(".go") and "testdata/" not in path]
    sources = parsed(tree, asked)
    asked = [path for path in asked if path in sources]
    wanted = judged(tree, paths, sources)
    rows = [ours(name, tree, paths, asked, sources, wanted, options.seen)]
    rows.append(old_rule(name, tree, paths, asked, wanted))
    return rows


def listing(tree: str) -> list[str]:
    """The files of a tree that matter here."""
    found = []
    for folder, folders, names in os.walk(tree):
        folders[:] = [each for each in folders if each != ".git"]
        kept = [
            name for name in names if name.endswith((".go", "go.mod", "go.work", "modules.txt"))
        ]
        found += [os.path.relpath(os.path.join(folder, name), tree) for name in kept]
    return sorted(found)


def parsed(tree: str, asked: list[str]) -> Sources:
    """Return what Go's parser reads in sources."""
    with tempfile.TemporaryDirectory() as room:
        place = os.path.join(room, "judge.go")
        with open(place, "w", encoding="utf-8") as file:
            file.write(JUDGE)
        program = os.path.join(room, "judge")
        subprocess.run(
            ["go", "build", "-o", program, place], check=True, env=os.environ | {"GOFLAGS": ""}
        )
        found: Sources = json.loads(said(program, cwd=tree, given="\n".join(asked)))
    return found


def judged(tree: str, paths: list[str], sources: Sources) -> set[Triple]:
    """The folders of the tree that are meant, as `go list` has it from each module."""
    modules = sorted({path.rpartition("/")[0] for path in paths if path.endswith("go.mod")} or {""})
    known = {module: named(tree, module) for module in modules}
    wanted = set()
    for path, source in sources.items():
        above = [module for module in modules if not module or path.startswith(f"{module}/")]
        folders = known[max(above, key=len)] if above else {}
        wanted |= {
            (path, module, folders[module]) for module in source["Imports"] if module in folders
        }
    return wanted


def named(tree: str, module: str) -> dict[str, str]:
    """The packages that a module sees, and their folders in the tree."""
    place, found, vendored = os.path.join(tree, module), {}, {}
    for system in SYSTEMS:
        for package in listed(said(*LIST, "./...", cwd=place, system=system)):
            folder = package.get("Dir", "")
            files = [file for kind in KINDS for file in package.get(kind) or ()]
            sources = [file for file in files if not file.endswith("_test.go")]
            if sources and f"{folder}/".startswith(f"{tree}/"):
                name = package["ImportPath"].partition(" ")[0]
                found[name] = os.path.relpath(folder, tree).removeprefix(".")
                before, vendor, short = f"/{name}".rpartition("/vendor/")
                if vendor and (before or short not in vendored):
                    vendored[short] = found[name]
    return found | vendored


def listed(text: str) -> Iterator[dict[str, Any]]:
    """The values of a text that has one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while (start := text.find("{", at)) >= 0:
        value, at = decoder.raw_decode(text, start)
        yield value


def source_of(tree: str, path: str) -> bytes:
    """The bytes of a file."""
    with open(os.path.join(tree, path), "rb") as file:
        return file.read()


def ours(
    name: str,
    tree: str,
    paths: list[str],
    asked: list[str],
    sources: Sources,
    wanted: set[Triple],
    seen: int,
) -> Row:
    """Return what Sightline answers, and milliseconds per file: reading its imports and resolving them."""
    files = frozenset(paths)
    resolver = Go(paths, lambda path: source_of(tree, path) if path in files else None)
    answers: dict[tuple[str, str], tuple[str, ...]] = {}
    given, times = set(), []
    for path in asked:
        source = source_of(tree, path)
        began = process_time()
        pairs = [(each.module, resolver.targets(path, each)) for each in references(source)]
        times.append((process_time() - began) * 1000)
        answers |= {(path, module): targets for module, targets in pairs if targets}
        given |= {
            (path, module, os.path.dirname(targets[0])) for module, targets in pairs if targets
        }
    inside = {each for each in wanted if os.path.dirname(each[0]) != each[2] or each in given}
    for each in sorted(given - inside)[:seen]:
        print(f"{name} too much: {each}")
    for each in sorted(inside - given)[:seen]:
        print(f"{name} missing: {each}")
    first, by = ranked(sources, answers)
    right = len(given & inside)
    return Row(name, "ours", right, len(given), len(inside), tuple(times), first, by)


def ranked(
    sources: Sources, answers: dict[tuple[str, str], tuple[str, ...]]
) -> tuple[float, float]:
    """The share of the files that define what is taken which is answered first, and which the
    alphabet would answer first, in packages of more files than that."""
    folders: dict[str, list[str]] = {}
    for path in sources:
        if not path.endswith("_test.go"):
            folders.setdefault(os.path.dirname(path), []).append(path)
    first = by = wanted = 0
    for (path, module), targets in answers.items():
        files = sorted(folders.get(os.path.dirname(targets[0]), ()))
        if len(files) <= FIRST:
            continue
        imports, taken = sources[path]["Imports"], sources[path]["Taken"]
        names = set(taken.get(imports.get(module) or sources[files[0]]["Package"], ()))
        defining = {file for file in files if not names.isdisjoint(sources[file]["Declared"] or ())}
        wanted += min(FIRST, len(defining))
        first += len(defining.intersection(targets[:FIRST]))
        by += len(defining.intersection(files[:FIRST]))
    return first / max(1, wanted), by / max(1, wanted)


OLD = re.compile(rb'import\s+(?:\w+\s+)?"([^"]+)"|^\s+(?:\w+\s+)?"([^"\n]+)"$', re.MULTILINE)


def old_rule(name: str, tree: str, paths: list[str], asked: list[str], wanted: set[Triple]) -> Row:
    """Return what the products before would do: an expression over raw source, and relative names alone."""
    folders = {os.path.dirname(path) for path in paths}
    given, times = set(), []
    for path in asked:
        source = source_of(tree, path)
        began = process_time()
        for module in {
            (one or other).decode("utf-8", "replace") for one, other in OLD.findall(source)
        }:
            parts = module.split("/")
            ends = ["/".join(parts[at:]) for at in range(len(parts))]
            found = next((end for end in ends if end in folders), None)
            if found is not None:
                given.add((path, module, found))
        times.append((process_time() - began) * 1000)
    return Row(name, "suffix", len(given & wanted), len(given), len(wanted), tuple(times))


if __name__ == "__main__":
    sys.exit(main())
