"""Foldings of small conversations. A token is a word."""

from __future__ import annotations

from msgspec import structs
from tests.replay.histories import Talk, count

from sightline.conversation.window.folding import Folding, Rules
from sightline.conversation.window.prices import PROFILES
from sightline.conversation.words import stub

FREE = PROFILES["none"]
"""Prices at which any clear pays."""

RULES = Rules("small", soft=100, keep=1, read=2, edited=3, other=4, least=10, views=False)
WITH_VIEWS = structs.replace(RULES, name="small-views", views=True)
MUCH = 1_000


def folding_of(talk: Talk, rules: Rules = RULES, prices=FREE, words=stub) -> Folding:
    """Return a folding with all blocks of a conversation."""
    folding = Folding(rules, count, words, prices)
    for block in talk.blocks:
        folding.add(block)
    return folding


def tiers(talk: Talk, rules: Rules = RULES, tokens: int = MUCH) -> dict[int, str]:
    """Return the tiers of the blocks that are folded at the end, by place."""
    return {fold.block: fold.tier for fold in folding_of(talk, rules).decide(tokens).folds}


def short(block, changed=False) -> str:
    """A stub of one word."""
    return "changed" if changed else "gone"
