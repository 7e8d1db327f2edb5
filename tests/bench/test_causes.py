"""The histories are the same each time, and the table counts what it says."""

from __future__ import annotations

import json

from bench.causes import Outcome, Told, as_json, label_of, table
from bench.histories import DEEDS, History, Label

from bench import causes


def test_a_seed_makes_the_same_history_each_time():
    first, again = causes.played(3), causes.played(3)
    assert [(each.done, each.said) for each in first.told] == [
        (each.done, each.said) for each in again.told
    ]
    assert first.told


def test_every_kind_of_deed_has_a_way_to_happen():
    assert all(hasattr(History, f"_{deed}") for deed in DEEDS)


def test_a_few_histories_are_told_right(capsys):
    assert causes.main(["--json", "--count", "4"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["histories"] == 4
    assert said["other_verdicts"] == said["missed"] == 0
    assert said["right"] <= said["changes"]


def test_what_was_left_last_before_the_fact_is_the_label():
    labels = [
        Label("a", "r1", "external", 3),
        Label("a", "r1", "git", 7),
        Label("b", "r1", "agent", 4),
    ]
    assert label_of(labels, "a", "r1", 5) == "external"
    assert label_of(labels, "a", "r1", 9) == "git"
    assert label_of(labels, "a", "r2", 9) == ""


def test_wrong_ones_are_counted():
    told = [
        Told("git", "git", "certain"),
        Told("external", "git", "certain"),
        Told("", "git", "likely"),
    ]
    figures = as_json([Outcome(1, told, 0, [])])
    assert (figures["changes"], figures["right"], figures["certain_and_wrong"]) == (3, 1, 1)
    shown = table([Outcome(1, told, 0, [])])
    assert "nothing" in shown
    assert "1 of 3 causes are right" in shown
