import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.model.merge_readings import histories, misses

from sightline.model.merge import merge

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


BASE = [f"{n}\n" for n in range(6)]


def _with(*lines, until):
    return [BASE[0], *(f"{line}\n" for line in lines), *BASE[until:]]


def test_going_on_from_what_others_wrote_is_no_conflict():
    """A text that has the others' line, and more beside it, takes nothing away from them."""
    assert list(merge(BASE, _with("U", "X", until=2), _with("U", until=2)).lines) == _with(
        "U", "X", until=2
    )
    assert merge(BASE, _with("U", until=2), _with("U", "V", until=2)).lines[1:3] == ("U\n", "V\n")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (_with("X", until=2), _with("U", until=2)),
        (_with("X", until=2), _with(until=2)),
        (_with("1", "X", until=3), _with("U", until=3)),
    ],
    ids=["rewritten", "deleted", "taken back"],
)
def test_what_takes_something_of_others_away_conflicts(ours, theirs):
    assert not merge(BASE, ours, theirs).clean


@given(sides())
def test_a_change_of_one_side_only_is_taken(three):
    base, ours, _ = three
    assert list(merge(base, ours, base).lines) == ours
    assert list(merge(base, base, ours).lines) == ours
    assert list(merge(base, ours, ours).lines) == ours


def lines(text):
    return [f"{letter}\n" for letter in text]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("apxxqb", "Apxqb", "apxqB", "ApxqB"),
        ("a}x}b", "Ax}b", "a}xB", "AxB"),
    ],
)
def test_both_sides_remove_the_same_one_of_equal_lines(base, ours, theirs, merged):
    assert list(merge(lines(base), lines(ours), lines(theirs)).lines) == lines(merged)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("apqb", "ApNqb", "apNqB", "ApNqB"),
        ("apxqb", "Apxxqb", "apxxqB", "ApxxqB"),
        ("ab", "aNB", "aNb", "aNB"),
        ("a", "xa", "x", "x"),
    ],
)
def test_an_insertion_that_both_sides_made_stands_once(base, ours, theirs, merged):
    assert list(merge(lines(base), lines(ours), lines(theirs)).lines) == lines(merged)


def test_the_same_removal_in_a_stretch_too_long_to_be_read_together():
    long = "ab" * 40
    merged = merge(lines(f"s{long}xx{long}t"), lines(f"S{long}x{long}t"), lines(f"s{long}x{long}T"))
    assert list(merged.lines) == lines(f"S{long}x{long}T")


def test_adjacent_changes_that_may_have_removed_the_same_line_conflict():
    assert not merge(lines("axxb"), lines("Axb"), lines("axB")).clean


def test_no_line_is_lost_or_doubled_by_any_reading():
    """A sample of bench/merging.py."""
    for base, ours, theirs in histories(500, seed=0):
        merged = merge(base, ours, theirs)
        if merged.clean:
            assert misses(base, ours, theirs, merged.lines) == (set(), set())


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
