"""The baselines are wrong where their published rules are, and only there."""

import pytest
from bench.baselines import BASELINES
from bench.scenarios import SCENARIOS
from bench.trial import play, published

GUARDS = {rule.name: published(rule) for rule in BASELINES}


def outcomes(guard, name):
    return [
        play(GUARDS[guard], scenario, attempt)
        for scenario in SCENARIOS
        if scenario.name == name
        for attempt in scenario.attempts
    ]


def false_alarms(guard, name):
    return sum(outcome.judgement.false_alarm for outcome in outcomes(guard, name))


def clobbers(guard, name):
    return sum(outcome.judgement.silent_clobber for outcome in outcomes(guard, name))


@pytest.mark.parametrize("guard", ["mtime-newer", "mtime-size", "flag-watcher"])
def test_a_touched_file_alarms_guards_by_time_and_event(guard):
    assert false_alarms(guard, "S1") == 3


@pytest.mark.parametrize("guard", ["file-hash", "unique-match"])
def test_a_touched_file_does_not_alarm_guards_by_content(guard):
    assert false_alarms(guard, "S1") == 0


def test_an_older_file_moved_in_deceives_only_the_comparison_with_newer():
    assert clobbers("mtime-newer", "S5") == 2
    assert clobbers("mtime-size", "S5") == 0


def test_a_rewrite_in_the_same_tick_and_size_deceives_both_guards_by_time():
    assert clobbers("mtime-newer", "S4") == clobbers("mtime-size", "S4") == 2
    assert clobbers("file-hash", "S4") == 0


def test_a_hash_of_the_whole_file_alarms_for_a_change_elsewhere():
    assert false_alarms("file-hash", "S29") == 3


def test_a_unique_match_protects_no_whole_file_write():
    assert [o.judgement.silent_clobber for o in outcomes("unique-match", "S9")] == [
        *(False, False),  # the two replacements
        *(True, True),  # the two whole-file writes
        *(True, False),  # a write, and an edit by number, sent together with a replacement
    ]


def test_a_watcher_does_not_see_what_happened_while_nothing_ran():
    assert clobbers("flag-watcher", "S9") == 0
    assert clobbers("flag-watcher", "S25") == 2


@pytest.mark.parametrize("guard", list(GUARDS))
def test_an_edit_during_the_approval_deceives_every_baseline(guard):
    assert clobbers(guard, "S19") == 4


@pytest.mark.parametrize("guard", list(GUARDS))
def test_a_part_that_was_read_is_taken_for_the_whole(guard):
    assert clobbers(guard, "S27") == 1


def test_a_flag_left_behind_by_a_write_is_used_up_by_that_write(tmp_path):
    """The watcher here tells of our own write at once, so the one-shot flag works as meant."""
    from bench.baselines import FlagWatcher
    from bench.world import World

    world = World(tmp_path)
    world.prepare({"a.py": b"one\n"})
    agent = FlagWatcher(world)
    agent.read("a.py")
    assert agent.edit("a.py", "one", "two").accepted
    assert not agent.warned("a.py")
    world.put("a.py", b"three\n")
    assert agent.warned("a.py")
    assert not agent.warned("a.py"), "asking empties the list"
