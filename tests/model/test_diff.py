import difflib
import itertools
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model.diff import STEPS, diff, unified

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "}\n", "\n"]), max_size=14)
edits = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 3), st.lists(st.sampled_from("xy}"), max_size=3)),
    max_size=4,
)


def rebuilt(a, b, hunks):
    out, at = [], 0
    for a0, a1, b0, b1 in hunks:
        out += a[at:a0] + b[b0:b1]
        at = a1
    return out + a[at:]


def changed(a, some):
    b = list(a)
    for at, cut, put in some:
        b[at : at + cut] = put
    return b


def size(hunks):
    return sum(a1 - a0 + b1 - b0 for a0, a1, b0, b1 in hunks)


@given(texts, texts, st.integers(0, 60))
def test_hunks_rebuild_the_new_text_whatever_the_budget(a, b, steps):
    for hunks in (diff(a, b), diff(a, b, steps)):
        assert rebuilt(a, b, hunks) == b


@given(texts, texts, st.integers(0, 60))
def test_hunks_are_in_order_apart_and_never_empty(a, b, steps):
    hunks = diff(a, b, steps)
    assert all(a1 > a0 or b1 > b0 for a0, a1, b0, b1 in hunks)
    for (_, a1, _, b1), (next_a0, _, next_b0, _) in itertools.pairwise(hunks):
        assert next_a0 > a1
        assert next_b0 > b1
        assert next_a0 - a1 == next_b0 - b1


@given(texts)
def test_equal_texts_have_no_hunk(a):
    assert diff(a, list(a)) == []


@given(st.lists(st.sampled_from("abcdefgh}"), min_size=5, max_size=30), edits)
def test_scripts_are_about_as_short_as_those_of_difflib(a, some):
    """Anchors keep lines together that a shortest script would tear apart, so a little slack."""
    b = changed(a, some)
    theirs = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    best = sum(i2 - i1 + j2 - j1 for tag, i1, i2, j1, j2 in theirs if tag != "equal")
    assert size(diff(a, b)) <= best * 1.5 + 4


@given(st.integers(0, 29), st.integers(0, 29))
def test_one_changed_line_among_unlike_lines_is_one_hunk(at, other):
    a = [f"line {n}\n" for n in range(30)]
    b = list(a)
    b[at] = "new\n"
    assert diff(a, b) == [(at, at + 1, at, at + 1)]
    b.insert(other, "put\n")
    assert size(diff(a, b)) == 3


def test_one_line_among_repeated_ones_is_one_small_hunk():
    a = ["  {\n", "    x\n", "  }\n", "\n"] * 500
    b = [*a[:1001], "    changed\n", *a[1002:]]
    assert diff(a, b) == [(1001, 1002, 1001, 1002)]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([f"{n}\n" for n in range(10_000)], [f"new {n}\n" for n in range(10_000)]),
        (["x\n", "y\n"] * 5_000, ["y\n", "y\n", "x\n"] * 3_300),
        ([f"{n % 7}\n" for n in range(10_000)], [f"{n * n % 7}\n" for n in range(10_000)]),
        (["}\n"] * 10_000, ["{\n", "}\n"] * 5_000),
    ],
    ids=["rewritten", "repetitive", "scrambled", "interleaved"],
)
def test_the_search_is_bounded_on_texts_that_have_little_in_common(a, b):
    """Counted by the lines the search compares, so that a slow machine cannot fail it."""
    compared = 0

    class Line(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    hunks = diff([Line(line) for line in a], [Line(line) for line in b])
    assert rebuilt(a, b, hunks) == b
    assert compared < STEPS + 20 * (len(a) + len(b))


@given(texts, texts, st.booleans(), st.booleans())
def test_a_unified_diff_says_what_git_can_apply(tmp_path, a, b, a_ends, b_ends):
    if not a_ends and a:
        a = [*a[:-1], "end"]
    if not b_ends and b:
        b = [*b[:-1], "end"]
    hunks = diff(a, b)
    if not hunks:
        assert unified(a, b, hunks, old="a/f", new="b/f") == "--- a/f\n+++ b/f\n"
        return
    (tmp_path / "f").write_bytes("".join(a).encode())
    text = unified(a, b, hunks, old="a/f", new="b/f")
    subprocess.run(
        ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"],
        input=text.encode(), cwd=tmp_path, check=True,
    )  # fmt: skip
    assert (tmp_path / "f").read_bytes() == "".join(b).encode()
