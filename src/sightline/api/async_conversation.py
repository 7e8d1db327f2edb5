"""The verbs of Conversation for async hosts. Written by tools/aio.py from their signatures."""

from __future__ import annotations

from sightline.api.threads import shielded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from sightline.conversation.condense import Condensation
    from sightline.conversation.display import Displayed
    from sightline.conversation.log import Conversation, Message
    from sightline.conversation.saved_file import Loaded, Saved
    from sightline.conversation.view_options import Budget
    from sightline.conversation.window.folding import Rules
    from sightline.conversation.window.prices import Prices
    from sightline.model.results import RewindReport


class AsyncConversation:
    """A conversation's verbs as coroutines. What sums up is called in a thread."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    async def side(self, name: str, call: str | None = None) -> AsyncConversation:
        """The chain of a sub-agent, by a name of your own."""
        side = await shielded(lambda: self._conversation.side(name, call))
        return AsyncConversation(side)

    async def append(self, message: Mapping[str, Any], *, at: datetime | None = None) -> str:
        """Put a message behind the newest one; its id, by what it says and what stands before it."""
        return await shielded(lambda: self._conversation.append(message, at=at))

    async def messages(self, last: int | None = None) -> list[Message]:
        """All messages, or the last so many, oldest first, as they were given."""
        return await shielded(lambda: self._conversation.messages(last))

    async def display(self) -> list[Displayed]:
        """All that a person would see, oldest first: what was folded or summed up is there in full, and marked."""
        return await shielded(self._conversation.display)

    async def view(
        self,
        budget: int | Budget | None = None,
        *,
        price: str | Prices = "0.10/1.25",
        policy: str | Rules = "default",
        idle_s: float | None = None,
    ) -> list[Message]:
        """The messages to send now, with old content folded as far as budget and prices ask for."""
        return await shielded(
            lambda: self._conversation.view(budget, price=price, policy=policy, idle_s=idle_s)
        )

    async def expand(self, name: str) -> str:
        """The text that a stub stands for, by the name in the stub ("expand 1a2b3c4d5e6f")."""
        return await shielded(lambda: self._conversation.expand(name))

    async def rewind(self, message: str, *, before: bool = False) -> RewindReport:
        """Go back to where a message was the newest; before: to where it was not there yet."""
        return await shielded(lambda: self._conversation.rewind(message, before=before))

    async def sides(self) -> dict[str, str | None]:
        """The names of the side chains, and the id of the message that each is tied to."""
        return await shielded(self._conversation.sides)

    async def condense(
        self, summarizer: Callable[[str], str], *, keep_tokens: int = 20000
    ) -> Condensation | None:
        """Sum up all but about the last `keep_tokens` tokens; None where there is no more."""
        return await shielded(
            lambda: self._conversation.condense(summarizer, keep_tokens=keep_tokens)
        )

    async def save(self, path: str, *, replace: bool = False) -> Saved:
        """Write the conversation with all that was decided on it into a file, as JSON lines: what is new behind what is there, else whole and at once."""
        return await shielded(lambda: self._conversation.save(path, replace=replace))

    async def load(self, path: str, *, salvage: bool = False) -> Loaded:
        """Take in a conversation that was saved: all of it, or what is new in it."""
        return await shielded(lambda: self._conversation.load(path, salvage=salvage))
