"""Condensing: a summary in place of all but the newest messages, checked before it is taken.

The model that sums up is asked with plain text. What the record has for certain is not left to it:
what the user said, files, commands and the open list of work are put beside its words.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.conversation import summary_record, words
from sightline.conversation.dropped_text import leaving
from sightline.conversation.fold_decisions import packed
from sightline.conversation.message_chain import heads
from sightline.conversation.message_codec import name
from sightline.conversation.sent_view import Window
from sightline.conversation.summary_ledger import Ledger
from sightline.conversation.window.blocks import Block, Decision
from sightline.errors import CondenseRefused
from sightline.model.events import Condensed, CondenseFailed, MessageAppended
from sightline.model.revision import revision_of

FAILURES_MAX = 3
"""Failures in a row after which nobody is asked again until the user says something new."""

SUMMARY_TOKENS_MAX = 4_000
"""Of what the model says; what the record says comes on top of it."""


class Condensation(Struct, frozen=True):
    """A summary that stands from now on. first, last: ids of the messages that it stands for;
    before, after: tokens of the view."""

    summary: str
    first: str
    last: str
    before: int
    after: int


class Part(Struct, frozen=True):
    """What is to be summed up. cut: the index of the first message that stays; heads: how many at
    the beginning stay, too; tip: the newest message then."""

    cut: int
    heads: int
    text: str
    ledger: Ledger
    tip: str


def condense(
    ground: SessionContext,
    lock: AbstractContextManager[object],
    window: Window,
    summarizer: Callable[[str], str],
    keep_tokens: int,
) -> Condensation | None:
    """See Conversation.condense. The lock is not held while the summary is made."""
    if keep_tokens < 0:
        raise ValueError(f"keep_tokens is a number of tokens, 0 or more, not {keep_tokens}")
    with lock:
        _check_breaker(window)
        part = _part(ground, window, keep_tokens)
    if part is None:
        return None
    said = _asked(ground, lock, window, summarizer, part.text)
    with lock:
        window.refresh()
        if window.ids[part.cut - 1 : part.cut] != [part.tip]:
            raise _failed(ground, window, words.moved())
        return _taken(ground, window, part, said)


def _part(ground: SessionContext, window: Window, keep_tokens: int) -> Part | None:
    """What can be summed up; None where there is nothing."""
    if window.format is None:
        return None
    first = len(heads(window.rows))
    cut = _cut(window, keep_tokens, first)
    if cut <= first:
        return None
    blocks = [b for b in window.blocks if first <= b.message < cut]
    if not any(block.kind != "summary" for block in blocks):
        return None
    stubs = {fold.block: fold.stub for each in window.decisions for fold in each.folds}
    dropped = {place for each in window.decisions for place in each.dropped}
    told = [
        (block, stubs.get(place, block.text))
        for place, block in enumerate(window.blocks)
        if first <= block.message < cut and place not in dropped
    ]
    made = summary_record.of(ground, window, blocks)
    return Part(cut, first, words.request(told), made, window.ids[cut - 1])


def _cut(window: Window, keep_tokens: int, first: int) -> int:
    """The last message from which on at least so many tokens stay, and where nothing is torn
    apart: no call from its result, no answer of the model's."""
    assert window.format is not None
    role = window.format.adapter.role
    sizes = [0] * len(window.messages)
    for block in window.blocks:
        sizes[block.message] += block.tokens
    torn = _torn(window.blocks)
    stays = 0
    for number in range(len(window.messages) - 1, first, -1):
        stays += sizes[number]
        inside = role(window.messages[number]) == role(window.messages[number - 1]) == "model"
        if stays >= keep_tokens and number not in torn and not inside:
            return number
    return first


def _torn(blocks: list[Block]) -> set[int]:
    """Messages before which a cut would part a call from its result."""
    called: dict[str | None, int] = {}
    torn: set[int] = set()
    for block in blocks:
        if block.kind == "call":
            called[block.call] = block.message
        elif block.kind == "result" and block.call in called:
            torn.update(range(called[block.call] + 1, block.message + 1))
    return torn


def _asked(
    ground: SessionContext,
    lock: AbstractContextManager[object],
    window: Window,
    summarizer: Callable[[str], str],
    text: str,
) -> str:
    """What the summarizer says. CondenseRefused when it fails."""
    try:
        said: object = summarizer(text)
    except Exception as error:
        with lock:
            raise _failed(ground, window, words.raised(error)) from error
    if not isinstance(said, str) or not said.strip():
        with lock:
            raise _failed(ground, window, words.empty())
    return said.strip()


def _taken(ground: SessionContext, window: Window, part: Part, said: str) -> Condensation:
    """Put a summary on record. CondenseRefused where it is too long, or wins nothing."""
    assert window.format is not None
    length = window.count(said)
    if length > SUMMARY_TOKENS_MAX:
        raise _failed(ground, window, words.too_long(length, SUMMARY_TOKENS_MAX))
    text = words.summary(said, part.ledger, window.count)
    tail = sum(b.tokens for b in window.blocks if b.message >= part.cut)
    after = sum(b.tokens for b in window.blocks if b.message < part.heads) + tail
    after += window.count(text)
    before = window.tokens
    if after >= before:
        raise _failed(ground, window, words.not_smaller(before, after))
    message = window.format.adapter.user(text)
    last = window.ids[part.cut - 1]
    summary = name(message, last)
    told = {
        "message": message,
        "ledger": part.ledger.packed(),
        **_thoughts(window, part.cut, message),
    }
    data = json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")
    fact = Condensed(summary, window.ids[part.heads], last, revision_of(data), window.side)
    gone = window.gone
    stood = [b for n, b in enumerate(window.blocks) if n not in gone]
    going = [b for b in stood if part.heads <= b.message < part.cut]
    stays = [b for b in window.blocks if not part.heads <= b.message < part.cut]
    left = leaving(ground, going, stays, ())
    ground.append([*left, fact], blobs=[data])
    window.refresh()
    return Condensation(text, fact.first, fact.last, before, window.tokens)


def _thoughts(window: Window, cut: int, message: Any) -> dict[str, Any]:
    """Thinking that was bound to what is summed up now, as far as it may go: as a decision."""
    assert window.format is not None
    messages = [message, *window.messages[cut:]]
    ids = ["", *window.ids[cut:]]
    blocks = window.format.blocks(messages, len)
    spoken = max((n for n, b in enumerate(blocks) if b.kind == "user"), default=0)
    gone = tuple(n for n, b in enumerate(blocks) if b.loose and n < spoken)
    decision = Decision(dropped=gone)
    try:
        window.format.project(messages, blocks, [decision])
    except ValueError:
        decision = Decision()
    found: dict[str, Any] = json.loads(packed(decision, blocks, ids))
    return found


def _check_breaker(window: Window) -> None:
    """CondenseRefused while three failures in a row stand, and the user said nothing since."""
    failures = 0
    for row in window.rows:
        if isinstance(row.fact, Condensed):
            failures = 0
        elif isinstance(row.fact, CondenseFailed):
            failures += 1
        elif isinstance(row.fact, MessageAppended) and row.fact.role == "user":
            failures = min(failures, FAILURES_MAX - 1)
    if failures >= FAILURES_MAX:
        raise CondenseRefused(*words.given_up(failures))


def _failed(ground: SessionContext, window: Window, why: str) -> CondenseRefused:
    """A failure, on record."""
    ground.append([CondenseFailed(why, window.side)])
    return CondenseRefused(*words.refused(why))
