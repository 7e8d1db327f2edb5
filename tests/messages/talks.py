"""Conversations for tests of a full window."""

from __future__ import annotations

from typing import Any

from sightline.messages.formats.format import FORMATS
from sightline.messages.token_counter import counter

COUNT = counter()
"""As a window counts the tokens of an unknown model: an installed tokenizer, or the estimate."""

TASK = "THE TASK: make `total()` in billing.py right"


def call(number: int, tool: str, given: Any) -> dict[str, Any]:
    """An answer of the model with one call."""
    used = {"type": "tool_use", "id": f"c{number}", "name": tool, "input": given}
    return {"role": "assistant", "content": [used]}


def result(number: int, text: str, *, error: bool = False) -> dict[str, Any]:
    """The result of a call."""
    told = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text, "is_error": error}
    return {"role": "user", "content": [told]}


def talk(session: Any, turns: int = 30, lines: int = 60) -> Any:
    """A long conversation: a task, calls with long results, and a word of the user's now and then."""
    say = session.conversation.append
    say({"role": "user", "content": TASK})
    for n in range(turns):
        is_read = n % 3 == 0
        given = {"file_path": f"f{n}.py"} if is_read else {"command": f"run {n}"}
        say(call(n, "Read" if is_read else "Bash", given))
        say(result(n, f"line {n} of something long enough\n" * lines, error=n == 4))
        if n % 10 == 9:
            say({"role": "assistant", "content": f"did {n}"})
            say({"role": "user", "content": f"then do {n}"})
    return session.conversation


def tokens(view: list[Any], name: str = "anthropic") -> int:
    """The tokens of messages, counted here."""
    return sum(block.tokens for block in FORMATS[name].blocks(view, COUNT))


def texts(view: list[Any], name: str = "anthropic") -> str:
    """All texts of messages."""
    return "\n".join(block.text for block in FORMATS[name].blocks(view, COUNT))


def chatter(session: Any, turns: int = 40) -> Any:
    """A conversation that folding makes hardly smaller: words, and one command that failed."""
    say = session.conversation.append
    say({"role": "user", "content": TASK})
    say(call(0, "Bash", {"command": "run 4"}))
    say(result(0, "no", error=True))
    for n in range(turns):
        say({"role": "assistant", "content": f"Words about step {n}. " + "I think so. " * 90})
        say({"role": "user", "content": f"then do {n}"})
    say(call(1, "Bash", {"command": "run 5"}))
    say(result(1, "line 32 of something long enough\n" * 20))
    return session.conversation
