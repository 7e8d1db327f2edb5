"""Writes api/async_session.py and api/async_conversation.py from the signatures of Session, with
Seeking, and of Conversation.

python tools/aio.py            write it
python tools/aio.py --check    exit 1 when it is not what would be written
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src" / "sightline"
AROUND = {"writing", "ran"}
"""Verbs that answer a context manager."""

HEAD = '''"""The verbs of Session for async hosts. Written by tools/aio.py from their signatures."""

from __future__ import annotations

from sightline.api.async_conversation import AsyncConversation
from sightline.api.threads import Around, shielded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import timedelta

    from sightline.search.chains import Fallback, FindResult
    from sightline.search.stats import Stats
    from sightline.search.listing import DirectoryListing
    from sightline.search.listing_requests import ListingRequest
    from sightline.errors import EditRefused
    from sightline.guard.batch import Change
    from sightline.briefing.compose import Briefing
    from sightline.search.find import Progress
    from sightline.guard.host_writes import Run
    from sightline.briefing.mentions import Mentioned
    from sightline.checkpoints.time_points import When
    from sightline.briefing.registry import Registry
    from sightline.codegraph.related_files import Related
    from sightline.model.results import (BatchResult, Checkpoint, Claim, EditedFiles, EditResult, Environment, Export, FileChange, FileInContext, FileView, FileWarning, HandedOver, ModelUsage, Notice, RewindReport, Verdict)
    from sightline.api.session import Session


class AsyncSession:
    """A session's verbs as coroutines. They run in threads, one at a time per session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def conversation(self) -> AsyncConversation:
        """What was said: kept for good, and folded so that it costs less."""
        return AsyncConversation(self._session.conversation)
'''

TALK = '''"""The verbs of Conversation for async hosts. Written by tools/aio.py from their signatures."""

from __future__ import annotations

from sightline.api.threads import shielded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from sightline.conversation.window.folding import Rules
    from sightline.conversation.window.prices import Prices
    from sightline.conversation.log import Conversation, Message
    from sightline.conversation.view_options import Budget
    from sightline.conversation.condense import Condensation
    from sightline.conversation.saved_file import Loaded, Saved
    from sightline.conversation.display import Displayed
    from sightline.model.results import RewindReport


class AsyncConversation:
    """A conversation's verbs as coroutines. What sums up is called in a thread."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    async def side(self, name: str, call: str | None = None) -> AsyncConversation:
        """The chain of a sub-agent, by a name of your own."""
        side = await shielded(lambda: self._conversation.side(name, call))
        return AsyncConversation(side)
'''


def generated() -> dict[str, str]:
    """File -> its text."""
    session = _verbs("api/session.py", "Session") + _verbs("api/session.py", "Seeking")
    talk = [verb for verb in _verbs("conversation/log.py", "Conversation") if verb.name != "side"]
    return {
        "api/async_session.py": HEAD + "".join(_method(verb, "self._session") for verb in session),
        "api/async_conversation.py": TALK
        + "".join(_method(verb, "self._conversation") for verb in talk),
    }


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
        body = f"        return Around({call})\n"
    else:
        head = f"    async def {verb.name}({args}) -> {returns}:\n"
        body = f"        return await shielded({f'lambda: {call}' if passed else target})\n"
    return f'\n{head}        """{summary}"""\n{body}'


def _passed(args: ast.arguments) -> list[str]:
    plain = [arg.arg for arg in args.args[1:]]
    return plain + [f"{arg.arg}={arg.arg}" for arg in args.kwonlyargs]


def main() -> int:
    """Write or check."""
    wrong = []
    for name, text in generated().items():
        target = SOURCES / name
        made = _formatted(target, text)
        if "--check" not in sys.argv:
            target.write_text(made, encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != made:
            wrong.append(name)
    for name in wrong:
        sys.stderr.write(f"{name} is out of date: run python tools/aio.py\n")
    return int(bool(wrong))


def _formatted(target: Path, text: str) -> str:
    import subprocess

    for words in (["check", "--quiet", "--select", "I", "--fix"], ["format"]):
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(target), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
