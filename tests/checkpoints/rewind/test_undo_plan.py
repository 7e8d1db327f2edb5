"""Plans of undoing effects, as values."""

import pytest

from sightline.checkpoints.rewind.undo_plan import (
    CurrentState,
    Effect,
    Rename,
    Restore,
    Skipped,
    UndoPlan,
    group_effects,
    undo,
)
from sightline.model.revision import MISSING, UNKNOWN, as_link, revision_of

ONE, TWO, THREE = b"one\n", b"two\n", b"three\n"
TEXTS = {revision_of(data): data for data in (ONE, TWO, THREE)}
R1, R2, R3 = TEXTS


def effect(position, path, before, after, **more):
    return Effect(path, before, after, position, 0, **more)


def move(position, src, path, revision):
    return Effect(path, revision, revision, position, 0, src)


def state(data):
    return CurrentState(MISSING if data is None else revision_of(data), data)


def planned(effects, **files):
    current = {path: state(data) for path, data in files.items()}
    return undo(effects, current, TEXTS.get)


def test_effects_that_follow_on_each_other_are_one_step():
    done = planned([effect(1, "a", R1, R2), effect(2, "a", R2, R3)], a=THREE)
    assert done.steps == (Restore("a", R3, R1, ONE),)
    assert [each.position for each in done.effects] == [1, 2]


def test_an_effect_and_its_undoing_are_nothing():
    assert planned([effect(1, "a", R1, R2), effect(2, "a", R2, R1)], a=ONE) == UndoPlan()


def test_a_rename_and_its_undoing_are_nothing():
    done = planned([move(1, "a", "b", R1), move(2, "b", "a", R1)], a=ONE, b=None)
    assert done.steps == ()


def test_a_rename_is_undone_before_what_came_before_it():
    done = planned([effect(1, "a", R1, R2), move(2, "a", "b", R2)], a=None, b=TWO)
    assert done.steps == (Rename("b", "a", R2), Restore("a", R2, R1, ONE))


def test_a_file_made_where_another_was_moved_away_goes_first():
    done = planned([move(1, "a", "b", R1), effect(2, "a", MISSING, R2)], a=TWO, b=ONE)
    assert done.steps == (Restore("a", R2, MISSING, None), Rename("b", "a", R1))


def test_files_that_changed_places_get_their_names_back():
    swap = [move(1, "a", "t", R1), move(2, "b", "a", R2), move(3, "t", "b", R1)]
    done = planned(swap, a=TWO, b=ONE, t=None)
    assert done.steps == (Rename("b", "t", R1), Rename("a", "b", R2), Rename("t", "a", R1))


def test_paths_that_hang_together_are_left_alone_group_effects():
    done = planned([move(1, "a", "b", R1), effect(2, "b", R1, R2)], a=None, b=None)
    assert done.skipped == (Skipped("b", "deleted_since"), Skipped("a", "moved_since", other="b"))
    assert done.steps == ()


def test_a_text_that_is_not_kept_leaves_the_file_alone():
    done = planned([effect(1, "a", "f" * 64, R2)], a=TWO)
    assert done.skipped == (Skipped("a", "not_kept"),)


def test_what_stands_as_before_the_first_effect_is_not_left_alone():
    some = [effect(1, "a", R1, R2), effect(2, "a", MISSING, R1)]  # removed by others, forced back
    assert planned(some, a=ONE) == UndoPlan()
    assert planned(some, a=THREE).skipped[0].path == "a"


L1, L2, L3 = as_link("one"), as_link("two"), as_link("three")


@pytest.mark.parametrize(
    ("before", "after", "now", "why"),
    [
        (R1, R2, MISSING, "deleted_since"),
        (L1, L2, MISSING, "deleted_since"),
        (L1, L2, L3, "replaced_since"),
        (MISSING, L2, L3, "replaced_since"),
        (MISSING, R1, R2, "replaced_since"),
    ],
)
def test_where_others_removed_all_of_it_nothing_is_to_do(before, after, now, why):
    some = {"a": CurrentState(now, TEXTS.get(now))}
    done = undo([effect(1, "a", before, after)], some, TEXTS.get)
    assert done == UndoPlan(gone=(Skipped("a", why),))


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        (R1, L2, MISSING),  # the text of then is not back
        (R1, L2, L3),
        (R1, MISSING, R2),
        (R1, R2, L3),  # the file may have been moved to where that leads
        (MISSING, R1, L3),
        (MISSING, L1, R1),
        (L1, R1, R2),
        (R1, UNKNOWN, MISSING),
    ],
)
def test_what_may_still_be_there_or_did_not_come_back_is_left_alone(before, after, now):
    some = {"a": CurrentState(now, TEXTS.get(now))}
    done = undo([effect(1, "a", before, after)], some, TEXTS.get)
    assert [each.path for each in done.skipped] == ["a"]
    assert (done.steps, done.gone) == ((), ())


def test_what_it_did_behind_a_removal_of_others_is_taken_back():
    some = [effect(1, "a", R1, R2), effect(2, "a", MISSING, R3)]
    assert planned(some, a=THREE) == UndoPlan((Restore("a", R3, MISSING, None),), (), tuple(some))


def test_nothing_is_put_where_others_removed_what_came_later():
    some = [effect(1, "a", R1, MISSING), effect(2, "a", R2, R3)]
    assert planned(some, a=None).skipped == (Skipped("a", "deleted_since"),)


def test_what_others_put_in_its_place_is_not_moved_back():
    some = [move(1, "a", "b", L1), effect(2, "b", L1, L2)]
    done = undo(some, {"a": CurrentState(), "b": CurrentState(L3)}, TEXTS.get)
    assert done.skipped[0] == Skipped("b", "replaced_since")
    assert done.steps == ()


def test_bytes_that_nobody_knew_leave_the_file_alone():
    assert planned([effect(1, "a", UNKNOWN, R2)], a=TWO).skipped == (Skipped("a", "unknown"),)


def test_what_may_be_somebody_elses_stays_and_is_said():
    done = planned([effect(1, "a", R1, R2, certain=False)], a=TWO)
    assert done == UndoPlan(skipped=(Skipped("a", "probable"),))
    assert planned([effect(1, "a", R1, R2, certain=False)], a=ONE) == UndoPlan()


def test_a_path_that_cannot_be_touched_is_left_alone():
    done = undo([effect(1, "a", R1, R2)], {"a": CurrentState(blocked="unreadable")}, TEXTS.get)
    assert done.skipped == (Skipped("a", "unreadable"),)


def test_effects_are_grouped_by_the_moves_between_their_paths():
    some = [
        effect(1, "a", R1, R2), effect(2, "c", R1, R2), move(3, "a", "b", R2),
        effect(4, "d", R1, R2), move(5, "d", "a", R2),
    ]  # fmt: skip
    positions = [[each.position for each in group] for group in group_effects(some)]
    assert positions == [[1, 3, 4, 5], [2]]


def test_a_file_that_a_shell_moved_is_not_removed_where_it_cannot_come_back():
    some = [effect(1, "a", R1, MISSING), effect(2, "b", MISSING, R1)]
    [group] = group_effects(some)
    done = planned(group, a=THREE, b=ONE)
    assert done.steps == ()
    assert {each.path for each in done.skipped} == {"a", "b"}
    back = planned(group, a=None, b=ONE)
    assert back.steps == (Restore("a", MISSING, R1, ONE), Restore("b", R1, MISSING, None))
