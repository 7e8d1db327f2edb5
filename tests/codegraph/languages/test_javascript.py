"""What JavaScript and TypeScript import, by the grammars and without them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.languages import javascript
from sightline.codegraph.languages.javascript import found, references


@pytest.fixture(params=["parse", "text"])
def way(request, monkeypatch):
    """Both ways to read a source; the first is skipped where the extra is not installed."""
    if request.param == "text":
        monkeypatch.setattr(javascript, "_grammar", lambda name: None)
    else:
        pytest.importorskip("tree_sitter_typescript")
        pytest.importorskip("tree_sitter_javascript")
    return request.param


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
def test_every_shape_of_an_import_is_read(way, source, module, kind):
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
def test_what_only_looks_like_an_import_is_none(way, source):
    assert read(source) == []


def test_lines_are_those_of_the_names(way):
    source = '\n/* a\n */ import {\n  a,\n} from "./a";\nimport "./b"; import "./c";\n'
    assert [(name, line) for name, line, _ in read(source)] == [("./a", 5), ("./b", 6), ("./c", 6)]


def test_files_are_included_before_the_first_statement_only(way):
    source = '/// <reference path="./a.d.ts" />\n// b\nlet c;\n/// <reference path="./d" />\n'
    assert read(source) == [("./a.d.ts", 1, "include")]


def test_text_between_tags_is_no_string(way):
    source = "const a = <p>Don't {b} / <b>c</b></p>;\nconst d = import('./d');\n"
    assert [name for name, _, _ in read(source, "a.tsx")] == ["./d"]
    assert [name for name, _, _ in read(source, "a.jsx")] == ["./d"]


def test_a_component_is_read_for_its_scripts(way):
    source = '<p>import "./no"</p>\n<script setup lang="ts">\nimport A from "./A.vue";\n</script>\n'
    assert read(source + '<style>@import "./no";</style>', "a.vue") == [("./A.vue", 3, "import")]


def test_half_edited_sources_are_read_too(way):
    source = 'import "./a";\n<<<<<<< ours\nfunction f( {\n=======\nimport "./b";\n>>>>>>> theirs\n'
    assert [name for name, _, _ in read(source)] == ["./a", "./b"]


def test_marks_of_encodings_do_not_hide_the_first_import(way):
    source = 'import "./é";\n'
    assert [each.module for each in references(source.encode("utf-8-sig"), "a.js")] == ["./é"]
    assert [each.module for each in references(source.encode("utf-16"), "a.js")] == ["./é"]


def test_a_template_that_nothing_closes_hides_nothing():
    source = b'import "./a";\nlet b = `${c; import("./d");\n'
    assert [module for _, module, _ in found(source)] == [b"./a", b"./d"]


PIECES = [source for source, _, _ in SHAPES] + NOT_IMPORTS
PIECES += ["function f(a) { return /[/'\"]/g.exec(a) }", "let a = `\\`${{ b: `}` }.b}`;", "a++;"]
PIECES += [
    "class A { from() { return b / 2 / c } }",
    'let a = "\\"import \'./b\'";',
    "if (a) { b }",
]


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_both_ways_agree(pieces):
    pytest.importorskip("tree_sitter_typescript")
    text = "\n".join(pieces).encode()
    parsed = javascript._parsed(text, ".ts")
    assert parsed is not None
    assert sorted(parsed) == found(text)


@given(st.text("`${}\"'/*\\\n[] \t;.(),importexportfromrequiretypea", max_size=60))
def test_no_text_stops_the_walk(text):
    for offset, module, _ in found(text.encode()):
        assert text.encode()[offset : offset + len(module)] == module


HOSTILE = [
    b"`${",
    b"/*",
    b"'\\",
    b"=/[",
    b"import {a, ",
    b"import/*",
    b"from ",
    b"export{a,",
    b"a/**/",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_any_text_is_walked_to_its_end(unit):
    """In squares of its length it would take minutes."""
    assert found(b'import "a";' + unit * 60_000)[0][1] == b"a"


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_parser_that_struggles_does_not_keep_one_waiting(unit):
    """Its grammar can take squares of what it is given, and is given little."""
    found = references((b'import "a";' + unit * 20_000)[:60_000], "a.ts")
    assert found[0].module == "a"


def test_large_sources_are_read_without_a_parser(monkeypatch):
    monkeypatch.setattr(javascript, "_grammar", lambda name: pytest.fail("was parsed"))
    source = b'require("./a");' + b"let a=1;" * 40_000 + b'require("./b");'
    assert [each.module for each in references(source, "a.js")] == ["./a", "./b"]
