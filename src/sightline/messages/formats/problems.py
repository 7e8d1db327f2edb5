"""Find what a provider would refuse in a conversation before it is sent, and repair it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from msgspec import Struct

from sightline.messages.formats import anthropic, gemini, responses
from sightline.messages.formats.exchanges import Exchange, Row, is_open, split_exchanges
from sightline.messages.formats.parts import Adapter, Message, Place, removed, value_at

MISSING = "(No result of this call was recorded.)"


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
    problems += _find_unpaired(adapter, exchanges, sending=sending)
    return sorted(problems, key=lambda problem: problem.message)


def _find_unpaired(
    adapter: Adapter, exchanges: Sequence[Exchange], *, sending: bool
) -> Iterator[Problem]:
    """Return the calls without a result, and the results without a call. A result belongs to a call
    of its own exchange where results follow their calls directly, else to any earlier call."""
    waiting: dict[str | None, Row] = {}
    called: set[str | None] = set()
    for exchange in exchanges:
        waiting |= {row.id: row for row in exchange.calls}
        called |= {row.id for row in exchange.calls}
        is_behind_other = False
        for row in exchange.following:
            if row.part.kind != "result":
                is_behind_other = True
                continue
            if row.id not in waiting:
                unknown = "was not made just before" if adapter.BESIDE else "was never made"
                why = "has a second result" if row.id in called else unknown
                yield Problem("I1", row.message, f"a result: its call {row.id} {why}")
            elif is_behind_other and adapter.FIRST:
                yield Problem("I2", row.message, "a result stands behind something else")
            elif adapter.HOLDER and row.message != exchange.middle:
                why = "the results of one answer's calls stand in several messages"
                yield Problem("I3", row.message, why)
            waiting.pop(row.id, None)
        is_last = exchange is exchanges[-1]
        if is_open(exchange, exchanges[-1], sending=sending):
            waiting = {call: row for call, row in waiting.items() if row not in exchange.calls}
        if adapter.BESIDE or is_last:
            for call, row in waiting.items():
                yield Problem("I1", row.message, f"the call {call} has no result")
            waiting, called = {}, set()


# --- faults of single formats that show only across messages

Fault = tuple[str, int, str]
"""The violated invariant, the index of the message, and the reason."""

MARKS_MAX = 4
"""Cache marks that Anthropic accepts."""

BEGINNING = "(The beginning of this conversation is missing.)"
USER_FIRST = ("anthropic", "gemini", "pydantic-ai")
"""Formats whose first message is the user's."""


def chain_faults(adapter: Adapter, messages: Sequence[Message]) -> Iterator[Fault]:
    """Return the faults across the messages of a conversation."""
    first = next((n for n, each in enumerate(messages) if adapter.role(each) != "system"), None)
    if first is not None and _starts_with_model(adapter, messages[first]):
        yield "I9", first, "the first message is the model's, not the user's"
    if adapter.NAME == anthropic.NAME:
        for number, _, why in _surplus_marks(messages):
            yield "I12", number, why
    elif adapter.NAME == responses.NAME:
        for number in responses.lone_reasoning(messages):
            yield "I6", number, "its reasoning lost the item that it led to"
    elif adapter.NAME == gemini.NAME:
        for number in gemini.repeated_contents(messages):
            yield "I7", number, "a call stands apart from what the model says beside it"


def repair_chain(adapter: Adapter, messages: Sequence[Message]) -> list[Message]:
    """Return the messages without these faults."""
    repaired = list(messages)
    if adapter.NAME == anthropic.NAME:
        for number, place, _ in list(_surplus_marks(messages)):
            repaired[number] = removed(repaired[number], [(*place, "cache_control")])
    elif adapter.NAME == responses.NAME:
        while lone := set(responses.lone_reasoning(repaired)):
            repaired = [each for number, each in enumerate(repaired) if number not in lone]
    elif adapter.NAME == gemini.NAME:
        repeated = set(gemini.repeated_contents(messages))
        repaired = []
        for number, message in enumerate(messages):
            if number in repeated:
                repaired[-1] = gemini.merged(repaired[-1], message)
            else:
                repaired.append(message)
    if repaired and _starts_with_model(adapter, repaired[0]):
        return [adapter.user_message(BEGINNING, repaired[0]), *repaired]
    return repaired


def _starts_with_model(adapter: Adapter, first: Message) -> bool:
    return adapter.NAME in USER_FIRST and adapter.role(first) == "model"


def _surplus_marks(messages: Sequence[Message]) -> Iterator[tuple[int, Place, str]]:
    """Return the cache marks that have to go: the oldest above four, and a mark for an hour behind a
    shorter one."""
    marks = [
        (number, place, block["cache_control"].get("ttl") == "1h")
        for number, message in enumerate(messages)
        for place, block in _blocks(message["content"], ("content",))
        if isinstance(block.get("cache_control"), dict)
    ]
    for number, place, _ in marks[:-MARKS_MAX]:
        yield number, place, f"there are more than {MARKS_MAX} marks for the cache"
    has_short = False
    for number, place, is_hour in marks[-MARKS_MAX:]:
        if is_hour and has_short:
            yield number, place, "a mark for an hour stands behind one for five minutes"
        has_short = has_short or not is_hour


def _blocks(content: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """Return the blocks of a content, with blocks nested in results before their result."""
    for number, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict):
            yield from _blocks(block.get("content"), (*place, number, "content"))
            yield (*place, number), block


# --- repair


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
    exchanges = split_exchanges(adapter, messages)
    given = {row.part.call for exchange in exchanges for row in exchange.calls}
    ids: set[str] = set()
    for exchange in exchanges:
        for row in exchange.calls:
            own = row.part.call
            if own is None:
                continue
            distinct = own
            if distinct in ids:
                # As long as before: Mistral's ids have nine letters and digits, OpenAI's 64 at most.
                ends = map(str, count())
                alike = (own[: -len(end)] + end for end in ends)
                distinct = next(each for each in alike if each not in given | ids)
            ids.add(distinct)
            if distinct != own:
                same = [r for r in exchange.results if r.part.call == own]
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
                made = [result_of(call) for call in exchange.calls]
                is_held = bool(made and adapter.HOLDER)
                holder = adapter.user_message("", messages[exchange.start])
                yield from [{**holder, adapter.HOLDER: made}] if is_held else made
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
    is_together = not adapter.HOLDER or all(row.message == exchange.middle for row in results)
    ids = sorted(str(row.id) for row in results)
    return is_ordered and is_together and ids == sorted(str(row.id) for row in exchange.calls)


def _without_results(
    adapter: Adapter, messages: list[Message], exchange: Exchange
) -> Iterator[Message]:
    """Return the messages behind an answer, without results."""
    for number in range(exchange.middle, exchange.end):
        gone = [row.part.place for row in exchange.results if row.message == number]
        if not gone:
            yield messages[number]
        elif adapter.HOLDER:
            message = adapter.without_empty(removed(messages[number], gone))
            if message is not None:
                yield message
