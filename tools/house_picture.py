"""Draw the packages and their imports into docs/architecture.md, from the source itself.

python tools/house_picture.py [--check]

An arrow leads from a package to one that it imports; an import that longer ways lead to, too, has no arrow.
--check writes nothing, and ends with 1 where the page differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.house import ORDER, SOURCE, Tree

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
BEGIN, END = "<!-- made by tools/house_picture.py -->\n", "<!-- end -->\n"


def package_imports(source: Path = SOURCE) -> dict[str, set[str]]:
    """Return package -> the packages that it imports, in the order of the house."""
    files = sorted(source.rglob("*.py"))
    tree = Tree(
        source.name, {f.relative_to(source).as_posix(): f.read_text("utf-8") for f in files}
    )
    pairs = {
        (each.importer.partition(".")[0], each.imported.partition(".")[0])
        for each in tree.all_imports()
        if each.kind != "types"
    }
    present = [
        name for name in ORDER if (source / name).exists() or (source / f"{name}.py").exists()
    ]
    return {
        name: {below for below in present if (name, below) in pairs} - {name} for name in present
    }


def arrows(imports: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield the imports to which no longer way leads."""
    below: dict[str, set[str]] = {}
    for name, direct in imports.items():  # lowest first
        beyond = set().union(*(below[each] for each in direct))
        below[name] = direct | beyond
        yield from ((name, each) for each in imports if each in direct - beyond)


def diagram(imports: Mapping[str, set[str]]) -> str:
    """Return the picture as Mermaid draws it."""
    return "\n".join(["graph TD", *(f"  {a} --> {b}" for a, b in arrows(imports))])


def main() -> int:
    """Write the picture, or compare it."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = f"{before}{BEGIN}```mermaid\n{diagram(package_imports())}\n```\n{END}{after}"
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(wanted, encoding="utf-8")
    elif wanted != page:
        print(f"{PAGE.name} is not what the imports are. Run: python tools/house_picture.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
