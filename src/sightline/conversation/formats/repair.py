"""Repair a conversation in both directions: calls without a result, and results without a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sightline.conversation.formats.chain_faults import repair_chain
from sightline.conversation.formats.exchanges import Exchange, Row, is_open, split_exchanges
from sightline.conversation.formats.parts import Adapter, Message, removed, value_at
from sightline.conversation.formats.problems import find_problems

MISSING = "(No result of this call was recorded.)"


def repair(adapter: Adapter, messages: Sequence[Message]) -> list[Message]:
    """Return the messages in a form that a provider accepts. Messages without a problem stay
    unchanged; a result that stands elsewhere moves to its call, a missing result is reported as
    missing, and a result without a call is removed."""
    if not find_problems(adapter, messages):
        return list(messages)
    tidy = [
        each if not adapter.find_faults(each) else adapter.without_faults(each) for each in messages
    ]
    distinct = _with_distinct_ids(adapter, [each for each in tidy if each is not None])
    return repair_chain(adapter, list(_paired(adapter, distinct)))


def _with_distinct_ids(adapter: Adapter, messages: list[Message]) -> list[Message]:
    """Give each call an id of its own, and its first result, too."""
    ids: set[str] = set()
    for exchange in split_exchanges(adapter, messages):
        for row in exchange.calls:
            distinct = row.part.call
            if distinct is None:
                continue
            while distinct in ids:
                distinct += "~"
            ids.add(distinct)
            if distinct != row.part.call:
                same = [r for r in exchange.results if r.part.call == row.part.call]
                for r in (row, *same[:1]):
                    messages[r.message] = adapter.with_id(messages[r.message], r.part, distinct)
    return messages


def _paired(adapter: Adapter, messages: list[Message]) -> Iterator[Message]:
    """Return the messages with one result for each call, and no others."""
    exchanges = split_exchanges(adapter, messages)
    first_results: dict[str | None, Row] = {}
    called: set[str | None] = set()
    for exchange in exchanges:
        called |= {row.id for row in exchange.calls}
        for row in exchange.results:
            if row.id in called:
                first_results.setdefault(row.id, row)

    def result_of(call: Row) -> Any:
        row = first_results.get(call.id)
        if row is None:
            return adapter.make_result(messages[call.message], call.part, MISSING)
        return value_at(messages[row.message], row.part.place)

    for exchange in exchanges:
        yield from messages[exchange.start : exchange.middle]
        waits = is_open(exchange, exchanges[-1], sending=False)
        if adapter.BESIDE:
            if _is_right(adapter, messages, exchange):
                yield from messages[exchange.middle : exchange.end]
            elif not waits:
                yield from adapter.result_messages([result_of(call) for call in exchange.calls])
                yield from _without_results(adapter, messages, exchange)
            continue
        calls = () if waits else exchange.calls
        yield from (result_of(call) for call in calls if call.id not in first_results)
        results = {row.message: row for row in exchange.results}
        for number in range(exchange.middle, exchange.end):
            result = results.get(number)
            if result is None or first_results.get(result.id) is result:
                yield messages[number]


def _is_right(adapter: Adapter, messages: list[Message], exchange: Exchange) -> bool:
    """Return whether exactly the results of its calls follow an answer directly."""
    if any(map(adapter.find_faults, messages[exchange.middle : exchange.end])):
        return False
    results = exchange.results
    first = exchange.following[: len(results)]
    is_ordered = not adapter.FIRST or all(row.part.kind == "result" for row in first)
    ids = sorted(str(row.id) for row in results)
    return is_ordered and ids == sorted(str(row.id) for row in exchange.calls)


def _without_results(
    adapter: Adapter, messages: list[Message], exchange: Exchange
) -> Iterator[Message]:
    """Return the messages behind an answer, without results."""
    for number in range(exchange.middle, exchange.end):
        gone = [row.part.place for row in exchange.results if row.message == number]
        if not gone:
            yield messages[number]
        elif not adapter.ALONE:
            message = adapter.without_empty(removed(messages[number], gone))
            if message is not None:
                yield message
