"""Which files a path of Rust means."""

import pytest

from sightline.codegraph.language import Reference
from sightline.codegraph.languages.rust import Rust, affected, references


def over(files):
    read = {path: text.encode() for path, text in files.items()}
    return Rust(list(files), read.get)


def meant(files, source, path="src/lib.rs"):
    """All files that a source means, as it is written."""
    files = dict.fromkeys(files, "") if isinstance(files, list) else files
    resolver = over({"Cargo.toml": package("shop"), **files})
    found = [resolver.targets(path, each) for each in references(source.encode())]
    return [file for files in found for file in files]


def package(name, more="", edition="2021"):
    return f'[package]\nname = "{name}"\nedition = "{edition}"\n{more}'


@pytest.mark.parametrize(
    ("files", "source", "path", "targets"),
    [
        (["src/a.rs"], "mod a;", "src/lib.rs", ["src/a.rs"]),
        (["src/a/mod.rs"], "mod a;", "src/main.rs", ["src/a/mod.rs"]),
        (["src/a/b.rs", "src/b.rs"], "mod b;", "src/a.rs", ["src/a/b.rs"]),
        (["src/a/b.rs", "src/b.rs"], "mod b;", "src/a/mod.rs", ["src/a/b.rs"]),
        (["src/a/b.rs"], "mod a { mod b; }", "src/lib.rs", ["src/a/b.rs"]),
        (["src/a.rs"], "mod a;", "src/a.rs", []),
        (["README.md"], 'include_str!("../README.md");', "src/a.rs", ["README.md"]),
        (["x/b.rs"], "mod b;", "x/a.rs", ["x/b.rs"]),
    ],
)
def test_a_declared_module_is_the_file_where_it_lies(files, source, path, targets):
    assert meant([*files, "src/lib.rs"], source, path) == targets


TREE = ["src/lib.rs", "src/a.rs", "src/a/b.rs", "src/a/b/c.rs", "src/d/mod.rs", "src/d/e.rs"]


@pytest.mark.parametrize(
    ("source", "path", "targets"),
    [
        ("use crate::a::b::Item;", "src/d/e.rs", ["src/a/b.rs"]),
        ("use crate::a::b;", "src/d/e.rs", ["src/a/b.rs"]),
        ("use crate::a::Kind::*;", "src/d/e.rs", ["src/a.rs"]),
        ("use crate::Item;", "src/d/e.rs", ["src/lib.rs"]),
        (
            "use crate::a::{self, b, b::c::{X, Y}};",
            "src/d/e.rs",
            ["src/a.rs", "src/a/b.rs", "src/a/b/c.rs"],
        ),
        ("use super::Item;", "src/d/e.rs", ["src/d/mod.rs"]),
        ("use super::e::Item;", "src/d/f.rs", ["src/d/e.rs"]),
        ("use super::super::a::*;", "src/d/e.rs", ["src/a.rs"]),
        ("use super::a;", "src/d/mod.rs", ["src/a.rs"]),
        ("use super::super::super::a;", "src/d/e.rs", []),
        ("use self::c::X;", "src/a/b.rs", ["src/a/b/c.rs"]),
        ("mod c; pub use c::X;", "src/a/b.rs", ["src/a/b/c.rs"]),
        ("mod tests { use super::*; use super::c::X; }", "src/a/b.rs", ["src/a/b/c.rs"]),
        ("fn f() { crate::a::b::c::g(); }", "src/lib.rs", ["src/a/b/c.rs"]),
        ("use shop::a::b::X;", "tests/all.rs", ["src/a/b.rs"]),
        ("use shop::X;", "src/main.rs", ["src/lib.rs"]),
        ("use a::b;", "src/lib.rs", []),
        ("use std::fs;", "src/lib.rs", []),
    ],
)
def test_a_path_is_its_longest_beginning_that_is_a_file(source, path, targets):
    assert list(dict.fromkeys(meant([*TREE, path], source, path))) == targets


THROUGH = {
    "src/lib.rs": """
        mod hir; mod loom;
        pub use crate::hir::type_ref;
        pub use self::hir as other;
        pub mod prelude { pub use super::hir::*; }
        use circle::round;
        use crate::round as circle;
    """,
    "src/hir.rs": "pub mod type_ref;",
    "src/hir/type_ref.rs": "",
    "src/loom/mod.rs": "mod std; pub(crate) use self::std::*;",
    "src/loom/std/mod.rs": "pub(crate) mod sync { pub use std::sync::Mutex; } mod deep;",
    "src/loom/std/deep.rs": "",
}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("type_ref::TypeRef", "src/hir/type_ref.rs"),
        ("type_ref::*", "src/hir/type_ref.rs"),
        ("other::type_ref::TypeRef", "src/hir/type_ref.rs"),
        ("prelude::X", "src/lib.rs"),
        ("prelude::type_ref::X", "src/lib.rs"),
        ("loom::sync::Mutex", "src/loom/std/mod.rs"),
        ("loom::deep::X", "src/loom/std/deep.rs"),
        ("loom::nowhere::X", "src/loom/mod.rs"),
        ("circle::x::X", "src/lib.rs"),
        ("Kind::A", "src/lib.rs"),
    ],
)
def test_a_path_goes_on_through_what_a_source_brings_in(path, target):
    assert meant(THROUGH, f"use crate::{path};", "src/a.rs") == [target]


def test_every_program_has_modules_of_its_own():
    files = [*TREE, "src/main.rs", "src/bin/one.rs", "src/bin/two/main.rs", "src/bin/two/a.rs"]
    files += ["tests/one.rs", "tests/two.rs", "tests/common/mod.rs", "tests/common/a.rs"]
    assert meant(files, "use crate::X;", "src/a.rs") == ["src/lib.rs"]
    assert meant(files, "use crate::a::X;", "src/bin/two/main.rs") == ["src/bin/two/a.rs"]
    assert meant(files, "use crate::X;", "src/bin/two/a.rs") == ["src/bin/two/main.rs"]
    assert meant(files, "mod common;", "tests/one.rs") == ["tests/common/mod.rs"]
    assert meant(files, "use crate::common::a::X;", "tests/common/mod.rs") == ["tests/common/a.rs"]
    assert meant(files, "use crate::X;", "tests/common/mod.rs") == []


def test_a_manifest_may_name_the_roots():
    said = '[lib]\nname = "other"\npath = "code/top.rs"\n[[bin]]\nname = "x"\npath = "tool/x.rs"\n'
    files = {
        "Cargo.toml": package("shop", said),
        "code/top.rs": "",
        "code/a.rs": "",
        "tool/y.rs": "",
    }
    files["tool/x.rs"] = ""
    assert meant(files, "mod a;", "code/top.rs") == ["code/a.rs"]
    assert meant(files, "use crate::X;", "code/a.rs") == ["code/top.rs"]
    assert meant(files, "use other::a::X; mod y;", "tool/x.rs") == ["code/a.rs", "tool/y.rs"]
    assert meant(files, "use shop::a::X;", "tool/x.rs") == []


WORKSPACE = """
[workspace]
members = ["crates/*"]
[workspace.dependencies]
two-parts = { path = "crates/two" }
[patch.crates-io]
five = { path = "vendored/five" }
"""
NEEDS = """
[dependencies]
two-parts.workspace = true
renamed = { package = "three", path = "../three" }
five = "1"
six = "1"
[target.'cfg(unix)'.dev-dependencies]
four = { path = "../four", features = ["x"] }
"""


def test_crates_of_the_tree_are_those_that_the_manifest_names():
    files = {"Cargo.toml": WORKSPACE, "crates/one/Cargo.toml": package("one", NEEDS)}
    for name in ("one", "two", "three", "four", "six"):
        files |= {f"crates/{name}/src/lib.rs": "", f"crates/{name}/src/m.rs": ""}
        if name != "one":
            files[f"crates/{name}/Cargo.toml"] = package(name)
    files["crates/two/Cargo.toml"] = package("two-parts")
    files |= {"vendored/five/Cargo.toml": package("five"), "vendored/five/src/lib.rs": ""}
    source = "use {0}::m::X;"
    for name, target in [
        ("two_parts", "crates/two/src/m.rs"),
        ("renamed", "crates/three/src/m.rs"),
        ("three", None),
        ("four", "crates/four/src/m.rs"),
        ("five", "vendored/five/src/lib.rs"),
        ("six", None),
        ("::four", "crates/four/src/m.rs"),
        ("one", "crates/one/src/m.rs"),
    ]:
        found = meant(files, source.format(name), "crates/one/tests/all.rs")
        assert found == ([target] if target else []), name


def test_imports_do_without_settings_that_cannot_be_read():
    resolver = over({"Cargo.toml": "[package\n", "src/lib.rs": "", "src/a.rs": ""})
    assert resolver.targets("src/a.rs", Reference("crate", 1, names=("X",))) == ("src/lib.rs",)


def test_a_key_of_many_parts_is_not_parsed():
    resolver = over({"Cargo.toml": "a." * 300_000 + "b = 1\n", "src/lib.rs": "", "src/a.rs": ""})
    assert resolver.targets("src/a.rs", Reference("crate", 1, names=("X",))) == ("src/lib.rs",)


def test_a_path_may_be_too_long():
    assert over({"src/lib.rs": ""}).targets("src/lib.rs", Reference("a::" * 1000, 1, level=1)) == ()


def test_all_files_concern_all_of_them():
    concerned = affected(["README.md"])
    assert concerned is not None
    assert concerned.every
    assert affected([]) is None
