"""A conversation mended both ways: calls without a result, and results without a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sightline.conversation.formats import across
from sightline.conversation.formats.pairing import Answer, Row, answers
from sightline.conversation.formats.parts import Adapter, Message, at, removed
from sightline.conversation.formats.problems import is_open, problems

MISSING = "(No result of this call was recorded.)"


def repaired(adapter: Adapter, messages: Sequence[Message]) -> list[Message]:
    """As a provider takes it. What is right stays as it is; a result that stands elsewhere is
    moved to its call, one that is nowhere is said to be missing, and one without a call goes."""
    if not problems(adapter, messages):
        return list(messages)
    tidy = [each if not adapter.faults(each) else adapter.tidied(each) for each in messages]
    left = _distinct(adapter, [each for each in tidy if each is not None])
    left = _paired(adapter, left)
    return across.mended(adapter, left)


def _distinct(adapter: Adapter, messages: list[Message]) -> list[Message]:
    """With an id of its own for every call."""
    seen: set[str] = set()
    for answer in answers(adapter, messages):
        for row in answer.calls():
            if row.part.call is None:
                continue
            new = row.part.call
            while new in seen:
                new += "~"
            seen.add(new)
            if new != row.part.call:
                same = [each for each in answer.results() if each.part.call == row.part.call]
                for each in (row, *same[:1]):
                    messages[each.message] = adapter.named(messages[each.message], each.part, new)
    return messages


def _paired(adapter: Adapter, messages: list[Message]) -> list[Message]:
    told = answers(adapter, messages)
    homes = _homes(told)
    found: list[Message] = []
    for answer in told:
        found += messages[answer.begins : answer.turns]
        opened = is_open(answer, told[-1], sending=False)
        if adapter.BESIDE and not opened:
            found += _beside(adapter, messages, answer, homes)
        elif not adapter.BESIDE:
            found += [] if opened else _missing(adapter, messages, answer, homes)
            found += _kept(messages, answer, homes)
    return found


def _homes(told: Sequence[Answer]) -> dict[str | None, Row]:
    """The first result behind each call."""
    called: set[str | None] = set()
    homes: dict[str | None, Row] = {}
    for answer in told:
        called |= {row.name for row in answer.calls()}
        for row in answer.results():
            if row.name in called:
                homes.setdefault(row.name, row)
    return homes


def _beside(
    adapter: Adapter, messages: list[Message], answer: Answer, homes: dict[str | None, Row]
) -> list[Message]:
    """What follows an answer: the results of its calls, then all that is no result."""
    here = messages[answer.turns : answer.ends]
    if _is_right(adapter, answer) and not any(adapter.faults(each) for each in here):
        return here
    raw = [_raw(adapter, messages, row, homes) for row in answer.calls()]
    others = _others(adapter, messages, answer)
    if not raw:
        return others
    return [*raw, *others] if adapter.ALONE else [adapter.answering(raw), *others]


def _is_right(adapter: Adapter, answer: Answer) -> bool:
    results = answer.results()
    first = answer.after[: len(results)]
    in_order = not adapter.FIRST or all(row.part.kind == "result" for row in first)
    named = sorted(str(row.name) for row in results)
    return in_order and named == sorted(str(row.name) for row in answer.calls())


def _raw(adapter: Adapter, messages: list[Message], call: Row, homes: dict[str | None, Row]) -> Any:
    """The result of a call, from where it stands; else one that says that it is missing."""
    home = homes.get(call.name)
    if home is None:
        return adapter.result(messages[call.message], call.part, MISSING)
    return at(messages[home.message], home.part.place)


def _others(adapter: Adapter, messages: list[Message], answer: Answer) -> list[Message]:
    """The messages behind an answer, without results."""
    left = []
    for number in range(answer.turns, answer.ends):
        gone = [row.part.place for row in answer.results() if row.message == number]
        if not gone:
            left.append(messages[number])
        elif not adapter.ALONE:
            kept = adapter.left(removed(messages[number], gone))
            left += [] if kept is None else [kept]
    return left


def _missing(
    adapter: Adapter, messages: list[Message], answer: Answer, homes: dict[str | None, Row]
) -> list[Message]:
    calls = [row for row in answer.calls() if row.name not in homes]
    return [adapter.result(messages[row.message], row.part, MISSING) for row in calls]


def _kept(messages: list[Message], answer: Answer, homes: dict[str | None, Row]) -> list[Message]:
    """What follows an answer where results only have to come after their calls: all that is no
    result, or the first one of a call."""
    results = {row.message: row for row in answer.results()}
    numbers = range(answer.turns, answer.ends)
    right = (n for n in numbers if n not in results or homes.get(results[n].name) is results[n])
    return [messages[number] for number in right]
