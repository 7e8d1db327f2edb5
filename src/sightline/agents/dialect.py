"""One module per agent product: its hook dialect, its transcripts, its settings file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol, cast

from msgspec import Struct

from sightline.agents.hook_events import Answer, Event

AGENTS = {"claude-code": "sightline.agents.claude_code.dialect"}
"""Agent -> the module of its hook dialect."""


class Caller(Struct, frozen=True):
    """Whose event it is. session: our id of it, the product's own, with "/name" for a sub-agent;
    parent: of the agent that started it; cwd: an absolute folder; transcript: the file in which
    the product records this conversation."""

    session: str
    cwd: str
    parent: str | None = None
    transcript: str | None = None


class Dialect(Protocol):
    """What an agent's module has to know. A payload is the JSON object a hook was given; ValueError
    with words for a person when it lacks what every payload has."""

    def caller(self, payload: Mapping[str, Any]) -> Caller:
        """Whose event it is."""

    def events(self, payload: Mapping[str, Any], event: str | None = None) -> list[Event]:
        """What the payload tells; nothing for what is of no interest. event: its name, where the
        payload does not say it."""

    def answer(self, payload: Mapping[str, Any], answers: Iterable[Answer]) -> dict[str, Any]:
        """The JSON object to print; empty when there is nothing to say."""

    def unhooked(self, transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
        """What a transcript shows from a byte offset on that no hook tells of, and the offset to
        go on from. before: of rows older than that, in UTC microseconds, no hook told anything; 0
        where there are none. Nothing where the file is not there."""


def dialect(agent: str) -> Dialect:
    """The module of an agent. KeyError for one that is not known."""
    return cast("Dialect", import_module(AGENTS[agent]))
