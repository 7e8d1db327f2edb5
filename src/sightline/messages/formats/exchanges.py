"""Pair calls with results: answers of the model, and what follows them, whatever the format."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sightline.messages.formats.parts import Adapter, Message, Part, parts_of


class CallIds:
    """Assigns ids to calls and results where the format has none: results come in the order of
    the calls."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str | None, str]] = []

    def id_of(self, place: tuple[int, int], part: Part) -> str | None:
        """Return the id of a part; None for a part that is no call, and no result of one."""
        if part.call is not None or part.kind not in ("call", "result"):
            return part.call
        if part.kind == "call":
            new = f"#{place[0]}.{place[1]}"
            self._waiting.append((part.tool, new))
            return new
        waiting = next((w for w in self._waiting if part.tool in (None, w[0])), None)
        if waiting is None:
            return None
        self._waiting.remove(waiting)
        return waiting[1]

    def start_answer(self) -> None:
        """Forget the waiting calls: the model begins another answer."""
        self._waiting = []


class Row(Struct, frozen=True):
    """A part, with its message and its number in the message. id: of a call or a result, assigned
    where the format has none."""

    message: int
    number: int
    part: Part
    id: str | None = None

    @property
    def key(self) -> tuple[int, int]:
        """Return the message and the number."""
        return self.message, self.number


class Exchange(Struct, frozen=True):
    """An answer of the model, without a break, and everything that follows it up to the next answer.
    The first exchange may have no answer. start, middle, end: indexes of its first message, of the
    first message that is not the model's, and of the first message of the next exchange."""

    start: int
    middle: int
    end: int
    answer: tuple[Row, ...]
    following: tuple[Row, ...]

    @property
    def calls(self) -> list[Row]:
        """Return the calls of the answer."""
        return [row for row in self.answer if row.part.kind == "call"]

    @property
    def results(self) -> list[Row]:
        """Return the results that follow."""
        return [row for row in self.following if row.part.kind == "result"]


def split_exchanges(adapter: Adapter, messages: Sequence[Message]) -> list[Exchange]:
    """Split a conversation into exchanges. Where each result follows its call's message directly,
    each message of the model is an answer."""
    is_alone = adapter.BESIDE and not adapter.HOLDER
    parts = [parts_of(adapter, number, message) for number, message in enumerate(messages)]
    models = [adapter.role(message) == "model" for message in messages]
    starts = [
        n for n, model in enumerate(models) if model and (is_alone or n == 0 or not models[n - 1])
    ]
    ids = CallIds()

    def rows(first: int, end: int) -> tuple[Row, ...]:
        return tuple(
            Row(message, number, part, ids.id_of((message, number), part))
            for message in range(first, end)
            for number, part in enumerate(parts[message])
        )

    exchanges = []
    for start, end in zip([0, *starts], [*starts, len(messages)], strict=True):
        middle = next((n for n in range(start, end) if not models[n]), end)
        ids.start_answer()
        exchanges.append(Exchange(start, middle, end, rows(start, middle), rows(middle, end)))
    return exchanges


def is_open(exchange: Exchange, last: Exchange, *, sending: bool) -> bool:
    """Return whether the calls of an exchange may wait for their results."""
    return exchange is last and not exchange.following and not sending
