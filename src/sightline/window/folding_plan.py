"""Plan what a policy folds out of a history for a budget, as `sightline window` shows it."""

from __future__ import annotations

from math import ceil

from msgspec import Struct, structs

from sightline.errors import UnknownName
from sightline.messages.blocks import Block, Decision, Kind
from sightline.messages.formats.parts import Message
from sightline.messages.written_history import History
from sightline.text.tokens import Counter
from sightline.window.folding import POLICIES, Folding
from sightline.window.prices import PROFILES, USUAL, rewriting
from sightline.window.words import stub

NONE = "none"
"""The policy that folds nothing."""


class Folded(Struct, frozen=True):
    """A part that a stub replaces. message: its index; tier: the rule that chose the part; tokens,
    stub_tokens: of the part and of its stub."""

    message: int
    tier: str
    tokens: int
    stub_tokens: int
    stub: str
    block: Block


class Plan(Struct, frozen=True):
    """The plan of a policy. before, after: tokens of the whole request; pays_after: the model's
    answers after which the plan has saved at this price what it costs, None: never; dropped: kinds of
    the parts that are removed without a stub; tails: texts added at the end; view: the messages of
    the request."""

    budget: int
    policy: str
    price: str
    counter: str
    margin: float
    before: int
    after: int
    pays_after: int | None
    folds: tuple[Folded, ...]
    dropped: tuple[Kind, ...]
    tails: tuple[str, ...]
    view: tuple[Message, ...]

    @property
    def freed(self) -> int:
        """Return the tokens that the plan frees."""
        return self.before - self.after


def plan(
    history: History,
    counter: Counter,
    budget: int,
    policy: str = "default",
    price: str = USUAL.name,
) -> Plan:
    """Plan what a policy folds when a history is sent now. budget: tokens of the whole request.
    UnknownName for an unknown policy or price."""
    if policy not in (NONE, *POLICIES):
        names = ", ".join((NONE, *POLICIES))
        raise UnknownName(f"There is no policy {policy!r}.", f"There are: {names}")
    if price not in PROFILES:
        raise UnknownName(f"There are no prices {price!r}.", f"There are: {', '.join(PROFILES)}")
    messages, prices = history.messages, PROFILES[price]
    blocks = history.format.blocks(messages, counter)
    overhead = counter(history.beside()) + counter.around(len(messages), len(history.tools()))
    before = overhead + sum(block.tokens for block in blocks)
    decision = Decision()
    if policy != NONE:
        rules = structs.replace(POLICIES[policy], soft=budget, hard=budget)
        folding = Folding(rules, counter, stub, prices, history.folder)
        end = len(messages)  # what the model wrote after the last request is never folded
        while end and history.format.adapter.role(messages[end - 1]) == "model":
            end -= 1
        for block in blocks:
            if block.message < end:
                folding.add(block)
        decision = folding.decide(before)
    try:
        view = history.format.project(messages, blocks, [decision])
    except ValueError:  # the provider wants to get the model's thinking back
        decision = structs.replace(decision, dropped=())
        view = history.format.project(messages, blocks, [decision])
    after = overhead + sum(block.tokens for block in history.format.blocks(view, counter))
    places = [*(fold.block for fold in decision.folds), *decision.dropped]
    behind = sum(block.tokens for block in blocks[min(places, default=len(blocks)) :])
    saved = prices.read * (before - after)
    price_of_change = rewriting(prices, behind - (before - after))
    return Plan(
        *(budget, policy, price, counter.name, counter.margin, before, after),
        ceil(max(price_of_change, 0) / saved) if saved > 0 else None,
        tuple(
            Folded(
                *(blocks[fold.block].message, fold.tier, blocks[fold.block].tokens),
                *(fold.tokens, fold.stub, blocks[fold.block]),
            )
            for fold in decision.folds
        ),
        tuple(blocks[place].kind for place in decision.dropped),
        tuple(tail.text for tail in decision.tails),
        tuple(view),
    )
