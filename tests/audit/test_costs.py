"""Costs by examples that were worked out by hand."""

from __future__ import annotations

import pytest
from msgspec import structs
from tests.audit.histories import SETTING, Talk, words
from tests.audit.test_engine import Scripted

from sightline.audit.costs import PRICES, Sent, cost, summary
from sightline.audit.engine import measure
from sightline.audit.policies import Untouched
from sightline.messages.blocks import Decision, Fold, Tail

MINUTES, HOUR, LONG, NONE = PRICES


@pytest.mark.parametrize(
    ("prices", "gap_s", "expected"),
    [
        (MINUTES, 10, 0.10 * 2_000 + 1.25 * 500 + 5 * 30),
        (MINUTES, None, 0.10 * 2_000 + 1.25 * 500 + 5 * 30),
        (MINUTES, 300.0, 0.10 * 2_000 + 1.25 * 500 + 5 * 30),
        (MINUTES, 301, 1.25 * 2_500 + 5 * 30),
        (HOUR, 301, 0.05 * 2_000 + 1.25 * 500 + 5 * 30),
        (HOUR, 3_601, 1.25 * 2_500 + 5 * 30),
        (LONG, 3_601, 0.02 * 2_000 + 1.0 * 500 + 5 * 30),
        (NONE, 1, 2_500 + 5 * 30),
    ],
)
def test_what_is_the_same_is_read_from_a_warm_cache_and_the_rest_is_written(
    prices, gap_s, expected
):
    assert cost(Sent(2_500, 2_000, gap_s, 30), prices) == pytest.approx(expected)


def test_a_short_prefix_is_not_cached():
    assert cost(Sent(2_000, 1_023, 1, 0), MINUTES) == 1.25 * 2_000
    assert cost(Sent(2_000, 1_024, 1, 0), MINUTES) == pytest.approx(0.1 * 1_024 + 1.25 * 976)


def test_a_summary_is_read_from_the_cache_and_written_as_an_answer():
    assert summary(10_000, 200, MINUTES) == pytest.approx(0.1 * 10_000 + 5 * 200)


def session():
    """Calls after 1,000 assumed tokens: with 1,010; then 1,312, of which 302 are new."""
    return Talk().typed(words(10)).ran("ls", words(300)).said("done").typed("more").said("z")


def test_a_session_by_hand():
    setting = structs.replace(SETTING, prefix=1_100)
    made = measure(session().record(), Untouched(setting), setting)
    # call 1: 1,110 tokens, nothing cached; writes {"command": "ls"}, two words.
    # call 2: 1,412, of which 1,110 are as before; writes one. call 3: 1,414, of which 1,412.
    written = 5 * (2 + 1 + 1)
    assert made.sent == 1_110 + 1_412 + 1_414
    fresh = 1_110 + 302 + 2
    assert made.costs[0] == pytest.approx(1.25 * fresh + 0.1 * (1_110 + 1_412) + written)
    assert made.costs[3] == 1_110 + 1_412 + 1_414 + written


def test_a_fold_makes_all_behind_it_new():
    setting = structs.replace(SETTING, prefix=1_100)
    fold = Scripted({3: Decision((Fold(2, "gone", 1, "t"),))})
    made = measure(session().record(), fold, setting)
    # call 3: 1,414 - 299 = 1,115 tokens; before the fold stand 1,100 + 10 + 2.
    last = 0.1 * 1_112 + 1.25 * 3
    first_two = 1.25 * (1_110 + 302) + 0.1 * 1_110
    assert made.costs[0] == pytest.approx(first_two + last + 5 * 4)


def test_a_tail_at_the_end_leaves_what_is_before_it_cached():
    setting = structs.replace(SETTING, prefix=1_100)
    tail = Scripted({3: Decision(tails=(Tail(4, "now", 20),))})
    made = measure(session().record(), tail, setting)
    last = 0.1 * 1_412 + 1.25 * (2 + 20)
    first_two = 1.25 * (1_110 + 302) + 0.1 * 1_110
    assert made.costs[0] == pytest.approx(first_two + last + 5 * 4)


def test_a_cold_cache_is_told_by_the_times_of_the_record():
    talk = Talk().typed(words(1_100)).said("a").typed("b").after(10).said("c")
    made = measure(talk.record(), Untouched(SETTING), SETTING)
    assert made.costs[0] == pytest.approx(1.25 * (1_100 + 1_102) + 5 * 2)
    assert made.costs[1] == pytest.approx(1.25 * (1_100 + 2) + 0.05 * 1_100 + 5 * 2)


def test_what_a_summary_takes_is_paid_for():
    class Summing(Scripted):
        read_tokens = written_tokens = 0

        def decide(self, ask):
            if ask.number == 2:
                self.read_tokens, self.written_tokens = 100, 10
            return super().decide(ask)

    record = session().record()
    plain, paid = (measure(record, kind({}), SETTING) for kind in (Scripted, Summing))
    assert paid.costs[0] - plain.costs[0] == pytest.approx(0.1 * 100 + 5 * 10)


def test_each_lost_edit_is_charged():
    talk = Talk().typed("go").read("a.py", f"old text {words(40)}").edit("a.py", "old text", "new")
    record = talk.record()
    fold = Scripted({2: Decision((Fold(2, "gone", 1, "t"),))})
    made = measure(record, fold, SETTING)
    assert made.lost_edits == 1
    view = 1 + 2 + 1
    spent = 1.25 * 1 + 1.25 * view + 5 * (2 + record.turns[1].written)
    back = 1.25 * record.blocks[2].tokens + 2 * 0.1 * view + 5 * 450
    assert made.costs[0] == pytest.approx(spent + back)
