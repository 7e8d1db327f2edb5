"""Every figure of tools/house.py, counted in a tiny package that is made up for it."""

from __future__ import annotations

import json
import subprocess
import textwrap

import pytest
from tools.house import Import, measure

from tools import house

PATHS = {
    "__init__": "__init__",
    "__main__": "__main__",
    "model____init__": "model/__init__",
    "model__sub____init__": "model/sub/__init__",
    "guard____init__": "guard/__init__",
    "model___own": "model/_own",
}
"""Files of the made-up packages whose names hold more underscores than their folders."""


@pytest.fixture
def package(tmp_path):
    """Write a package `demo`, each file from a keyword: guard__edit="…" is guard/edit.py."""

    def write(**files):
        root = tmp_path / "demo"
        for name, text in {"__init__": "", **files}.items():
            file = root / f"{PATHS.get(name) or name.replace('__', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text).lstrip("\n"))
        return root

    return write


def pairs(imports):
    return [(each.importer, each.imported) for each in imports]


def test_lines_of_code_leave_out_blank_lines_comments_and_docstrings(package):
    text = '''
        """A docstring
        of two lines."""

        # a comment
        X = """a text
        of two lines"""
        """A string about X."""
    '''
    root = package(model__a=text)
    found = measure(root)
    assert (found.lines, found.lines_of_code) == (7, 2)


def test_modules_and_the_largest_folder(package):
    found = measure(package(model__a="", model__b="", model__sub__c="", errors=""))
    assert found.modules == ["", "errors", "model.a", "model.b", "model.sub.c"]
    assert found.largest_folder == 2


def test_folders_that_the_plan_does_not_name(package):
    root = package(services__a="", model__b="", testing="", __main__="", core__c="")
    assert measure(root).folders_not_in_plan == ["core", "services"]


def test_an_import_goes_against_the_order_wherever_it_stands(package):
    upward = """
        def late():
            from demo.guard import edit
        TYPE_CHECKING = False
        if TYPE_CHECKING:
            from ..checkpoints.take import X
    """
    root = package(
        __init__="",
        model__a=upward,
        guard__edit="from demo.model import a\nimport demo.store.sqlite",
        checkpoints__take="",
        store__sqlite="import demo",
        api__session="import demo",
        testing="from demo.cli import main",
        cli__main="",
        strange__b="from demo.cli import main",
    )
    found = measure(root).imports_against_order
    assert found == [
        Import("model.a", "checkpoints.take", "types"),
        Import("model.a", "guard.edit", "late"),
        Import("store.sqlite", "", "top"),
    ]


def test_other_packages_may_import_the_modules_that_public_names(package):
    root = package(
        model____init__="PUBLIC = ('path',)",
        model__path="",
        model__hidden="",
        model__user="from demo.model import hidden",
        model__sub____init__="",
        store__a="from demo.model import path, hidden, sub\nfrom demo import model, errors",
        testing="from demo.model import hidden",
        errors="",
    )
    assert pairs(measure(root).imports_past_public) == [("store.a", "model.hidden")]


def test_a_package_without_public_has_no_public_modules(package):
    root = package(model____init__="", model__path="", store__a="import demo.model.path")
    assert pairs(measure(root).imports_past_public) == [("store.a", "model.path")]


def test_a_cycle_counts_late_and_type_only_imports(package):
    root = package(
        model__a="from demo.model import b",
        model__b="def late():\n    from demo.model import c",
        model__c="if TYPE_CHECKING:\n    from demo.model import a\nelse:\n    from demo.model import d",
        model__d="",
        model__e="from demo.model import a",
    )
    (cycle,) = measure(root).cycles
    assert cycle.modules == ["model.a", "model.b", "model.c"]
    assert cycle.imports == [
        Import("model.a", "model.b", "top"),
        Import("model.b", "model.c", "late"),
        Import("model.c", "model.a", "types"),
    ]


def test_two_cycles_are_told_apart(package):
    root = package(
        model__a="from demo.model import b",
        model__b="from demo.model import a",
        store__c="from demo.store import d\nfrom demo.model import a",
        store__d="from demo.store import c",
    )
    found = measure(root)
    assert [cycle.modules for cycle in found.cycles] == [
        ["model.a", "model.b"],
        ["store.c", "store.d"],
    ]
    assert found.figures()["modules in cycles"] == 4


@pytest.mark.parametrize(
    "text",
    [
        "TYPE_CHECKING = False",
        "from typing import Any, TYPE_CHECKING",
        "import typing\nif typing.TYPE_CHECKING:\n    import re",
    ],
)
def test_modules_that_ask_type_checking(package, text):
    root = package(model__a=text, model__b="from typing import Any")
    assert measure(root).asking_type_checking == ["model.a"]


def test_late_imports_count_once_for_each_function_around_them(package):
    text = """
        import os
        def outer():
            import re
            def inner():
                from json import loads
        class C:
            import ast
            async def method(self):
                import csv
    """
    found = measure(package(model__a=text)).late_imports
    assert found == [
        "model.a.inner:5 from json import loads",
        "model.a.method:9 import csv",
        "model.a.outer:3 import re",
        "model.a.outer:5 from json import loads",
    ]


def test_private_c_modules(package):
    text = """
        from __future__ import annotations
        import _json, json
        from _thread import RLock
        from . import _own
        from demo.model._own import x
        from ._own import x
        def late():
            import _json
    """
    root = package(model____init__="", model__a=text, model___own="x = 1")
    assert pairs(measure(root).private_c_modules) == [("model.a", "_json"), ("model.a", "_thread")]


def test_modules_with_one_importer(package):
    root = package(
        model____init__="",
        model__a="from demo.model import shared",
        model__b="from demo.model import shared, single",
        model__itself="from demo.model import itself",
        model__shared="",
        model__single="",
        store__c="import demo.model",
    )
    assert pairs(measure(root).single_importers) == [("model.b", "model.single")]


def test_private_functions_with_one_use(package):
    text = """
        def _once(): pass
        def _twice(): pass
        def _never(): pass
        def public(): _once()
        def __dunder__(): pass
        class C:
            async def _method(self):
                x = 1
                x = 2
                x = 3
                x = 4
                return x
            def go(self):
                _twice(), _twice()
                self._method()
                __dunder__()
    """
    found = measure(package(model__a=text, model__b="_never()"))
    assert found.functions == 7
    assert found.private_once == [("model.a._method", False), ("model.a._once", True)]
    assert found.figures()["of these under five lines"] == 1


def test_module_names_used_twice(package):
    root = package(
        model__paths="",
        store__paths="",
        text__words="",
        guard__words="",
        agents__pi__hooks="",
        agents__cline__hooks="",
        cli__paths="",
        codegraph__languages__go="",
        conversation__formats__go="",
        search__go="",
    )
    assert measure(root).names_twice == {"paths": ["model.paths", "store.paths"]}


def test_banned_whole_names(package):
    text = """
        def told(): pass
        def told_twice(): pass
        class Seen:
            def of(self): pass
    """
    found = measure(package(model__facts=text, guard__edit=text)).banned_names
    assert found == [
        *("guard.edit.Seen", "guard.edit.of", "guard.edit.told"),
        *("model.facts.of", "model.facts.told"),
    ]


def test_docstrings_to_read_again(package):
    text = '''
        """Edit files. What follows the first sentence is free."""
        def a():
            """What
            is found."""
        def b():
            """Return the line that was told; nothing else."""
        class C:
            """Take the text
            of which a line is missing: it is told."""
        def d(): pass
    '''
    found = measure(package(model__a=text))
    assert found.docstrings == 4
    assert [(riddle.place, riddle.reasons) for riddle in found.riddles] == [
        ("model/a.py:2 a", ("opens without a subject",)),
        ("model/a.py:5 b", ("passive",)),
        ("model/a.py:7 C", ("pronoun for a noun",)),
    ]
    assert found.figures()["docstrings to read again, percent"] == 75.0


@pytest.mark.parametrize(
    ("importer", "text", "imported"),
    [
        ("guard__edit", "from . import rules", "guard.rules"),
        ("guard__edit", "from .rules import x", "guard.rules"),
        ("guard__edit", "from ..errors import X", "errors"),
        ("guard__edit", "from .. import errors", "errors"),
        ("guard__edit", "from . import name", "guard"),
        ("guard__edit", "import demo.errors, demonstration", "errors"),
        ("guard__edit", "from demo import errors", "errors"),
        ("guard__edit", "from demo import Name", ""),
        ("guard____init__", "from . import rules", "guard.rules"),
        ("guard____init__", "from .. import errors", "errors"),
        ("cli", "from . import errors", "errors"),
    ],
)
def test_every_way_to_spell_an_import(package, importer, text, imported):
    files = {"guard____init__": "", "guard__rules": "", "errors": "", importer: text}
    root = package(**files)
    tree = house.Tree(
        "demo", {f.relative_to(root).as_posix(): f.read_text() for f in root.rglob("*.py")}
    )
    assert [each.imported for each in tree.all_imports()] == [imported]


def test_every_figure_that_counts_things_has_a_list(package):
    root = package(
        model__a="from demo.model import b\nTYPE_CHECKING = 1\ndef told(): import _json",
        model__b="from demo.model import a\ndef _x():\n    'It is.'\n_x()",
    )
    measures = measure(root)
    figures = measures.figures()
    for name, entries in measures.lists().items():
        if name not in ("cycles", "docstrings to read again, percent"):
            assert len(entries) == figures[name], name
    assert measures.lists()["cycles"] == [
        "2 modules: model.a, model.b",
        "  model.a imports model.b",
        "  model.b imports model.a",
    ]


# The limits


@pytest.fixture
def limits(tmp_path):
    return tmp_path / "limits.json"


def run(limits, root, *options):
    return house.main([*options, "--limits", str(limits), str(root)])


def test_the_limits_hold_what_may_not_rise_sorted_by_name(package, limits):
    root = package(model__a="X = 1\n")
    assert run(limits, root, "--write") == 0
    held = json.loads(limits.read_text())
    assert list(held) == sorted(house.RATCHETED)
    assert held["banned whole names"] == 0
    assert run(limits, root, "--check") == 0


def test_a_figure_that_rises_fails_the_check_and_is_named(package, limits, capsys):
    root = package(model__a="X = 1\n")
    run(limits, root, "--write")
    (root / "model" / "a.py").write_text("def told(): pass\n")
    assert run(limits, root, "--check") == 1
    said = capsys.readouterr().err
    assert said == "! banned whole names rose from 0 to 1\n    model.a.told\n"


def test_a_figure_that_falls_passes_and_write_lowers_its_limit(package, limits):
    root = package(model__a="def told(): pass\n")
    run(limits, root, "--write")
    (root / "model" / "a.py").write_text("X = 1\n")
    assert run(limits, root, "--check") == 0
    assert run(limits, root, "--write") == 0
    assert house.read_limits(limits)["banned whole names"] == 0


def test_write_raises_a_limit_only_by_force(package, limits):
    root = package(model__a="X = 1\n")
    run(limits, root, "--write")
    before = limits.read_text()
    (root / "model" / "a.py").write_text("def told(): pass\n")
    assert run(limits, root, "--write") == 1
    assert limits.read_text() == before
    assert run(limits, root, "--write", "--force") == 0
    assert house.read_limits(limits)["banned whole names"] == 1


@pytest.mark.parametrize("name", house.RATCHETED)
def test_every_limit_is_checked(name):
    now = dict.fromkeys(house.RATCHETED, 5.0)
    assert house.rises(now, {**now, name: 4.9}) == [house.Rise(name, 4.9, 5.0)]


def git(folder, *arguments):
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b.c"]
    subprocess.run([*command, *arguments], check=True, capture_output=True)


def test_new_offenders_are_found_by_the_commit_of_the_limits(package, limits, capsys):
    many = "".join(f"def f{n}():\n    'It is {n}.'\n" for n in range(house.SHORT + 1))
    root = package(model__a=many)
    run(limits, root, "--write")
    git(root.parent, "init", "-q")
    git(root.parent, "add", ".")
    git(root.parent, "commit", "-q", "-m", "Write the limits")
    (root / "model" / "a.py").write_text("# The lines move\n" + many + "def g():\n    'What is.'\n")
    git(root.parent, "commit", "-q", "-a", "-m", "Add a riddle")
    assert run(limits, root, "--check") == 1
    said = capsys.readouterr().err
    rise = said.partition("! docstrings to read again rose from 21 to 22\n")[2]
    entry = "    model/a.py:44 g: What is. (opens without a subject)\n"
    assert rise.partition("!")[0] == entry


def test_without_git_a_long_list_is_only_pointed_to(package, limits, capsys):
    many = "".join(f"def f{n}():\n    'It is {n}.'\n" for n in range(house.SHORT))
    root = package(model__a=many)
    run(limits, root, "--write")
    (root / "model" / "a.py").write_text(many + "def g():\n    'What is.'\n")
    assert run(limits, root, "--check") == 1
    assert '21 in all; see them with --list "docstrings to read again"' in capsys.readouterr().err


# The command


def test_the_table_marks_the_aims_that_are_missed(package, capsys):
    root = package(services__a="X = 1\n")
    assert house.main([str(root)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert "! folders not in the plan                  1  (aim 0)" in table
    assert "  lines                                    1" in table
    assert table[-1] == f"1 of {len(house.AIMS)} aims missed"


def test_a_list_is_found_by_part_of_its_name(package, capsys):
    root = package(model__a="from demo.model import b", model__b="")
    assert house.main([str(root), "--list", "one importer"]) == 0
    assert capsys.readouterr().out == "model.b: only model.a\n"
    assert house.main([str(root), "--list", "nonsense"]) == 2
