"""Writes src/sightline/services/aio.py from the signatures of Session.

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
    from datetime import timedelta
    from types import TracebackType
    from typing import Any, TypeVar

    from sightline.errors import EditRefused
    from sightline.services.batches import Change
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
'''


def generated() -> str:
    """The module's text."""
    tree = ast.parse((SOURCES / "session.py").read_text(encoding="utf-8"))
    session = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Session")
    methods = [n for n in session.body if isinstance(n, ast.FunctionDef)]
    verbs = [n for n in methods if not n.name.startswith("_") and not n.decorator_list]
    return HEAD + "".join(_method(verb) for verb in verbs)


def _method(verb: ast.FunctionDef) -> str:
    summary = " ".join((ast.get_docstring(verb) or "").split("\n\n")[0].split())
    summary = summary.split(". ")[0].removesuffix(".") + "."
    target = f"self._session.{verb.name}"
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
