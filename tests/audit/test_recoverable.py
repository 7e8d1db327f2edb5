"""What an edit needs and a view has lost can be had again, by a stub that stands in the view."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from msgspec import structs
from tests.audit.histories import SETTING, Talk, talks, words
from tests.audit.test_policies import joined
from tests.support.examples import examples

from sightline.audit.engine import find_losses, play
from sightline.audit.policies import OURS
from sightline.window.words import name_of

SMALL = structs.replace(SETTING, window=60_000, soft_budget=60, price="none")


def losses(talk, name):
    """Each lost edit's text, and the texts that stubs of the view name."""
    record = talk.record()
    folded: dict[int, str] = {}
    for moment in play(record, OURS[name](SMALL), 0):
        folded |= {fold.block: fold.stub for fold in moment.decision.folds}
        for need in find_losses(moment.turn, moment.view).edits:
            texts = [(record.blocks[place], folded.get(place, "")) for place in need.holders]
            yield need.text, [block for block, stub in texts if name_of(block.text) in stub]


def holds(block, text):
    shown = [each.text for each in block.excerpts] + [each.new for each in block.rewrites]
    return any(text in each for each in [block.text, *shown])


@pytest.mark.wide
@pytest.mark.parametrize("name", ["default", "careful"])
@settings(max_examples=examples(50))
@given(before=talks(), after=talks())
def test_every_lost_edit_has_a_stub_that_names_its_text(name, before, after):
    for text, named_texts in losses(joined(before, after), name):
        assert any(holds(block, text) for block in named_texts)


@pytest.mark.parametrize("name", ["default", "careful"])
def test_some_are_lost_so_the_test_above_can_fail(name):
    talk = Talk().typed("go").read("a.py", f"{words(2_000)}\nalpha one")
    for at in range(30):
        talk.read(f"{at}.py", words(2_000))
    talk.edit("a.py", "alpha one", "alpha two")
    [(text, named_texts)] = losses(talk, name)
    assert text == "alpha one"
    assert len(named_texts) == 1
