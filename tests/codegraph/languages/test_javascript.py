"""What JavaScript and TypeScript import."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph import grammars
from sightline.codegraph.languages import javascript


def references(source, path):
    return tuple(javascript.references(source, path))


def read(source, path="a.ts"):
    return [(each.module, each.line, each.kind) for each in references(source.encode(), path)]


SHAPES = [
    ('import a from "./a";', "./a", "import"),
    ('import * as a from "./a";', "./a", "import"),
    ('import b, { c as d, from, type E } from "./a";', "./a", "import"),
    ('import{a}from"./a";', "./a", "import"),
    ('import from from "./a";', "./a", "import"),
    ('import type from "./a";', "./a", "import"),
    ('import "./a.css";', "./a.css", "import"),
    ('import a /* why */ from // so\n "./a";', "./a", "import"),
    ('import { "b-c" as d } from "./a";', "./a", "import"),
    ('import a from "./a.json" with { type: "json" };', "./a.json", "import"),
    ('import type { A } from "./a";', "./a", "type"),
    ('import type A from "./a";', "./a", "type"),
    ('export * from "./a";', "./a", "export"),
    ('export * as a from "./a";', "./a", "export"),
    ('export { a, b as default } from "./a";', "./a", "export"),
    ('export type { A } from "./a";', "./a", "type"),
    ('const a = require("./a");', "./a", "require"),
    ("const a = require(`./a`).b;", "./a", "require"),
    ('import a = require("./a");', "./a", "require"),
    ('const a = await import("./a");', "./a", "dynamic"),
    ('import(/* webpackChunkName: "b" */ "./a").then(go);', "./a", "dynamic"),
    ('let a: import("./a").A;', "./a", "dynamic"),
    ('const a = [...require("./a")];', "./a", "require"),
    ('const a = `b${`c${require("./a")}`}d`;', "./a", "require"),
    ('const a = /["\'`]/.test(b); import("./a");', "./a", "dynamic"),
    ('const a = b / c; import("./a"); d / e;', "./a", "dynamic"),
]


@pytest.mark.parametrize(("source", "module", "kind"), SHAPES)
def test_every_shape_of_an_import_is_read(source, module, kind):
    assert [(name, how) for name, _, how in read(source)] == [(module, kind)]


NOT_IMPORTS = [
    '// import a from "./a"',
    '/* import "./a" */',
    "const a = 'import b from \"./a\"';",
    'const a = `\nimport b from "./a";\n`;',
    'const a = `${b}\nrequire("./a")`;',
    'a.require("./a"); a.import("./a");',
    'const a = /require("b")/;',
    'importing("./a"); $require("./a"); import.meta.url;',
    'require("./a" + b); import(`./${a}`); require(a, "./b");',
    'export const a = "./a"; export default "./b"; export type A = "./c";',
    'const from = "./a"; Array.from("./b");',
]


@pytest.mark.parametrize("source", NOT_IMPORTS)
def test_what_only_looks_like_an_import_is_none(source):
    assert read(source) == []


def test_lines_are_those_of_the_names():
    source = '\n/* a\n */ import {\n  a,\n} from "./a";\nimport "./b"; import "./c";\n'
    assert [(name, line) for name, line, _ in read(source)] == [("./a", 5), ("./b", 6), ("./c", 6)]


def test_text_between_tags_is_no_string():
    source = "const a = <p>Don't {b} / <b>c</b></p>;\nconst d = import('./d');\n"
    assert [name for name, _, _ in read(source, "a.tsx")] == ["./d"]
    assert [name for name, _, _ in read(source, "a.jsx")] == ["./d"]


def test_a_component_is_read_for_its_scripts():
    source = '<p>import "./no"</p>\n<script setup lang="ts">\nimport A from "./A.vue";\n</script>\n'
    assert read(source + '<style>@import "./no";</style>', "a.vue") == [("./A.vue", 3, "import")]


def test_half_edited_sources_are_read_too():
    source = 'import "./a";\n<<<<<<< ours\nf(1, 2;\n=======\nimport "./b";\n>>>>>>> theirs\n'
    assert [name for name, _, _ in read(source)] == ["./a", "./b"]


def test_marks_of_encodings_do_not_hide_the_first_import():
    source = 'import "./é";\n'
    assert [each.module for each in references(source.encode("utf-8-sig"), "a.js")] == ["./é"]
    assert [each.module for each in references(source.encode("utf-16"), "a.js")] == ["./é"]


PIECES = [source for source, _, _ in SHAPES] + NOT_IMPORTS
PIECES += ["function f(a) { return /[/'\"]/g.exec(a) }", "let a = `\\`${{ b: `}` }.b}`;", "a++;"]
PIECES += [
    "class A { from() { return b / 2 / c } }",
    'let a = "\\"import \'./b\'";',
    "if (a) { b }",
]


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_pieces_one_after_the_other_do_not_disturb_each_other(pieces):
    every = [each for piece in pieces for each in read(piece)]
    text = "\n".join(pieces)
    assert sorted((name, kind) for name, _, kind in read(text)) == sorted(
        (name, kind) for name, _, kind in every
    )


@pytest.mark.wide
def test_a_large_source_is_read(monkeypatch):
    monkeypatch.setattr(grammars, "PARSE_S", 60.0)  # on a busy machine as on a free one
    source = b'require("./a");' + b"let a=1;" * 40_000 + b'require("./b");'
    assert [each.module for each in references(source, "a.js")] == ["./a", "./b"]
