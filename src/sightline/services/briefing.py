"""What an agent is to be told before its next turn, in one text: each thing once.

In this order: warnings, what others changed, and where the message asks to go on, or there is none yet,
what was going on and the files that the session knows. What comes first has the room first.
"""

from __future__ import annotations

from sightline.core.continuation import is_continuation
from sightline.core.revision import revision_of
from sightline.core.value import Value
from sightline.core.window.tokens import estimate
from sightline.render import memory as memory_words
from sightline.render import registry as registry_words
from sightline.render import warnings as warning_words
from sightline.services import warnings
from sightline.services.counting import family_of
from sightline.services.notices import CHARACTERS, NOTICE_TOKENS, notice
from sightline.services.registry import LIMIT, registry
from sightline.services.remembering import BUDGET as MEMORY_TOKENS
from sightline.services.remembering import memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.core.window.tokens import Family
    from sightline.services.ground import Ground
    from sightline.services.results import FileWarning, Notice

BUDGET = 4_000
LEAST = 500
"""Tokens of a briefing: less would have no room for a notice that names its files."""

BETWEEN = "\n\n"

ONCE = ("memory", "registry")
"""Parts that are told again only when they say something else."""


class Part(Value):
    """A part of a briefing. name: warnings, changes, memory or registry; tokens: estimated."""

    name: str
    text: str
    tokens: int

    @property
    def digest(self) -> str:
        """What tells it from another."""
        return revision_of(self.text.encode("utf-8", "surrogatepass"))


class Briefing(Value):
    """What to tell the agent; "" where nothing is due. Hand it to Session.acknowledge when the
    agent got it; until then it is told again. left_out: parts for which there was no room, which
    are told next time. notice, warnings: what of it tells of changes, and warns."""

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


def briefing(ground: Ground, message: str | None = None, budget: int = BUDGET) -> Briefing:
    """What is due before the next turn. message: the user's, where there is one by now; budget:
    tokens at most. Asking consumes nothing. ValueError for a budget below LEAST."""
    if type(budget) is not int or budget < LEAST:
        raise ValueError(f"budget is a number of tokens, {LEAST} or more, not {budget!r}")
    return _Composing(ground, budget).all(message)


def acknowledge(ground: Ground, told: Briefing) -> None:
    """Count all of it as told."""
    from sightline.services import telling

    if told.notice is not None:
        telling.acknowledge(ground, told.notice)
    parts = [(part.name, part.digest) for part in told.parts if part.name in ONCE]
    warned = [(warnings.PART, each.id) for each in told.warnings]
    warnings.deliver(ground, [*warned, *parts])


class _Composing:
    """A briefing in the making."""

    def __init__(self, ground: Ground, budget: int) -> None:
        self._ground = ground
        self._room = budget
        state = ground.store.session(ground.session)
        self._family: Family = family_of(state.model if state else None)
        self._left_out: list[str] = []

    def all(self, message: str | None) -> Briefing:
        warned, warned_of = self._warnings()
        changed, told = self._changes()
        parts = [*warned, *changed]
        if message is None or is_continuation(message):
            parts += self._once("memory", self._memory())
            parts += self._once("registry", self._registry())
        return Briefing(tuple(parts), tuple(self._left_out), told, warned_of)

    def _part(self, name: str, text: str) -> Iterator[Part]:
        """The part, where there is room for it."""
        tokens = estimate(text, self._family) if text else 0
        if tokens > self._room:
            self._left_out.append(name)
        elif text:
            self._room -= tokens
            yield Part(name, text, tokens)

    def _once(self, name: str, text: str) -> Iterator[Part]:
        """The same of what is told again only when it says something else."""
        told = warnings.delivered(self._ground, name) if text else set()
        if Part(name, text, 0).digest not in told:
            yield from self._part(name, text)

    def _warnings(self) -> tuple[list[Part], tuple[FileWarning, ...]]:
        fresh = warnings.fresh(self._ground)
        said = warning_words.for_agent(fresh)
        parts = [*self._part("warnings", "\n".join(said))]
        return parts, tuple(fresh[: len(said)] if parts else ())

    def _changes(self) -> tuple[list[Part], Notice | None]:
        # A notice counts four characters for a token; where text has fewer, half is room enough.
        room = min(self._room, NOTICE_TOKENS)
        found = notice(self._ground, room)
        if found is not None and estimate(found.text, self._family) > self._room:
            found = notice(self._ground, max(room // 2, CHARACTERS))
        parts = [*self._part("changes", found.text)] if found is not None else []
        return parts, found if parts else None

    def _memory(self) -> str:
        if self._room < memory_words.LEAST:
            self._left_out.append("memory")
            return ""
        return memory(self._ground, budget=min(self._room, MEMORY_TOKENS)).text

    def _registry(self) -> str:
        """As many rows as there is room for, the most useful first."""
        rows, every = LIMIT, registry(self._ground)
        while rows and every.entries:
            text = "\n".join(registry_words.lines(every.first(rows)))
            if estimate(text, self._family) <= self._room:
                return text
            rows //= 2
        if every.entries:
            self._left_out.append("registry")
        return ""
