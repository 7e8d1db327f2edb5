"""Memory: what was going on, for an agent that is asked to go on.

Nothing is kept for it. What was done stands on the timeline, what was said in the conversation,
and what a file is stands on disk; so it is the same after a restart, a rewind or a compaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from sightline.briefing import words
from sightline.briefing.contents import Held, Memory, Stale, Work
from sightline.briefing.continuation import is_continuation, unwrapped
from sightline.changes.session_context import SessionContext
from sightline.conversation import message_chain
from sightline.conversation.formats.format import FORMATS, detect
from sightline.conversation.log import Conversation
from sightline.conversation.todos import todos
from sightline.conversation.token_counter import family_of
from sightline.conversation.window.blocks import Block
from sightline.errors import StoreError
from sightline.model.events import Changed, Moved
from sightline.model.projections import Knowledge
from sightline.model.revision import MISSING
from sightline.model.timeline import Recorded
from sightline.notices import pending

Message = Mapping[str, Any]

BUDGET = 1_500
"""Tokens of the block."""

DONE = 5
WORKING = 10
RESULT_CHARACTERS = 200
REQUEST_CHARACTERS = 400

BY_HOSTS = ("<system", "<environment_details", "<skill-context", "<local-command", "<command-")
"""How texts begin that hosts put among a person's words."""


def memory(
    ground: SessionContext,
    conversation: Conversation | Iterable[Message] | None = None,
    *,
    budget: int = BUDGET,
) -> Memory:
    """What was going on in this session. conversation: the messages, or the Conversation that has
    them; None: as they are on record. budget: tokens of the block, estimated for the session's
    model. ValueError for messages of no known format."""
    if type(budget) is not int or budget < words.LEAST:
        raise ValueError(f"budget is a number of tokens, {words.LEAST} or more, not {budget!r}")
    blocks, unread = _blocks(ground, conversation)
    told = _said(Memory(unread=unread), blocks)
    told = _files(ground, told)
    state = ground.store.session(ground.session)
    block = words.block(told, budget, family_of(state.model if state else None))
    return structs.replace(told, text=block.text, tokens=block.tokens, left_out=block.left_out)


def _blocks(
    ground: SessionContext, conversation: Conversation | Iterable[Message] | None
) -> tuple[list[Block], int]:
    """The conversation as blocks, and how many messages of it are not kept."""
    if conversation is None:
        return _recorded(ground)
    ours = getattr(conversation, "messages", None)
    messages: list[Message] = list(conversation if ours is None else ours())  # type: ignore[arg-type]
    return (FORMATS[detect(messages)].blocks(messages, len) if messages else []), 0


def _recorded(ground: SessionContext) -> tuple[list[Block], int]:
    rows = [
        row
        for row in message_chain.along(ground, message_chain.SAID)
        if message_chain.side_of(row) == ""
    ]
    messages = []
    for row in rows:
        try:
            messages.append(message_chain.read(ground, row))
        except StoreError:  # purged, or never to be stored: it is counted, and told
            continue
    if not messages:
        return [], len(rows)
    shape = FORMATS[message_chain.said(rows[-1]).formats[0]]
    return shape.blocks(messages, len), len(rows) - len(messages)


def _said(told: Memory, blocks: Sequence[Block]) -> Memory:
    """With what the conversation says."""
    listed = todos(blocks)
    doing = [each for each in listed if each.state == "doing"]
    waiting = [each for each in listed if each.state == "pending"]
    done = [each for each in listed if each.state == "done"]
    asked = (unwrapped(each.text) for each in reversed(blocks) if each.kind == "user")
    answered = (each.text for each in reversed(blocks) if each.kind == "text")
    request = next((text for text in asked if _is_request(text)), None)
    result = next((text for text in answered if text.strip()), None)
    return structs.replace(
        told,
        request=None if request is None else words.beginning(request, REQUEST_CHARACTERS),
        step=next((each.text for each in (*doing, *waiting)), None),
        pending=(*doing, *waiting),
        done=tuple(done[-DONE:]),
        done_count=len(done),
        result=None if result is None else words.ending(result, RESULT_CHARACTERS),
    )


def _is_request(text: str) -> bool:
    return bool(text) and not text.startswith(BY_HOSTS) and not is_continuation(text)


def _files(ground: SessionContext, told: Memory) -> Memory:
    """With how files stand."""
    refresh = [
        Stale(each.name, each.what, each.by()[0], each.moved_to)
        for each in pending.news(ground, told=True)
    ]
    changed = work(ground)
    named = {each.path for each in refresh} | {each.path for each in changed}
    known = sorted(ground.store.known(ground.session).values(), key=_touched, reverse=True)
    others = [each for each in known if (each.name or each.path) not in named]
    working = [
        Held(each.name or each.path, each.belief.shown, each.belief.lines)
        for each in others[:WORKING]
    ]
    return structs.replace(
        told, refresh=tuple(refresh), changed=tuple(changed), working=tuple(working)
    )


def _touched(knowledge: Knowledge) -> tuple[int, int]:
    last = max(knowledge.last_read, knowledge.last_agent_edit or 0)
    return last, knowledge.position


def work(ground: SessionContext) -> list[Work]:
    """The files that this session's own edits and commands left other than they were, the last
    changed first. What was taken out of its conversation does not count."""
    first: dict[str, str] = {}
    last: dict[str, tuple[str, str | None]] = {}
    for row in message_chain.along(ground, [Changed, Moved]):
        for path, before, after, src in steps(row):
            first.setdefault(path, before)
            came = last.pop(path, ("", None))[1]  # the last one changed stands last
            if src is not None:
                came = last[src][1] or (src if first[src] != MISSING else None)
            last[path] = after, came
    made = [
        _work(path, first[path], after, src)
        for path, (after, src) in last.items()
        if first[path] != after
    ]
    sources = {each.src for each in made if each.src}
    return [each for each in reversed(made) if each.deed != "deleted" or each.path not in sources]


def steps(row: Recorded) -> Iterator[tuple[str, str, str, str | None]]:
    """A path, what stood there before and after a session's own deed, and where it came from."""
    fact = row.fact
    if not isinstance(fact, Changed | Moved) or fact.cause.who != row.session:
        return
    if fact.cause.kind not in ("agent", "command"):
        return
    if isinstance(fact, Changed):
        yield fact.path, fact.before, fact.after, None
    else:
        yield fact.src, fact.revision, MISSING, None
        yield fact.path, MISSING, fact.revision, fact.src


def _work(path: str, before: str, after: str, src: str | None) -> Work:
    if after == MISSING:
        return Work(path, "deleted")
    if src is not None:
        return Work(path, "moved", src)
    return Work(path, "created" if before == MISSING else "modified")
