"""As much cleared as by a policy of ours, but something else."""

from __future__ import annotations

from bench.policies.ablations import SameReclaim, oldest
from bench.policies.batches import shuffled
from tests.audit.histories import SETTING, Talk, words
from tests.audit.test_engine import Scripted

from sightline.audit.engine import play
from sightline.messages.blocks import Decision, Fold


def talk():
    made = Talk().typed("go")
    for at in range(6):
        made.ran(f"run {at}", words(50))
    return made.said("done").record()


def decided(order, other, keep=2):
    policy = SameReclaim("control", other, order, SETTING, keep, 20)
    return {
        moment.turn.number: [fold.block for fold in moment.decision.folds]
        for moment in play(talk(), policy, 0)
        if moment.changed
    }


def other():
    """Folds two of the newer results: 49 tokens each."""
    return Scripted({6: Decision(tuple(Fold(place, "gone", 1, "t") for place in (6, 8)))})


def test_the_oldest_go_when_the_other_clears_until_as_much_is_gone():
    assert decided(oldest, other()) == {6: [2, 4, 6]}  # its stubs are longer


def test_any_others_may_go_instead():
    made = decided(shuffled, other())
    assert list(made) == [6]
    assert len(made[6]) == 3


def test_the_newest_stay_though_less_is_cleared_then():
    assert decided(oldest, other(), keep=4) == {6: [2]}


def test_the_other_is_asked_with_the_tokens_of_its_own_view():
    script = other()
    decided(oldest, script)
    asked = [ask.tokens for ask, _ in script.asked]
    assert asked[6] - asked[5] == 50 + 3 - 2 * 49
