"""The dialect of an agent product: the names and shapes that it uses for hook events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sightline.model.agent_work import NO_WORK, RecordedWork
from sightline.model.hook_events import Answer, Caller, Event, Surroundings

Payload = Mapping[str, Any]
"""The JSON object that a hook was called with."""


class Dialect:
    """The language of one product: its hook events and its answers. Every default does nothing.

    A payload without a field that the product always sends raises ValueError, with a message for a
    person. A transcript is the file in which the product records a conversation.
    """

    def speaker(self, payload: Payload) -> str | None:
        """Return the name of another product that sent a payload, where other products run the hooks of this
        one; None for this product."""
        return None

    def event_name(self, payload: Payload) -> str:
        """Return the product's own name of an event; "" where the payload does not hold it."""
        return str(payload.get("hook_event_name") or "")

    def caller(self, payload: Payload) -> Caller:
        """Return the agent that the hook was called for."""
        return Caller(str(payload.get("session_id") or ""), str(payload.get("cwd") or ""))

    def events(self, payload: Payload, event: str | None = None) -> list[Event]:
        """Return the payload's events in order, none for a payload that does not matter to a guard. event:
        the name that the hook was started with, for a payload that holds none."""
        return []

    def answer(
        self, payload: Payload, answers: Iterable[Answer], event: str | None = None
    ) -> dict[str, Any] | str:
        """Return what the hook prints: a JSON object, or a plain text; empty for no output. The answers hold
        only what the product's capabilities name. event: as of events()."""
        return {}

    def trial(self, cwd: str, path: str, old: str, new: str) -> list[dict[str, Any]]:
        """Return the payloads of a measured hook (`doctor`): a conversation begins in a folder; its
        agent is about to replace a text of a file, which it did not read; something happens that does not matter
        to a guard."""
        return []

    def unhooked(self, transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
        """Return the events in a transcript that no hook reports, from a byte offset on, and the
        offset to continue from.

        before: UTC microseconds; no hook reported any event of an older row. 0 for no such row. A
        missing file has no events. OSError.
        """
        return [], offset

    def recorded_work(self, transcript: str) -> RecordedWork:
        """Return the to-dos and the reports of finished sub-agents in a transcript, on the branch that
        the conversation is on. OSError.
        """
        return NO_WORK

    def added_folders(self, around: Surroundings) -> list[str]:
        """Return the folders that the product's command line and settings add to its project, as
        given: relative ones start where the product was started. Settings that cannot be read add
        no folder.
        """
        return []

    def rewriters(self, payload: Payload, around: Surroundings) -> list[str]:
        """Return the files, and folders of plugins, with hooks of others that the product calls with the
        same payload: one of them could put its own text in the place of a merge.
        """
        return []

    def went_back(self, transcript: str, prompt: str, offset: int) -> tuple[int | None, int]:
        """Return the time (UTC microseconds) of the older message that the user returned to with a
        prompt, None when the user did not go back; and the offset behind the prompt's row, or
        `offset` while the transcript has no such row: products write rows a moment late. OSError.

        offset: the byte where the search for the prompt begins. If several prompts returned to an
        older message, the oldest message counts. Only a product whose Caller names a prompt is asked.
        """
        return None, offset
