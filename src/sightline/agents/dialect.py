"""The hook dialects of agent products, by the product's name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from sightline.agents.claude_code import dialect as claude_code
from sightline.agents.hook_events import Answer, Caller, Event, Surroundings
from sightline.messages.recorded_work import RecordedWork


class Dialect(Protocol):
    """The names and shapes that one product uses for hook events.

    payload: the JSON object that a hook was called with. A payload without a field that the product
    always sends raises ValueError, with a message for a person.
    """

    def caller(self, payload: Mapping[str, Any]) -> Caller:
        """Return the agent that the hook was called for."""

    def events(self, payload: Mapping[str, Any], event: str | None = None) -> list[Event]:
        """Return the payload's events in order. event: the name, where the payload has none."""

    def answer(self, payload: Mapping[str, Any], answers: Iterable[Answer]) -> dict[str, Any]:
        """Return the JSON object to print; empty for no output."""

    def unhooked(self, transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
        """Return the events in a transcript that no hook reports, from a byte offset on, and the
        offset to continue from.

        before: UTC microseconds; no hook reported any event of an older row. 0 for no such row. A
        missing file has no events. OSError.
        """

    def recorded_work(self, transcript: str) -> RecordedWork:
        """Return the to-dos and the reports of finished sub-agents in a transcript, on the branch that
        the conversation is on. OSError.
        """

    def added_folders(self, around: Surroundings) -> list[str]:
        """Return the folders that the product's command line and settings add to its project, as
        given: relative ones start where the product was started. Settings that cannot be read add
        no folder.
        """

    def rewriters(self, tool: str, around: Surroundings) -> list[str]:
        """Return the files, and folders of plugins, with hooks of others before this tool of the product:
        one of them could put its own text in the place of a merge.
        """

    def went_back(self, transcript: str, prompt: str, offset: int) -> tuple[int | None, int]:
        """Return the time (UTC microseconds) of the older message that the user returned to with a
        prompt, None when the user did not go back; and the offset behind the prompt's row, or
        `offset` while the transcript has no such row: products write rows a moment late. OSError.

        offset: the byte where the search for the prompt begins. If several prompts returned to an
        older message, the oldest message counts.
        """


DIALECTS: Mapping[str, Dialect] = {"claude-code": claude_code}
