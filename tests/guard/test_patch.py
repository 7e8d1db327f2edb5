"""Patches in both formats, through the verb, an answer and the command: judged alike, all or none."""

import pytest

import sightline

TEN = "".join(f"line {n}\n" for n in range(1, 11))


def update(path, body):
    return f"*** Update File: {path}\n{body}"


def patch(*sections):
    return "*** Begin Patch\n" + "".join(sections) + "*** End Patch\n"


def refused(s, text):
    with pytest.raises(sightline.EditRefused) as caught:
        s.patch(text)
    return caught.value


def test_all_sections_of_a_patch_are_one_batch(place, s):
    place.put("app.py", TEN)
    place.put("old.py", "x = 1\n")
    place.put("was.py", "y = 1\n")
    for name in ("app.py", "old.py", "was.py"):
        s.read(name)
    result = s.patch(
        patch(
            update("app.py", "@@ line 2\n-line 3\n+mine\n@@\n-line 9\n+ours\n line 10\n"),
            "*** Add File: new/a.py\n+a = 1\n",
            "*** Delete File: old.py\n",
            update("was.py", "*** Move to: new/is.py\n@@\n-y = 1\n+y = 2\n"),
        )
    )
    assert [result.path, *(other.path for other in result.others)] == ["app.py", "new/a.py", "old.py", "new/is.py"]  # fmt: skip
    assert place.text("app.py") == TEN.replace("line 3", "mine").replace("line 9", "ours")
    assert place.text("new/a.py") == "a = 1\n"
    assert place.text("new/is.py") == "y = 2\n"
    assert place.names() == ["app.py", "new"]


@pytest.mark.parametrize(
    "last",
    [
        update("b.py", "@@\n-line 99\n+mine\n"),
        "*** Add File: a.py\n+x\n",
        update("b.py", "*** Move to: c.py\n@@\n-line 1\n+mine\n"),
        "*** Delete File: none.py\n",
    ],
)
def test_one_refused_section_leaves_every_file_as_it_was(place, s, last):
    for name in ("a.py", "b.py", "c.py"):
        place.put(name, TEN)
        s.read(name)
    first = update("a.py", "@@\n-line 1\n+mine\n") if "a.py" not in last else "*** Add File: d.py\n+x\n"  # fmt: skip
    refused(s, patch(first, last))
    assert {place.text(name) for name in ("a.py", "b.py", "c.py")} == {TEN}
    assert place.names() == ["a.py", "b.py", "c.py"]


def test_lines_that_the_user_rewrote_are_stale_in_both_formats(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    place.put("a.py", TEN.replace("line 3", "LINE 3"))
    other = "--- a/a.py\n+++ b/a.py\n@@\n-line 3\n+mine\n"
    for text in (patch(update("a.py", "@@ line 2\n-line 3\n+mine\n")), other):
        error = refused(s, text)
        assert error.reason == "stale"
        assert "+LINE 3\n" in error.diff
    assert "LINE 3" in place.text("a.py")


def test_lines_that_moved_down_are_patched_where_they_are_now(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    place.put("a.py", f"new\n{TEN}")
    result = s.patch(patch(update("a.py", "@@ line 2\n-line 3\n+mine\n")))
    assert place.text("a.py") == f"new\n{TEN}".replace("line 3", "mine")
    assert "+new\n" in str(result.notice)


def test_a_hunk_with_two_places_is_refused_with_both(place, s):
    place.put("a.py", TEN + "line 3\n")
    s.read("a.py")
    error = refused(s, patch(update("a.py", "@@\n-line 3\n+mine\n")))
    assert error.reason == "ambiguous"
    assert error.message == "The old lines of hunk 1 occur 2 times in a.py, at lines 3, 11."
    assert "@@ def name():" in error.hint


def test_an_anchor_that_stands_nowhere_is_named(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    error = refused(s, patch(update("a.py", "@@ line 33\n-line 4\n+mine\n")))
    assert error.message == "The line behind @@ of hunk 1 is not in a.py: line 33"
    assert "is the most similar" in error.hint


def test_new_lines_with_no_place_are_called_that(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    assert "Hunk 1 has only new lines" in refused(s, patch(update("a.py", "@@\n+mine\n"))).message


def test_a_patch_that_ended_early_writes_nothing(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    cut = patch(update("a.py", "@@\n-line 1\n+mine\n")).removesuffix("*** End Patch\n")
    assert "the patch ends without '*** End Patch'" in refused(s, cut).message
    assert place.text("a.py") == TEN


def test_a_mode_is_refused_by_name_and_its_file_left_alone(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    mode = "diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n"
    error = refused(s, f"{mode}--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-line 1\n+mine\n")
    assert "The patch asks for the mode 100755 of a.py" in error.message
    assert place.text("a.py") == TEN


def test_a_second_hunk_without_numbers_is_applied_too(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    s.patch("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-line 1\n+one\n@@\n-line 9\n+nine\n")
    assert place.text("a.py") == TEN.replace("line 1\n", "one\n").replace("line 9", "nine")


def test_an_answer_s_change_may_hold_either_format(place, s):
    for name in ("a.py", "b.py", "c.py"):
        place.put(name, TEN)
        s.read(name)
    changes = [
        {"path": "a.py", "patch": patch(update("a.py", "@@ line 2\n-line 3\n+mine\n"))},
        {"path": "b.py", "patch": "@@ line 2\n-line 3\n+mine\n"},
        {"path": "c.py", "patch": "@@\n-line 3\n+mine\n@@\n-line 5\n+mine\n"},
    ]
    result = s.answer({"fileChanges": changes})
    assert not result.refused, result.text
    mine = TEN.replace("line 3", "mine")
    assert [place.text(name) for name in ("a.py", "b.py", "c.py")] == [mine, mine, mine.replace("line 5", "mine")]  # fmt: skip


def test_an_answer_s_patch_of_another_file_is_a_wrong_place(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    other = {"path": "a.py", "patch": patch(update("b.py", "@@\n-line 3\n+mine\n"))}
    with pytest.raises(sightline.AnswerInvalid, match="this file, and no other"):
        s.answer({"fileChanges": [other]})
