"""What an agent is to be told before its next turn, in one text: each thing once.

In this order: warnings, what others changed, the files that the message mentions, the listings that
were asked for, files that belong to what was edited, and where the message asks to go on, or there is
none yet, what was going on and the files that the session knows. What comes first has the room first.
"""

from __future__ import annotations

from sightline.core import given
from sightline.core.value import Value
from sightline.services import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.services.ground import Ground
    from sightline.services.looks import Look
    from sightline.services.results import FileWarning, Notice

BUDGET = 8_000
LEAST = 500
"""Tokens of a briefing: less would have no room for a notice that names its files."""

BETWEEN = "\n\n"

ORDER = ("warnings", "changes", "mentions", "listings", "bundle", "memory", "registry")
"""The parts."""


class Part(Value):
    """A part of a briefing. name: one of ORDER; tokens: estimated. delivered: what counts as told
    when it arrived, each as the part and the digest of a Delivered; looks: what of files it shows."""

    name: str
    text: str
    tokens: int
    delivered: tuple[tuple[str, str], ...] = ()
    looks: tuple[Look, ...] = ()


class Briefing(Value):
    """What to tell the agent; "" where nothing is due. Hand it to Session.acknowledge when the
    agent got it; until then it is told again. left_out: parts for which there was no room, or not
    enough for all of them, or that could not be made, which are told next time. notice, warnings:
    what of it tells of changes, and warns."""

    parts: tuple[Part, ...] = ()
    left_out: tuple[str, ...] = ()
    notice: Notice | None = None
    warnings: tuple[FileWarning, ...] = ()

    @property
    def text(self) -> str:
        """All of it, for the tail of the message."""
        return BETWEEN.join(part.text for part in self.parts)

    @property
    def tokens(self) -> int:
        """Of all of it, estimated for the session's model."""
        return sum(part.tokens for part in self.parts)

    def __str__(self) -> str:
        return self.text


def briefing(
    ground: Ground,
    message: str | None = None,
    budget: int = BUDGET,
    *,
    parts: Iterable[str] = ORDER,
    texts: bool = True,
) -> Briefing:
    """What is due before the next turn. message: the user's, where there is one by now; budget:
    tokens at most; parts: those that are wanted; texts: whether a bundle shows files, or names them.
    Asking consumes nothing. ValueError for a budget below LEAST; TypeError."""
    if type(budget) is not int or budget < LEAST:
        raise ValueError(f"budget is a number of tokens, {LEAST} or more, not {budget!r}.")
    given.text_or_none("message", message, "what the user said")
    from sightline.services.composing import composed

    return composed(ground, message, budget, frozenset(parts), texts=texts)


def acknowledge(ground: Ground, told: Briefing) -> None:
    """Count all of it as told, and what it shows of files as seen."""
    from sightline.services import telling

    if told.notice is not None:
        telling.acknowledge(ground, told.notice)
    for part in told.parts:
        for each in part.looks:
            _saw(ground, each)
    warnings.deliver(ground, [each for part in told.parts for each in part.delivered])


def _saw(ground: Ground, look: Look) -> None:
    """A file that became one that may not be seen meanwhile is none that was."""
    from sightline.errors import PathError
    from sightline.services.looks import saw

    try:
        saw(ground, look.path, look.lines, look.text, look.via)
    except PathError:
        return
