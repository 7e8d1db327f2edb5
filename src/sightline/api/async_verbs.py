"""Verbs as coroutines, for async hosts.

A verb runs in a thread. Cancelling the coroutine does not interrupt the verb: a write that has
begun is finished and recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from sightline.conversation.log import Conversation

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
    def enter(self: Any, /, *args: P.args, **named: P.kwargs) -> AsyncContext[R]:
        return AsyncContext(verb(self._blocking, *args, **named))

    return enter


class AsyncContext(AbstractAsyncContextManager[R], Generic[R]):
    """A blocking context manager, entered and left in threads."""

    def __init__(self, inner: AbstractContextManager[R]) -> None:
        self._inner = inner

    async def __aenter__(self) -> R:
        return await in_thread(self._inner.__enter__)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await in_thread(lambda: self._inner.__exit__(kind, error, trace))


class AsyncConversation:
    """The verbs of Conversation as coroutines. `condense` calls the summarizer in a thread."""

    def __init__(self, conversation: Conversation) -> None:
        self._blocking = conversation

    append = coroutine(Conversation.append)
    condense = coroutine(Conversation.condense)
    display = coroutine(Conversation.display)
    expand = coroutine(Conversation.expand)
    load = coroutine(Conversation.load)
    messages = coroutine(Conversation.messages)
    rewind = coroutine(Conversation.rewind)
    save = coroutine(Conversation.save)
    sides = coroutine(Conversation.sides)
    view = coroutine(Conversation.view)

    @wraps(Conversation.side)
    async def side(self, name: str, call: str | None = None) -> AsyncConversation:
        return AsyncConversation(await in_thread(lambda: self._blocking.side(name, call)))
