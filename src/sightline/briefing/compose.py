"""What an agent is to be told before its next turn, in one text: each thing once.

In this order: warnings, what others changed, the files that the message mentions, the listings that
were asked for, files that belong to what was edited, and where the message asks to go on, or there is
none yet, what was going on and the files that the session knows. What comes first has the room first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from sightline.briefing import bundle, contents, words
from sightline.briefing import memory as memory_block
from sightline.briefing import words as memory_words
from sightline.briefing import words as registry_words
from sightline.briefing.continuation import is_continuation
from sightline.briefing.mentions import LIMIT_BYTES, looks_at
from sightline.briefing.registry import LIMIT, registry
from sightline.changes.session_context import SessionContext
from sightline.conversation.token_counter import family_of
from sightline.errors import PathError
from sightline.guard.reads import Look, saw
from sightline.model import validation
from sightline.model.results import FileWarning, Notice
from sightline.model.revision import revision_of
from sightline.notices import delivery, warnings
from sightline.notices import words as warning_words
from sightline.notices.notice_text import CHARACTERS, NOTICE_TOKENS, notice
from sightline.search import listing_requests
from sightline.search.listing_requests import Waiting
from sightline.text.tokens import Family, estimate

Delivered = tuple[tuple[str, str], ...]

BUDGET = 8_000
LEAST = 500
"""Tokens of a briefing: less would have no room for a notice that names its files."""

BETWEEN = "\n\n"

ORDER = ("warnings", "changes", "mentions", "listings", "bundle", "memory", "registry")
"""The parts."""


class Part(Struct, frozen=True):
    """A part of a briefing. name: one of ORDER; tokens: estimated. delivered: what counts as told
    when it arrived, each as the part and the digest of a Delivered; looks: what of files it shows."""

    name: str
    text: str
    tokens: int
    delivered: tuple[tuple[str, str], ...] = ()
    looks: tuple[Look, ...] = ()


class Briefing(Struct, frozen=True):
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
    ground: SessionContext,
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
    validation.text_or_none("message", message, "what the user said")
    return composed(ground, message, budget, frozenset(parts), texts=texts)


def acknowledge(ground: SessionContext, told: Briefing) -> None:
    """Count all of it as told, and what it shows of files as seen."""
    if told.notice is not None:
        delivery.acknowledge(ground, told.notice)
    for part in told.parts:
        for each in part.looks:
            _saw(ground, each)
    warnings.deliver(ground, [each for part in told.parts for each in part.delivered])


def _saw(ground: SessionContext, look: Look) -> None:
    """A file that became one that may not be seen meanwhile is none that was."""
    try:
        saw(ground, look.path, look.lines, look.text, look.via)
    except PathError:
        return


BUNDLE_SHARE = 2
"""The part of what is left that a bundle may take, as its divisor."""

LISTED_LEAST = 25
"""Entries of a listing that has not enough room for more."""

TRIES = 4
"""How often something is made smaller until it fits."""


def composed(
    ground: SessionContext, message: str | None, budget: int, wanted: frozenset[str], *, texts: bool
) -> Briefing:
    """As briefing.compose.briefing, of checked arguments."""
    making = _Composing(ground, message, budget, texts=texts)
    makers: dict[str, Callable[[], Iterator[Part]]] = {
        "warnings": making.warnings,
        "changes": making.changes,
        "mentions": making.mentions,
        "listings": making.listings,
        "bundle": making.bundle,
        "memory": making.memory,
        "registry": making.registry,
    }
    parts = [part for name in ORDER if name in wanted for part in makers[name]()]
    left_out = tuple(dict.fromkeys(making.left_out))
    return Briefing(tuple(parts), left_out, making.notice, making.warned)


class _Composing:
    """What is left of the room, and what had none. notice, warned: as Briefing has them."""

    def __init__(
        self, ground: SessionContext, message: str | None, budget: int, *, texts: bool
    ) -> None:
        self._ground = ground
        self._message = message
        self._texts = texts
        self._room = budget
        state = ground.store.session(ground.session)
        self._family: Family = family_of(state.model if state else None)
        self._goes_on = message is None or is_continuation(message)
        self.left_out: list[str] = []
        self.notice: Notice | None = None
        self.warned: tuple[FileWarning, ...] = ()

    def warnings(self) -> Iterator[Part]:
        """What the agent was not warned of yet."""
        fresh = warnings.fresh(self._ground)
        said = warning_words.for_agent(fresh)
        delivered = tuple((warnings.PART, each.id) for each in fresh[: len(said)])
        for part in self._part("warnings", "\n".join(said), delivered):
            self.warned = tuple(fresh[: len(said)])
            yield part

    def changes(self) -> Iterator[Part]:
        """What others changed."""
        # A notice counts four characters for a token; where text has fewer, half is room enough.
        room = min(self._room, NOTICE_TOKENS)
        found = notice(self._ground, room)
        if found is not None and self._tokens(found.text) > self._room:
            found = notice(self._ground, max(room // 2, CHARACTERS))
        for part in self._part("changes", found.text) if found is not None else ():
            self.notice = found
            yield part

    def mentions(self) -> Iterator[Part]:
        """What the message mentions, with less of each file until it fits."""
        if not self._message or "@" not in self._message:
            return

        limit = min(LIMIT_BYTES, self._room * CHARACTERS)
        for _ in range(TRIES):
            found = looks_at(self._ground, self._message, limit_bytes=max(limit, 1))
            text = "\n".join(words.blocks(found)).removesuffix("\n")
            if self._tokens(text) <= self._room:
                break
            limit //= 2
        yield from self._part("mentions", text, looks=found.looks)

    def listings(self) -> Iterator[Part]:
        """The listings that were asked for, with fewer entries until they fit."""
        told: list[str] = []
        delivered: list[tuple[str, str]] = []
        room = self._room
        for each in listing_requests.waiting(self._ground):
            text = self._listing(each, room)
            if text is None:
                self.left_out.append("listings")
                break
            told.append(text)
            room -= self._tokens(text) + 1
            delivered += [(listing_requests.PART, digest) for digest in each.digests]
        yield from self._part("listings", BETWEEN.join(told), tuple(delivered))

    def _listing(self, each: Waiting, room: int) -> str | None:
        most = listing_requests.ENTRIES_MAX
        while most >= LISTED_LEAST:
            text = listing_requests.made(self._ground, each, most)
            if self._tokens(text) <= room:
                return text
            most //= 4
        return None

    def bundle(self) -> Iterator[Part]:
        """What belongs to the edits since the last one. A tree that cannot be listed takes nothing
        else of the briefing with it."""
        try:
            due = bundle.bundle(self._ground, texts=self._texts)
        except PathError:
            self.left_out.append("bundle")
            return
        if due is None:
            return
        share = self._room // BUNDLE_SHARE
        for tried in range(TRIES):
            found = bundle.within(due, (share >> tried) * CHARACTERS)
            if found is not None and self._tokens(found[0]) <= share:
                delivered = ((contents.BUNDLE, str(due.upto)),)
                yield from self._part("bundle", found[0], delivered, found[1].looks())
                return
        self.left_out.append("bundle")

    def memory(self) -> Iterator[Part]:
        """What was going on."""
        if not self._goes_on:
            return
        if self._room < memory_words.LEAST:
            self.left_out.append("memory")
            return
        told = memory_block.memory(self._ground, budget=min(self._room, memory_block.BUDGET))
        if told.says_more:
            yield from self._once("memory", told.text)

    def registry(self) -> Iterator[Part]:
        """As many of the known files as there is room for, the most useful first."""
        if not self._goes_on:
            return

        rows, every = LIMIT, registry(self._ground)
        while rows and every.entries:
            text = "\n".join(registry_words.lines(every.first(rows)))
            if self._tokens(text) <= self._room:
                yield from self._once("registry", text)
                return
            rows //= 2
        if every.entries:
            self.left_out.append("registry")

    def _once(self, name: str, text: str) -> Iterator[Part]:
        """A part that is told again only when it says something else."""
        digest = revision_of(text.encode("utf-8", "surrogatepass"))
        if text and digest not in warnings.delivered(self._ground, name):
            yield from self._part(name, text, ((name, digest),))

    def _part(
        self, name: str, text: str, delivered: Delivered = (), looks: tuple[Look, ...] = ()
    ) -> Iterator[Part]:
        """The part, where there is room for it."""
        tokens = self._tokens(text) if text else 0
        if tokens > self._room:
            self.left_out.append(name)
        elif text:
            self._room -= tokens + self._tokens(BETWEEN)
            yield Part(name, text, tokens, delivered, looks)

    def _tokens(self, text: str) -> int:
        return estimate(text, self._family)
