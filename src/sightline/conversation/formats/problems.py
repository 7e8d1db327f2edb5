"""What a provider would refuse in a conversation, before it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sightline.conversation.formats import across
from sightline.conversation.formats.pairing import Answer, answers
from sightline.conversation.formats.parts import Adapter, Message


class Problem(Struct, frozen=True):
    """invariant: "I1" to "I15" of docs/design/0010-window.md; message: the index of the one where
    it shows."""

    invariant: str
    message: int
    why: str


def problems(
    adapter: Adapter, messages: Sequence[Message], *, sending: bool = False
) -> list[Problem]:
    """All of a conversation, by message. sending: it is about to be sent, so that it has to end
    with the user, and no call may wait for its result."""
    told = answers(adapter, messages)
    found = [
        Problem(invariant, number, why)
        for number, message in enumerate(messages)
        for invariant, why in adapter.faults(message)
    ]
    found += [Problem(*each) for each in across.faults(adapter, messages)]
    found += _reused(told)
    if sending and messages and adapter.role(messages[-1]) == "model":
        found.append(Problem("I9", len(messages) - 1, "the last message is the model's"))
    found += _beside(adapter, told, sending) if adapter.BESIDE else _anywhere(told, sending)
    return sorted(found, key=lambda problem: problem.message)


def _reused(told: Sequence[Answer]) -> Iterator[Problem]:
    seen: set[str] = set()
    for row in (row for answer in told for row in answer.calls()):
        if row.name in seen:
            yield Problem("I15", row.message, f"the call id {row.name} is used a second time")
        seen.add(row.name or "")


def is_open(answer: Answer, last: Answer, *, sending: bool) -> bool:
    """Whether the calls of an answer still wait for their results, as they may."""
    return answer is last and not answer.after and not sending


def _beside(adapter: Adapter, told: Sequence[Answer], sending: bool) -> Iterator[Problem]:  # noqa: FBT001
    """Where results follow their calls at once."""
    for answer in told:
        calls = {row.name: row.message for row in answer.calls()}
        waiting = dict(calls)
        other = False
        for row in answer.after:
            if row.part.kind != "result":
                other = True
                continue
            if row.name not in waiting:
                why = "has a second result" if row.name in calls else "was not made just before"
                yield Problem("I1", row.message, f"a result: its call {row.name} {why}")
            elif other and adapter.FIRST:
                yield Problem("I2", row.message, "a result stands behind something else")
            waiting.pop(row.name, None)
        if not is_open(answer, told[-1], sending=sending):
            for name, number in waiting.items():
                yield Problem("I1", number, f"the call {name} has no result")


def _anywhere(told: Sequence[Answer], sending: bool) -> Iterator[Problem]:  # noqa: FBT001
    """Where results only have to come after their calls."""
    waiting: dict[str | None, tuple[int, Answer]] = {}
    answered: set[str | None] = set()
    for answer in told:
        waiting |= {row.name: (row.message, answer) for row in answer.calls()}
        for row in answer.results():
            if row.name not in waiting:
                why = "has a second result" if row.name in answered else "was never made"
                yield Problem("I1", row.message, f"a result: its call {row.name} {why}")
            waiting.pop(row.name, None)
            answered.add(row.name)
    for name, (number, answer) in waiting.items():
        if not is_open(answer, told[-1], sending=sending):
            yield Problem("I1", number, f"the call {name} has no result")
