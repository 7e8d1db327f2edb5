"""bench/imports_rust.py reads what the compiler prints, and sees what is wrong."""

from bench.imports_rust import Crate, Judged, Tree, compared, led

from bench import imports_rust

PRINTED = """
    Item {
        owner_id: DefId(0:3 ~ judged[14d2]::a),
        kind: Mod(
            a#0,
            Mod {
                spans: ModSpans {
                    inner_span: src/a/mod.rs:1:1: 3:13 (#0),
                },
            },
        ),
    }
    Item {
        owner_id: DefId(0:8 ~ judged[14d2]::a::{use#0}),
        kind: Use(
            Path {
                span: src/a/mod.rs:3:6: 3:24 (#0),
                res: PerNS {
                    type_ns: Some(
                        Def(
                            Enum,
                            DefId(0:9 ~ judged[14d2]::E),
                        ),
                    ),
                },
                segments: [
                    PathSegment {
                        ident: super#0,
                        hir_id: HirId(DefId(0:8 ~ judged[14d2]::a::{use#0}).1),
                        res: Err,
                    },
                    PathSegment {
                        ident: E#0,
                        hir_id: HirId(DefId(0:8 ~ judged[14d2]::a::{use#0}).2),
                        res: Err,
                    },
                ],
            },
        ),
    }
    Mod {
        spans: ModSpans {
            inner_span: src/lib.rs:1:1: 9:13 (#0),
        },
    }
"""


def test_what_the_compiler_prints_is_read():
    tree = Tree()
    tree.read(PRINTED.splitlines(keepends=True))
    assert tree.files == {"a": "src/a/mod.rs", "": "src/lib.rs"}
    (path,) = tree.paths
    assert (path.file, path.names, path.defined) == ("src/a/mod.rs", ["super", "E"], ["E"])
    assert led(Crate("x", "src/lib.rs", "2021", (), {}), tree, path, {}) == "src/lib.rs"


def test_right_and_wrong_answers_are_counted():
    key, other = ("a.rs", ("b", "C")), ("a.rs", ("d",))
    said = Judged({("a.rs", "b.rs"): {"b.rs", "c.rs"}}, {key: {"b.rs"}}, {"a.rs"})
    given = {key: {"b.rs"}, other: {"e.rs"}}
    right = compared("tree", "ours", said, given, {("a.rs", "c.rs")}, (1.0,))
    assert (right.right, right.judged, right.found, right.wanted) == (1, 1, 1, 1)
    assert right.kept
    wrong = compared("tree", "ours", said, {key: {"x.rs"}}, {("a.rs", "x.rs")}, (1.0,))
    assert (wrong.right, wrong.judged, wrong.found, wrong.wanted) == (0, 1, 0, 1)
    assert not wrong.kept


def test_where_a_path_may_go_on_elsewhere_nothing_is_judged():
    files = {"": "lib.rs", "a": "a.rs"}
    assert imports_rust.longest(files, ["a", "B"]) == "a.rs"
    assert imports_rust.longest(files, ["c", "B"]) is None
    assert imports_rust.longest(files, ["C", "B"]) == "lib.rs"
