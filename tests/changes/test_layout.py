"""What a formatter may change and still be taken for one; and what no formatter changes."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.changes.layout import TEXT_MAX, same_but_layout

LAYOUT = [
    ("x = 1\n", "x=1"),
    ("f(a,\n  b,\n)\n", "f(a, b)\n"),
    ("x = 'a'\n", 'x = "a"\n'),
    ("x = 'it\\'s'\n", 'x = "it\'s"\n'),
    ("import b\nimport a\nx()\n", "import a\nimport b\n\nx()\n"),
    ("from a import (c,\n b,\n)\n", "from a import b, c\n"),
    ("import os, sys\n", "import os\nimport sys\n"),
    ("import {\n  b,\n  a,\n} from 'm';\n", 'import { a, b } from "m"\n'),
    ("if (x):\n  y\n", "if x:\n    y\n"),
    ("x = (a +\n b)\n", "x = a + b\n"),
    ("return (x)\n", "return x\n"),
    ("const f = x => x\n", "const f = (x) => x;\n"),
    ("if (a) {\n  return (b)\n}\n", "if (a) {\n    return b;\n}\n"),
    ("x = {\n  'a': 1,\n  'b': 2,\n}\n", 'x = {"a": 1, "b": 2}\n'),
    ("a\r\nb\r\n", "a\nb\n"),
    ("a", "a\n"),
    ("same\n", "same\n"),
    ("x = 0XFF\n", "x = 0xff\n"),
    ("f('a long '\n  'text')\n", 'f("a long text")\n'),
    ("\ufeffa\n", "a\n"),
    ("def f():\n\treturn 1\n", "def f():\n    return 1\n"),
    ("x = 1 + \\\n  2\n", "x = 1 + 2\n"),
]

MORE = [
    ("x = 1\n", "x = 2\n"),
    ("(a+b)*c\n", "a+b*c\n"),
    ("f(x)\n", "f x\n"),
    ("return x\n", "returnx\n"),
    ("[a, b]\n", "[a b]\n"),
    ("import a\n", "import b\n"),
    ("import a\n", "import a\nimport b\n"),
    ("x = 'a'\n", "x = a\n"),
    ("a\nb\n", "b\na\n"),
    ("f()\n", "f(1)\n"),
    ("a\n", "A\n"),
    ("a\n", ""),
]


@pytest.mark.parametrize(("before", "after"), LAYOUT)
def test_layout_is_layout_in_both_directions(before, after):
    assert same_but_layout(before, after)
    assert same_but_layout(after, before)


@pytest.mark.parametrize(("before", "after"), MORE)
def test_what_says_something_else_is_no_layout(before, after):
    assert not same_but_layout(before, after)
    assert not same_but_layout(after, before)


CODE = """\
import os, sys
from b import (d,
  c)
def f( a,b = 'x' ):
  if (a == b) :
      return ( a+b ) * g( [ 1,2,3 ], {'a':'b', "c" : 'd'} )
  else:
      assert (a), 'it is "a"'
  return ( a )
"""

lines = st.integers(0, CODE.count("\n") - 1)


@given(lines, st.sampled_from("abcxyzXYZ0123456789_"), st.integers(0, 60), st.booleans())
def test_one_letter_is_never_layout(line, letter, at, instead):
    """Nobody's change of one letter may be put down to a formatter."""
    text = CODE.splitlines(keepends=True)
    at %= len(text[line])
    old = text[line][at]
    if instead and (old == letter or not (old.isalnum() or old == "_")):
        return
    text[line] = text[line][:at] + letter + text[line][at + instead :]
    assert not same_but_layout(CODE, "".join(text))


def test_a_real_formatter_changes_layout_only():
    if find_spec("ruff") is None:
        pytest.skip("ruff is not installed here")
    asked = [sys.executable, "-m", "ruff", "format", "--isolated", "--stdin-filename", "a.py", "-"]
    done = subprocess.run(asked, input=CODE, capture_output=True, text=True, check=True)
    assert done.stdout != CODE
    assert same_but_layout(CODE, done.stdout)


def test_python_written_out_anew_from_its_tree_is_the_same_but_for_layout():
    """A formatter of another kind: nothing of the old layout is left."""
    code = "x=[1,2,\n 3]\nif x:\n\tprint( 'a',x )\n"
    assert same_but_layout(code, ast.unparse(ast.parse(code)) + "\n")


def test_a_text_too_long_to_compare_is_not_compared():
    long = "a " * TEXT_MAX
    assert not same_but_layout(long, f" {long}")
