"""Imports of TypeScript and JavaScript, judged by TypeScript's own compiler.

    python bench/imports_javascript.py [--tree FOLDER]... [--seen N]

Fetches packages that carry their sources, and the compiler, by npm into a folder of its own. The
packages stand in one tree as a workspace, with an application beside them that asks for all they
export. `--tree` judges other trees too, where they lie. Exits 1 below the promised figures.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.judged import MILLISECONDS, PRECISION, RECALL, Row, fetched

from sightline.codegraph.language import Reference
from sightline.codegraph.languages import javascript
from sightline.codegraph.languages.javascript import JavaScript

PACKAGES = ("rxjs@7", "zod@4", "effect@3", "@reduxjs/toolkit@2", "@tanstack/query-core@5", "three")
JUDGED = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")

JUDGE = r"""
const [, home, root] = process.argv;
const ts = require(home), fs = require("fs"), path = require("path");
const real = fs.realpathSync(root) + "/";
const forced = {moduleResolution: ts.ModuleResolutionKind.Bundler, module: ts.ModuleKind.ESNext,
  allowJs: true, resolveJsonModule: true, allowImportingTsExtensions: true, noEmit: true};
const options = new Map(), answers = {};
function optionsOf(folder) {
  if (!options.has(folder)) {
    const near = ["tsconfig.json", "jsconfig.json"].map(name => path.join(folder, name)).find(fs.existsSync);
    const up = path.dirname(folder);
    if (near) {
      const host = {...ts.sys, readDirectory: () => []};
      const read = ts.parseJsonConfigFileContent(ts.readConfigFile(near, ts.sys.readFile).config, host, folder);
      options.set(folder, {...read.options, ...forced});
    } else options.set(folder, (folder + "/").startsWith(real) && up !== folder ? optionsOf(up) : forced);
  }
  return options.get(folder);
}
function names(file) {
  const kind = /\.[mc]?js$/.test(file) ? ts.ScriptKind.JSX : undefined, found = [];
  const source = ts.createSourceFile(file, fs.readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true, kind);
  const keep = node => { if (node && ts.isStringLiteralLike(node)) found.push(node.text); };
  (function walk(node) {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) keep(node.moduleSpecifier);
    else if (ts.isExternalModuleReference(node)) keep(node.expression);
    else if (ts.isImportTypeNode(node)) keep(node.argument.literal);
    else if (ts.isCallExpression(node) && (node.expression.kind === ts.SyntaxKind.ImportKeyword
      || (ts.isIdentifier(node.expression) && node.expression.text === "require"))) keep(node.arguments[0]);
    ts.forEachChild(node, walk);
  })(source);
  found.push(...source.referencedFiles.map(each => "./" + each.fileName.replace(/^\.\//, "")));
  return found;
}
for (const name of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const file = real + name, answer = answers[name] = {};
  for (const module of names(file)) {
    const found = ts.resolveModuleName(module, file, optionsOf(path.dirname(file)), ts.sys).resolvedModule;
    let target = found && fs.realpathSync(found.resolvedFileName);
    if (!target && module.startsWith(".")) {
      const plain = path.join(path.dirname(file), module.split("?")[0]);
      if (fs.existsSync(plain) && fs.statSync(plain).isFile()) target = fs.realpathSync(plain);
    }
    if (target && target !== file && target.startsWith(real) && !target.includes("/node_modules/"))
      answer[module] = target.slice(real.length);
  }
}
console.log(JSON.stringify(answers));
"""

Answers = dict[str, dict[str, str]]


def main() -> int:
    """Run and print; the exit status."""
    options = arguments()
    with tempfile.TemporaryDirectory() as room:
        typescript = fetched("typescript@5", os.path.join(room, "typescript"))
        trees = [("workspace", workspace(os.path.join(room, "workspace")))]
        trees += [(os.path.basename(os.path.abspath(tree)), tree) for tree in options.tree]
        rows = [
            row
            for name, tree in trees
            for row in measured(name, tree, os.path.join(room, typescript), options.seen)
        ]
    print(f"{'tree':<12}{'way':<12}{'wanted':>8}{'given':>8}{'precision':>11}{'recall':>9}", end="")
    print(f"{'median ms':>11}{'mean ms':>9}{'p99 ms':>9}")
    for row in rows:
        print(f"{row.tree:<12}{row.way:<12}{row.wanted:>8}{row.given:>8}", end="")
        print(f"{row.precision:>11.4f}{row.recall:>9.4f}", end="")
        times = sorted(row.times)
        print(f"{median(times):>11.2f}{sum(times) / len(times):>9.2f}", end="")
        print(f"{times[len(times) * 99 // 100]:>9.2f}")
    ours = [row for row in rows if row.way != "old rule"]
    kept = all(row.precision >= PRECISION and row.recall >= RECALL for row in ours)
    return int(not (kept and all(median(row.times) <= MILLISECONDS for row in ours)))


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description="Imports against TypeScript's compiler.")
    parser.add_argument("--tree", action="append", default=[], help="another tree to judge")
    parser.add_argument("--seen", type=int, default=0, help="print so many differences")
    return parser.parse_args()


def workspace(root: str) -> str:
    """Packages side by side, linked as npm links them, and an application that uses all of them."""
    exported = []
    for package in PACKAGES:
        name = package[: package.index("@", 1)] if "@" in package[1:] else package
        folder = fetched(package, os.path.join(root, "packages", name.replace("/", "-").strip("@")))
        exported += [f"{name}{end}" for end in ends_of(folder)]
    write(root, "package.json", {"private": True, "workspaces": ["packages/*", "apps/*"]})
    paths = {"@app/*": ["./src/*"], "@rx": ["../../packages/rxjs/src/index.ts"]}
    paths |= {"@rx/*": ["../../packages/rxjs/src/internal/*", "../../packages/rxjs/src/*"]}
    write(root, "tsconfig.base.json", {"compilerOptions": {"strict": True}})
    settings = {"extends": ["../../tsconfig.base.json"], "compilerOptions": {"paths": paths}}
    write(root, "apps/site/tsconfig.json", settings)
    write(root, "apps/site/package.json", {"name": "site", "imports": {"#kit/*": "./src/kit/*.js"}})
    site = "apps/site/src"
    write(root, f"{site}/all.ts", "".join(f'import "{name}";\n' for name in exported))
    operators = os.listdir(os.path.join(root, "packages/rxjs/src/internal/operators"))
    aliased = [f"@rx/operators/{name[:-3]}" for name in operators] + ["@rx", "@app/all", "@rx/ajax"]
    write(root, f"{site}/view.tsx", "".join(f'export * from "{name}";\n' for name in aliased))
    write(root, f"{site}/kit/index.ts", 'import "..";\nimport "#kit/a";\nimport "./b.js";\n')
    write(root, f"{site}/kit/a.ts", 'import type { B } from "./b";\nimport "../style.css";\n')
    write(root, f"{site}/kit/b.tsx", 'const kit = await import("@app/kit");\nrequire("./");\n')
    write(root, f"{site}/style.css", "a {}\n")
    write(
        root, f"{site}/index.ts", 'import "@app/view"; import "./kit"; import "@app/style.css";\n'
    )
    return root


def ends_of(folder: str) -> list[str]:
    """Return what a package exports, as ends of its name; of a pattern, ten that are there."""
    with open(os.path.join(folder, "package.json"), "rb") as file:
        exports = json.load(file).get("exports") or {}
    ends = [key[1:] for key in exports if key.startswith(".") and "*" not in key]
    for key, target in exports.items():
        if "*" in key and isinstance(target, str):
            place, tail = target.removeprefix("./").split("*", 1)
            base = os.path.join(folder, place)
            files = sorted(os.listdir(base)) if os.path.isdir(base) else []
            whole = [name for name in files if name.endswith(tail or ".js")]
            ends += [key[1:].replace("*", name[: len(name) - len(tail)]) for name in whole[:10]]
    return ends


def write(root: str, path: str, content: object) -> None:
    """A file of the workspace: text as it is, all else as JSON."""
    place = os.path.join(root, path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))


def measured(name: str, tree: str, typescript: str, seen: int) -> list[Row]:
    """The rows of a tree: ours, and the rule of old."""
    paths = sorted(listing(tree))
    asked = [path for path in paths if path.endswith(JUDGED) and wanted(path)]
    with links(tree, paths):
        command = ["node", "--max-old-space-size=4096", "-e", JUDGE, typescript, tree]
        done = subprocess.run(
            command, input="\n".join(asked), capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(f"The compiler did not judge {name}: {done.stderr[-2000:]}")
    judged: Answers = json.loads(done.stdout)
    given, times = ours(tree, paths, asked)
    rows = [row(name, "ours", judged, given, times, seen)]
    given, times = old_rule(tree, set(paths), asked)
    rows.append(row(name, "old rule", judged, given, times, 0))
    return rows


def wanted(path: str) -> bool:
    """Return whether a file is a source: what was built, and declarations, import what was built too."""
    built = re.search(r"(^|/)(dist|build|legacy|cjs|esm)/|\.d\.[mc]?ts$", path)
    folded = path.startswith("packages/zod/") and not path.startswith("packages/zod/src/")
    return not built and not folded


class links:  # noqa: N801 - reads as a statement
    """The links to the packages of a tree that an installation makes, for a while."""

    def __init__(self, tree: str, paths: list[str]) -> None:
        self.places: list[str] = []
        self.tree = tree
        self.paths = [
            p for p in paths if re.fullmatch(r"(packages[^/]*|apps)/[^/]+/package.json", p)
        ]

    def __enter__(self) -> None:
        for path in self.paths:
            with open(os.path.join(self.tree, path), "rb") as file:
                name = json.load(file).get("name")
            place = os.path.join(self.tree, "node_modules", name or "")
            if name and not os.path.lexists(place):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.symlink(os.path.dirname(os.path.abspath(os.path.join(self.tree, path))), place)
                self.places.append(place)

    def __exit__(self, *_: object) -> None:
        for place in self.places:
            os.unlink(place)


def listing(tree: str) -> list[str]:
    """The files of a tree, without what is installed."""
    found = []
    for folder, folders, names in os.walk(tree):
        folders[:] = [each for each in folders if each not in ("node_modules", ".git")]
        found += [os.path.relpath(os.path.join(folder, name), tree) for name in names]
    return found


def ours(tree: str, paths: list[str], asked: list[str]) -> tuple[Answers, tuple[float, ...]]:
    """Return what Sightline answers, and milliseconds per file: reading its imports and resolving them."""

    def read(path: str) -> bytes | None:
        place = os.path.join(tree, path)
        return source_of(place) if os.path.isfile(place) else None

    javascript.references(b"import 'a'", "a.ts")  # loads the grammar once
    resolver = JavaScript(paths, read)
    answers: Answers = {}
    times = []
    for path in asked:
        source = source_of(os.path.join(tree, path))
        began = perf_counter()
        found = javascript.references(source, path)
        pairs = [(each, target) for each in found for target in resolver.targets(path, each)]
        times.append((perf_counter() - began) * 1000)
        answers[path] = {spelled(each): target for each, target in pairs}
    return answers, tuple(times)


def spelled(reference: Reference) -> str:
    """A reference as the judge spells it: included files are relative without saying so."""
    name = reference.module
    return f"./{name.removeprefix('./')}" if reference.kind == "include" else name


def source_of(place: str) -> bytes:
    """The bytes of a file."""
    with open(place, "rb") as file:
        return file.read()


OLD = re.compile(
    rb"""(?:import\s+[^;'"]*?from\s+|import\s+|export\s+[^;'"]*?from\s+|require\(\s*)['"](\.[^'"]+)['"]"""
)


def old_rule(tree: str, paths: set[str], asked: list[str]) -> tuple[Answers, tuple[float, ...]]:
    """Return what the products before did: an expression over raw source, relative names, no ending first."""
    folders = {path[:at] for path in paths for at in range(len(path)) if path[at] == "/"}
    answers: Answers = {}
    times = []
    for path in asked:
        source = source_of(os.path.join(tree, path))
        began = perf_counter()
        answer = answers[path] = {}
        for module in [found.decode() for found in OLD.findall(source)]:
            stem = os.path.normpath(os.path.join(os.path.dirname(path), module))
            ends = (
                "",
                ".ts",
                ".tsx",
                ".js",
                ".jsx",
                ".json",
                "/index.ts",
                "/index.tsx",
                "/index.js",
            )
            there = [stem + end for end in ends if stem + end in paths or stem + end in folders]
            if there:
                answer[module] = there[0]
        times.append((perf_counter() - began) * 1000)
    return answers, tuple(times)


def row(
    tree: str, way: str, judged: Answers, given: Answers, times: tuple[float, ...], seen: int
) -> Row:
    """Count the right answers, and print the first wrong ones."""
    want = {(p, module, to) for p, found in judged.items() for module, to in found.items()}
    have = {(p, module, to) for p, found in given.items() for module, to in found.items()}
    for each in sorted(have - want)[:seen]:
        print(f"{way} too much: {each}")
    for each in sorted(want - have)[:seen]:
        print(f"{way} missing: {each}")
    return Row(tree, way, len(want & have), len(have), len(want), times)


if __name__ == "__main__":
    sys.exit(main())
