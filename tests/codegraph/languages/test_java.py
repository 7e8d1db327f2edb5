"""What a Java source refers to: imports, and types that it names."""

import pytest

from sightline.codegraph.languages import java


def references(source):
    return tuple(java.references(source))


def read(source):
    return [(each.module, each.line, each.names, each.kind) for each in references(source.encode())]


def names(source):
    return [each.module for each in references(source.encode())]


@pytest.mark.parametrize(
    ("line", "module", "taken"),
    [
        ("import a.b.C;", "a.b.C", ()),
        ("import a.b.Outer.Inner;", "a.b.Outer.Inner", ()),
        ("import\ta . b /* so */ . C ;", "a.b.C", ()),
        ("import static a.b.C.m;", "a.b.C", ("m",)),
        ("import static a.b.C.*;", "a.b.C", ("*",)),
        ("import a.b.*;", "a.b", ("*",)),
        ("import static_.C;", "static_.C", ()),
        ("import module.C;", "module.C", ()),
        ("\ufeffimport a.Ünder;", "a.Ünder", ()),
        ("import a.lower;", "a.lower", ()),
    ],
)
def test_an_import_is_a_type_or_what_is_taken_from_one(line, module, taken):
    assert read(line) == [(module, 1, taken, "import")]


def test_a_simple_name_tells_the_packages_it_may_be_of():
    source = "package a . b;\nimport c.d.*;\nimport e.F;\nclass G extends H {\n F f;\n}\n"
    assert read(source)[2:] == [("H", 4, ("a.b", "c.d", "java.lang"), "type")]


def test_what_the_source_gives_a_meaning_is_no_reference():
    source = (
        "import a.A; import static b.B.C; class D { enum E {} @interface F {} record G(A a) {} }"
    )
    assert names(source + "A C D E F G") == ["a.A", "b.B"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a.b.C.d();", ["a.b.C"]),
        ("Foo.Bar.baz", ["Foo"]),
        ("Foo::bar", ["Foo"]),
        ("foo().Bar", []),
        ("foo()\n  .Bar", []),
        ("this.class.foo", []),
        ("@Foo(Bar.class) T[]... x", ["Foo", "Bar", "T"]),
        ("void m(Arg... Xs)", ["Arg", "Xs"]),
        ("new Map.Entry<K, ? extends V>()", ["Map", "K", "V"]),
        ("1E5 0xFF 12L", []),
        ("Foo Foo a.B a.B", ["Foo", "a.B"]),
        ("import module java.base; A", ["A"]),
        ("xClass classX interfaces Y", ["Y"]),
    ],
)
def test_types_are_what_begins_with_a_capital(source, found):
    assert names(source) == found


@pytest.mark.parametrize(
    "hidden",
    [
        "// Foo import a.B;",
        "/* Foo\n * import a.B; */",
        '"Foo import a.B;"',
        r'"\" Foo import a.B;"',
        '"""\n Foo " import a.B; \\""" Foo """',
        "'A'",
        r"'\'' ",
    ],
)
def test_comments_and_strings_name_nothing(hidden):
    assert names(f"{hidden}\nimport c.D;") == ["c.D"]


def test_a_source_that_does_not_parse_is_read_all_the_same():
    source = "import a.B;\n<<<<<<< ours\nimport a.C\n=======\nimport a.D;\n>>>>>>> theirs\n}} ) Foo x\nBar"
    assert names(source) == ["a.B", "a.C", "a.D", "Foo", "Bar"]


def test_any_bytes_are_read():
    assert references(b"\xff\xfe\x00 import \xff") == ()
