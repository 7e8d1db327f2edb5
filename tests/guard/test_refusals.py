"""Every reason to refuse: its message, its diff, its hint, and the file as it was."""

from __future__ import annotations

import os
from typing import get_args

import pytest

import sightline
from sightline.guard.words import REFUSALS
from sightline.model.events import Refused

TEN = "".join(f"line {n}\n" for n in range(1, 11))


def refused(s, act):
    with pytest.raises(sightline.EditRefused) as caught:
        act(s)
    return caught.value


def stale(place):
    place.put("a.py", TEN.replace("line 3", "LINE 3"))
    return lambda s: s.edit("a.py", "line 3\n", "mine\n")


def ambiguous(place):
    place.put("a.py", TEN + "line 3\n")
    return lambda s: s.edit("a.py", "line 3\n", "mine\n")


def not_found(place):
    return lambda s: s.edit("a.py", "  line 3\n\tline 4\n", "mine\n")


def unseen(place):
    place.put("b.py", TEN)
    return lambda s: s.write("b.py", "mine\n")


def deleted(place):
    (place.root / "a.py").unlink()
    return lambda s: s.edit("a.py", "line 3\n", "mine\n")


def kind_changed(place):
    (place.root / "a.py").unlink()
    (place.root / "a.py").mkdir()
    return lambda s: s.edit("a.py", "line 3\n", "mine\n")


def conflict(place):
    place.put("a.py", TEN.replace("line 3", "LINE 3"))
    return lambda s: s.write("a.py", TEN.replace("line 3", "mine"))


def unverifiable(place):
    place.put("b", "a file\n")
    return lambda s: s.create("b/c.py", "below a file\n")


def exists(place):
    return lambda s: s.create("a.py", "mine\n")


def no_change(place):
    return lambda s: s.edit("a.py", "line 3\n", "line 3\n")


def binary(place):
    return lambda s: s.edit("a.py", "line 3", "a\0b")


def scope(place):
    place.put(".vscode/settings.json", "{}\n")

    def act(s):
        s.read(".vscode/settings.json")
        s.edit(".vscode/settings.json", "{}", "[]")

    return act


CASES = [stale, ambiguous, not_found, unseen, deleted, kind_changed, conflict, unverifiable]
CASES += [exists, no_change, binary, scope]
WORDS = {
    "stale": "that you are editing",
    "ambiguous": "occurs 2 times",
    "not_found": "is not in a.py",
    "unseen": "was never shown",
    "deleted": "a.py was deleted by",
    "kind_changed": "no longer a regular text file",
    "conflict": "both rewrite the same lines",
    "unverifiable": "c.py",
    "exists": "exists already",
    "no_change": "has the new text already",
    "binary": "characters that a.py cannot hold",
    "scope": "needs the user's approval",
}


def tree(place):
    return {
        name: (place.root / folder / name).read_bytes()
        for folder, _, names in os.walk(place.root)
        for name in names
    }


ELSEWHERE = {"moved", "claimed", "too_large", "placeholder"}
"""Reasons whose refusals other files of tests play."""


def test_every_reason_is_played_and_has_words():
    reasons = {*get_args(sightline.RefusalReason)}
    assert reasons == {case.__name__ for case in CASES} | ELSEWHERE
    assert reasons - {"not_found", "moved"} == {*REFUSALS}  # these two are worded by what is there


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_refusal_says_what_and_what_next_and_leaves_the_disk(place, case):
    s = place.session()
    place.put("a.py", TEN)
    s.read("a.py")
    act = case(place)
    before = tree(place)
    error = refused(s, act)
    assert error.reason == case.__name__
    assert WORDS[error.reason] in error.message + error.hint or WORDS[error.reason] in str(error)
    assert error.hint
    assert tree(place) == before
    again = refused(s, act)
    # Once told that its text is gone, the agent is no longer stale: it asks for what is not there.
    assert again.reason in (error.reason, "not_found" if error.reason == "stale" else "stale")
    if error.reason != "unverifiable":
        assert (
            next(r.fact.reason for r in s._context.store.timeline(kinds=[Refused])) == error.reason
        )


@pytest.mark.parametrize("case", [stale, conflict], ids=lambda case: case.__name__)
def test_a_stale_refusal_carries_the_lines_as_they_are_now(place, ten, case):
    error = refused(ten, case(place))
    assert "-line 3\n+LINE 3\n" in error.diff
    assert "line 9" not in error.diff


def test_a_whole_write_over_lines_never_shown_names_them(place, s):
    place.put("a.py", "".join(f"{n}\n" for n in range(1, 501)))
    s.read("a.py", (1, 100))
    error = refused(s, lambda s: s.write("a.py", "short\n"))
    assert (error.reason, error.lines) == ("unseen", ((101, 500),))
    assert "101-500" in error.message


def test_an_ambiguous_text_is_named_by_its_lines(place, ten):
    error = refused(ten, ambiguous(place))
    assert error.lines == ((3, 3), (11, 11))


def test_a_text_that_differs_in_white_space_is_shown_as_it_stands(place, ten):
    error = refused(ten, not_found(place))
    assert "differ only in white space" in error.hint
    assert "- 1  ··line·3\n+ 3  line·3\n- 2  →line·4\n+ 4  line·4\n" in error.hint


def test_a_text_that_its_encoding_cannot_hold_says_so(place, s):
    place.put("a.txt", "caf\u00e9\n".encode("latin-1"))
    s.read("a.txt")
    error = refused(s, lambda s: s.edit("a.txt", "caf\u00e9", "caf\u00e9 \u2192"))
    assert error.reason == "binary"
    assert "latin-1" in error.message
    assert place.bytes("a.txt") == "caf\u00e9\n".encode("latin-1")


def test_broken_bytes_that_the_user_mended_do_not_stand_in_the_way(place, s):
    place.put("a.txt", b"caf\xc3\xa9 \xff\none\ntwo\n")
    text = s.read("a.txt").text
    place.put("a.txt", "caf\u00e9\none\ntwo\n")
    assert s.write("a.txt", text.replace("two", "2")).merged
    assert place.text("a.txt") == "caf\u00e9\none\n2\n"


@pytest.mark.parametrize("text", ["\ud800", "a\0b"], ids=["surrogate", "nul"])
def test_what_is_no_text_is_not_created(place, s, text):
    for act in (lambda s: s.create("a.py", text), lambda s: s.write("a.py", text)):
        assert refused(s, act).reason == "binary"
    assert place.names() == []


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (b"h\xc3\xa9llo \xff\n", "h\u00e9", "he"),
        (b"caf\xe9\nx\n", "caf\u00e9", "cafe"),
        (b"caf\xe9\nx\n", "caf\u00e9", "caf\u00c3\u00a9"),
    ],
    ids=["broken bytes stay", "plain ASCII now", "looks like UTF-8 now"],
)
def test_an_edit_that_changes_how_bytes_read_is_still_the_agents_own(place, s, before, old, new):
    place.put("a.txt", before)
    s.read("a.txt")
    s.edit("a.txt", old, new)
    assert s.check("a.txt").state == "fresh"
    assert s.changes() == []


def test_a_patch_that_cannot_be_read_says_how_one_looks(s):
    error = refused(s, lambda s: s.patch("change line 3 please\n"))
    assert error.reason == "not_found"
    assert "+++ b/path" in error.hint


def test_a_stale_delete_is_refused(place, ten):
    place.put("a.py", TEN + "more\n")
    error = refused(ten, lambda s: s.delete("a.py"))
    assert error.reason == "stale"
    assert "edit" not in error.message + error.hint
    missing = refused(ten, lambda s: s.delete("never.py"))
    assert missing.reason == "not_found"
    assert "create" not in missing.hint


def test_a_move_onto_something_is_refused(place, ten):
    place.put("b.py", "b\n")
    error = refused(ten, lambda s: s.move("a.py", "b.py"))
    assert (error.reason, error.path) == ("exists", "b.py")
    assert place.text("b.py") == "b\n"


def test_lines_outside_the_text_last_seen_are_not_found(ten):
    assert refused(ten, lambda s: s.edit_lines("a.py", 12, 13, "x")).reason == "not_found"
    assert refused(ten, lambda s: s.edit_lines("a.py", 9, 13, "x")).reason == "not_found"


def test_lines_that_were_not_shown_are_unseen(place, s):
    place.put("a.py", TEN)
    s.read("a.py", (1, 3))
    assert refused(s, lambda s: s.edit_lines("a.py", 5, 5, "x")).lines == ((5, 5),)
    s.edit_lines("a.py", 2, 2, "x")


def test_several_sections_of_one_file_in_a_patch_are_one_change(place):
    """As some agents print them: each hunk under a header of its own."""
    place.put("a.txt", "one\ntwo\nthree\n")
    s = place.session()
    s.read("a.txt")
    first = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n"
    second = "--- a/a.txt\n+++ b/a.txt\n@@ -3 +3 @@\n-three\n+3\n"
    result = s.patch(first + second)
    assert (result.path, result.others) == ("a.txt", ())
    assert place.text("a.txt") == "1\ntwo\n3\n"


def test_fresh_text_in_a_refusal_counts_as_shown_whole_once_acknowledged(place):
    """Policy refresh: no further read is needed."""
    place.put("a.txt", TEN)
    s = place.session(policy="refresh")
    s.read("a.txt", (8, 9))
    place.put("a.txt", TEN.replace("line 8", "LINE 8"))
    refusal = refused(s, lambda s: s.edit("a.txt", "line 8\nline 9\n", "8\n9\n"))
    assert refusal.text == place.text("a.txt")
    assert not s.check("a.txt").complete
    s.acknowledge(refusal)
    assert s.check("a.txt").complete
