"""git's log, read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sightline.filesystem.git.reflog import NEWEST, Move, join_moves, moves, since, unrecorded_moves
from sightline.model.events import GitMoved
from sightline.model.timeline import Recorded

A, B, C, D = (letter * 40 for letter in "abcd")


def line(old, new, said, at_s=100):
    return f"{old} {new} Ada L. <ada@example.org> {at_s} +0200\t{said}\n"


def move(old, new, operation, at_s=100, detail=None):
    return Move(old, new, at_s, operation, detail)


@pytest.mark.parametrize(
    ("said", "operation", "detail"),
    [
        ("checkout: moving from main to feature", "checkout", "main..feature"),
        ("rebase (start): checkout main", "rebase", "main"),
        ("rebase (pick): a subject", "rebase", None),
        ("rebase (finish): returning to refs/heads/x", "rebase", None),
        ("reset: moving to HEAD~1", "reset", "HEAD~1"),
        ("merge feature: Fast-forward", "merge", "feature"),
        ("merge feature: Merge made by the 'ort' strategy.", "merge", "feature"),
        ("commit (merge): Merge branch 'x'", "merge", None),
        ("commit (cherry-pick): a subject", "cherry-pick", None),
        ("pull: Fast-forward", "pull", None),
        ("pull --rebase origin: Fast-forward", "pull", "--rebase origin"),
        ("cherry-pick: a subject", "cherry-pick", "a subject"),
        ('revert: Revert "a"', "revert", 'Revert "a"'),
        ("commit: a subject: with a colon", "commit", None),
        ("commit (amend): a subject", "commit", None),
        ("am: a patch", "am", "a patch"),
        ("", "", None),
    ],
)
def test_what_the_log_says(said, operation, detail):
    [made] = moves(line(A, B, said))
    assert (made.operation, made.detail) == (operation, detail)
    assert (made.old, made.new, made.at_s) == (A, B, 100)


def test_signs_that_a_terminal_obeys_are_not_passed_on():
    [made] = moves(line(A, B, "reset: moving to \x1b[31m" + "x" * 200))
    assert made.detail is not None
    assert "\x1b" not in made.detail
    assert len(made.detail) <= 81


@given(st.text())
def test_no_log_is_too_odd_to_be_read(text):
    for made in moves(text):
        assert len(made.old) in (40, 64)


def test_only_the_newest_lines_are_looked_at():
    assert len(moves(line(A, B, "reset: moving to x") * (NEWEST + 9))) == NEWEST


def test_what_happened_after_a_moment():
    log = [move(A, B, "checkout", 100), move(B, C, "checkout", 200)]
    assert since(log, 200) == (log[1],)
    assert since(log, 100) == tuple(log)


def test_where_the_clock_was_set_by_hand_it_is_the_last_operation():
    log = [move(A, B, "checkout", 5), move(B, C, "rebase", 5), move(C, D, "rebase", 5)]
    assert since(log, 100) == tuple(log[1:])
    assert since([], 100) == ()


def test_many_moves_are_one_from_where_the_file_was_last_seen():
    log = [
        move(A, B, "checkout", detail="x..y"),
        move(B, C, "rebase", detail="main"),
        move(C, D, "rebase"),
    ]
    one = join_moves(log, [True, True, False])
    assert (one.old, one.new, one.operation, one.detail) == (B, D, "rebase", "main")
    assert join_moves(log, []).old == A


def test_what_a_fact_tells_of_already_is_not_told_again():
    fact = GitMoved(A, B, "checkout", ("f",))
    told = [Recorded(1, "s", 100_000_000, 0, fact)]
    log = [move(A, B, "checkout"), move(B, C, "reset"), move(C, B, "reset")]
    assert unrecorded_moves(log, told) == tuple(log[1:])
    assert unrecorded_moves(log[1:], told) == tuple(log[1:])
    late = [move(A, B, "checkout", 101)]
    assert unrecorded_moves(late, told) == tuple(late)


def test_what_facts_tell_is_looked_for_behind_any_number_of_others_back_to_the_first_move():
    others = [Recorded(9, "s", 100_000_000, 0, GitMoved(C, D, "checkout", ("f",)))] * 20
    told = Recorded(1, "s", 100_000_000, 0, GitMoved(A, B, "checkout", ("f",)))
    log = [move(A, B, "checkout"), move(B, C, "reset")]
    assert unrecorded_moves(log, [*others, told]) == tuple(log[1:])
    newest_first = iter([structs.replace(told, happened_at=99_999_999), told])
    assert unrecorded_moves(log, newest_first) == tuple(log)
    assert [*newest_first] == [told]
