"""Imports of a large tree of several languages: each language's resolver has all of its paths.

    python bench/imports_mixed.py

The tree of bench/imports_javascript.py (packages of npm, as a workspace) has the sources of Django
beside them, and those of packages that pip brings. The judges are those of the two benches alone:
Python's own machinery, and the compiler of TypeScript. Exits 1 below the promised figures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from statistics import median

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import imports, imports_javascript, judged

WHEELS = ("sympy==1.13.3", "sqlalchemy==2.0.40", "networkx==3.4.2", "babel==2.17.0")
FILES = 10_000


def grown(folder: str) -> str:
    """The tree, of at least FILES files."""
    root = imports_javascript.workspace(os.path.join(folder, "tree"))
    sources = os.path.join(folder, "sources")
    os.makedirs(sources)
    os.rename(imports.downloaded(sources), os.path.join(root, "backend"))
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*pip, "-d", sources, *WHEELS], check=True)
    for wheel in Path(sources).glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(os.path.join(root, "vendored"))
    return root


def main() -> int:
    """Judge and print; the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        root = grown(folder)
        typescript = judged.fetched("typescript@5", os.path.join(folder, "typescript"))
        count = len(imports_javascript.listing(root))
        python = imports.judged("python", root, ("backend", "vendored"))
        rows = imports_javascript.measured("mixed", root, typescript, 0)
    print(f"One tree of {count:,} files.")
    print(imports.table([python]))
    for row in rows:
        right = f"{row.precision:.4f} / {row.recall:.4f}"
        print(
            f"javascript, {row.way}: {right} of {row.wanted:,}, {median(row.times):.2f} ms a file"
        )
    ours = [row for row in rows if row.way != "old rule"]
    kept = all(
        row.precision >= judged.PRECISION
        and row.recall >= judged.RECALL
        and median(row.times) <= judged.MILLISECONDS
        for row in ours
    )
    return int(not (count >= FILES and python.met and kept))


if __name__ == "__main__":
    sys.exit(main())
