"""What may go without a stub: an answer's calls with all their results, and what led to them; and
thinking of what was said before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sightline.conversation.formats.pairing import Answer, Row, answers
from sightline.conversation.formats.parts import Adapter, Message, Place
from sightline.conversation.window.blocks import Block


def groups(
    adapter: Adapter, messages: Sequence[Message], blocks: Sequence[Block]
) -> list[tuple[int, ...]]:
    """The blocks that can go together, each group by itself: all calls of an answer, their
    results, and the thinking that led to them."""
    places = {(block.message, block.part): number for number, block in enumerate(blocks)}
    told = answers(adapter, messages)
    results, held = _results(told), _held(told)
    found = []
    for answer in told:
        rows = [
            *answer.calls(),
            *(results[row.name] for row in answer.calls() if row.name in results),
        ]
        if answer.calls() and not _why_not(answer, results, held):
            found.append(tuple(sorted(places[row.message, row.number] for row in rows)))
    return found


def taken_out(
    adapter: Adapter, messages: Sequence[Message], blocks: Sequence[Block], gone: Collection[int]
) -> dict[int, set[Place]]:
    """By message, the places that go when these blocks go: theirs, and those of thinking that led
    to nothing else. ValueError where they are no closed groups."""
    if not gone:
        return {}
    named = {(blocks[number].message, blocks[number].part) for number in gone}
    told = answers(adapter, messages)
    results, held = _results(told), _held(told)
    found: dict[int, set[Place]] = {}
    for answer in told:
        for row in _going(answer, results, held, named):
            found.setdefault(row.message, set()).add(row.part.place)
            named.discard((row.message, row.number))
    if named:
        message, number = min(named)
        raise ValueError(
            f"part {number} of message {message} cannot go by itself: a call goes with all calls of "
            "its answer and all their results, thinking when the user has spoken since"
        )
    return found


def _results(told: Sequence[Answer]) -> dict[str | None, Row]:
    return {row.name: row for answer in told for row in answer.results()}


def _going(
    answer: Answer,
    results: dict[str | None, Row],
    held: Collection[int],
    named: Collection[tuple[int, int]],
) -> Iterator[Row]:
    """The rows of an answer, and of its results, that go."""
    calls = answer.calls()
    if any((row.message, row.number) in named for row in calls):
        whole = [*calls, *(results[row.name] for row in calls if row.name in results)]
        why = _why_not(answer, results, held)
        if why or not all((row.message, row.number) in named for row in whole):
            raise ValueError(
                f"the calls in message {calls[0].message} cannot go: "
                + (why or "all calls of one answer go, with all their results")
            )
        yield from whole
        yield from _with_calls(answer, named)
    elif answer.begins not in held:
        yield from (row for row in answer.said if _is_loose(row, named))


def _is_loose(row: Row, named: Collection[tuple[int, int]]) -> bool:
    return row.part.loose and (row.message, row.number) in named


def _with_calls(answer: Answer, named: Collection[tuple[int, int]]) -> Iterator[Row]:
    """Of an answer whose calls go: the texts that were named, and thinking that was named or led
    to something that goes."""
    goes = False
    for row in reversed(answer.said):
        if row.part.kind == "thinking":
            if goes or _is_loose(row, named):
                yield row
            continue
        goes = row.part.kind == "call"
        if row.part.kind == "text" and (row.message, row.number) in named:
            goes = True
            yield row


def _why_not(answer: Answer, results: dict[str | None, Row], held: Collection[int]) -> str:
    """Why the calls of an answer may not go; "" where they may."""
    if any(row.name not in results for row in answer.calls()):
        return "a call still waits for its result"
    if answer.begins in held:
        return "the model is at work, and its thinking has to stay"
    return ""


def _held(told: Sequence[Answer]) -> set[int]:
    """Where the answers begin since somebody said something, if one of them holds thinking."""
    loop: list[Answer] = []
    for answer in reversed(told):
        if any(row.part.kind != "result" for row in answer.after):
            break
        loop.append(answer)
    thought = any(row.part.kind == "thinking" for answer in loop for row in answer.said)
    return {answer.begins for answer in loop} if thought else set()
