"""Sightline is never wrong in any scenario, and the bench would say so if it were."""

import json

import pytest
from bench.command import COMMAND
from bench.hooked import HOOKED
from bench.scenarios import SCENARIOS
from bench.subjects import SIGHTLINE
from bench.trial import play

import sightline
from bench import guard
from sightline.hooks.handlers import tool_edits, tool_writes
from sightline.hooks.handlers.answer_delivery import acknowledge_delivered

[FORMATTER, _together] = [scenario for scenario in SCENARIOS if scenario.name == "S9"]


def cases(*names, guard=SIGHTLINE):
    """Every attempt of a guard in the scenarios of these names, of all when there are none."""
    return [
        pytest.param(scenario, attempt, id=f"{scenario.name} {scenario.variant} {attempt.label}")
        for scenario in SCENARIOS
        if not names or scenario.name in names
        for attempt in guard.tries(scenario)
    ]


@pytest.mark.parametrize(("scenario", "attempt"), cases())
def test_sightline_gives_no_false_alarm_loses_nothing_and_merges_what_fits(scenario, attempt):
    outcome = play(SIGHTLINE, scenario, attempt)
    assert outcome.word in attempt.wants
    assert not outcome.judgement.false_alarm
    assert not outcome.judgement.silent_clobber
    assert not outcome.judgement.missed_merge
    assert outcome.exact
    assert outcome.recovery <= 2
    assert outcome.wrong_notice == ""


@pytest.mark.parametrize(
    ("scenario", "attempt"),
    cases("S10", "S13", "S20", "S21", "S40", "S43", "S44", "S45", "S46", "S48", guard=HOOKED),
)
def test_hooks_give_the_same_verdicts_and_tell_the_same(scenario, attempt):
    outcome = play(HOOKED, scenario, attempt)
    # An earlier call of the same answer told of the change; no call tells it again.
    told_before = {"allow"} if attempt.wants == {"notice"} and not attempt.told else set()
    # What another hook made of a write that goes through is news.
    is_rewritten = scenario.name == "S43" and "write" in attempt.label
    rewritten = {"notice"} if is_rewritten and "allow" in attempt.wants else set()
    assert outcome.word in attempt.wants | told_before | rewritten
    assert not outcome.judgement.false_alarm
    assert not outcome.judgement.silent_clobber
    assert outcome.exact
    assert outcome.wrong_notice == ""


@pytest.mark.parametrize("attempt", FORMATTER.attempts, ids=lambda attempt: attempt.label)
def test_the_command_gives_the_same_verdicts_a_process_each(attempt):
    outcome = play(COMMAND, FORMATTER, attempt)
    assert outcome.word in attempt.wants
    assert outcome.wrong_notice == ""
    assert outcome.exact


@pytest.mark.parametrize(("scenario", "attempt"), cases("S40"))
def test_the_command_leaves_what_a_user_saved_meanwhile(scenario, attempt):
    outcome = play(COMMAND, scenario, attempt)
    assert outcome.word in attempt.wants
    assert not outcome.judgement.silent_clobber
    assert outcome.exact


def test_a_rewind_that_takes_the_users_save_is_found_out(monkeypatch):
    """The bench can fail: what changed while a command ran, taken back as well, is a clobber."""
    rewind = sightline.Session.rewind
    monkeypatch.setattr(sightline.Session, "rewind", lambda s, to: rewind(s, to, commands=True))
    saved = [scenario for scenario in SCENARIOS if scenario.name == "S40"]
    clobbers = [play(SIGHTLINE, one, one.attempts[0]).judgement.silent_clobber for one in saved]
    assert clobbers == [True, True, True]


@pytest.mark.parametrize(
    "scenario", [s for s in SCENARIOS if s.name == "S44" or s.variant == "the other first"]
)
def test_a_change_that_goes_without_a_word_is_found_out(monkeypatch, scenario):
    """The bench can fail: nobody looks at what a host's write went over."""
    monkeypatch.setattr(tool_writes, "loss_of_theirs", lambda *_, **__: None)
    monkeypatch.setattr(tool_writes, "loss_of_ours", lambda *_: None)
    monkeypatch.setattr(tool_writes, "went_over", lambda *_: None)
    outcomes = [play(HOOKED, scenario, each) for each in scenario.attempts if each.kind == "write"]
    assert any(one.judgement.silent_clobber or one.wrong_notice for one in outcomes)


def test_a_write_composed_before_its_agent_was_told_is_found_out(monkeypatch):
    """The bench can fail: what an earlier call of the answer was told does not count for the next."""
    monkeypatch.setattr(tool_edits, "acknowledge_request", acknowledge_delivered)
    [write] = [each for each in FORMATTER.attempts if each.label == "write"]
    assert play(HOOKED, FORMATTER, write).judgement.silent_clobber


def test_an_agent_that_was_told_and_is_judged_as_untold_is_found_out(monkeypatch):
    """The bench can fail: the agent drops on purpose what the prompt told, and loses its write. (A write
    with the told lines merges whatever counts as told.)"""
    monkeypatch.setattr(tool_edits, "acknowledge_request", lambda _context: None)
    [drops] = [a for a in HOOKED.tries(FORMATTER) if a.label == "write, dropping"]
    assert play(HOOKED, FORMATTER, drops).judgement.false_alarm


def test_a_guard_that_withholds_a_text_that_left_the_window_gives_a_false_alarm(monkeypatch):
    """The bench can fail: a session that forgets to forget is found out."""
    monkeypatch.setattr(sightline.Session, "dropped", lambda _session, _path: None)
    [compaction] = [scenario for scenario in SCENARIOS if scenario.name == "S23"]
    outcome = play(SIGHTLINE, compaction, compaction.attempts[0])
    assert outcome.word == "not served"
    assert outcome.judgement.false_alarm


def test_a_notice_that_does_not_name_who_it_was_is_found_wrong(monkeypatch):
    """The bench can fail here, too."""
    monkeypatch.setattr(sightline.Notice, "__str__", lambda notice: notice.text.split("by")[0])
    [sub_agent] = [scenario for scenario in SCENARIOS if scenario.name == "S21"]
    assert "does not say" in play(SIGHTLINE, sub_agent, sub_agent.attempts[0]).wrong_notice


def test_a_notice_that_is_not_given_is_found_wrong(monkeypatch):
    monkeypatch.setattr(sightline.Session, "notice", lambda _session: None)
    outcome = play(SIGHTLINE, FORMATTER, FORMATTER.attempts[0])
    assert outcome.wrong_notice == "missing"


def test_every_scenario_of_the_list_is_there():
    assert {scenario.number for scenario in SCENARIOS} == {*range(1, 49), 50, 51}


@pytest.mark.full
def test_json_has_a_row_for_each_guard_and_scenario(capsys):
    assert guard.main(["--json", "--only", "S5"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["schema"] == 1
    there = [one.name for one in guard.GUARDS if not one.only or "S5" in one.only]
    assert [row["guard"] for row in printed["rows"]] == there
    assert printed["rows"][3] == {
        "guard": "mtime-newer",
        "scenario": "S5",
        "attempts": 4,
        "false_alarms": 0,
        "silent_clobbers": 2,
        "recovery_calls": 2,
        "useful_merges": 0,
        "missed_merges": 0,
        "hangs": 0,
        "wrong_notices": 0,
    }


@pytest.mark.full
def test_the_table_fits_100_columns_and_sums_up(capsys):
    assert guard.main(["--only", "S1", "--only", "S5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert next(line for line in lines if line.startswith("mtime-newer")).split() == [
        *("mtime-newer", "7", "3", "2", "8", "0", "0", "0", "0")
    ]


@pytest.mark.full
def test_two_runs_say_the_same():
    first, second = ([p.outcome for p in guard.run(["S6"])] for _ in range(2))
    assert first == second


def test_an_unknown_name_is_a_usage_error(capsys):
    assert guard.main(["--only", "S99"]) == 2
    assert "flag-watcher" in capsys.readouterr().err
