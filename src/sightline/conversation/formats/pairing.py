"""Answers of the model, the calls in them and their results: what belongs together."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sightline.conversation.formats.parse_blocks import Names
from sightline.conversation.formats.parts import Adapter, Message, Part, parts_of


class Row(Struct, frozen=True):
    """A part where it stands. name: of a call or a result its id, or the one given to it."""

    message: int
    number: int
    part: Part
    name: str | None = None


class Answer(Struct, frozen=True):
    """What the model said without a break, and all that came after it until it said something
    else. The first one has said nothing. begins, turns, ends: the index of its first message, of
    the first that is not the model's, and of the first that belongs to the next answer."""

    begins: int
    turns: int
    ends: int
    said: tuple[Row, ...]
    after: tuple[Row, ...]

    def calls(self) -> list[Row]:
        return [row for row in self.said if row.part.kind == "call"]

    def results(self) -> list[Row]:
        return [row for row in self.after if row.part.kind == "result"]


def answers(adapter: Adapter, messages: Sequence[Message]) -> list[Answer]:
    """All of a conversation, in order. Where a result must follow its call's message at once, each
    message of the model's is an answer."""
    alone = adapter.ALONE and adapter.BESIDE
    told = [parts_of(adapter, number, message) for number, message in enumerate(messages)]
    models = [adapter.role(message) == "model" for message in messages]
    starts = [
        n for n, model in enumerate(models) if model and (alone or n == 0 or not models[n - 1])
    ]
    names = Names()
    found = []
    for begins, ends in zip([0, *starts], [*starts, len(messages)], strict=True):
        turns = next((n for n in range(begins, ends) if not models[n]), ends)
        names.answered()
        said = _rows(told, range(begins, turns), names)
        after = _rows(told, range(turns, ends), names)
        found.append(Answer(begins, turns, ends, said, after))
    return found


def _rows(told: Sequence[Sequence[Part]], numbers: range, names: Names) -> tuple[Row, ...]:
    return tuple(
        Row(number, at, part, names.of((number, at), part))
        for number in numbers
        for at, part in enumerate(told[number])
    )
