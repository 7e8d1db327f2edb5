"""Foldings of small conversations. A token is a word."""

from __future__ import annotations

from msgspec import structs
from tests.audit.histories import Talk, count

from sightline.window.folding import Folding, Rules
from sightline.window.prices import PROFILES
from sightline.window.words import stub

FREE = PROFILES["none"]
"""Prices at which any clear pays."""

MUCH = 1_000

LEASE = 2
"""Answers for which RULES keep a text of 60 words in a window of MUCH: 2.5 x 60 / (60 + 2 x MUCH +
5 x 450) of the price of a loss."""

RULES = Rules("small", soft=100, keep=1, share=0.0348, least=10, views=False)
WITH_VIEWS = structs.replace(RULES, name="small-views", views=True)


def folding_of(talk: Talk, rules: Rules = RULES, prices=FREE, words=stub) -> Folding:
    """Return a folding with all blocks of a conversation."""
    folding = Folding(rules, count, words, prices)
    for block in talk.blocks:
        folding.add(block)
    return folding


def tiers(talk: Talk, rules: Rules = RULES, tokens: int = MUCH) -> dict[int, str]:
    """Return the tiers of the blocks that are folded at the end, by place."""
    return {fold.block: fold.tier for fold in folding_of(talk, rules).decide(tokens).folds}


def begun() -> Talk:
    """Return a conversation of three blocks in which the agent has begun to edit."""
    return Talk().typed("go").edit("begun.py", "x", "y")


def short(block, changed=False) -> str:
    """A stub of one word."""
    return "changed" if changed else "gone"
