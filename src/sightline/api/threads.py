"""Blocking verbs for async hosts: they run in threads, and what has begun is finished."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


async def shielded(call: Callable[[], T]) -> T:
    """Run a blocking verb in a thread. Being cancelled does not stop it half way: a commit that
    has begun is finished, and its facts recorded, while the caller goes on."""
    import asyncio  # every hook without a daemon would load it: a sixth of all imports

    return await asyncio.shield(asyncio.to_thread(call))


class Around:
    """A context manager whose two ends run in a thread."""

    def __init__(self, inner: AbstractContextManager[Any]) -> None:
        self._inner = inner

    async def __aenter__(self) -> Any:
        return await shielded(self._inner.__enter__)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await shielded(lambda: self._inner.__exit__(kind, error, trace))
