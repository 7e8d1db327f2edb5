"""Folders over small conversations. A token is a word."""

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


def told(talk: Talk, rules: Rules = RULES, prices=FREE, words=stub) -> Folding:
    """A folder that was told all of a conversation."""
    made = Folding(rules, count, words, prices)
    for block in talk.blocks:
        made.add(block)
    return made


def going(talk: Talk, rules: Rules = RULES, tokens: int = MUCH) -> dict[int, str]:
    """What goes after all of a conversation: the places, and why."""
    return {fold.block: fold.tier for fold in told(talk, rules).decide(tokens).folds}


def short(block, changed=False) -> str:
    """A stub of one word."""
    return "changed" if changed else "gone"
