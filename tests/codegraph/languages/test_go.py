"""What Go imports, told from the head of a source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.languages import go


def references(source):
    return tuple(go.references(source))


def read(source):
    return [(each.module, each.line) for each in references(source.encode())]


@pytest.mark.parametrize(
    "source",
    [
        'import "a.b/c"',
        'import c "a.b/c"',
        'import _ "a.b/c"',
        'import . "a.b/c"',
        "import `a.b/c`",
        'import"a.b/c"',
        'import ("a.b/c")',
        'import (\n"a.b/c"\n)',
        'import ( ; c "a.b/c" ; )',
        'import () ; import "a.b/c"',
        'import /* "no" */ ( // "no"\n/* "no" */ "a.b/c" // "no"\n)',
        'import é "a.b/c"',
        '// import "no"\nimport "a.b/c"',
    ],
)
def test_every_shape_of_an_import_is_read(source):
    assert [name for name, _ in read(f"package main\n{source}\n")] == ["a.b/c"]


@pytest.mark.parametrize(
    "source",
    [
        '// import "a"',
        '/* import "a" */',
        'var a = `\nimport "a"\n`',
        'var a = "import `a`"',
        'func imports() { important("a") }',
        'func f() { import "a" }',
    ],
)
def test_what_only_looks_like_an_import_is_none(source):
    assert read(f"package main\n{source}\n") == []


def test_lines_are_those_of_the_paths_and_no_mark_hides_the_first():
    source = '\ufeffpackage main\r\n\r\nimport (\r\n\t"a"\r\n\r\n\tb "c"\r\n)\r\nimport "d"\r\n'
    assert read(source) == [("a", 4), ("c", 6), ("d", 8)]


def test_half_edited_sources_are_read_too():
    source = 'package a\nimport (\n<<<<<<< ours\n"a"\n=======\n"b"\n>>>>>>> theirs\n)\nimport "c"\n'
    assert [name for name, _ in read(source)] == ["a", "b", "c"]
    assert [name for name, _ in read('package a\nimport (\n"a"\nfunc f() { g("b") }')] == ["a"]


def test_what_is_taken_from_a_package_goes_by_its_name_here():
    source = """package a
import (
    "x.y/client/v3"
    other "x.y/server"
    "gopkg.in/yaml.v3"
    "fmt"
)
func f() { client.New(); other.Start(other.Now); yaml.Marshal(a.b.Client); fmt.Println() }
"""
    taken = {each.module: each.names for each in references(source.encode())}
    assert taken == {
        "x.y/client/v3": ("New",),
        "x.y/server": ("Start", "Now"),
        "gopkg.in/yaml.v3": ("Marshal",),
        "fmt": (),
    }


@given(st.text("\"`'/*\\\n ();.import packagefunc", max_size=60))
def test_no_text_stops_the_walk(text):
    references(text.encode())


def test_names_may_be_of_any_letters():
    [found] = references(
        'import größe "x.y/z"\nvar a = größe.Ab + x.größe.No + ngröße.No\n'.encode()
    )
    assert found.names == ("Ab",)
