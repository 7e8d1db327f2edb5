"""Playing a record: what a policy is told and when, what it decides, what that makes."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import pytest
from bench.policies.batches import AgeBatch, Batch
from bench.policies.catalog import BASELINES, CONTROLS
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.audit.histories import SETTING, Talk, talks, words
from tests.support.examples import examples

from sightline.audit.engine import measure, play
from sightline.audit.policies import Untouched
from sightline.messages.blocks import Decision, Fold, Tail

MAKERS = {
    "none": Untouched,
    **BASELINES,
    **CONTROLS,
    "small-batch": lambda s: AgeBatch(s, Batch(60, 0.3, 10, 1, 5)),
}
SMALL = structs.replace(SETTING, window=100)
each_policy = pytest.mark.parametrize("name", MAKERS)


class Scripted:
    """Decides what it was told to, at the calls it was told to."""

    name = "scripted"

    def __init__(self, decisions):
        self.decisions = decisions
        self.told = []
        self.asked = []

    def add(self, block):
        self.told.append(block)

    def decide(self, ask):
        self.asked.append((ask, len(self.told)))
        return self.decisions.get(ask.number, Decision())


def played(record, policy, setting=SETTING):
    return [
        (moment.decision, moment.view.tokens) for moment in play(record, policy, setting.prefix)
    ]


def test_a_policy_is_told_what_came_before_each_call_and_no_more():
    record = Talk().typed("one two").ran("ls", "a b c").said("done").record()
    policy = Scripted({})
    list(play(record, policy, 100))
    first, second = policy.asked
    assert (first[0].number, first[0].tokens, first[1], first[0].gap_s) == (1, 102, 1, None)
    assert (second[0].number, second[1], second[0].gap_s) == (2, 3, 120.0)
    assert second[0].tokens == 102 + 2 + 3
    assert len(policy.told) == 3  # the last answer is sent to nobody


def test_a_fold_takes_its_tokens_out_of_every_view_from_then_on():
    record = Talk().typed("go").ran("ls", words(50)).said("x").typed("more").said("y").record()
    none = played(record, Scripted({}))
    folded = played(record, Scripted({2: Decision((Fold(2, "gone", 1, "t"),))}))
    assert [a[1] - b[1] for a, b in zip(none, folded, strict=True)] == [0, 49, 49]


def test_a_tail_counts_and_stands_for_good():
    record = Talk().typed("go").ran("ls", "a").said("x").typed("more").said("y").record()
    none = played(record, Scripted({}))
    tailed = played(record, Scripted({2: Decision(tails=(Tail(2, "now", 7),))}))
    assert [b[1] - a[1] for a, b in zip(none, tailed, strict=True)] == [0, 7, 7]


def test_a_policy_that_folds_a_block_again_is_stopped():
    record = Talk().typed("go").ran("ls", "a b c").said("x").typed("more").said("y").record()
    again = {n: Decision((Fold(2, "g", 1, "t"),)) for n in (2, 3)}
    with pytest.raises(ValueError, match="Block 2 was folded or dropped before"):
        measure(record, Scripted(again), SETTING)


def test_views_that_the_format_does_not_allow_are_counted_and_the_first_is_told():
    record = Talk().typed("go").ran("ls", "a b c").said("x").typed("more").said("y").record()
    folds = {n: Decision((Fold(n - 1, "g", 1, "t"),)) for n in (2, 3)}
    asked = []

    def check(decisions, came):
        asked.append((len(decisions), came))
        return f"bad at {came}"

    made = measure(record, Scripted(folds), SETTING, check)
    assert (made.invalid, made.wrong) == (2, "scripted, call 2: bad at 3")
    assert asked == [(1, 3), (2, 5)]


def test_the_clock_is_the_policys_alone():
    ticks = iter(range(100))
    made = measure(
        Talk().typed("a").said("b").record(), Scripted({}), SETTING, None, lambda: next(ticks)
    )
    assert made.spent_s == 1


@each_policy
@settings(max_examples=examples(15))
@given(talk=talks(), border=st.integers(1, 13), tokens=st.integers(1, 900))
def test_another_future_changes_no_view_before_it(name, talk, border, tokens):
    record = talk.record()
    border = min(border, len(record.turns))
    cut = record.turns[border - 1].first
    other = Talk()
    other.times = talk.times
    other.blocks = talk.blocks[:cut] + [
        structs.replace(
            block, text=words(tokens), tokens=tokens, excerpts=(), rewrites=(), paths=("z",)
        )
        for block in talk.blocks[cut:]
    ]
    before = played(record, MAKERS[name](SMALL), SMALL)[:border]
    assert played(other.record(), MAKERS[name](SMALL), SMALL)[:border] == before
    assert len(before) == border


@each_policy
@settings(max_examples=examples(15))
@given(talk=talks())
def test_every_policy_decides_once_for_a_block_and_never_makes_a_view_longer(name, talk):
    record = talk.record()
    made = measure(record, MAKERS[name](SMALL), SMALL)
    none = measure(record, Untouched(SMALL), SMALL)
    assert made.calls == none.calls == len(record.turns)
    assert name == "codex" or made.sent <= none.sent
    assert (made.edits, made.references) == (none.edits, none.references)


@each_policy
@settings(max_examples=examples(15))
@given(talk=talks())
def test_typed_text_is_never_touched(name, talk):
    typed = {place for place, block in enumerate(talk.blocks) if block.kind == "user"}
    for moment in play(talk.record(), MAKERS[name](SMALL), 0):
        gone = {fold.block for fold in moment.decision.folds} | {*moment.decision.dropped}
        assert not gone & typed


@given(talk=talks())
def test_no_truncation_loses_nothing(talk):
    made = measure(talk.record(), Untouched(SETTING), SETTING)
    assert (made.lost_edits, made.lost_references, made.forced_reads) == (0, 0, 0)
    assert (made.stale_calls, made.missing_intents, made.changes) == (0, 0, 0)


def written_out(blocks, decisions, prefix):
    """A view as pieces with their tokens, made anew out of all decisions."""
    pieces: list[tuple[Any, ...]] = [("prefix", prefix)]
    folds = {fold.block: fold for made in decisions for fold in made.folds}
    dropped = {place for made in decisions for place in made.dropped}
    tails = [tail for made in decisions for tail in made.tails]
    for place, block in enumerate(blocks):
        if place in folds and place not in dropped:
            pieces.append((place, folds[place].stub, folds[place].tokens))
        elif place not in dropped:
            pieces.append((place, block.tokens))
        pieces += [("tail", tail.text, tail.tokens) for tail in tails if tail.after == place]
    return pieces


@each_policy
@settings(max_examples=examples(15))
@given(talk=talks())
def test_what_is_kept_up_step_by_step_is_what_a_view_made_anew_has(name, talk):
    record = talk.record()
    before: list[tuple[Any, ...]] = []
    decisions = []
    for moment in play(record, MAKERS[name](SMALL), 7):
        decisions.append(moment.decision)
        view = written_out(record.blocks[: moment.turn.first], decisions, 7)
        assert moment.view.tokens == sum(piece[-1] for piece in view)
        same = list(takewhile(lambda pair: pair[0] == pair[1], zip(before, view, strict=False)))
        assert moment.view.same == sum(piece[-1] for piece, _ in same)
        before = view
