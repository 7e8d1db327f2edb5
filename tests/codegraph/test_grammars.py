"""No source keeps a parser busy for long, nor takes much memory."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.grammars import HEAD_BYTES
from sightline.codegraph.language_table import language_of

HOSTILE = {
    ".py": ["(", '"\\"', "\\\n", "from a import (b,"],
    ".ts": ["=/[", "a/**/", "a<(b,", "import/*", "`${"],
    ".js": ["=/[", "a/**/", "export{a,"],
    ".go": ['"', "import (\n", "import a\n"],
    ".java": ["./*", "A<", "(<if", "? ; 1 ", "a.", "import a."],
    ".rs": ['r#"', "mod a {", "use a::{", 'path = "a"]mod '],
}
FIRST = {
    ".py": "import first\n",
    ".ts": 'import "first";\n',
    ".js": 'import "first";\n',
    ".go": 'package a\nimport "first"\n',
    ".java": "import first.A;\n",
    ".rs": "use first::a;\n",
}

WORK = """
import resource, sys, time
from sightline.codegraph.language_table import language_of
ending, units = sys.argv[1], sys.argv[2:]
for unit in units:
    began = time.process_time()
    list(language_of(ending).references((unit * (300_000 // len(unit))).encode(), "a" + ending))
    assert time.process_time() - began < 10, unit
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 600_000
"""


@pytest.mark.wide
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
@pytest.mark.parametrize("ending", HOSTILE)
def test_a_hostile_source_takes_little_time_and_memory(ending):
    done = subprocess.run(
        [sys.executable, "-c", WORK, ending, *HOSTILE[ending]],
        env={**os.environ, "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ending", FIRST)
@given(text=st.text("\"'`/*\\\n\r (){}[]<>,;:.!#$@=|importexfrmcludspackageA", max_size=60))
def test_any_text_is_read(ending, text):
    list(language_of(ending).references(text.encode(), f"a{ending}"))


@pytest.mark.wide
@pytest.mark.parametrize("ending", FIRST)
def test_a_source_too_long_for_its_parser_is_read_at_its_head(ending):
    """A bound on steps or time is met here; a source is then read as far as its head."""
    source = FIRST[ending] + "(" * 40 * HEAD_BYTES
    found = list(language_of(ending).references(source.encode(), f"a{ending}"))
    assert "first" in found[0].module
