"""The invariants of the house, as docs/architecture.md states them."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tools import house

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sightline"

FLOORS = (
    {"errors"},
    {"core"},
    {"render", "store", "workspace", "languages"},
    {"config"},
    {"services"},
    {"agents", "frameworks"},
    {"testing"},
    {"interfaces"},
    {"__main__"},
)
"""Rooms from the ground up. Imports go down, or stay in their room."""

CORE_MAY_IMPORT = {"__future__", "bisect", "collections", "difflib", "enum", "functools"} | {
    "array",
    *("hashlib", "heapq", "itertools", "json", "math", "operator", "re", "string", "unicodedata"),
    *("_json", "_sha2", "_sha256"),  # core.lean: what stands behind json and hashlib
    *("zlib", "isal"),  # core.deflate
    "tomllib",  # as json: what a manifest of Cargo says
}
CORE_MAY_NOT_CALL = {"open", "print", "input", "eval", "exec", "__import__"}

HOOK_ROOMS = ("errors", "config", "render", "core", "store", "workspace", "services")
NOT_IN_HOOKS = {"sightline.store.postgres.", "sightline.workspace.watch."}
"""A hook writes the embedded store and ends: no database server, nothing to watch."""

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60


def name_of(file: Path) -> str:
    dotted = ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts)
    return dotted.removesuffix(".__init__")


FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [name_of(file) for file in FILES]
each_module = pytest.mark.parametrize("file", FILES, ids=NAMES)


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports_of(tree: ast.AST, *, at_run_time: bool) -> set[str]:
    """Modules imported anywhere in a tree; those for the type checker only when asked for."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found |= (
                {f"{module}.{alias.name}" for alias in node.names}
                if module == "sightline"
                else {module}
            )
        elif at_run_time and is_type_checking(node):
            for other in node.orelse:  # type: ignore[attr-defined]
                found |= imports_of(other, at_run_time=True)
        else:
            found |= imports_of(node, at_run_time=at_run_time)
    return found


def room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "sightline" and len(parts) > 1 else None


def floor(named: str) -> int:
    """A public name of the package itself counts as a service, which most of them are."""
    homes = [number for number, rooms in enumerate(FLOORS) if named in rooms]
    return homes[0] if homes else floor("services")


@pytest.mark.parametrize("file", [file for file in FILES if room(name_of(file))], ids=str)
def test_imports_only_go_down_the_house(file):
    """Type imports too: what a room may not use, it may not speak of."""
    here = room(name_of(file)) or ""
    for module in imports_of(tree_of(file), at_run_time=False):
        there = room(module)
        if there and there != here:
            assert floor(there) < floor(here), f"{name_of(file)} imports {module}"


def test_every_room_has_a_floor():
    rooms = {room(name) for name in NAMES} - {None}
    assert rooms <= set().union(*FLOORS)


core_modules = pytest.mark.parametrize(
    "file", [file for file in FILES if room(name_of(file)) == "core"], ids=str
)


@core_modules
def test_core_imports_nothing_that_could_look_outside(file):
    modules = {m.split(".")[0] for m in imports_of(tree_of(file), at_run_time=True)}
    assert modules - {"sightline"} <= CORE_MAY_IMPORT


@core_modules
def test_core_calls_nothing_that_could_look_outside(file):
    called = {
        node.func.id
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & CORE_MAY_NOT_CALL


def run(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Python with our source and nothing else: no site-packages, no environment."""
    start = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); before = set(sys.modules)\n"
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", start + code, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# A module that does not import fails the tests below with its own name in the message.
HOOK_MODULES = [
    name
    for name in NAMES
    if room(name) in HOOK_ROOMS and not f"{name}.".startswith(tuple(NOT_IN_HOOKS))
]


def test_a_hook_imports_only_cheap_standard_modules():
    """tests/hook_closure.txt lists them. A hook starts on every tool call of an agent."""
    done = run(
        "import importlib, json\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))",
        *HOOK_MODULES,
    )
    assert not done.stderr
    imported = {name.split(".")[0] for name in json.loads(done.stdout)} - {"sightline"}
    allowed = (ROOT / "tests" / "hook_closure.txt").read_text().split("\n")
    public = {name for name in imported if not name.startswith("_")}  # accelerators vary
    assert public - {line.partition("#")[0].strip() for line in allowed} == set()


def test_the_hook_closure_holds_what_a_hook_stands_on():
    """The test above finds its modules by itself, so a room that went missing must be seen."""
    stands_on = {"config", "store.sqlite", "workspace.disk", "services.session"}
    assert {f"sightline.{name}" for name in stands_on} <= set(HOOK_MODULES)


def test_importing_sightline_is_silent_and_lazy():
    done = run("import sightline; print(sorted(set(sys.modules) - before))")
    assert (done.stdout, done.stderr) == ("['__future__', 'sightline']\n", "")


def test_every_module_can_be_the_first_to_be_imported():
    """No cycle of imports hides behind a lucky order."""
    done = run(
        "import importlib\n"
        "for name in sys.argv[1:]:\n"
        "    for loaded in [m for m in sys.modules if m.startswith('sightline')]:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n",
        *HOOK_MODULES,
    )
    assert not done.stderr


@each_module
def test_modules_and_functions_stay_readable(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES_MAX
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= FUNCTION_LINES_MAX, f"{node.name} has {lines} lines"


def test_no_figure_of_the_house_rises():
    """tools/house.json holds the limits. Else run: python tools/house.py --check"""
    assert house.rises(house.ratcheted(house.measure(SOURCE)), house.read_limits()) == []


def test_every_figure_that_may_not_rise_has_a_limit():
    assert set(house.read_limits()) == set(house.RATCHETED)


@each_module
def test_every_module_says_what_it_is_for(file):
    assert ast.get_docstring(tree_of(file))


def test_every_public_name_is_documented():
    import sightline

    for name in getattr(sightline, "__all__", ()):
        assert getattr(sightline, name).__doc__, f"sightline.{name} has no docstring"


MACHINE_PATH = re.compile(
    r"/(?:root|work)/|/(?:home|Users)/(?!(?:ada|me|user|you)\b)\w|/tmp/\w|[A-Z]:\\Users\\(?!(?:ada|me|user|you)\b)\w"
)


def test_no_path_of_a_machine_is_in_the_repository():
    """Ada, you and me may live in /home: such names are examples."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(listing, capture_output=True, check=True).stdout.decode()
    files = [ROOT / name for name in listed.split("\0") if (ROOT / name).is_file()]
    assert ROOT / "README.md" in files
    for file in files:
        found = MACHINE_PATH.findall(file.read_bytes().decode(errors="replace"))
        assert not found, f"{file.relative_to(ROOT)}: {found}"
