"""What a Python source imports is what the parser says, and no source stops the reading."""

import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.language import Reference
from sightline.codegraph.languages import python


def references(source):
    return tuple(python.references(source))


def by_parser(source):
    """The imports of a source by ast, as pairs of what ours says of them."""
    found: set[tuple[str, int, int, tuple[str, ...]]] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {(alias.name, node.lineno, 0, ()) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.add((node.module or "", node.lineno, node.level, names))
    return found


def ours(source):
    return {(r.module, r.line, r.level, r.names) for r in references(source) if r.kind != "dynamic"}


SHAPES = [
    "import a\n",
    "import a.b.c as d, e\n",
    "from . import b\n",
    "from .. import *\n",
    "from ...pkg.sub import (\n  one,  # why (really), this\n  two as three,\n)\n",
    "from . . . a . b import c\n",
    "from.a import b\n",
    "from .import importer\n",
    "from a \\\n  import b, \\\n  c\n",
    "if True: import a; import b\n",
    "try:\n  import a\nexcept ImportError:\n  from b import a\n",
    "def f():\n  from a import b\n",
    "class A:\n  import a\n",
    "if TYPE_CHECKING:\n  from a import b\n",
    "match x:\n  case 1:\n    import a\n",
    "x = 'import a'\n",
    'x = """\nimport a\n"""\n',
    "x = r'\\'; import a\n".replace("\\'", "\\\\'"),
    "# import a\n",
    "x = '''it's\nfrom a import b'''; import c\n",
    "x = f'{y!r}'  # don't\nimport c\n",
    "reimport = important = 1\n",
    "def g():\n  yield from a\n  raise b from c\n",
    "import größe\n",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_of_an_import_is_read_as_the_parser_reads_it(shape):
    assert ours(shape.encode()) == by_parser(shape)


@given(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=8))
def test_shapes_one_after_the_other_do_not_disturb_each_other(shapes):
    source = "".join(shapes)
    assert ours(source.encode()) == by_parser(source)


@pytest.mark.wide
def test_the_standard_library_is_read_as_the_parser_reads_it():
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[::4]
    assert len(files) > 20
    for file in files:
        source = file.read_bytes()
        assert ours(source) == by_parser(source), file.name


def test_modules_that_are_named_by_a_string_are_dynamic():
    source = b"import_module('a.b')\nimportlib.import_module('.c', __package__)\n__import__(name)\n"
    assert references(source) == (
        Reference("a.b", 1, kind="dynamic"),
        Reference("c", 2, 1, kind="dynamic"),
    )


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("# coding: latin-1\nimport größe\n".encode("latin-1"), "größe"),
        ("\n# -*- coding: shift_jis -*-\nx = '表'\nimport a\n".encode("shift_jis"), "a"),
        (b"\xef\xbb\xbfimport a\n", "a"),
        (b"x = 1\r\nimport a\r\n", "a"),
        ("import ﬁle\n".encode(), "file"),
    ],
)
def test_a_source_is_read_in_its_own_encoding(source, module):
    assert [each.module for each in references(source)] == [module]


@pytest.mark.parametrize("encoding", [b"no-such", b"punycode", b"hex", b"ascii"])
def test_a_wrong_encoding_stops_nothing(encoding):
    found = references(b"# coding: " + encoding + b"\nx = '\xff'\nimport a\n")
    assert [each.module for each in found] == ["a"]


@pytest.mark.parametrize(
    "source",
    [
        b"import a\nprint 'hello'\nexec code in space\n",
        b"import a\ndef f(:\n  x = (\n",
        b"import a\nx = 'never closed\ny = {{{\n",
        b"def broken(\nimport a\n",
    ],
)
def test_a_source_that_does_not_parse_is_read_all_the_same(source):
    assert [each.module for each in references(source)] == ["a"]


@given(st.binary(max_size=200))
def test_any_bytes_are_read(source):
    references(source + b"\nimport a\n")
