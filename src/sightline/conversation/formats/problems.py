"""Find what a provider would refuse in a conversation, before the conversation is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sightline.conversation.formats.chain_faults import chain_faults
from sightline.conversation.formats.exchanges import Exchange, is_open, split_exchanges
from sightline.conversation.formats.parts import Adapter, Message


class Problem(Struct, frozen=True):
    """A violated invariant. invariant: "I1" to "I15" of docs/design/0010-window.md; message: index
    of the message with the problem."""

    invariant: str
    message: int
    why: str


def find_problems(
    adapter: Adapter, messages: Sequence[Message], *, sending: bool = False
) -> list[Problem]:
    """Return all problems of a conversation, by message. sending: the conversation is about to be
    sent, so it has to end with the user, and no call may wait for its result."""
    exchanges = split_exchanges(adapter, messages)
    problems = [
        Problem(invariant, number, why)
        for number, message in enumerate(messages)
        for invariant, why in adapter.find_faults(message)
    ]
    problems += [Problem(*fault) for fault in chain_faults(adapter, messages)]
    ids: set[str | None] = set()
    for row in (row for exchange in exchanges for row in exchange.calls):
        if row.id in ids:
            why = f"the call id {row.id} is used a second time"
            problems.append(Problem("I15", row.message, why))
        ids.add(row.id)
    if sending and messages and adapter.role(messages[-1]) == "model":
        problems.append(Problem("I9", len(messages) - 1, "the last message is the model's"))
    if adapter.BESIDE:
        problems += _unpaired_beside(adapter, exchanges, sending=sending)
    else:
        problems += _unpaired_anywhere(exchanges, sending=sending)
    return sorted(problems, key=lambda problem: problem.message)


def _unpaired_beside(
    adapter: Adapter, exchanges: Sequence[Exchange], *, sending: bool
) -> Iterator[Problem]:
    """Return problems of formats whose results follow their calls directly."""
    for exchange in exchanges:
        calls = {row.id: row.message for row in exchange.calls}
        waiting = dict(calls)
        is_behind_other = False
        for row in exchange.following:
            if row.part.kind != "result":
                is_behind_other = True
                continue
            if row.id not in waiting:
                why = "has a second result" if row.id in calls else "was not made just before"
                yield Problem("I1", row.message, f"a result: its call {row.id} {why}")
            elif is_behind_other and adapter.FIRST:
                yield Problem("I2", row.message, "a result stands behind something else")
            waiting.pop(row.id, None)
        if not is_open(exchange, exchanges[-1], sending=sending):
            for call, number in waiting.items():
                yield Problem("I1", number, f"the call {call} has no result")


def _unpaired_anywhere(exchanges: Sequence[Exchange], *, sending: bool) -> Iterator[Problem]:
    """Return problems of formats whose results come anywhere after their calls."""
    waiting: dict[str | None, tuple[int, Exchange]] = {}
    answered: set[str | None] = set()
    for exchange in exchanges:
        waiting |= {row.id: (row.message, exchange) for row in exchange.calls}
        for row in exchange.results:
            if row.id not in waiting:
                why = "has a second result" if row.id in answered else "was never made"
                yield Problem("I1", row.message, f"a result: its call {row.id} {why}")
            waiting.pop(row.id, None)
            answered.add(row.id)
    for call, (number, exchange) in waiting.items():
        if not is_open(exchange, exchanges[-1], sending=sending):
            yield Problem("I1", number, f"the call {call} has no result")
