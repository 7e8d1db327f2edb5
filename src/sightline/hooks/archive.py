"""Import recorded conversations as archives: the knowledge and actions of their agents, at their
own time.

An archive is a session whose id begins with ARCHIVE. It never changes the view of the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from msgspec import Struct

from sightline.changes.session_context import Known
from sightline.errors import PathRefused
from sightline.guard.host_writes import held_after
from sightline.hooks import words
from sightline.model.belief import Held, first_look, look
from sightline.model.events import (
    Belief,
    Cause,
    Change,
    Changed,
    Fact,
    Imported,
    ModelUsed,
    Seen,
    SessionEnded,
    SessionStarted,
    TurnBegan,
    WindowEmptied,
)
from sightline.model.hook_events import Began, Compacted, Event, Prompted, Shown, Wrote
from sightline.model.path import POSIX, WINDOWS, canonical
from sightline.model.revision import MISSING, UNKNOWN, Revision, revision_of
from sightline.model.session_ids import ARCHIVE
from sightline.model.spans import spans, whole
from sightline.model.text import split, unmarked
from sightline.store.port import Append, Store


class Origin(Struct, frozen=True):
    """The origin of a recording. source: its file. digest: of the file's bytes. session: the
    product's own id. root: the folder of the paths, as its own machine spells it."""

    agent: str
    source: str
    digest: str
    session: str
    root: str
    parent: str | None = None


def import_recording(
    store: Store,
    clock: Callable[[], int],
    origin: Origin,
    events: Iterable[tuple[int, Event]],
    may_store: Callable[[str], bool] = lambda _: True,
) -> int:
    """Import a recording, and return the number of facts recorded. Import nothing, and return 0,
    for bytes that were imported before and for a recording without events. Of a recording that has
    grown, import the newer events.

    events: with their times (UTC microseconds), in order; the events of one time are recorded
    together. may_store: whether a path's text may be stored. StoreError.
    """
    archive = Archive(store, origin, may_store)
    newest = archive.newest()
    if newest is None:
        return 0
    count, at = 0, newest
    for at, group in groupby(events, lambda entry: entry[0]):
        if at > newest:
            count += archive.record(clock(), at, [event for _, event in group])
    if not count and not newest:
        return 0
    ended = [Imported(origin.source, origin.digest), SessionEnded("recorded")]
    return count + len(
        store.append(Append(archive.session, ended, at=clock(), happened_at=max(at, newest)))
    )


class Archive:
    """One session that is being imported."""

    def __init__(self, store: Store, origin: Origin, may_store: Callable[[str], bool]) -> None:
        self.session = f"{ARCHIVE}{origin.session}"
        self._store = store
        self._origin = origin
        self._may_store = may_store
        self._flavour = WINDOWS if origin.root[1:2] == ":" else POSIX
        self._held: dict[str, Held | None] = {}
        self._texts: list[bytes] = []
        state = store.session(self.session)
        self._turn = state.turn if state else 0
        self._known = state is not None

    def newest(self) -> int | None:
        """Return the time of the newest imported event, 0 for none; None when the whole recording
        was imported before."""
        newest = 0
        for recorded in self._store.timeline(session=self.session):
            newest = max(newest, recorded.happened_at)
            if recorded.fact == Imported(self._origin.source, self._origin.digest):
                return None
        return newest

    def record(self, now: int, at: int, events: Iterable[Event]) -> int:
        """Record the events of one time; return the number of facts."""
        facts: list[Fact] = []
        if not self._known:
            parent = self._origin.parent
            facts.append(SessionStarted(self._origin.agent, parent and f"{ARCHIVE}{parent}"))
            self._known = True
        for event in events:
            facts += self._facts(event)
        texts, self._texts = self._texts, []
        if not facts:
            return 0
        return len(
            self._store.append(Append(self.session, facts, at=now, happened_at=at, texts=texts))
        )

    def _facts(self, event: Event) -> list[Fact]:
        if isinstance(event, Began):
            return [ModelUsed(None, event.model)] if event.model else []
        if isinstance(event, Prompted):
            self._turn += 1
            return [TurnBegan(self._turn, words.title(event.text) if self._turn == 1 else "")]
        if isinstance(event, Compacted):
            for path in self._store.known(self.session):
                self._before(path)
            self._held = {
                path: held and Held(held.lines, held.shown, ()) for path, held in self._held.items()
            }
            return [WindowEmptied()]
        if isinstance(event, Shown) and event.text is not None:
            return self._shown(event, event.text)
        return self._wrote(event) if isinstance(event, Wrote) else []

    def _shown(self, event: Shown, text: str) -> list[Fact]:
        path = self._path(event.path)
        if path is None:
            return []
        before, new = self._before(path), split(_clean(text))
        if event.lines is None:
            seen, held = whole(len(new)), first_look(new, whole(len(new)))
        else:
            first, last = event.lines[0], event.lines[0] + len(new) - 1
            lines = _placed(before.lines if before else (), new, first)
            seen = spans([(first, last)])
            held = look(before, lines, seen) if before else first_look(lines, seen)
        belief = self._believe(path, held)
        shown = belief.text if event.lines is None else UNKNOWN
        return [Seen(path, shown, seen, event.via, belief)]

    def _wrote(self, event: Wrote) -> list[Fact]:
        path = self._path(event.path)
        if path is None:
            return []
        old = UNKNOWN if event.before is None else self._store_text(path, _clean(event.before))
        if event.before is None and event.known_before:
            old = MISSING
        kind: Change = "created" if old == MISSING else "content"
        cause = Cause("agent", self.session)
        if event.content is None:
            return [Changed(path, old, UNKNOWN, kind, cause)]
        after = _clean(event.content)
        held = _after(self._before(path), event, split(after))
        belief = self._believe(path, held)
        return [Changed(path, old, self._store_text(path, after), kind, cause, belief=belief)]

    def _path(self, name: str) -> str | None:
        """Return the canonical path of a file in the workspace; None for any other file."""
        try:
            return canonical(name, self._origin.root, self._flavour)
        except PathRefused:
            return None

    def _before(self, path: str) -> Held | None:
        if path not in self._held:
            known = self._store.knowledge(self.session, path)
            believed = self._store.blob(known.belief.text) if known else None
            self._held[path] = Known(known, believed).held
        return self._held[path]

    def _believe(self, path: str, held: Held) -> Belief:
        self._held[path] = held
        revision = self._store_text(path, "".join(held.lines))
        return Belief(revision, held.shown, held.held, len(held.lines))

    def _store_text(self, path: str, text: str) -> Revision:
        data = text.encode()
        if self._may_store(path):
            self._texts.append(data)
        return revision_of(data)


def _clean(text: str) -> str:
    """Return a text from JSON in its normal form. Half of a surrogate pair becomes a question
    mark."""
    return unmarked(text.encode("utf-8", "replace").decode())


def _placed(known: Iterable[str], new: list[str], first: int) -> list[str]:
    """Return the text with some lines in their place; lines that are unknown are empty."""
    lines = list(known)
    lines += ["\n"] * (first - 1 - len(lines))
    new = [line if line.endswith("\n") else f"{line}\n" for line in new]
    return [*lines[: first - 1], *new, *lines[first - 1 + len(new) :]]


def _after(held: Held | None, event: Wrote, lines: list[str]) -> Held:
    """Return the agent's knowledge after its edit. A replacement adds the new lines only."""
    if event.whole or (event.before is None and event.known_before):
        return first_look(lines, whole(len(lines)))
    return held_after(held, split(_clean(event.before or "")), lines)
