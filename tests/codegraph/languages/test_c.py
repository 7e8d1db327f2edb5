"""What a source of C and its kin includes."""

import pytest

from sightline.codegraph.languages import c
from sightline.codegraph.languages.c import references


def read(source, path="a.cc"):
    return [(each.module, each.line, each.level) for each in references(source.encode(), path)]


@pytest.mark.parametrize(
    ("line", "module", "level"),
    [
        ('#include "a.h"', "a.h", 1),
        ("#include <a/b.h>", "a/b.h", 0),
        ('  #\tinclude"a.h" // why', "a.h", 1),
        ("# /* so */ include /**/ <a.h>", "a.h", 0),
        ('#import "A.h"', "A.h", 1),
        ('#include_next "a.h"', "a.h", 0),
        ('%:include "a.h"', "a.h", 1),
        ('#include "win\\a.h"', "win/a.h", 1),
        ('#include "it\'s.h"', "it's.h", 1),
        ("#include <a//b.h>", "a//b.h", 0),
        ('\ufeff#include "a.h"', "a.h", 1),
    ],
)
def test_a_directive_names_a_file(line, module, level):
    assert read(line) == [(module, 1, level)]


def test_a_line_may_go_on_in_the_next():
    assert read("\n#\\\n include \\\r\n <a.h>\n") == [("a.h", 2, 0)]


def test_every_branch_counts():
    source = '#if 0\n#include "a.h"\n#else /* don\'t */\n#include "b.h"\n#endif\n'
    assert [each[:2] for each in read(source)] == [("a.h", 2), ("b.h", 4)]


@pytest.mark.parametrize(
    "line",
    [
        "#include MACRO",
        "#include STR(a.h)",
        '#if __has_include("a.h")',
        '#included "a.h"',
        'x #include "a.h"',
        '#include "a.h',
        '#define include "a.h"',
        '#\\include "a.h"',
        '# /* so include "a.h"',
        "import a;",
    ],
)
def test_what_names_no_file_is_none(line):
    assert read(line) == []


@pytest.mark.parametrize(
    "hidden",
    [
        '/*\n#include "no.h"\n*/',
        '// so \\\n#include "no.h"',
        '// so \\\r\n#include "no.h"',
        'R"(\n#include "no.h"\n)"',
        'u8R"x(\n)"\n#include "no.h"\n)x"',
        '"a\\\n#include \\"no.h\\""',
        'R"(x)"; /*\n#include "no.h"\n*/',
        '/* " */ /*\n#include "no.h"\n*/',
        'n = 1 /**/*/* times\n#include "no.h"\n*/ 2;',
        "1'000 '\"' /*\n#include \"no.h\"\n*/",
    ],
)
def test_comments_and_strings_include_nothing(hidden):
    found = read(f'#include "a.h"\n{hidden}\n#include "b.h"\n')
    assert [each[0] for each in found] == ["a.h", "b.h"]


@pytest.mark.parametrize(
    "before",
    ["don't", '"', "#error can't", 'R"(', "1'000'000", "'\\'' '\"'", "// /*", '"/*"', "'", "/"],
)
def test_what_nothing_closes_hides_nothing(before):
    assert read(f'{before}\n#include "a.h"\n') == [("a.h", 2, 1)]


def test_c_knows_no_raw_strings():
    assert read('R"(\n#include "a.h"\n)"', "a.c") == [("a.h", 2, 1)]
    assert read('R"(\n#include "a.h"\n)"', "a.cc") == []


HOSTILE = [
    *(b"/*" * 10_000, b'"' * 10_000, b'R"(\n' * 4_000, b"'\n" * 4_000, b"\\\n" * 4_000),
    *(b"#\\\n" * 4_000, b"#\n" * 4_000, b'#include "a"\n' * 2_000, b"# /*\n" * 4_000),
    *(b" " * 4_000, b"#" + b" " * 4_000, b'#include "\n' * 4_000, b"//\\\n" * 4_000),
    *(b"".join(b'R"%d(\n' % n for n in range(4_000)), b"{" * 10_000, b"\0" * 10_000),
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:8]))
def test_hostile_sources_are_read_to_their_end(text):
    """In squares of their length it would take minutes."""
    assert len(references(text * 20 + b'\n#include "z"\n', "a.cc")) <= c.MOST
