"""Our policies as they are replayed: what is still to come tells them nothing."""

from __future__ import annotations

import pytest
from bench.policies.catalog import ABLATIONS
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.audit.histories import SETTING, Talk, talks, words
from tests.support.examples import examples

from sightline.audit.engine import play
from sightline.audit.policies import OURS

MAKERS = {**OURS, **ABLATIONS}
SMALL = structs.replace(SETTING, window=60_000, soft_budget=60, price="none")
"""No prices of a cache: any clear pays, so that short conversations see some."""


def decided(talk, name, upto):
    moments = play(talk.record(), MAKERS[name](SMALL), 0)
    return [(m.decision, m.view.tokens) for m, _ in zip(moments, range(upto), strict=False)]


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=examples(25))
@given(before=talks(), after=talks(), border=st.integers(1, 20), tokens=st.integers(1, 900))
def test_another_future_changes_no_view_before_it(name, before, after, border, tokens):
    talk = joined(before, after)
    turns = talk.record().turns
    border = min(border, len(turns))
    cut = turns[border - 1].first
    other = Talk()
    other.times = talk.times
    other.blocks = talk.blocks[:cut] + [
        structs.replace(
            block, text=words(tokens), tokens=tokens, excerpts=(), rewrites=(), paths=("z",)
        )
        for block in talk.blocks[cut:]
    ]
    assert decided(other, name, border) == decided(talk, name, border)


def joined(before, after):
    """Two conversations as a longer one."""
    made = Talk()
    last = before.blocks[-1]
    made.times = [*before.times, *(before.times[-1] + at for at in after.times)]
    made.blocks = before.blocks + [
        structs.replace(
            block,
            message=block.message + len(before.times),
            step=block.step + last.step,
            call=block.call and f"x{block.call}",
        )
        for block in after.blocks
    ]
    return made


@pytest.mark.parametrize("name", MAKERS)
def test_they_do_fold_so_the_test_above_can_fail(name):
    talk = Talk().typed("go")
    for at in range(30):
        talk.read(f"{at}.py", words(2_000))
    assert any(decision.folds for decision, _ in decided(talk, name, 99))
