"""git's log, read; and what its commits say of a file."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.core.events import GitMoved
from sightline.core.reflog import (
    NEWEST,
    Came,
    Move,
    after_told,
    blob_ids,
    came_with,
    conflicted,
    moves,
    since,
    steps_of,
    whole,
)
from sightline.core.revision import MISSING, revision_of
from sightline.core.timeline import Recorded

A, B, C, D = (letter * 40 for letter in "abcd")
NONE = "0" * 40


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
    one = whole(log, [True, True, False])
    assert (one.old, one.new, one.operation, one.detail) == (B, D, "rebase", "main")
    assert whole(log, []).old == A


def test_what_a_fact_tells_of_already_is_not_told_again():
    fact = GitMoved(A, B, "checkout", ("f",))
    told = [Recorded(1, "s", 100_000_000, 0, fact)]
    log = [move(A, B, "checkout"), move(B, C, "reset"), move(C, B, "reset")]
    assert after_told(log, told) == tuple(log[1:])
    assert after_told(log[1:], told) == tuple(log[1:])
    late = [move(A, B, "checkout", 101)]
    assert after_told(late, told) == tuple(late)


def came(before, after):
    return Came(frozenset(before), frozenset(after))


def test_a_file_that_was_as_one_commit_has_it_and_is_as_the_other_has_it_came_with_git():
    assert came_with(came("a", "b"), ["a"], "b")
    assert not came_with(came("a", "c"), ["a"], "b")
    assert came_with(came("a", [None]), ["a"], None)
    assert came_with(came([None], "b"), [None], "b")


def test_what_both_commits_have_alike_did_not_come_with_git():
    assert not came_with(came("u", "a"), ["a"], "a")


def test_what_was_never_committed_may_be_thrown_away():
    assert came_with(came("u", "b"), ["a"], "b")
    assert came_with(came("u", "a"), ["a"], "a", discards=True)
    assert came_with(came("u", "a"), [], "a", discards=True)


def test_what_was_committed_meanwhile_somebody_had_saved():
    assert not came_with(came("u", "a"), [], "a", committed=True, discards=True)
    assert not came_with(came("u", "b"), ["a"], "b", committed=True)
    assert came_with(came("a", "b"), ["a"], "b", committed=True)


def test_a_text_that_is_not_at_hand_can_still_have_come():
    assert came_with(came("", "b"), ["a"], "b")
    assert not came_with(came("", "b"), ["b"], "b")


def test_steps_of_a_stash():
    put, taken = steps_of(A, [C], [], [], put_away=True)
    assert (put.operation, put.old, put.new) == ("stash", A, C)
    assert (taken.operation, taken.old, taken.new) == ("stash apply", C, A)
    [popped] = steps_of(A, [], [C], [], put_away=True)
    assert popped.operation == "stash pop"


def test_a_commit_alone_is_no_step():
    assert steps_of(None, [], [], [move(A, B, "commit")], put_away=False) == []


def test_a_rebase_is_one_step_from_its_start():
    log = [move(A, B, "commit"), move(B, C, "rebase"), move(C, D, "rebase"), move(D, D, "rebase")]
    [step] = steps_of(None, [], [], log, put_away=False)
    assert (step.olds, step.news, step.commits) == ((B,), (D,), ((A, B),))


def test_a_checkout_that_leads_nowhere_is_no_step_but_a_reset_is():
    assert steps_of(None, [], [], [move(A, A, "checkout")], put_away=False) == []
    [step] = steps_of(None, [], [], [move(A, A, "reset")], put_away=False)
    assert (step.olds, step.news) == ((), (A,))


def test_what_a_clone_began_from_is_no_commit():
    assert steps_of(None, [], [], [move(NONE, A, "checkout")], put_away=False) == []


@given(st.binary(max_size=200))
def test_git_agrees_on_the_id_of_a_blob(data):
    asked = ["git", "hash-object", "--stdin", "--no-filters"]
    done = subprocess.run(asked, input=data, capture_output=True, check=True)
    assert done.stdout.decode().strip() in blob_ids(data, revision_of(data), "sha1")


def test_other_line_ends_are_the_same_blob():
    lf, crlf = b"a\nb\n", b"a\r\nb\r\n"
    assert blob_ids(lf, "r", "sha1") < blob_ids(crlf, "r", "sha1")


def test_a_file_that_is_not_there_has_no_id_and_one_not_at_hand_has_none_to_tell():
    assert blob_ids(None, MISSING, "sha1") == {None}
    assert blob_ids(None, "r", "sha1") == frozenset()
    [long] = blob_ids(b"", "r", "sha256")
    assert long is not None
    assert len(long) == 64


def test_a_merge_that_stopped_leaves_its_marks():
    assert conflicted(b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n")
    assert not conflicted(b"=======\n")
    assert not conflicted(None)
