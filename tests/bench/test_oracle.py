"""The judge is judged: on cases made by hand, and against `git merge-file`."""

import subprocess

import pytest
from bench.oracle import Evidence, Judgement, judge, known_after, lost, merged, region_untouched
from hypothesis import given, settings
from hypothesis import strategies as st

BASE = b"one\ntwo\nthree\nfour\nfive\n"
NOTHING = Judgement(false_alarm=False, silent_clobber=False, useful_merge=False, missed_merge=False)


def replace(old: bytes, new: bytes, **more):
    """Evidence of a replacement in BASE."""
    line = BASE[: BASE.index(old)].count(b"\n") + 1
    given_ = {"base": BASE, "shown": None, "target": (line, line), "ours": BASE.replace(old, new)}
    return Evidence(**given_ | {"accepted": True, "told": False} | more)


def write(ours: bytes, **more):
    """Evidence of a whole-file write over BASE."""
    given_ = {"base": BASE, "shown": None, "target": None, "ours": ours}
    return Evidence(**given_ | {"accepted": True, "told": False} | more)


def test_an_edit_of_an_unchanged_file_is_right():
    after = BASE.replace(b"two", b"2")
    assert judge(replace(b"two", b"2", before=BASE, after=after)) == NOTHING


def test_a_refusal_when_nothing_differs_is_a_false_alarm():
    assert judge(replace(b"two", b"2", before=BASE, after=BASE, accepted=False)).false_alarm
    assert judge(write(b"new\n", before=BASE, after=BASE, accepted=False)).false_alarm


def test_a_notice_when_nothing_differs_is_a_false_alarm():
    after = BASE.replace(b"two", b"2")
    assert judge(replace(b"two", b"2", before=BASE, after=after, told=True)).false_alarm


def test_a_notice_of_a_change_elsewhere_is_none():
    before = BASE.replace(b"five", b"FIVE")
    after = before.replace(b"two", b"2")
    assert judge(replace(b"two", b"2", before=before, after=after, told=True)) == NOTHING


def test_a_replacement_refused_for_a_change_elsewhere_is_a_false_alarm():
    before = BASE.replace(b"five", b"FIVE")
    evidence = replace(b"two", b"2", before=before, after=before, accepted=False)
    assert region_untouched(evidence)
    assert judge(evidence) == NOTHING._replace(false_alarm=True)


def test_a_replacement_refused_for_a_change_of_its_line_is_right():
    before = BASE.replace(b"two", b"zwei")
    assert judge(replace(b"two", b"2", before=before, after=before, accepted=False)) == NOTHING


def test_a_replacement_refused_because_its_text_stands_there_twice_is_right():
    before = BASE + b"two\n"
    assert judge(replace(b"two", b"2", before=before, after=before, accepted=False)) == NOTHING


def test_a_change_outside_the_shown_lines_is_not_to_be_told():
    before = BASE.replace(b"five", b"FIVE")
    after = before.replace(b"two", b"2")
    told = replace(b"two", b"2", shown=((1, 3),), before=before, after=after, told=True)
    assert judge(told).false_alarm


def test_a_line_added_after_a_last_line_that_was_shown_may_be_told():
    before = BASE + b"six\n"
    after = before.replace(b"four", b"4")
    told = replace(b"four", b"4", shown=((4, 5),), before=before, after=after, told=True)
    assert judge(told) == NOTHING
    told = replace(b"two", b"2", shown=((1, 3),), before=before, after=after, told=True)
    assert judge(told).false_alarm


def test_a_line_of_others_that_is_gone_is_a_clobber():
    before = BASE + b"theirs\n"
    ours = BASE.replace(b"two", b"2")
    assert judge(write(ours, before=before, after=ours)).silent_clobber


def test_a_line_that_nobody_meant_is_gone_is_a_clobber():
    """An edit by number that went one line too far."""
    after = BASE.replace(b"three", b"2")
    assert judge(replace(b"two", b"2", before=BASE, after=after)).silent_clobber


TOLD = "changed:\n{path}:\n```diff\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n```\n"
NOW = BASE.replace(b"two", b"TWO")


def test_a_diff_that_prints_every_line_tells_the_text():
    assert known_after(BASE, NOW, TOLD.format(path="a.py"), "a.py") == NOW
    assert known_after(BASE, NOW + b"six\n", TOLD.format(path="a.py"), "a.py") == BASE


def test_a_mention_and_another_files_diff_tell_nothing():
    assert known_after(BASE, NOW, TOLD.format(path="b.py"), "a.py") == BASE
    assert known_after(BASE, NOW, "changed:\na.py: 2 lines", "a.py") == BASE
    assert known_after(BASE, BASE, "", "a.py") == BASE


def test_lines_that_were_told_may_go():
    """Whoever composes a write after it was told drops them on purpose."""
    ours = BASE.replace(b"four", b"4")
    told = known_after(BASE, NOW, TOLD.format(path="a.py"), "a.py")
    assert judge(write(ours, before=NOW, after=ours)).silent_clobber
    assert judge(write(ours, base=told, before=NOW, after=ours)) == NOTHING
    refused = write(ours, base=told, before=NOW, after=NOW, accepted=False)
    assert judge(refused) == NOTHING._replace(false_alarm=True)


def test_a_deletion_by_others_that_is_undone_is_a_clobber():
    before = BASE.replace(b"four\n", b"")
    ours = BASE.replace(b"two", b"2")
    assert judge(write(ours, before=before, after=ours)).silent_clobber


def test_a_write_over_lines_never_shown_is_a_clobber_and_its_refusal_right():
    ours = b"one\n2\n"
    assert judge(write(ours, shown=((1, 2),), before=BASE, after=ours)).silent_clobber
    refused = write(ours, shown=((1, 2),), before=BASE, after=BASE, accepted=False)
    assert judge(refused) == NOTHING


def test_a_write_after_all_pages_were_read_is_no_clobber():
    ours = BASE.replace(b"two", b"2")
    assert judge(write(ours, shown=((1, 3), (4, 5)), before=BASE, after=ours)) == NOTHING


def test_both_words_of_one_line_kept_is_no_clobber():
    base = b"alpha beta gamma\n"
    before = b"alpha beta delta\n"
    after = b"omega beta delta\n"
    evidence = Evidence(base, None, b"omega beta gamma\n", (1, 1), before, after, True, False)
    assert not lost(evidence)


def test_flipped_line_ends_put_back_are_a_clobber():
    before = BASE.replace(b"\n", b"\r\n")
    ours = BASE.replace(b"two", b"2")
    assert judge(write(ours, before=before, after=ours)).silent_clobber
    kept = ours.replace(b"\n", b"\r\n")
    assert judge(write(ours, before=before, after=kept)) == NOTHING


def test_a_file_brought_back_after_others_deleted_it_is_a_clobber():
    assert judge(write(BASE, before=None, after=BASE)).silent_clobber
    assert judge(write(BASE, before=None, after=None, accepted=False)) == NOTHING


def test_another_file_changed_is_a_clobber():
    after = BASE.replace(b"two", b"2")
    assert judge(replace(b"two", b"2", before=BASE, after=after, elsewhere=True)).silent_clobber


def test_a_write_with_both_sides_changes_is_a_useful_merge():
    before = BASE.replace(b"five", b"FIVE")
    ours = BASE.replace(b"two", b"2")
    evidence = write(ours, before=before, after=before.replace(b"two", b"2"), told=True)
    assert judge(evidence) == NOTHING._replace(useful_merge=True)


def test_a_write_whose_own_change_is_dropped_is_no_useful_merge():
    before = BASE.replace(b"five", b"FIVE")
    ours = BASE.replace(b"two", b"2")
    assert not judge(write(ours, before=before, after=before)).useful_merge


def test_a_mergeable_write_refused_is_a_missed_merge():
    before = BASE.replace(b"three", b"THREE")
    ours = BASE.replace(b"two", b"2")
    refused = write(ours, before=before, after=before, accepted=False)
    assert judge(refused) == NOTHING._replace(missed_merge=True)


def test_a_conflicting_write_refused_is_right():
    before = BASE.replace(b"two", b"zwei")
    ours = BASE.replace(b"two", b"2")
    assert judge(write(ours, before=before, after=before, accepted=False)) == NOTHING


@pytest.mark.parametrize(
    ("ours", "theirs", "result"),
    [
        (b"one\n2\nthree\nfour\nfive\n", b"one\ntwo\n3\nfour\nfive\n", b"one\n2\n3\nfour\nfive\n"),
        (
            b"one\n2\nthree\nfour\nfive\n",
            b"one\n2\nthree\nfour\nfive\n",
            b"one\n2\nthree\nfour\nfive\n",
        ),
        (b"top\n" + BASE, BASE + b"end\n", b"top\n" + BASE + b"end\n"),
        (b"a\n" + BASE, b"b\n" + BASE, None),
        (b"", BASE.replace(b"two", b"2"), None),
    ],
)
def test_changes_of_different_lines_fit_together(ours, theirs, result):
    assert merged(write(ours, before=theirs, after=theirs)) == result


FEW_LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n"]), max_size=6).map(b"".join)


@settings(max_examples=60)
@given(base=FEW_LINES, ours=FEW_LINES, theirs=FEW_LINES)
def test_what_git_merges_cleanly_fits_together(tmp_path_factory, base, ours, theirs):
    """Git is coarser: whatever it merges must be mergeable for the judge, to the same lines."""
    folder = tmp_path_factory.mktemp("merge")
    for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_bytes(text)
    command = ["git", "merge-file", "-p", "--quiet", "ours", "base", "theirs"]
    git = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if git.returncode == 0:
        assert merged(write(ours, base=base, before=theirs, after=theirs)) is not None
