"""What holds of every decision in every conversation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.audit.histories import count, words
from tests.window.conversations import (
    IDLE,
    PRICES,
    RULES,
    asked,
    conversations,
    folding,
    played,
)

from sightline.messages.blocks import Block, Decision, Fold
from sightline.window.folding import Rules
from sightline.window.prices import PROFILES
from sightline.window.words import stub

FREE = PROFILES["none"]
SMALL = Rules("small", soft=20, keep=1, share=0, least=1)


@st.composite
def games(draw):
    """A conversation, a maker of folders for it, and how long each of its answers was waited for."""
    blocks, rules, prices = draw(conversations()), draw(RULES), draw(PRICES)
    idle = draw(st.lists(IDLE, min_size=len(asked(blocks)), max_size=len(asked(blocks))))
    return blocks, rules, lambda: folding(rules, prices), idle.__getitem__


def gone(decision: Decision) -> set[int]:
    return {fold.block for fold in decision.folds} | {*decision.dropped}


@pytest.mark.wide
def test_the_games_do_fold_rebase_force_and_drop():
    """So the properties below can fail."""
    seen: set[str] = set()

    @settings(max_examples=300)  # all of them: fewer miss a tier
    @given(games())
    def look(game):
        blocks, _, make, idle = game
        for moment in played(blocks, make(), idle):
            seen.update(fold.tier for fold in moment.decision.folds)
            seen.update({"tail"} if moment.decision.tails else {})
            seen.update({"dropped"} if moment.decision.dropped else {})

    look()
    assert seen >= {*("superseded", "again", "untouched", "input", "other", "forced")}
    assert seen >= {"tail", "dropped"}


@given(games())
def test_a_block_goes_once_and_what_stands_for_it_is_shorter(game):
    blocks, _, make, idle = game
    went: set[int] = set()
    for moment in played(blocks, make(), idle):
        folds = moment.decision.folds
        assert not gone(moment.decision) & went
        assert len(gone(moment.decision)) == len(folds) + len(moment.decision.dropped)
        went |= gone(moment.decision)
        assert all(fold.tokens == count(fold.stub) < blocks[fold.block].tokens for fold in folds)
        assert [fold.block for fold in folds] == sorted(fold.block for fold in folds)
        assert all(place < moment.end for place in gone(moment.decision))


@given(games())
def test_what_may_not_go_stays(game):
    blocks, _, make, idle = game
    for moment in played(blocks, make(), idle):
        answered = {b.call for b in blocks[: moment.end] if b.kind == "result"}
        for fold in moment.decision.folds:
            block = blocks[fold.block]
            assert block.kind == "result" or (block.kind == "call" and block.call in answered)
            assert not block.fixed
            assert block.deed != "plan"
        for place in moment.decision.dropped:
            assert blocks[place].loose
            assert any(block.kind == "user" for block in blocks[place : moment.end])


@pytest.mark.wide
@given(games(), st.integers(0, 20), conversations())
def test_a_decision_depends_on_the_past_alone(game, number, other):
    blocks, _, make, idle = game
    number %= len(asked(blocks))
    past = blocks[: asked(blocks)[number]]
    step = past[-1].step
    future = [
        structs.replace(block, step=block.step + step + 1, call=f"x{block.call}") for block in other
    ]
    before = played(blocks, make(), idle)[: number + 1]
    after = played([*past, *future], make(), lambda at: idle(at) if at <= number else 0.0)
    assert after[: number + 1] == before


@pytest.mark.wide
@given(games())
def test_deciding_again_at_the_same_moment_does_nothing(game):
    blocks, _, make, idle = game
    for number, moment in enumerate(played(blocks, make(), idle)):
        made = make()
        played(blocks[: moment.end], made, idle)
        assert made.decide(moment.after, idle(number)) == Decision()


@pytest.mark.wide
@given(games(), st.integers(0, 20), st.booleans())
def test_a_folder_that_is_told_what_was_decided_goes_on_as_the_one_that_decided_it(
    game, number, at_the_end
):
    """Told at the moments when it was decided, or after all that was said until now."""
    blocks, _, make, idle = game
    moments = played(blocks, make(), idle)
    number %= len(moments)
    made = make()
    for place, block in enumerate(blocks[: moments[number].end]):
        made.add(block)
        for moment in [] if at_the_end else moments[: number + 1]:
            if moment.end == place + 1:
                made.apply(moment.decision)
    for moment in moments[: number + 1] if at_the_end else []:
        made.apply(moment.decision)
    start = moments[number].end
    for moment in moments[number + 1 :]:
        for block in blocks[start : moment.end]:
            made.add(block)
        start = moment.end
        assert made.decide(moment.before, moment.idle_s) == moment.decision


@given(games())
def test_up_to_the_soft_budget_nothing_is_done(game):
    blocks, rules, make, idle = game
    for moment in played(blocks, make(), idle):
        small = moment.before <= rules.soft
        forced = rules.hard is not None and moment.before > rules.hard
        assert not small or forced or moment.decision == Decision()


@pytest.mark.wide
@given(games())
def test_above_the_hard_limit_the_window_fits_again_or_nothing_is_left_that_may_go(game):
    blocks, rules, make, idle = game
    went: set[int] = set()
    for moment in played(blocks, make(), idle):
        went |= gone(moment.decision)
        if rules.hard is None or moment.before <= rules.hard:
            continue
        assert moment.after < moment.before or not gone(moment.decision)
        if moment.after > rules.hard:
            past = blocks[: moment.end]
            left = [at for at in range(len(past)) if may_go(past, at, rules) and at not in went]
            results = [at for at, b in enumerate(past) if b.kind == "result"]
            newest = past[results[-1]].step if results else 0
            last = min((at for at in results if past[at].step == newest), default=0)
            freed = sum(past[at].tokens - count(stub(past[at])) for at in left)
            assert all(at >= last for at in left)
            assert freed < moment.after - rules.hard


def may_go(past: list[Block], place: int, rules: Rules) -> bool:
    """Return whether a stub would shorten it and nothing forbids one."""
    block = past[place]
    answered = any(each.kind == "result" and each.call == block.call for each in past)
    kind = block.kind == "result" or (block.kind == "call" and answered)
    shorter = count(stub(block)) + 4 < block.tokens
    return (
        kind
        and shorter
        and not block.fixed
        and block.deed != "plan"
        and block.tokens >= rules.least
    )


@given(games())
def test_a_window_never_grows_by_a_decision(game):
    blocks, _, make, idle = game
    assert all(moment.after <= moment.before for moment in played(blocks, make(), idle))


@given(games(), st.data())
def test_what_a_fold_says_is_what_its_block_would_say_then(game, data):
    blocks, _, make, idle = game
    for moment in played(blocks, make(), idle):
        for fold in moment.decision.folds:
            assert fold.stub in {stub(blocks[fold.block], changed) for changed in (False, True)}


def test_a_decision_on_record_may_hold_what_nobody_would_decide_now():
    """Rules may have been others then: what is gone is gone, and counts no more."""
    made = folding(SMALL, FREE)
    for number in range(3):
        made.add(Block(number, 0, "result", words(60), 60, number, f"c{number}", deed="run"))
    made.apply(Decision((Fold(1, "gone", 1, "by hand"),), dropped=(2,)))
    made.apply(Decision((Fold(1, "gone", 1, "by hand"),), dropped=(2,)))
    assert [fold.block for fold in made.decide(1_000).folds] == [0]
