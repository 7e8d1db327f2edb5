"""The signatures of a source, by its grammar, in whatever state the source is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.outlines import outline

SOURCES = {
    "a.py": (
        "class A(B):\n    def f(self,\n          x: int) -> str:\n        return 'x'\n\nasync def g(): ...\n",
        [(1, 0, "class A(B):"), (2, 1, "def f(self, x: int) -> str:"), (6, 0, "async def g():")],
    ),
    "a.ts": (
        ("export interface X { a: number }\nexport class Y extends Z {\n  foo(a: string): void {}\n}\n"
        "export const k = async (a: number) => {\n  return a\n}\ntype Q = 1 | 2\nenum E { A }\n"),
        [
            (1, 0, "interface X"),
            (2, 0, "class Y extends Z"),
            (3, 1, "foo(a: string): void"),
            (5, 0, "const k = async (a: number) =>"),
            (8, 0, "type Q = 1 | 2"),
            (9, 0, "enum E"),
        ],
    ),
    "a.js": ("function f(a) {\n}\nclass C { m() {} }\n", [(1, 0, "function f(a)"), (3, 0, "class C"), (3, 1, "m()")]),
    "a.tsx": ("function App(): JSX.Element { return <div/> }\n", [(1, 0, "function App(): JSX.Element")]),
    "a.go": (
        "package a\ntype T struct {\n\tA int\n}\nfunc (t *T) F(a int) error {\n\treturn nil\n}\n",
        [(2, 0, "type T struct"), (5, 0, "func (t *T) F(a int) error")],
    ),
    "a.rs": (
        "pub struct S { a: i32 }\nimpl S {\n    pub fn f(&self) -> i32 { 1 }\n}\n",
        [(1, 0, "pub struct S"), (2, 0, "impl S"), (3, 1, "pub fn f(&self) -> i32")],
    ),
    "A.java": ("class A { int f(int a) { return a; } }\n", [(1, 0, "class A"), (1, 1, "int f(int a)")]),
    "a.md": ("# A heading\n", []),
    "a.c": ("int main() {}\n", []),
    "Makefile": ("all:\n", []),
}  # fmt: skip


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_are_listed_with_their_lines(path):
    source, expected = SOURCES[path]
    assert [(each.line, each.depth, each.text) for each in outline(path, source)] == expected


def test_a_part_of_a_source_has_an_outline_too():
    part = "        return 1\n\n    def half(self):\n        pass\n\ndef after(\n"
    assert "def half(self):" in [each.text for each in outline("a.py", part)]


def test_a_signature_is_short():
    [long] = outline("a.py", f"def f({', '.join(f'argument_{n}' for n in range(200))}): pass")
    assert len(long.text) == 200


@given(st.sampled_from([*SOURCES]), st.text(max_size=400))
def test_anything_may_be_a_source(path, text):
    found = outline(path, text)
    assert all(1 <= each.line <= each.last for each in found)
