"""Formats: parse the messages of every provider and framework into blocks, and apply decisions.

A format is an adapter (parts.Adapter) and everything that is the same for all adapters. Messages are
mappings in the JSON of their provider. They are never changed in place, and unknown fields pass
through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from sightline.messages.blocks import Block, Decision, Fold
from sightline.messages.formats import (
    anthropic,
    chat,
    gemini,
    langchain,
    pydantic_ai,
    responses,
)
from sightline.messages.formats.exchanges import Exchange, Row, split_exchanges
from sightline.messages.formats.parse_blocks import BlockParser, asked_fence
from sightline.messages.formats.parts import (
    Adapter,
    Message,
    Place,
    as_sent,
    describe_shape,
    is_of,
    removed,
)
from sightline.messages.formats.problems import Problem, find_problems, repair

ADAPTERS: dict[str, Adapter] = {
    "anthropic": anthropic,
    "chat": chat,
    "responses": responses,
    "gemini": gemini,
    "litellm": chat,
    "langchain": langchain,
    "pydantic-ai": pydantic_ai,
}

ORDER = ("chat", "anthropic", "responses", "gemini", "langchain", "pydantic-ai")
"""Order in which formats are tried: several formats fit plain text."""


class Format(Struct, frozen=True):
    """A format, by its name."""

    name: str

    @property
    def adapter(self) -> Adapter:
        """Return the module of the wire format."""
        return ADAPTERS[self.name]

    def parser(self, count: Callable[[str], int]) -> BlockParser:
        """Return a parser for the messages of one conversation. count: tokens of a text."""
        return BlockParser(self.adapter, count)

    def blocks(self, messages: Sequence[Message], count: Callable[[str], int]) -> list[Block]:
        """Parse all messages of a conversation into blocks. count: tokens of a text."""
        parser = BlockParser(self.adapter, count, asked_fence(self.adapter, messages))
        return [block for message in messages for block in parser.parse(message)]

    def project(
        self, messages: Sequence[Message], blocks: Sequence[Block], decisions: Iterable[Decision]
    ) -> list[Message]:
        """Return the view of messages: with all decisions applied, and without the fields that the
        host keeps for itself. blocks: of these messages.

        A decision that occurs twice counts once. No message is changed in place, and unchanged
        messages are shared. ValueError for a decision that cannot be applied.
        """
        decisions = list(decisions)
        stubs = _stubs(blocks, [fold for decision in decisions for fold in decision.folds])
        tails: dict[int, list[str]] = {}
        for tail in dict.fromkeys(tail for decision in decisions for tail in decision.tails):
            after = _end_of_results(self.adapter, messages, blocks[tail.after].message)
            tails.setdefault(after, []).append(tail.text)
        dropped = {place for decision in decisions for place in decision.dropped}
        gone = _places_to_remove(self.adapter, messages, blocks, dropped)
        view: list[Message] = []
        is_behind_gap = False
        for number, message in enumerate(messages):
            left = _fold(self.adapter, message, stubs.get(number, {}), gone.get(number, ()))
            new = [] if left is None else [left]
            for text in tails.get(number, ()):
                last = new[-1:]
                new[-1:] = (
                    self.adapter.with_tail(last[0], text)
                    if last
                    else [self.adapter.user_message(text, message)]
                )
            if (
                self.adapter is gemini
                and new
                and is_behind_gap
                and _is_model(view)
                and _is_model(new[:1])
            ):
                view[-1] = gemini.merged(view[-1], new.pop(0))
            view += [as_sent(self.adapter, message) for message in new]
            is_behind_gap = not new or (is_behind_gap and not view)
        return view

    def problems(self, messages: Sequence[Message], *, sending: bool = False) -> list[Problem]:
        """Return why a provider would refuse messages. sending: the messages are
        about to be sent, so no call may wait for its result, and the last message is the user's."""
        return find_problems(self.adapter, messages, sending=sending)

    def repaired(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages without problems. Valid messages stay unchanged."""
        return repair(self.adapter, messages)


FORMATS = {name: Format(name) for name in ADAPTERS}


def detect(messages: Sequence[Message]) -> str:
    """Return the name of the format of all messages. ValueError, naming the first message of no
    format, or of another format than those before it."""
    if not messages:
        raise ValueError("there is no message to recognise the format by: name the format")
    names = list(ORDER)
    for number, message in enumerate(messages):
        own = [name for name in names if is_of(ADAPTERS[name], message)]
        if not own:
            before = names if number else ()
            raise ValueError(f"message {number} is {describe_mismatch(message, before)}")
        names = own
    if names[0] == "chat" and any("thinking_blocks" in message for message in messages):
        return "litellm"
    return names[0]


def describe_mismatch(message: object, before: Sequence[str]) -> str:
    """Say why no format fits a message and those before it, as the end of "message 3 is …". before:
    the formats that fit the messages before; none for the first message."""
    others = [n for n in ORDER if n not in before and is_of(ADAPTERS[n], message)]
    if before and others:
        return (
            f"of format {' or '.join(others)}, those before it of {' or '.join(before)}: one"
            " conversation has one format"
        )
    return f"of no known format ({', '.join(ADAPTERS)}): {describe_shape(message)}"


# --- the view of messages

Key = tuple[int, int]
"""A message, and the number of a part in it."""


def _is_model(contents: Sequence[Message]) -> bool:
    return bool(contents) and gemini.role(contents[-1]) == "model"


def _stubs(blocks: Sequence[Block], folds: Iterable[Fold]) -> dict[int, dict[int, str]]:
    """Return the stubs by message and part. ValueError."""
    stubs: dict[int, dict[int, str]] = {}
    for fold in folds:
        block = blocks[fold.block]
        if block.fixed:
            raise ValueError(f"block {fold.block} ({block.kind}) may never be folded")
        if not fold.stub.strip():
            raise ValueError(f"part {block.part} would be blank: a provider refuses that")
        if stubs.setdefault(block.message, {}).setdefault(block.part, fold.stub) != fold.stub:
            raise ValueError(f"block {fold.block} is folded twice, with different words")
    return stubs


def _end_of_results(adapter: Adapter, messages: Sequence[Message], after: int) -> int:
    """Return the index of the last message with results of the same calls, from an index on."""
    if adapter.role(messages[after]) == "model":
        raise ValueError(f"message {after} is the model's: no text can follow it")
    end = after
    for number in range(after + 1, len(messages)):
        if adapter.role(messages[number]) == "model":
            break
        if any(part.kind == "result" for part in adapter.parts(messages[number])):
            end = number
    return end


def _fold(
    adapter: Adapter, message: Message, stubs: dict[int, str], gone: Collection[Place]
) -> Message | None:
    """Put the stubs of a message, and remove the places that go; None where nothing remains."""
    parts = adapter.parts(message) if stubs else []
    for number, stub in stubs.items():
        if parts[number].place not in gone:
            message = adapter.with_text(message, parts[number], stub)
    if not gone:
        return message
    return None if () in gone else adapter.without_empty(removed(message, gone))


# --- parts that go without a stub


def _places_to_remove(
    adapter: Adapter, messages: Sequence[Message], blocks: Sequence[Block], dropped: Collection[int]
) -> dict[int, set[Place]]:
    """Return, by message, the places to remove when blocks are dropped: their own, and those of
    thinking that led to nothing else. ValueError for blocks that are no closed groups."""
    if not dropped:
        return {}
    keys = {(blocks[place].message, blocks[place].part) for place in dropped}
    exchanges = split_exchanges(adapter, messages)
    results = {row.id: row for exchange in exchanges for row in exchange.results}
    at_work = _exchanges_at_work(exchanges)
    places: dict[int, set[Place]] = {}
    for exchange in exchanges:
        for row in _rows_to_remove(exchange, results, keys, is_at_work=exchange.start in at_work):
            places.setdefault(row.message, set()).add(row.part.place)
            keys.discard(row.key)
    if keys:
        message, number = min(keys)
        raise ValueError(
            f"part {number} of message {message} cannot be removed by itself: remove a call together with "
            "all calls of its message and all their results, and thinking once the user has spoken since"
        )
    return places


def _rows_to_remove(
    exchange: Exchange, results: dict[str | None, Row], keys: Collection[Key], *, is_at_work: bool
) -> Iterator[Row]:
    calls = exchange.calls
    if not any(row.key in keys for row in calls):
        if not is_at_work:
            yield from (row for row in exchange.answer if row.part.loose and row.key in keys)
        return
    group = [*calls, *(results[row.id] for row in calls if row.id in results)]
    why = ""
    if any(row.id not in results for row in calls):
        why = "a call still waits for its result"
    elif is_at_work:
        why = "the model is at work, and its thinking has to stay"
    elif any(row.key not in keys for row in group):
        why = "all calls of one answer go, with all their results"
    if why:
        raise ValueError(f"the calls in message {calls[0].message} cannot go: {why}")
    yield from group
    led_to_removed = False  # thinking goes with the call or the text that follows it
    for row in reversed(exchange.answer):
        if row.part.kind == "thinking":
            if led_to_removed or (row.part.loose and row.key in keys):
                yield row
            continue
        is_removed_text = row.part.kind == "text" and row.key in keys
        led_to_removed = row.part.kind == "call" or is_removed_text
        if is_removed_text:
            yield row


def _exchanges_at_work(exchanges: Sequence[Exchange]) -> set[int]:
    """Return the starts of the exchanges since the last text by anybody else, if thinking occurs
    among the exchanges."""
    current: list[Exchange] = []
    for exchange in reversed(exchanges):
        if any(row.part.kind != "result" for row in exchange.following):
            break
        current.append(exchange)
    has_thinking = any(row.part.kind == "thinking" for each in current for row in each.answer)
    return {exchange.start for exchange in current} if has_thinking else set()
