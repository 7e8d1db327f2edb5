"""Plan what a policy would fold out of a history now, for a budget."""

from __future__ import annotations

from sightline.conversation.window.folding_plan import Folded, Plan
from sightline.conversation.window.history_reader import History
from sightline.conversation.window.prices import PROFILES, USUAL, least_clear
from sightline.errors import HistoryError, UnknownName
from sightline.replay.policies import Ask, Setting, select
from sightline.text.tokens import Counter


def plan(
    history: History,
    counter: Counter,
    budget: int,
    policy: str = "default",
    price: str = USUAL.name,
) -> Plan:
    """Return what a policy folds before this history is sent. budget: tokens for the whole history.
    UnknownName for an unknown policy or price. HistoryError for a view that the format refuses."""
    make = select([policy])[policy]
    if price not in PROFILES:
        raise UnknownName(f"There are no prices {price!r}.", f"There are: {', '.join(PROFILES)}")
    shape, messages = history.format, history.messages
    blocks = shape.blocks(messages, counter)
    fixed = counter(history.beside()) + counter.around(len(messages), len(history.tools()))
    sizes = [block.tokens for block in blocks]
    before = fixed + sum(sizes)

    # The model's messages since the last request are never folded.
    asked = len(messages)
    while asked and shape.adapter.role(messages[asked - 1]) == "model":
        asked -= 1
    folding = make(Setting(counter, price, budget, budget, fixed, budget))
    for block in blocks:
        if block.message < asked:
            folding.add(block)
    decision = folding.decide(Ask(1, None, None, before))
    try:
        view = shape.project(messages, blocks, [decision])
    except ValueError as error:
        raise HistoryError(
            f"The policy {policy!r} would make of this history what its format refuses: {error}.",
            "Take another policy, such as default.",
        ) from error

    after = fixed + sum(block.tokens for block in shape.blocks(view, counter))
    places = [*(fold.block for fold in decision.folds), *decision.dropped]
    first = min(places, default=len(blocks))
    step = blocks[-1].step if blocks else 0
    folds = [(fold, blocks[fold.block]) for fold in decision.folds]
    return Plan(
        *(budget, policy, price, counter.name, counter.margin, before, after),
        least_clear(PROFILES[price], sizes, first, before - after, sum(sizes), step),
        tuple(
            Folded(block.message, fold.tier, block.tokens, fold.tokens, fold.stub, block)
            for fold, block in folds
        ),
        tuple(blocks[place].kind for place in decision.dropped),
        tuple(tail.text for tail in decision.tails),
        tuple(view),
    )
