"""Writes src/sightline/services/aio.py from the signatures of Session and Conversation.

python tools/aio.py            write it
python tools/aio.py --check    exit 1 when it is not what would be written
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src" / "sightline" / "services"
AROUND = {"writing", "ran"}
"""Verbs that answer a context manager."""

HEAD = '''"""The verbs of Session for async hosts. Written by tools/aio.py from their signatures."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from datetime import datetime, timedelta
    from types import TracebackType
    from typing import Any, TypeVar

    from sightline.core.window.folding import Rules
    from sightline.core.window.prices import Prices
    from sightline.errors import EditRefused
    from sightline.services.batches import Change
    from sightline.services.conversation import Conversation, Message
    from sightline.services.conversation.asking import Budget
    from sightline.services.conversation.condensing import Condensation
    from sightline.services.conversation.files import Loaded, Saved
    from sightline.services.conversation.showing import Displayed
    from sightline.services.hosts import Run
    from sightline.services.moments import When
    from sightline.services.results import (
        BatchResult,
        Checkpoint,
        Claim,
        EditedFiles,
        EditResult,
        Environment,
        Export,
        FileChange,
        FileInContext,
        FileView,
        FileWarning,
        HandedOver,
        ModelUsage,
        Notice,
        RewindReport,
        Verdict,
    )
    from sightline.services.session import Session

    T = TypeVar("T")


async def _shielded(call: Callable[[], T]) -> T:
    """Run a blocking verb in a thread. Being cancelled does not stop it half way: a commit that
    has begun is finished, and its facts recorded, while the caller goes on."""
    import asyncio

    return await asyncio.shield(asyncio.to_thread(call))


class _Around:
    """A context manager whose two ends run in a thread."""

    def __init__(self, inner: AbstractContextManager[Any]) -> None:
        self._inner = inner

    async def __aenter__(self) -> Any:
        return await _shielded(self._inner.__enter__)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await _shielded(lambda: self._inner.__exit__(kind, error, trace))


class AsyncSession:
    """A session's verbs as coroutines. They run in threads, one at a time per session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def conversation(self) -> AsyncConversation:
        """What was said: kept for good, and folded so that it costs less."""
        return AsyncConversation(self._session.conversation)
'''

TALK = '''

class AsyncConversation:
    """A conversation's verbs as coroutines. What sums up is called in a thread."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    async def side(self, name: str, call: str | None = None) -> AsyncConversation:
        """The chain of a sub-agent, by a name of your own."""
        side = await _shielded(lambda: self._conversation.side(name, call))
        return AsyncConversation(side)
'''


def generated() -> str:
    """The module's text."""
    session = _verbs("session.py", "Session")
    talk = [
        verb for verb in _verbs("conversation/__init__.py", "Conversation") if verb.name != "side"
    ]
    methods = [_method(verb, "self._session") for verb in session]
    return HEAD + "".join(methods) + TALK + "".join(_method(v, "self._conversation") for v in talk)


def _verbs(file: str, name: str) -> list[ast.FunctionDef]:
    tree = ast.parse((SOURCES / file).read_text(encoding="utf-8"))
    made = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    methods = [n for n in made.body if isinstance(n, ast.FunctionDef)]
    return [n for n in methods if not n.name.startswith("_") and not n.decorator_list]


def _method(verb: ast.FunctionDef, of: str) -> str:
    summary = " ".join((ast.get_docstring(verb) or "").split("\n\n")[0].split())
    summary = summary.split(". ")[0].removesuffix(".") + "."
    target = f"{of}.{verb.name}"
    passed = ", ".join(_passed(verb.args))
    call = f"{target}({passed})"
    args = ast.unparse(verb.args).replace("results.", "")
    assert verb.returns is not None
    returns = ast.unparse(verb.returns).replace("results.", "")
    if verb.name in AROUND:
        returns = returns.replace("AbstractContextManager", "AbstractAsyncContextManager")
        head = f"    def {verb.name}({args}) -> {returns}:\n"
        body = f"        return _Around({call})\n"
    else:
        head = f"    async def {verb.name}({args}) -> {returns}:\n"
        body = f"        return await _shielded({f'lambda: {call}' if passed else target})\n"
    return f'\n{head}        """{summary}"""\n{body}'


def _passed(args: ast.arguments) -> list[str]:
    plain = [arg.arg for arg in args.args[1:]]
    return plain + [f"{arg.arg}={arg.arg}" for arg in args.kwonlyargs]


def main() -> int:
    """Write or check."""
    import subprocess

    target = SOURCES / "aio.py"
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(target), "-"],
        input=generated(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if "--check" not in sys.argv:
        target.write_text(formatted, encoding="utf-8")
        return 0
    if target.read_text(encoding="utf-8") == formatted:
        return 0
    sys.stderr.write(f"{target.name} is out of date: run python tools/aio.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
