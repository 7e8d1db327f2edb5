"""The view: messages as they are sent, out of the log and the decisions that were made on it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sightline.conversation.formats import across
from sightline.conversation.formats.parts import Adapter, Message, Place, removed
from sightline.conversation.formats.removal import taken_out
from sightline.conversation.window.blocks import Block, Decision


def project(
    adapter: Adapter,
    messages: Sequence[Message],
    blocks: Sequence[Block],
    decisions: Iterable[Decision],
) -> list[Message]:
    """The messages with every decision carried out. blocks: those of these very messages. A
    decision that is there twice counts once. Nothing is changed in place, and what no decision
    names is shared. ValueError where a decision cannot be carried out as it stands."""
    known = list(decisions)
    stubs = _stubs(blocks, known)
    tails = _tails(adapter, messages, blocks, known)
    gone = {place for decision in known for place in decision.dropped}
    taken = taken_out(adapter, messages, blocks, gone)
    view: list[Message] = []
    cut = False
    for number, message in enumerate(messages):
        left = _folded(adapter, message, stubs.get(number), taken.get(number))
        here = [] if left is None else [left]
        for text in tails.get(number, ()):
            here[-1:] = adapter.tailed(here[-1] if here else None, text)
        if here and cut and view:
            here = _joined(adapter, view, here)
        view += here
        cut = not here or (cut and not view)
    return view


def replaced(adapter: Adapter, message: Message, parts: Mapping[int, str]) -> Message:
    """A copy of a message in which parts, by their numbers, say something else."""
    told = adapter.parts(message)
    for number, text in parts.items():
        if not text.strip():
            raise ValueError(f"part {number} would be blank: a provider refuses that")
        message = adapter.put(message, told[number], text)
    return message


def with_tail(
    adapter: Adapter, messages: Sequence[Message], after: int, text: str
) -> list[Message]:
    """The messages with a text behind one of the user's, and behind all results that answer the
    same calls."""
    at = _end_of_results(adapter, messages, after)
    return [*messages[:at], *adapter.tailed(messages[at], text), *messages[at + 1 :]]


def _end_of_results(adapter: Adapter, messages: Sequence[Message], after: int) -> int:
    if adapter.role(messages[after]) == "model":
        raise ValueError(f"message {after} is the model's: no text can stand behind it")
    end = after
    for number in range(after + 1, len(messages)):
        if adapter.role(messages[number]) == "model":
            break
        if any(part.kind == "result" for part in adapter.parts(messages[number])):
            end = number
    return end


def _stubs(blocks: Sequence[Block], decisions: Sequence[Decision]) -> dict[int, dict[int, str]]:
    """By message and part."""
    found: dict[int, dict[int, str]] = {}
    for fold in (fold for decision in decisions for fold in decision.folds):
        block = blocks[fold.block]
        if block.fixed:
            raise ValueError(f"block {fold.block} ({block.kind}) may never be folded")
        here = found.setdefault(block.message, {})
        if here.setdefault(block.part, fold.stub) != fold.stub:
            raise ValueError(f"block {fold.block} is folded twice, with different words")
    return found


def _tails(
    adapter: Adapter,
    messages: Sequence[Message],
    blocks: Sequence[Block],
    decisions: Sequence[Decision],
) -> dict[int, list[str]]:
    """By the message that they stand behind."""
    found: dict[int, list[str]] = {}
    tails = dict.fromkeys(tail for decision in decisions for tail in decision.tails)
    for tail in tails:
        at = _end_of_results(adapter, messages, blocks[tail.after].message)
        found.setdefault(at, []).append(tail.text)
    return found


def _folded(
    adapter: Adapter,
    message: Message,
    stubs: Mapping[int, str] | None,
    taken: Collection[Place] | None,
) -> Message | None:
    if stubs:
        kept = {
            n: stub
            for n, stub in stubs.items()
            if not taken or not _goes(adapter, message, n, taken)
        }
        message = replaced(adapter, message, kept)
    if not taken:
        return message
    return None if () in taken else adapter.left(removed(message, taken))


def _goes(adapter: Adapter, message: Message, number: int, taken: Collection[Place]) -> bool:
    return adapter.parts(message)[number].place in taken


def _joined(adapter: Adapter, view: list[Message], here: list[Message]) -> list[Message]:
    """What comes behind messages that went: joined with the one before, where two of the model's
    may not follow each other."""
    if adapter.role(view[-1]) != "model" or adapter.role(here[0]) != "model":
        return here
    one = across.merged(adapter, view[-1], here[0])
    if one is None:
        return here
    view[-1] = one
    return here[1:]
