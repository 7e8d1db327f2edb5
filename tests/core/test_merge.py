import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.core.diff import diff
from sightline.core.merge import collide, merge

letters = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "}\n"]), max_size=8)
splices = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 2), st.lists(st.sampled_from(["x\n", "y\n", "}\n"]), max_size=2)),
    max_size=2,
)  # fmt: skip


def spliced(base, some):
    out = list(base)
    for at, cut, put in some:
        out[at : at + cut] = put
    return out


def unended(lines, *, without):
    return [*lines[:-1], lines[-1].removesuffix("\n")] if without and lines else lines


@st.composite
def sides(draw):
    """A base and two texts made of it; any of the three may lack its last newline."""
    base = draw(letters)
    three = [base, spliced(base, draw(splices)), spliced(base, draw(splices))]
    return [unended(lines, without=draw(st.booleans())) for lines in three]


@given(sides())
@example([["a\n", "b\n"], ["a\n", "b"], ["a\n", "b\n", "c\n"]])
def test_a_merge_is_the_same_from_both_sides(three):
    base, ours, theirs = three
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert one.lines == other.lines
    assert {pair[::-1] for pair in other.conflicts} == set(one.conflicts)


@given(sides())
@example([["a\n", "b\n"], ["a\n", "b"], ["a\n", "b\n", "c\n"]])
def test_what_is_merged_is_lines_of_the_three(three):
    """Nothing is invented: no two lines are glued into one, only the last may lack its newline."""
    merged = merge(*three)
    assert all(line.endswith("\n") for line in merged.lines[:-1])
    assert set(merged.lines) <= {line for text in three for line in text}


@given(sides())
def test_a_merge_is_clean_unless_two_changes_claim_the_same_lines(three):
    base, ours, theirs = three
    mine, other = diff(base, ours), diff(base, theirs)
    fighting = [
        (h, t)
        for h in mine
        for t in other
        if collide(h, t) and (h[:2], ours[h[2] : h[3]]) != (t[:2], theirs[t[2] : t[3]])
    ]
    merged = merge(base, ours, theirs)
    assert set(fighting) <= set(merged.conflicts)
    assert bool(merged.lines) <= merged.clean


@given(sides())
def test_a_change_of_one_side_only_is_taken(three):
    base, ours, _ = three
    assert list(merge(base, ours, base).lines) == ours
    assert list(merge(base, base, ours).lines) == ours
    assert list(merge(base, ours, ours).lines) == ours


@given(sides())
def test_a_clean_merge_has_both_sides_changes(three):
    """Taken away from the merged text, the changes of one side leave those of the other."""
    base, ours, theirs = three
    merged = merge(base, ours, theirs)
    if merged.clean:
        gained = sum(b1 - b0 - a1 + a0 for a0, a1, b0, b1 in diff(base, ours))
        both = set(map(tuple, _moves(base, ours))) & set(map(tuple, _moves(base, theirs)))
        twice = sum(len(put) - (end - start) for start, end, put in both)
        assert len(merged.lines) == len(theirs) + gained - twice


def _moves(base, text):
    return [(a0, a1, tuple(text[b0:b1])) for a0, a1, b0, b1 in diff(base, text)]


@given(sides())
def test_where_git_merges_too_the_texts_are_the_same(tmp_path, three):
    """On texts of unlike lines, where there is one way to read a change."""
    base, ours, theirs = three
    if any(len(set(text)) < len(text) for text in three):
        return
    merged = merge(base, ours, theirs)
    for name, text in zip(("base", "ours", "theirs"), three, strict=True):
        (tmp_path / name).write_bytes("".join(text).encode())
    git = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    if git.returncode == 0:
        assert merged.clean
        assert "".join(merged.lines).encode() == git.stdout


def test_neighbouring_changes_merge_and_equal_ones_are_made_once():
    base = ["a\n", "b\n", "c\n"]
    assert merge(base, ["A\n", "b\n", "c\n"], ["a\n", "B\n", "c\n"]).lines == ("A\n", "B\n", "c\n")
    assert merge(base, ["a\n", "X\n", "c\n"], ["a\n", "X\n", "c\n"]).lines == ("a\n", "X\n", "c\n")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["a\n", "X\n", "c\n"], ["a\n", "Y\n", "c\n"]),
        (["a\n", "x\n", "b\n", "c\n"], ["a\n", "y\n", "b\n", "c\n"]),
        (["a\n", "c\n"], ["a\n", "B\n", "c\n"]),
        (["a\n", "b\n", "c"], ["a\n", "b\n", "c\n", "d\n"]),
    ],
    ids=["same line", "same gap", "deleted and changed", "last newline"],
)
def test_changes_of_the_same_lines_conflict(ours, theirs):
    merged = merge(["a\n", "b\n", "c\n"], ours, theirs)
    assert not merged.clean
    assert merged.lines == ()
