"""Verbs as coroutines, for async hosts.

A verb runs in a thread. Cancelling the coroutine does not interrupt the verb: a write that has
begun is finished and recorded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sightline.api.conversation import Conversation

P = ParamSpec("P")
R = TypeVar("R")


async def in_thread(call: Callable[[], R]) -> R:
    """Run a blocking call in a thread, shielded from cancellation."""
    import asyncio  # a sixth of the imports of a hook without a daemon, which needs none of it

    return await asyncio.shield(asyncio.to_thread(call))


def coroutine(
    verb: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """Return a method that runs a verb of `self._blocking` in a thread."""

    @wraps(verb)
    async def run(self: Any, /, *args: P.args, **named: P.kwargs) -> R:
        return await in_thread(lambda: verb(self._blocking, *args, **named))

    return run


def async_context(
    verb: Callable[Concatenate[Any, P], AbstractContextManager[R]],
) -> Callable[Concatenate[Any, P], AbstractAsyncContextManager[R]]:
    """Return a method whose async context manager enters and leaves that of a verb in threads."""

    @wraps(verb)
    @asynccontextmanager
    async def enter(self: Any, /, *args: P.args, **named: P.kwargs) -> AsyncIterator[R]:
        inner = verb(self._blocking, *args, **named)
        async with AsyncExitStack() as stack:
            entered = await in_thread(inner.__enter__)
            stack.push_async_exit(lambda *error: in_thread(lambda: inner.__exit__(*error)))
            yield entered

    return enter


class AsyncConversation:
    """The verbs of Conversation as coroutines. `condense` calls the summarizer in a thread."""

    def __init__(self, conversation: Conversation) -> None:
        self._blocking = conversation

    append = coroutine(Conversation.append)
    condense = coroutine(Conversation.condense)
    count_with = coroutine(Conversation.count_with)
    display = coroutine(Conversation.display)
    expand = coroutine(Conversation.expand)
    load = coroutine(Conversation.load)
    messages = coroutine(Conversation.messages)
    record_usage = coroutine(Conversation.record_usage)
    recover = coroutine(Conversation.recover)
    repeated_calls = coroutine(Conversation.repeated_calls)
    rewind = coroutine(Conversation.rewind)
    save = coroutine(Conversation.save)
    sides = coroutine(Conversation.sides)
    view = coroutine(Conversation.view)

    @wraps(Conversation.side)
    async def side(self, name: str, call: str | None = None) -> AsyncConversation:
        return AsyncConversation(await in_thread(lambda: self._blocking.side(name, call)))
