"""The rules of the house, as docs/architecture.md states them. tools/house.py measures the tree."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Union, get_origin

import pytest

from tools import house

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sightline"

PURE_MAY_IMPORT = {
    "__future__",
    "ast",
    "msgspec",
    "binascii",
    "bisect",
    "codecs",
    "collections",
    "difflib",
    "enum",
    "functools",
} | {
    *(
        "array",
        "hashlib",
        "heapq",
        "itertools",
        "json",
        "math",
        "operator",
        "re",
        "shlex",
        "string",
    ),
    *("abc", "dataclasses", "datetime", "tomllib", "types", "typing", "unicodedata", "weakref"),
    *("rapidfuzz", "charset_normalizer"),
    *("tree_sitter", "tree_sitter_bash"),
}
CLOCKED_PARSER = "sightline.shell_parsing.syntax_tree"
"""Reads the clock only to end a parse that takes too long."""

PURE_MAY_NOT_CALL = {"open", "print", "input", "eval", "exec", "__import__"}


def name_of(file: Path) -> str:
    dotted = ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts)
    return dotted.removesuffix(".__init__")


FILES = sorted(SOURCE.rglob("*.py"))
PACKAGES = [file.parent for file in FILES if file.name == "__init__.py" and file.parent != SOURCE]
MODULES = {name_of(file) for file in FILES}


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def listed(package: Path, name: str) -> tuple[str, ...]:
    """The value of a tuple of strings, such as PUBLIC, in a package's __init__."""
    for node in tree_of(package / "__init__.py").body:
        if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets):
            values: tuple[str, ...] = ast.literal_eval(node.value)
            return values
    return ()


def pure_modules() -> set[str]:
    """The modules that a package's __init__ names as pure."""
    return {
        f"{name_of(package / '__init__.py')}.{module}"
        for package in PACKAGES
        for module in listed(package, "PURE")
    }


PURE = pure_modules()
PURE_FILES = [file for file in FILES if name_of(file) in PURE]


def imports_of(tree: ast.AST) -> set[str]:
    """The modules that a module imports anywhere, by full name."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in MODULES else node.module or "")
    return found


@pytest.mark.wide  # three seconds; .ci/run measures the house in a step of its own, too
def test_packages_follow_their_order_and_import_only_public_modules_of_each_other():
    """`python tools/house.py --check`, a step of its own in .ci/run, compares the other figures."""
    measured = house.measure(SOURCE)
    assert measured.imports_against_order == []
    assert measured.folders_not_in_plan == []
    assert measured.imports_past_public == []


@pytest.mark.parametrize("package", PACKAGES, ids=[p.name for p in PACKAGES])
def test_a_package_says_what_it_is_for_and_imports_nothing(package):
    tree = tree_of(package / "__init__.py")
    assert ast.get_docstring(tree)
    assert imports_of(tree) == set()
    for name in ("PUBLIC", "PURE"):
        for module in listed(package, name):
            assert (package / f"{module}.py").is_file(), f"{name} names {module}"


@pytest.mark.wide
def test_a_pure_module_imports_nothing_that_could_look_outside():
    allowed = PURE | {"sightline.errors", CLOCKED_PARSER}
    wrong = {
        (name_of(file), name)
        for file in PURE_FILES
        for name in imports_of(tree_of(file))
        if name.split(".")[0] not in PURE_MAY_IMPORT and name not in allowed
    }
    assert wrong == set()


def test_a_pure_module_calls_nothing_that_could_look_outside():
    called = {
        (name_of(file), node.func.id)
        for file in PURE_FILES
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert {each for each in called if each[1] in PURE_MAY_NOT_CALL} == set()


def run(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run code with our source and nothing else: no site-packages, no environment."""
    start = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); before = set(sys.modules)\n"
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", start + code, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


CLIENT_MAY_IMPORT = {"__future__", "gc", "os", "select", "stat", "sys", "time", "sightline"}


@pytest.mark.parametrize("name", ["hook_entry", "client", "event_lock", "protocol"])
def test_the_hook_client_imports_a_few_standard_modules(name):
    """A client starts on every tool call of an agent, and mostly asks the daemon and ends."""
    top = {
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for node in tree_of(SOURCE / "hooks" / f"{name}.py").body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {module.split(".")[0] for module in top} <= CLIENT_MAY_IMPORT
    ours = {module for module in top if module.startswith("sightline")}
    assert ours <= {f"sightline.hooks.{name}" for name in ("client", "event_lock", "protocol")}


OWN_DATABASES = {
    "sightline.subtasks.dbos_engine",
}
"""Modules that keep another SQLite file than the store (docs/design/0021-store.md)."""


def test_nothing_outside_the_store_knows_sqlite():
    texts = {name_of(file): file.read_text() for file in FILES}
    knowing = {name for name, text in texts.items() if re.search(r"import sqlite3|sqlite:", text)}
    assert {name for name in knowing if ".store." not in name} == OWN_DATABASES


def test_importing_sightline_is_silent_and_lazy():
    done = run("import sightline; print(sorted(set(sys.modules) - before))")
    assert (done.stdout, done.stderr) == ("['__future__', 'sightline']\n", "")


@pytest.mark.wide
def test_every_module_can_be_the_first_to_be_imported():
    """No cycle of imports hides behind a lucky order. A module of three stands for its neighbours."""
    step = 1 if os.environ.get("SIGHTLINE_TEST_WIDE") else 3
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    for loaded in [m for m in sys.modules if m.startswith('sightline')]:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    names = [name_of(file) for file in FILES if file.stem not in SCRIPTS]
    if find_spec("pydantic_ai") is None:  # the extra `agent`
        names = [name for name in names if ".reference_agent." not in name]
    if find_spec("dbos") is None:  # the extra `tasks`
        names = [name for name in names if name.rpartition(".")[2] not in OF_TASKS]
    command = [sys.executable, "-W", "error", "-c", code, *names[::step]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


OF_TASKS = {"dbos_engine", "dbos_orders", "worker_presence"}
"""Modules that need the extra `tasks`."""

SCRIPTS = {"__main__", "hook_entry", "daemon_entry", "macos", "windows"}
"""Modules that run when they are imported, and those of other systems."""


@pytest.mark.wide
def test_every_module_says_what_it_is_for():
    assert [name_of(file) for file in FILES if not ast.get_docstring(tree_of(file))] == []


def test_every_public_name_is_documented():
    import sightline

    for name in getattr(sightline, "__all__", ()):
        value = getattr(sightline, name)
        is_alias = get_origin(value) in (Literal, Union)  # its docstring stands in the source alone
        assert is_alias or value.__doc__, f"sightline.{name} has no docstring"


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


def test_the_map_of_the_house_is_true():
    """docs/architecture.md lists the packages, and says where twenty-five things are decided."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed_packages = re.findall(r"^([a-z_]+)/? {2,}\w", page, re.MULTILINE)
    top = {package.name for package in PACKAGES if package.parent == SOURCE} | {"errors"}
    assert set(listed_packages) == top
    rows = re.findall(r"^\| [A-Z].*\? \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 28
    for row in rows:
        for name in re.findall(r"`([\w/]+\.py)`", row):
            assert (SOURCE / name).is_file(), name
