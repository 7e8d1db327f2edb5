"""What a policy would fold out of a history now, for a budget."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sightline.conversation.window.blocks import Block, Decision
from sightline.conversation.window.folding_plan import Folded, Plan
from sightline.conversation.window.history_reader import History
from sightline.conversation.window.prices import PROFILES, USUAL, Prices, least_clear
from sightline.conversation.window.rebase import folder
from sightline.conversation.words import stub
from sightline.errors import HistoryError, UnknownName
from sightline.replay.policies import Ours, chosen
from sightline.replay.policy import Ask, Maker, Setting
from sightline.text.tokens import Counter


def plan(
    history: History,
    counter: Counter,
    budget: int,
    policy: str = "default",
    price: str = USUAL.name,
) -> Plan:
    """What a policy does when this history is about to be sent. budget: tokens that all of it is to
    fit into. UnknownName for a policy or a price that there is not."""
    make = chosen([policy])[policy]
    if price not in PROFILES:
        raise UnknownName(f"There are no prices {price!r}.", f"There are: {', '.join(PROFILES)}")
    blocks = history.format.blocks(history.messages, counter)
    tools = len(history.tools())
    beside = counter(history.beside()) + counter.around(len(history.messages), tools)
    before = beside + sum(block.tokens for block in blocks)
    setting = Setting(counter, price, budget, budget, beside)
    made = _decided(blocks[: _asked(history, blocks)], before, setting, make)
    try:
        view = history.format.project(history.messages, blocks, [made])
    except ValueError as error:
        raise HistoryError(
            f"The policy {policy!r} would make of this history what its format refuses: {error}.",
            "Take another policy, such as default.",
        ) from error
    after = beside + sum(block.tokens for block in history.format.blocks(view, counter))
    return Plan(
        *(budget, policy, price, counter.name, counter.margin, before, after),
        _minimum(PROFILES[price], blocks, made, before - after),
        tuple(_folded(blocks, made)),
        tuple(blocks[place].kind for place in made.dropped),
        tuple(tail.text for tail in made.tails),
        tuple(view),
    )


def _asked(history: History, blocks: Sequence[Block]) -> int:
    """How many blocks came before the model was last asked, or is asked now: what it said since is
    never folded."""
    role = history.format.adapter.role
    end = len(history.messages)
    while end and role(history.messages[end - 1]) == "model":
        end -= 1
    return sum(1 for block in blocks if block.message < end)


def _decided(blocks: Sequence[Block], tokens: int, setting: Setting, make: Maker) -> Decision:
    """One decision, with all these blocks known. Ours takes the budget as what must be kept."""
    made = make(setting)
    if isinstance(made, Ours):
        rules = structs.replace(made.rules, soft=setting.window, hard=setting.window)
        folding = folder(rules, setting.count, stub, PROFILES[setting.price])
        for block in blocks:
            folding.add(block)
        return folding.decide(tokens)
    for block in blocks:
        made.add(block)
    return made.decide(Ask(1, None, None, tokens))


def _folded(blocks: Sequence[Block], made: Decision) -> list[Folded]:
    return [
        Folded(
            *(blocks[fold.block].message, fold.tier, blocks[fold.block].tokens),
            *(fold.tokens, fold.stub, blocks[fold.block]),
        )
        for fold in made.folds
    ]


def _minimum(prices: Prices, blocks: Sequence[Block], made: Decision, back: int) -> int:
    """From the first part that changes."""
    places = [*(fold.block for fold in made.folds), *made.dropped]
    first = min(places, default=len(blocks))
    sizes = [block.tokens for block in blocks]
    return least_clear(prices, sizes, first, back, sum(sizes), blocks[-1].step if blocks else 0)
