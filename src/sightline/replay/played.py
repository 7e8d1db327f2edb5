"""Values of a replay: the order, each played session, the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from sightline.conversation.recorded_conversation import Conversation
from sightline.replay.comparison import Row, compared
from sightline.replay.outcome import Outcome
from sightline.replay.policy import Maker, Setting

Reader = Callable[[str], Conversation]
"""What reads the recordings of one agent product: path -> conversation."""


class Unread(Struct, frozen=True):
    """A file that was passed over, and why, in words that end a sentence."""

    path: str
    why: str


class Order(Struct, frozen=True):
    """The order of a replay. readers: agent -> reader of its recordings; policies: name -> how it is
    made; setting: the same for all; least_tokens: sessions whose largest view has fewer are left out; halves:
    which of the two halves of all sessions count, told by their digests."""

    readers: Mapping[str, Reader]
    policies: Mapping[str, Maker]
    setting: Setting
    least_tokens: int = 0
    halves: tuple[int, ...] = (0, 1)


class Played(Struct, frozen=True):
    """A session. digest: of its id, which puts it in one of two halves; tokens: of its largest
    view without truncation; outcomes: one for each policy, none when it does not count;
    mended: segments whose recorded messages no format would allow, and that were mended first."""

    source: str
    agent: str
    session: str
    digest: str
    half: int
    tokens: int
    passed_over: int
    mended: int = 0
    outcomes: tuple[Outcome, ...] = ()


Half = Literal["tuned", "held-out", "both"]


class Replay(Struct, frozen=True):
    """The outcome of a replay. sessions: those that count; others: how many do not, for their size or
    their half; again: files that hold a session that an earlier file held; unread: files that
    hold none, and why; digest: of the list of sessions, the same for the same sessions."""

    order: Order
    half: Half
    sessions: tuple[Played, ...]
    others: int
    again: tuple[str, ...]
    unread: tuple[Unread, ...]
    digest: str

    def rows(
        self, cheats: frozenset[str] = frozenset(), beside: Sequence[str] = ("none",)
    ) -> list[Row]:
        """Return a row for each policy, in the order of the request. Without a session, return none.
        cheats: policies that see the future; beside: those that the others are tested against."""
        if not self.sessions:
            return []
        made = {
            name: [session.outcomes[at] for session in self.sessions]
            for at, name in enumerate(self.order.policies)
        }
        return compared(made, beside, cheats)
