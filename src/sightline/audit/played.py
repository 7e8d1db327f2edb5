"""Values of a replay: the request, each played session, the result."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from sightline.audit.comparison import Row, compare_policies
from sightline.audit.costs import Outcome
from sightline.audit.policies import Maker, Setting
from sightline.recordings.recorded_conversation import Unread


class Order(Struct, frozen=True):
    """The request for a replay. policies: name -> maker; least_tokens: sessions whose largest
    view has fewer are left out."""

    policies: Mapping[str, Maker]
    setting: Setting
    least_tokens: int = 0


class Played(Struct, frozen=True):
    """A session. digest: of its id; tokens: of its largest view without truncation; passed_over: damaged rows; mended: segments whose recorded messages break a
    rule of their format and were repaired; outcomes: one for each policy, empty for a session that
    does not count; set_aside: messages that the format cannot hold, with the reasons."""

    source: str
    agent: str
    session: str
    digest: str
    tokens: int
    passed_over: int
    mended: int = 0
    outcomes: tuple[Outcome, ...] = ()
    set_aside: tuple[str, ...] = ()


class Replay(Struct, frozen=True):
    """The result of a replay. sessions: those that count; others: number of sessions left out for
    their size; again: files with a session that another file holds at least as long;
    unread: files without a session; digest: of the list of sessions."""

    order: Order
    sessions: tuple[Played, ...]
    others: int
    again: tuple[str, ...]
    unread: tuple[Unread, ...]
    digest: str

    def outcomes(self) -> dict[str, list[Outcome]]:
        """Return policy -> the outcome of each session."""
        return {
            name: [session.outcomes[at] for session in self.sessions]
            for at, name in enumerate(self.order.policies)
        }

    def rows(self) -> list[Row]:
        """Return a row for each policy, in the order of the request; none without a session."""
        return compare_policies(self.outcomes()) if self.sessions else []
