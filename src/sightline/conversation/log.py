"""The conversation of a session: kept for good, and folded so that it costs less and loses less.

What was said is appended and never changed. What the model is sent, the view, is worked out of it
and of decisions that are facts themselves; what a person sees, the display, has all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind.rewinder import rewind
from sightline.conversation import append, message_chain
from sightline.conversation.condense import Condensation, condense
from sightline.conversation.display import Displayed, display, expand, position_of
from sightline.conversation.saved_file import Loaded, Saved, load, save
from sightline.conversation.sent_view import Window
from sightline.conversation.token_counter import family_of
from sightline.conversation.view_options import Budget, asking
from sightline.conversation.window.folding import Rules
from sightline.conversation.window.prices import Prices
from sightline.model.results import RewindReport

Message = dict[str, Any]
"""A message as its provider or framework has it in JSON."""


class Conversation:
    """One chain of messages: a session's own, or that of a sub-agent beside it.

    Messages are those of any provider or framework that conversation.formats.format knows; one conversation has
    one format. They come back as they were given, whatever else is in them.
    """

    def __init__(
        self,
        ground: SessionContext,
        lock: AbstractContextManager[object],
        side: str = "",
        root: str | None = None,
    ) -> None:
        self.name = side
        self._ground = ground
        self._lock = lock
        self._root = root
        self._tip: message_chain.Tip | None = None
        self._window: Window | None = None

    def append(self, message: Mapping[str, Any], *, at: datetime | None = None) -> str:
        """Put a message behind the newest one; its id, by what it says and what stands before it.

        at: when it was said, now unless given. What this returns from survives the death of the
        process; a power cut may take the messages since the store was last synced, as it is by
        every edit. ValueError, and nothing recorded, where it cannot be one of this conversation.
        """
        happened = None if at is None else append.micros(at)
        with self._lock:
            self._tip = append.say_behind(
                self._ground, message, self._tip, side=self.name, root=self._root, at=happened
            )
            return self._tip.message or ""

    def messages(self, last: int | None = None) -> list[Message]:
        """All messages, or the last so many, oldest first, as they were given. StoreError."""
        if last is not None and (type(last) is not int or last < 1):
            raise ValueError(f"last is how many messages, 1 or more, not {last!r}")
        with self._lock:
            ground = self._ground
            if last is None:
                own = message_chain.along(ground, message_chain.SAID)
                rows = [row for row in own if message_chain.side_of(row) == self.name]
            else:
                rows = message_chain.newest(ground, self.name, last)
            return [message_chain.read(ground, row) for row in rows]

    def display(self) -> list[Displayed]:
        """All that a person would see, oldest first: what was folded or summed up is there in full,
        and marked."""
        with self._lock:
            return display(self._ground, self._current())

    def view(
        self,
        budget: int | Budget | None = None,
        *,
        price: str | Prices = "0.10/1.25",
        policy: str | Rules = "default",
        idle_s: float | None = None,
    ) -> list[Message]:
        """The messages to send now, with old content folded as far as budget and prices ask for.

        budget: the soft one in tokens, or a Budget with a hard one. price: read/write of the
        prompt cache beside a token without one ("0.10/1.25", "0.05/1.25", "0.02/1", "none").
        policy: "default" or "careful". Tokens are estimated for the model that turn() named last.
        idle_s: seconds since the cache was last used, else from
        when the messages came. What is decided is on record before this returns and stands for
        good: the view of the same messages is the same bytes, in any process, after any rewind or
        fork. What a provider would refuse is mended in the view, never in the conversation.
        ValueError, StoreError.
        """
        asked = asking(budget, price, policy, idle_s)
        with self._lock:
            return self._current().view(asked)

    def expand(self, name: str) -> str:
        """The text that a stub stands for, by the name in the stub ("expand 1a2b3c4d5e6f"). It comes
        from the store: the disk is not read. UnknownName."""
        with self._lock:
            return expand(self._ground, self.name, name)

    def rewind(self, message: str, *, before: bool = False) -> RewindReport:
        """Go back to where a message was the newest; before: to where it was not there yet. What
        was said since is out of the conversation, not out of the store; files stay as they are, and
        the report warns of those that were edited since. UnknownName, RewindRefused."""
        with self._lock:
            to = position_of(self._ground, self.name, message, before=before)
            return rewind(self._ground, to, files=False, conversation=True)

    def side(self, name: str, call: str | None = None) -> Conversation:
        """The chain of a sub-agent, by a name of your own. call: the id of the message that called
        it, the newest one unless given; it is what its first message is tied to."""
        if self.name or not name.strip():
            raise ValueError(f"a side chain has a name, and none of its own beside it: {name!r}")
        with self._lock:
            root = call or message_chain.tip(self._ground, "", None).message
        return Conversation(self._ground, self._lock, name, root)

    def sides(self) -> dict[str, str | None]:
        """The names of the side chains, and the id of the message that each is tied to."""
        with self._lock:
            found: dict[str, str | None] = {}
            for row in message_chain.along(self._ground, message_chain.SAID):
                fact = message_chain.said(row)
                if fact.side:
                    found.setdefault(fact.side, fact.parent)
            return found

    def condense(
        self, summarizer: Callable[[str], str], *, keep_tokens: int = 20_000
    ) -> Condensation | None:
        """Sum up all but about the last `keep_tokens` tokens; None where there is no more.

        summarizer: given a text that asks for a summary, answers one. What the record has for
        certain is put beside it: what the user said, files, commands, the open list of work. The
        conversation stays as it is; only the view begins with the summary from here on.
        CondenseRefused where the summary is empty, too long or wins nothing, or three failed.
        """
        with self._lock:
            window = self._current()
        return condense(self._ground, self._lock, window, summarizer, keep_tokens)

    def save(self, path: str, *, replace: bool = False) -> Saved:
        """Write the conversation with all that was decided on it into a file, as JSON lines: what
        is new behind what is there, else whole and at once. A file that is damaged, or holds
        another conversation, is kept beside it before `replace` may replace it.
        HistoryError."""
        with self._lock:
            return save(self._ground, path, replace=replace)

    def load(self, path: str, *, salvage: bool = False) -> Loaded:
        """Take in a conversation that was saved: all of it, or what is new in it. A last line
        that was never finished is left out, and said. HistoryError where more is wrong;
        salvage: take in what stands before that."""
        with self._lock:
            return load(self._ground, path, salvage=salvage)

    def _current(self) -> Window:
        """The window as of now."""
        state = self._ground.store.session(self._ground.session)
        family = family_of(state.model if state else None)
        if self._window is None or self._window.family != family:
            self._window = Window(self._ground, self.name, family)
        self._window.refresh()
        return self._window
