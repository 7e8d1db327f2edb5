"""Hints: the next step in words, with the calls of verbs in it as values that each face words in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple


class NextCall(NamedTuple):
    """A call of a verb to make next.

    verb: with its owner, as in "session.rewind"; "open_session" for the function. arguments: those without a
    name; named: the others; session: the id of the session to call it on, "" for the caller's own; again: make
    the last call again, with these arguments.
    """

    verb: str
    arguments: tuple[Any, ...] = ()
    named: Mapping[str, Any] = {}
    session: str = ""
    again: bool = False


Wording = Callable[[NextCall], str]
"""How a face words a call; "" for a call that its reader cannot make."""

Clause = tuple[str | NextCall, ...]
"""Words that are left out where the reader cannot make a call in them."""


class Hint:
    """A hint: words, calls, and clauses. Use Hint(a, b) to join hints: an f-string would lose their calls."""

    __slots__ = ("parts",)

    def __init__(self, *parts: str | NextCall | Clause | Hint) -> None:
        each = (part.parts if isinstance(part, Hint) else (part,) for part in parts)
        self.parts: tuple[str | NextCall | Clause, ...] = tuple(filter(None, chain(*each)))

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hint) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]  # the arguments of a call may be lists

    def __repr__(self) -> str:
        return f"Hint{self.parts!r}"

    def __str__(self) -> str:
        """Return the hint as the library words it."""
        return self.worded(in_python)

    def calls(self) -> list[NextCall]:
        """Return the calls in the hint, in order."""
        each = chain(*map(_clause, self.parts))
        return [part for part in each if isinstance(part, NextCall)]

    def worded(self, by: Wording) -> str:
        """Return the hint as a face words it."""
        said: list[str] = []
        for part in self.parts:
            words = [each if isinstance(each, str) else by(each) for each in _clause(part)]
            said += words if all(words) else []
        return "".join(said)


def _clause(part: str | NextCall | Clause) -> Clause:
    return (part,) if isinstance(part, str | NextCall) else part


def lines(hints: Iterable[str | Hint]) -> Hint:
    """Return hints as one, each on a line of its own."""
    return Hint(*[part for hint in hints for part in ("\n", hint)][1:])


def in_python(call: NextCall) -> str:
    """Return a call as a program in Python makes it."""
    given = [
        *map(repr, call.arguments),
        *(f"{name}={value!r}" for name, value in call.named.items()),
    ]
    if call.again:
        return ", ".join(given)
    name = call.verb if call.verb.partition(".")[0] in TOP else f"session.{call.verb}"
    if call.session:
        name = f"open_session(id={call.session!r}).{name.removeprefix('session.')}"
    return f"{name}({', '.join(given)})"


def without_calls(_: NextCall) -> str:
    """Return no words for a call, for a model whose tools nobody knows."""
    return ""


TOP = ("open_session", "session", "workspace")
"""What a call in Python may begin with. Other objects belong to a session."""
