"""Compose the briefing: one text for the agent before its next turn, each thing in it once.

The parts stand in this order: warnings, changes by others, mentioned files, requested listings and
files, the states of sub-tasks, files related to the newest edits; and for a message that asks to go
on, or before the first message, first what still works for the session, and last the memory and the
registry. Earlier parts get room first. A file whose change one part tells is in no later part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from msgspec import Struct, structs

from sightline.briefing import bundle, requested_files, words
from sightline.briefing import memory as memories
from sightline.briefing.contents import BUNDLE
from sightline.briefing.continuation import asks_to_go_on
from sightline.briefing.mentions import LIMIT_BYTES, resolve_mentions
from sightline.briefing.registry import LIMIT, registry
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import names_for
from sightline.errors import PathError
from sightline.guard.reads import Look, saw
from sightline.messages.token_counter import family_of
from sightline.model import validation
from sightline.model.agent_work import NO_WORK, RecordedWork
from sightline.model.events import WARNING_PART
from sightline.model.marks import sendable
from sightline.model.results import FileWarning, Notice
from sightline.model.revision import revision_of
from sightline.notices import delivery
from sightline.notices import words as warning_words
from sightline.notices.notice_text import CHARACTERS, NOTICE_TOKENS, notice
from sightline.search import listing_requests
from sightline.text.tokens import estimate

BUDGET = 8_000
LEAST = 500
"""Tokens of a briefing: a smaller one has no room for a notice that names its files."""

BETWEEN = "\n\n"

ORDER = (
    *("running", "warnings", "changes", "mentions", "listings", "files", "subtasks", "bundle"),
    *("memory", "registry"),
)
"""Names of the parts, in their order."""

BUNDLE_SHARE = 2
"""A bundle may take the remaining room divided by this number."""

LISTED_LEAST = 25
"""Entries of the shortest listing."""

TRIES = 4
"""Attempts at making a part smaller."""


class PartView(Struct, frozen=True):
    """A part of a briefing as JSON has it. name: one of ORDER; tokens: estimated."""

    name: str
    text: str
    tokens: int


class BriefingView(Struct, frozen=True):
    """A briefing as JSON has it: see Briefing."""

    text: str
    tokens: int
    parts: tuple[PartView, ...]
    left_out: tuple[str, ...]


class Part(Struct, frozen=True):
    """A part of a briefing. name: one of ORDER; tokens: estimated; delivered: (part, digest) pairs
    that count as delivered when the briefing arrives; looks: the files that the part shows."""

    name: str
    text: str
    tokens: int
    delivered: tuple[tuple[str, str], ...] = ()
    looks: tuple[Look, ...] = ()


class Briefing(Struct, frozen=True):
    """The news for the agent; an empty text without news. Hand it to Session.acknowledge when the
    agent got it; until then the next briefing repeats it. left_out: parts without room, with too
    little room, or that failed; the next briefing has them. notice, warnings: the changes and
    warnings in it."""

    parts: tuple[Part, ...] = ()
    left_out: tuple[str, ...] = ()
    notice: Notice | None = None
    warnings: tuple[FileWarning, ...] = ()

    @property
    def text(self) -> str:
        """The whole text, for the end of the message."""
        return BETWEEN.join(part.text for part in self.parts)

    @property
    def tokens(self) -> int:
        """Tokens of the whole text, estimated for the session's model."""
        return sum(part.tokens for part in self.parts)

    def __str__(self) -> str:
        return self.text

    def as_view(self) -> BriefingView:
        """Return the briefing without what only an acknowledgement needs."""
        parts = tuple(PartView(part.name, part.text, part.tokens) for part in self.parts)
        return BriefingView(self.text, self.tokens, parts, self.left_out)


def briefing(
    context: SessionContext,
    message: str | None = None,
    budget: int = BUDGET,
    *,
    parts: Iterable[str] = ORDER,
    texts: bool = True,
    subtasks: str = "",
    states: str | None = None,
    running: str = "",
    told: Collection[str] = (),
    recorded: RecordedWork = NO_WORK,
) -> Briefing:
    """Return the briefing before the next turn. Asking consumes nothing. message: the user's message,
    if known; budget: tokens at most; parts: the wanted parts; texts: False makes a bundle name its
    files without showing them; subtasks: a summary of the session's sub-tasks; states: the whole
    summary, where `subtasks` leaves out what `running` names; running: what still works for the
    session; told: files whose changes the same answer tells beside the briefing; recorded: the work
    that the host's own record of the conversation tells of.
    ValueError for a budget below LEAST; TypeError."""
    if type(budget) is not int or budget < LEAST:
        raise ValueError(f"budget is a number of tokens, {LEAST} or more, not {budget!r}.")
    tells_of_work = goes_on(context, message)
    composer = _Composer(context, budget, told)
    add: dict[str, Callable[[], None]] = {
        "warnings": composer.add_warnings,
        "changes": composer.add_changes,
        "mentions": lambda: composer.add_mentions(message or ""),
        "listings": composer.add_listings,
        "files": lambda: composer.add_requested_files(texts=texts),
        "subtasks": lambda: composer.add_subtasks(subtasks, states),
        "bundle": lambda: composer.add_bundle(texts=texts),
    }
    if tells_of_work:
        add |= {
            "running": lambda: composer.add_running(running),
            "memory": lambda: composer.add_memory(recorded),
            "registry": composer.add_registry,
        }
    wanted = frozenset(parts)
    for name in ORDER:
        if name in wanted and name in add:
            add[name]()
    return Briefing(
        tuple(composer.parts), tuple(composer.left_out), composer.notice, composer.warned
    )


def goes_on(context: SessionContext, message: str | None) -> bool:
    """Return whether a briefing tells of the work so far: before the first message, and with a message
    that asks to go on. TypeError."""
    validation.text_or_none("message", message, "what the user said")
    return message is None or asks_to_go_on(message, context.settings.continue_phrases)


def acknowledge(context: SessionContext, answer: Briefing) -> None:
    """Record a briefing as delivered, and the files that it shows as seen."""
    if answer.notice is not None:
        delivery.acknowledge(context, answer.notice)
    for look in (look for part in answer.parts for look in part.looks):
        try:
            saw(context, look.path, look.lines, look.text, look.via)
        except PathError:  # refused to this session by now
            continue
    delivery.deliver_parts(context, [pair for part in answer.parts for pair in part.delivered])


class _Composer:
    """Collects the parts of a briefing and counts down its tokens."""

    def __init__(self, context: SessionContext, budget: int, told: Collection[str]) -> None:
        state = context.store.session(context.session)
        self._context = context
        self._family = family_of(state.model if state else None)
        self._room = budget
        self._told = {*told}
        self.parts: list[Part] = []
        self.left_out: list[str] = []
        self.notice: Notice | None = None
        self.warned: tuple[FileWarning, ...] = ()

    def add_warnings(self) -> None:
        fresh = delivery.new_warnings(self._context)
        lines = warning_words.for_agent(fresh)
        new = tuple(fresh[: len(lines)])
        if self._add("warnings", "\n".join(lines), tuple((WARNING_PART, each.id) for each in new)):
            self.warned = new

    def add_changes(self) -> None:
        # A notice assumes CHARACTERS per token. For a text with fewer, half the room is enough.
        room = min(self._room, NOTICE_TOKENS)
        found = notice(self._context, room)
        if found is not None and self._tokens(found.text) > self._room:
            found = notice(self._context, max(room // 2, CHARACTERS))
        if found is not None and self._add("changes", found.text):
            self.notice = found
            self._told |= {change.path for change in found.changes}

    def add_mentions(self, message: str) -> None:
        if "@" not in message:
            return
        limit = min(LIMIT_BYTES, self._room * CHARACTERS)
        for _ in range(TRIES):
            found = resolve_mentions(self._context, message, limit_bytes=max(limit, 1))
            text = "\n".join(words.blocks(found)).removesuffix("\n")
            if self._tokens(text) <= self._room:
                break
            limit //= 2
        self._add("mentions", text, looks=found.looks)

    def add_listings(self) -> None:
        texts: list[str] = []
        delivered: list[tuple[str, str]] = []
        room = self._room
        for request in listing_requests.waiting(self._context):
            most = listing_requests.ENTRIES_MAX
            text = listing_requests.answer(self._context, request, most)
            while self._tokens(text) > room and most // 4 >= LISTED_LEAST:
                most //= 4
                text = listing_requests.answer(self._context, request, most)
            tokens = self._tokens(text)
            if tokens > room:
                self._leave_out("listings")
                break
            room -= tokens + 1
            texts.append(text)
            delivered += [(listing_requests.PART, digest) for digest in request.digests]
        self._add("listings", BETWEEN.join(texts), tuple(delivered))

    def add_requested_files(self, *, texts: bool) -> None:
        due = requested_files.due(self._context, texts=texts)
        if due is None:
            return
        for shown in requested_files.fits(due):
            text = shown.text()
            if self._tokens(text) <= self._room:
                delivered = tuple((requested_files.PART, digest) for digest in due.digests)
                self._add(requested_files.PART, text, delivered, shown.looks())
                return
        self._leave_out(requested_files.PART)

    def add_running(self, running: str) -> None:
        self._add("running", running)

    def add_subtasks(self, summary: str, states: str | None) -> None:
        if summary:
            self._add_new("subtasks", summary, states)

    def add_bundle(self, *, texts: bool) -> None:
        try:
            due = bundle.bundle(self._context, texts=texts)
        except PathError:  # the tree cannot be listed; the other parts do not need it
            self._leave_out("bundle")
            return
        if due is None:
            return
        share = self._room // BUNDLE_SHARE
        for attempt in range(TRIES):
            fitting = bundle.fit(due, (share >> attempt) * CHARACTERS)
            if fitting is not None and self._tokens(fitting[0]) <= share:
                text, shown = fitting
                self._add("bundle", text, ((BUNDLE, str(due.upto)),), shown.looks())
                return
        self._leave_out("bundle")

    def add_memory(self, recorded: RecordedWork) -> None:
        if self._room < words.LEAST:
            self._leave_out("memory")
            return
        budget = min(self._room, memories.BUDGET)
        memory = memories.memory(self._context, budget=budget, told=self._told, recorded=recorded)
        if memory.says_more:
            still = structs.replace(memory, turn=0, text="", tokens=0, left_out=(), working=())
            self._add_new("memory", memory.text, repr(still))
            self._told |= {file.path for file in memory.refresh}
            self._told |= {file.path for file in memory.changed}

    def add_registry(self) -> None:
        rows, known = LIMIT, registry(self._context).without(self._told)
        name_of = names_for(self._context)
        if not known.entries:
            return
        while rows:
            text = "\n".join(words.lines(known.first(rows), name_of))
            if self._tokens(text) <= self._room:
                self._add_new("registry", text)
                return
            rows //= 2
        self._leave_out("registry")

    def _add_new(self, name: str, text: str, content: str | None = None) -> None:
        """Add a part unless the conversation holds the same content. content: default: the text."""
        digest = revision_of((content or text).encode("utf-8", "surrogatepass"))
        if digest not in delivery.delivered_digests(self._context, name, since_summary=True):
            self._add(name, text, ((name, digest),))

    def _add(
        self,
        name: str,
        text: str,
        delivered: tuple[tuple[str, str], ...] = (),
        looks: tuple[Look, ...] = (),
    ) -> bool:
        """Add a part with text where the budget has room."""
        tokens = self._tokens(text) if text else 0
        if tokens > self._room:
            self._leave_out(name)
        elif text:
            self._room -= tokens + self._tokens(BETWEEN)
            self.parts.append(Part(name, sendable(text), tokens, delivered, looks))
            return True
        return False

    def _leave_out(self, name: str) -> None:
        if name not in self.left_out:
            self.left_out.append(name)

    def _tokens(self, text: str) -> int:
        return estimate(text, self._family)
