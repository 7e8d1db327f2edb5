"""Values: the parts of a history that a policy would fold now."""

from __future__ import annotations

from msgspec import Struct

from sightline.conversation.formats.parts import Message
from sightline.conversation.window.blocks import Block, Kind


class Folded(Struct, frozen=True):
    """A part that a stub would stand for. message: its index; tokens: of it, and of its stub;
    tier: the rule that chose it; block: what it was."""

    message: int
    tier: str
    tokens: int
    stub_tokens: int
    stub: str
    block: Block


class Plan(Struct, frozen=True):
    """The plan of a policy. before, after: tokens of the whole request; minimum: the tokens that a
    clear has to get back at this price to be worth its cost; view: the messages of the request; dropped: kinds of the parts that would go without a stub; tails: texts that would be put at
    the end."""

    budget: int
    policy: str
    price: str
    counter: str
    margin: float
    before: int
    after: int
    minimum: int
    folds: tuple[Folded, ...]
    dropped: tuple[Kind, ...]
    tails: tuple[str, ...]
    view: tuple[Message, ...]

    @property
    def back(self) -> int:
        """Return the tokens that the plan gets back."""
        return self.before - self.after
