"""What Rust refers to, told from its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.languages import rust
from sightline.codegraph.languages.rust import NESTED_MOST as USE_DEPTH_MAX


def references(source):
    return tuple(rust.references(source))


def read(source):
    """References as they could be written: one `super` for each level above the first."""
    found = []
    for each in references(source.encode()):
        start = ["self", *["super"] * (each.level - 1)][-max(1, each.level - 1) :]
        module = "::".join([*(start if each.level else []), *filter(None, [each.module])])
        found += [
            (each.kind, module if not name else f"{module}::{name}") for name in each.names or ("",)
        ]
    return found


def used(source):
    return [path for kind, path in read(source) if kind == "import"]


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        ("use a;", ["a"]),
        ("use a::b;", ["a::b"]),
        ("use a::b as c;", ["a::b"]),
        ("use a::b as _;", ["a::b"]),
        ("use a::*;", ["a::*"]),
        ("use ::a::b;", ["::a::b"]),
        ("pub use crate::a::b;", ["crate::a::b"]),
        ("pub(in crate::x) use self::a;", ["crate::x", "self::a"]),
        ("use super::super::a::b;", ["super::super::a::b"]),
        ("use a::{b, c::d, e::{self, f as g}, *};", ["a::b", "a::e", "a::*", "a::c::d", "a::e::f"]),
        ("use {a::b, c};", ["a::b", "c"]),
        ("use a::{b, /* no::{ */ c, // no::d\n};", ["a::b", "a::c"]),
        ("use r#type::r#mod;", ["type::mod"]),
        ("use a\n  ::b // why\n  ::c;", ["a::b::c"]),
        ("use crate::é::a;", ["crate::é::a"]),
        ("extern crate a;", ["a"]),
        ("extern crate a as b; use b::c;", ["a", "a::c"]),
        ("use std::io; use io::Read;", ["std::io", "std::io::Read"]),
        ("mod a; use a::b;", ["self::a::b"]),
        ("use a::b; mod a;", ["self::a::b"]),
        ("fn f() { crate::a::b(); super::c::D::e::<u8>() }", ["crate::a::b", "super::c::D::e"]),
        ("cfg_if! { if #[cfg(x)] { use crate::a::b; } }", ["crate::a::b"]),
    ],
)
def test_every_shape_of_a_path_is_read(source, paths):
    assert used(source) == paths


@pytest.mark.parametrize(
    "source",
    [
        "// use a::b;",
        "/* /* */ use a::b; */",
        '"use a::b; \\" mod c;"',
        'r#"use a::b; " mod c;"#',
        'b"mod c;"',
        "macro_rules! m { ($a:ident) => { use crate::a; mod c; mod d { use super::e; } } }",
        "fn f(a: impl Fn() + use<'a, T>) { $crate::a::b() }",
        "let model; a.crate_::b(); user::c(); superb::d();",
        "extern crate self;",
    ],
)
def test_what_only_looks_like_a_path_is_none(source):
    assert read(source) == []


def test_quotes_and_lifetimes_hide_nothing():
    source = "fn f<'a>(x: &'a str) -> ['\"', '\\'', '{', 'é', '\\u{1F600}'] { crate::b::c() }"
    assert used(source) == ["crate::b::c"]


def test_modules_are_declared_where_they_stand():
    source = "pub mod a; mod b { pub(crate) mod c; mod d { mod e; } mod f; } mod r#g;"
    assert [path for kind, path in read(source) if kind == "mod"] == [
        "self::a",
        "self::b::c",
        "self::b::d::e",
        "self::b::f",
        "self::g",
    ]


def test_paths_in_modules_are_told_from_the_file_s_own():
    source = """
        mod a {
            use super::b::C;
            use self::d::E;
            mod f { use super::super::g; use super::super::super::h; fn i() { if x { y } } }
            use super::j;
        }
        use super::k;
    """
    assert used(source) == [
        *("self::b::C", "self::a::d::E", "self::g", "self::j", "super::h", "super::k"),
    ]


def test_files_are_included():
    source = 'include!("a.rs"); const B: &str = include_str! ( "b.txt" ); include_bytes!["c"];'
    assert read(source) == [("include", "a.rs"), ("include", "b.txt"), ("include", "c")]


def test_lines_are_those_of_the_first_name():
    source = "\n/* a\n */ use a::{\n  b,\n};\nuse c::d; use a::e;\n\nmod f;\n"
    found = [(each.module, each.names, each.line) for each in references(source.encode())]
    assert found == [("a", ("b", "e"), 4), ("c", ("d",), 6), ("f", (), 8)]


def test_half_edited_sources_are_read_too():
    source = "use a::b;\n<<<<<<< ours\nuse c::{d};\n=======\nuse e::f;\n>>>>>>> theirs\nuse g::h;"
    assert used(source) == ["a::b", "c::d", "e::f", "g::h"]


def test_nobody_nests_as_deep():
    deep = "use " + "a::{" * (USE_DEPTH_MAX * 2) + "b" + "}" * (USE_DEPTH_MAX * 2) + "; use c::d;"
    assert used(deep)[-1:] == ["c::d"]


@given(st.text("\"'/*r#\\\n (){}:;,.!moduseascratepf", max_size=60))
def test_no_text_stops_the_walk(text):
    references(text.encode())
