"""Imports of Java, and the types it names without one, judged by Java's own compiler.

    python bench/imports_java.py [--tree FOLDER]... [--java FOLDER] [--seen N]

Judges sources of the library that the JDK brings (`src.zip`), and the trees named by `--tree`, where
they lie. javac reads and attributes all sources of a module and says of each name that is a type in
which file that is declared. Nothing is fetched, and no annotation processor runs. Exits 1 below the
promised figures.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.judged import Row, listing, printed, some, source_of

from sightline.codegraph.language import Reference
from sightline.codegraph.languages.java import Java, references

if TYPE_CHECKING:
    from collections.abc import Sequence

Edge = tuple[str, str]
"""A source and a file of the tree that it refers to."""

MODULES = (
    *("java.base", "java.compiler", "java.logging", "java.management", "java.naming", "java.prefs"),
    *("java.net.http", "java.rmi", "java.scripting", "java.security.sasl", "java.sql", "java.xml"),
    *("java.transaction.xa", "jdk.compiler", "jdk.internal.opt", "jdk.zipfs"),
)
"""Modules of the library that are judged; they need no others."""

BUILDS = ("pom.xml", "build.gradle", "build.gradle.kts")

JUDGE = r"""
import com.sun.source.tree.*;
import com.sun.source.util.*;
import com.sun.tools.javac.code.Symbol;
import java.io.*;
import java.util.*;
import javax.lang.model.element.Element;
import javax.lang.model.type.TypeKind;
import javax.tools.*;

public class Judge {
  public static void main(String[] options) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
    List<String> names = new BufferedReader(new InputStreamReader(System.in)).lines().toList();
    JavacTask task = (JavacTask) compiler.getTask(null, files, problem -> {}, List.of(options), null,
        files.getJavaFileObjectsFromStrings(names));
    List<CompilationUnitTree> units = new ArrayList<>();
    task.parse().forEach(units::add);
    task.analyze();
    Trees trees = Trees.instance(task);
    StringBuilder answer = new StringBuilder();
    for (CompilationUnitTree unit : units) {
      String from = unit.getSourceFile().getName();
      String all = unit.getSourceFile().getCharContent(true).toString();
      Set<String> found = new TreeSet<>();
      new TreePathScanner<Void, Void>() {
        void keep(Element element) {
          if (!(element instanceof Symbol.ClassSymbol) || element.asType().getKind() == TypeKind.ERROR) return;
          JavaFileObject source = ((Symbol.ClassSymbol) element).outermostClass().sourcefile;
          if (source != null && source.getKind() == JavaFileObject.Kind.SOURCE) found.add(source.getName());
        }
        Element meant() {
          try {
            return trees.getElement(getCurrentPath());
          } catch (Symbol.CompletionFailure gone) {
            return null;
          }
        }
        boolean written(Tree node) {  // of a lambda's parameter javac writes the type itself
          while (node instanceof MemberSelectTree) node = ((MemberSelectTree) node).getExpression();
          if (!(node instanceof IdentifierTree)) return true;
          long at = trees.getSourcePositions().getStartPosition(unit, node);
          return at >= 0 && all.startsWith(((IdentifierTree) node).getName().toString(), (int) at);
        }
        public Void visitIdentifier(IdentifierTree node, Void none) {
          if (written(node)) keep(meant());
          return null;
        }
        public Void visitMemberSelect(MemberSelectTree node, Void none) {
          if (written(node)) keep(meant());
          return super.visitMemberSelect(node, none);
        }
      }.scan(unit, null);
      found.remove(from);
      for (String each : found) answer.append(from).append('\t').append(each).append('\n');
    }
    System.out.print(answer);
  }
}
"""


def main() -> int:
    """Run and print; the exit status."""
    options = arguments()
    java = options.java or home()
    rows = [row for tree in options.tree for row in measured(java, tree, options.seen)]
    sources = os.path.join(java, "lib", "src.zip")
    if os.path.exists(sources):
        with tempfile.TemporaryDirectory() as room:
            tree = os.path.realpath(os.path.join(room, "library"))
            with zipfile.ZipFile(sources) as packed:
                mine = [
                    n for n in packed.namelist() if n.startswith(tuple(f"{m}/" for m in MODULES))
                ]
                packed.extractall(tree, mine)
            rows += measured(java, tree, options.seen, library=True)
    return printed(rows)


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description="Imports against Java's compiler.")
    parser.add_argument("--tree", action="append", default=[], help="another tree to judge")
    parser.add_argument("--java", help="the folder of the JDK; that of `javac` where not named")
    parser.add_argument("--seen", type=int, default=0, help="print so many differences")
    return parser.parse_args()


def home() -> str:
    """The folder of the JDK that `javac` is of."""
    found = shutil.which("javac")
    if found is None:
        raise SystemExit("There is no javac. Install a JDK, or name its folder by --java.")
    return os.path.dirname(os.path.dirname(os.path.realpath(found)))


def measured(java: str, tree: str, seen: int, *, library: bool = False) -> list[Row]:
    """The rows of a tree: ours, its imports alone, and imports by an expression over raw text."""
    tree = os.path.realpath(tree)
    paths = listing(tree)
    sources = [path for path in paths if path.endswith(".java")]
    judged = of_library(java, tree, sources) if library else of_modules(java, tree, paths, sources)
    resolver = Java(paths, lambda _: None)
    found, imported, plain = set[Edge](), set[Edge](), set[Edge]()
    times = []
    for path in sources:
        source = source_of(tree, path)
        began = perf_counter()
        pairs = [(e, file) for e in references(source) for file in resolver.targets(path, e)]
        times.append((perf_counter() - began) * 1e3)
        found |= {(path, file) for _, file in pairs}
        imported |= {(path, file) for each, file in pairs if each.kind == "import"}
        lines = (Reference(name.decode(), 1) for name in _LINE.findall(source))
        plain |= {(path, file) for each in lines for file in resolver.targets(path, each)}
    for word, edges in (("false", found - judged), ("missed", judged - found)):
        for edge in some(edges, seen):
            print(word, edge)
    name, wanted = os.path.basename(tree), len(judged)
    return [
        Row(name, "ours", len(found & judged), len(found), wanted, tuple(times)),
        Row(name, "imports", len(imported & judged), len(imported), wanted),
        Row(name, "expression", len(plain & judged), len(plain), wanted),
    ]


_LINE = re.compile(rb"(?m)^import\s+(?:static\s+)?([\w.]+)\s*;")


def of_library(java: str, tree: str, sources: list[str]) -> set[Edge]:
    """Return what javac says of Java's own library: the tree is all there is."""
    return said(java, tree, sources, ["--system", "none", "--module-source-path", tree])


def of_modules(java: str, tree: str, paths: list[str], sources: list[str]) -> set[Edge]:
    """Return what it says of each module of a build, which finds the sources of the others."""
    found = {os.path.dirname(path) for path in paths if os.path.basename(path) in BUILDS}
    modules = sorted(found | {""}, key=len, reverse=True)
    members: dict[str, list[str]] = {}
    roots: dict[str, str] = {}
    for path in sources:
        if not path.endswith("module-info.java"):
            module = next(m for m in modules if not m or path.startswith(f"{m}/"))
            members.setdefault(module, []).append(path)
            roots.setdefault(root_of(tree, path), module)
    edges = set[Edge]()
    for module, mine in members.items():
        others = [os.path.join(tree, root) for root, of in roots.items() if of != module]
        edges |= said(
            java, tree, mine, ["-sourcepath", ":".join(others) or os.path.join(tree, "-")]
        )
    return edges


def root_of(tree: str, path: str) -> str:
    """Return the folder of a source's package, by the declared name."""
    text = re.sub(rb"/\*.*?\*/|//[^\n]*", b"", source_of(tree, path), flags=re.DOTALL)
    declared = re.search(rb"\bpackage\s+([\w.]+)\s*;", text)
    package = declared[1].decode().replace(".", "/") if declared else ""
    return os.path.dirname(path).removesuffix(package).rstrip("/")


def said(java: str, tree: str, sources: Sequence[str], options: Sequence[str]) -> set[Edge]:
    """The edges that javac finds from these sources."""
    opened = ("--add-exports", "jdk.compiler/com.sun.tools.javac.code=ALL-UNNAMED")
    quiet = ("-proc:none", "-implicit:none", "-nowarn", "-XDshould-stop.ifError=FLOW")
    with tempfile.TemporaryDirectory() as room:
        judge = os.path.join(room, "Judge.java")
        Path(judge).write_text(JUDGE, encoding="utf-8")
        command = [os.path.join(java, "bin", "java"), "-Xmx3g", *opened, judge, *quiet, *options]
        names = "\n".join(os.path.join(tree, path) for path in sources)
        done = subprocess.run(command, input=names, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"javac did not judge {tree}: {done.stderr[-2000:]}")
    pairs = (line.split("\t") for line in done.stdout.splitlines())
    begin = len(tree) + 1
    return {(a[begin:], b[begin:]) for a, b in pairs if b.startswith(f"{tree}/")}


if __name__ == "__main__":
    sys.exit(main())
