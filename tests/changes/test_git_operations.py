"""What git's commits say of a file."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from sightline.changes.git_operations import (
    BlobIds,
    blob_ids,
    conflicted,
    is_from_commits,
    steps_of,
)
from sightline.filesystem.git.reflog import Move
from sightline.model.revision import MISSING, revision_of

A, B, C, D = (letter * 40 for letter in "abcd")
NONE = "0" * 40


def move(old, new, operation):
    return Move(old, new, 100, operation)


def came(before, after):
    return BlobIds(frozenset(before), frozenset(after))


def test_a_file_that_was_as_one_commit_has_it_and_is_as_the_other_has_it_is_from_commits_git():
    assert is_from_commits(came("a", "b"), ["a"], "b")
    assert not is_from_commits(came("a", "c"), ["a"], "b")
    assert is_from_commits(came("a", [None]), ["a"], None)
    assert is_from_commits(came([None], "b"), [None], "b")


def test_what_both_commits_have_alike_did_not_come_with_git():
    assert not is_from_commits(came("u", "a"), ["a"], "a")


def test_what_was_never_committed_may_be_thrown_away():
    assert is_from_commits(came("u", "b"), ["a"], "b")
    assert is_from_commits(came("u", "a"), ["a"], "a", discards=True)
    assert is_from_commits(came("u", "a"), [], "a", discards=True)


def test_what_was_committed_meanwhile_somebody_had_saved():
    assert not is_from_commits(came("u", "a"), [], "a", committed=True, discards=True)
    assert not is_from_commits(came("u", "b"), ["a"], "b", committed=True)
    assert is_from_commits(came("a", "b"), ["a"], "b", committed=True)


def test_a_text_that_is_not_at_hand_can_still_have_come():
    assert is_from_commits(came("", "b"), ["a"], "b")
    assert not is_from_commits(came("", "b"), ["b"], "b")


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
