"""Claude Code as a product."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sightline.agents.claude_code import dialect, health
from sightline.agents.claude_code.hook_command import PROJECT
from sightline.agents.claude_code.hook_settings import AGENT, TIMEOUT_S
from sightline.agents.claude_code.settings import CONNECTION
from sightline.agents.dialect import Dialect, Payload
from sightline.agents.product import Capabilities, Limits, Product
from sightline.model import hook_events as host
from sightline.model.agent_work import RecordedWork
from sightline.model.attempts import WriteWhole
from sightline.model.hook_events import Answer, Caller, Event, Surroundings
from sightline.recordings.claude_code import transcript_messages as messages
from sightline.recordings.claude_code import transcripts


class ClaudeCodeDialect(Dialect):
    """The dialect of claude_code.dialect, and of the transcripts."""

    def speaker(self, payload: Payload) -> str | None:
        """See Dialect."""
        return dialect.speaker(payload)

    def caller(self, payload: Payload) -> Caller:
        """See Dialect."""
        return dialect.caller(payload)

    def events(self, payload: Payload, event: str | None = None) -> list[Event]:
        """See Dialect."""
        return dialect.events(payload, event)

    def answer(
        self, payload: Payload, answers: Iterable[Answer], event: str | None = None
    ) -> dict[str, Any]:
        """See Dialect."""
        return dialect.answer(payload, answers, event)

    def trial(self, cwd: str, path: str, old: str, new: str) -> list[dict[str, Any]]:
        """See Dialect."""
        return dialect.trial(cwd, path, old, new)

    def unhooked(self, transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
        """See Dialect."""
        return transcripts.unhooked(transcript, offset, before=before)

    def recorded_work(self, transcript: str) -> RecordedWork:
        """See Dialect."""
        return messages.recorded_work(transcript)

    def added_folders(self, around: Surroundings) -> list[str]:
        """See Dialect."""
        return dialect.added_folders(around)

    def rewriters(self, payload: Payload, around: Surroundings) -> list[str]:
        """See Dialect."""
        return dialect.rewriters(payload, around)

    def went_back(self, transcript: str, prompt: str, offset: int) -> tuple[int | None, int]:
        """See Dialect."""
        return transcripts.went_back(transcript, prompt, offset)


INJECTED = (
    *(host.Began, host.Prompted, host.Answered, host.Compacted),
    *(host.Reading, host.Searching, host.Attempted, host.CommandBegan, host.CallBegan),
    *(host.Shown, host.Wrote, host.Failed, host.CommandEnded, host.CallEnded),
)
"""The events of the hooks that take words for the model (claude_code.dialect.TAKE_CONTEXT)."""

PRODUCT = Product(
    name=AGENT,
    title=health.TITLE,
    can=Capabilities(
        before=True,
        after=True,
        deny=True,
        ask=True,
        rewrite=(WriteWhole,),
        inject=INJECTED,
        tell=True,
        watch=True,
        client_matching="unique",
    ),
    limits=Limits(timeout_s=TIMEOUT_S),
    project_variable=PROJECT,
    everywhere="replace_all: true",
    dialect=ClaudeCodeDialect(),
    connection=CONNECTION,
)
