"""Imports lead where Python's own machinery leads them."""

import sys
from importlib.machinery import PathFinder

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.language import Reference
from sightline.codegraph.languages.python import Python, references

TREE = [
    *("pyproject.toml", "src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/b.py", "src/pkg/py.typed"),
    *("src/pkg/sub/__init__.py", "src/pkg/sub/c.py", "src/pkg/sub/deep/d.py", "src/pkg/b.pyi"),
    *("tests/test_a.py", "tests/helper.py", "tests/json.py", "src/pkg/json.py", "time.py"),
    *("scripts/run.py", "scripts/tool.py", "plugins/one/x.py", "src/plugins/two/y.py"),
    *("other/setup.py", "other/lib/thing/__init__.py", "stubs/only.pyi", "src/only2.pyi"),
]


def targets(path, line, tree=TREE):
    """The files that one line leads to."""
    made = Python(tree, lambda _: None, standard={"json", "os"}, builtin={"time", "sys"})
    return tuple(f for each in references(line.encode()) for f in made.targets(path, each))


CASES = [
    ("tests/test_a.py", "import pkg", ("src/pkg/__init__.py",)),
    ("tests/test_a.py", "import pkg.a", ("src/pkg/a.py", "src/pkg/__init__.py")),
    (
        "tests/test_a.py",
        "from pkg.sub import c, attribute",
        ("src/pkg/sub/c.py", "src/pkg/sub/__init__.py", "src/pkg/__init__.py"),
    ),
    ("src/pkg/a.py", "from . import b", ("src/pkg/b.py", "src/pkg/b.pyi", "src/pkg/__init__.py")),
    ("src/pkg/a.py", "from .b import x", ("src/pkg/b.py", "src/pkg/b.pyi", "src/pkg/__init__.py")),
    ("src/pkg/a.pyi", "from .b import x", ("src/pkg/b.pyi", "src/pkg/b.py", "src/pkg/__init__.py")),
    ("src/pkg/sub/c.py", "from ..a import x", ("src/pkg/a.py", "src/pkg/__init__.py")),
    ("src/pkg/sub/c.py", "from . import *", ("src/pkg/sub/__init__.py", "src/pkg/__init__.py")),
    ("src/pkg/__init__.py", "from .a import x", ("src/pkg/a.py",)),
    ("src/pkg/sub/deep/d.py", "from ... import a", ("src/pkg/a.py",)),
    ("src/pkg/a.py", "from ...... import z", ()),
    ("src/pkg/a.py", "from .gone import z", ("src/pkg/__init__.py",)),
    ("tests/test_a.py", "import pkg.gone.x", ("src/pkg/__init__.py",)),
    ("tests/test_a.py", "import helper", ("tests/helper.py",)),
    ("tests/test_a.py", "import json", ("tests/json.py",)),
    ("src/pkg/a.py", "import json", ()),
    ("src/pkg/a.py", "import b", ()),
    ("scripts/run.py", "import tool", ("scripts/tool.py",)),
    ("scripts/run.py", "import time, os", ()),
    ("scripts/run.py", "import plugins.one.x", ("plugins/one/x.py",)),
    ("scripts/run.py", "from plugins.two import y", ("src/plugins/two/y.py",)),
    ("scripts/run.py", "import plugins", ()),
    ("scripts/run.py", "import thing", ("other/lib/thing/__init__.py",)),
    ("scripts/run.py", "import only2", ("src/only2.pyi",)),
    ("scripts/run.py", "import requests", ()),
    ("src/pkg/a.py", "import pkg.a", ("src/pkg/__init__.py",)),
    ("scripts/run.py", "import_module('pkg.a')", ("src/pkg/a.py", "src/pkg/__init__.py")),
]


@pytest.mark.parametrize(("path", "line", "files"), CASES)
def test_an_import_leads_to_the_files_it_runs(path, line, files):
    found = targets(path, line)
    if path == "src/pkg/sub/deep/d.py":  # deep/ has no __init__: the package above is not run
        assert found[0] == files[0]
    else:
        assert found == files


def test_a_package_goes_before_a_module_and_a_module_before_a_namespace():
    assert targets("m.py", "import x", ["m.py", "x.py", "x/__init__.py"]) == ("x/__init__.py",)
    assert targets("m.py", "import x.y", ["m.py", "x.py", "x/y.py"]) == ("x.py",)


def test_no_list_and_no_name_break_it():
    for module in ("", ".", "..", "a..b", "a" * 10_000, "a." * 10_000):
        assert Python([], lambda _: None).targets("", Reference(module, 1)) == ()
    assert Python(["a.py"], lambda _: None).targets("a.py", Reference("a", 1, level=10**9)) == ()


NAMES = st.sampled_from(["aa", "bb", "cc"])
FILES = st.builds(
    lambda folders, name: "/".join([*folders, name]) + ".py",
    st.lists(NAMES, max_size=3),
    st.one_of(NAMES, st.just("__init__")),
)


@given(
    st.sets(FILES, min_size=1, max_size=14).filter(lambda files: "__init__.py" not in files),
    st.lists(NAMES, min_size=1, max_size=4),
    st.lists(NAMES, max_size=2),
)
def test_it_agrees_with_the_import_machinery(tmp_path_factory, files, module, names):
    root = tmp_path_factory.mktemp("tree")
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("")
    want, search, package = [], [str(root)], True
    for part in module:
        spec = PathFinder.find_spec(part, search)
        folders = (spec and spec.submodule_search_locations) or []
        package = bool(folders)
        want += [spec.origin] if spec and spec.origin else []
        if not package:
            break
        search = list(folders)
    specs = [PathFinder.find_spec(name, search) for name in names if package]
    want += [spec.origin for spec in specs if spec and spec.origin]
    sys.path_importer_cache.clear()
    made = Python(sorted([*files, "start.py"]), lambda _: None)
    found = made.targets("start.py", Reference(".".join(module), 1, names=tuple(names)))
    assert {str(root / each) for each in found} == set(want)
