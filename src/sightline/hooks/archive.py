"""Recorded conversations read in as archives: what their agents knew and did, at its own time.

An archive is a session of its own, its id begins with ARCHIVE. It never says what stands on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from msgspec import Struct

from sightline.agents.hook_events import Began, Compacted, Event, Prompted, Shown, Wrote
from sightline.errors import PathRefused
from sightline.model.belief import Held, edited, first_look, look
from sightline.model.diff import diff
from sightline.model.events import (
    Belief,
    Cause,
    Change,
    Changed,
    Dropped,
    Fact,
    Imported,
    ModelUsed,
    Seen,
    SessionEnded,
    SessionStarted,
    TurnBegan,
)
from sightline.model.merge import merge
from sightline.model.path import POSIX, WINDOWS, canonical
from sightline.model.revision import MISSING, UNKNOWN, Revision, revision_of
from sightline.model.spans import new_sides, spans, whole
from sightline.model.text import decode, split, unmarked
from sightline.model.timeline import ARCHIVE
from sightline.store.port import Store


class Origin(Struct, frozen=True):
    """Where a recording comes from. source: its file; digest: of its bytes; session: the product's
    own id; root: the folder its paths are below, in the spelling of its own machine."""

    agent: str
    source: str
    digest: str
    session: str
    root: str
    parent: str | None = None


def read_in(
    store: Store,
    clock: Callable[[], int],
    origin: Origin,
    told: Iterable[tuple[int, Event]],
    may_store: Callable[[str], bool] = lambda _: True,
) -> int:
    """Read a recording in; how many facts that made. None when these very bytes were read in
    before or hold nothing; of one that has grown, only what is newer. told: its events, with their times (UTC
    microseconds) in order; those of one time are recorded together. may_store: whether a path's
    texts may be kept. StoreError."""
    archive = Archive(store, origin, may_store)
    newest = archive.newest()
    if newest is None:
        return 0
    made, at = 0, newest
    for at, group in groupby(told, lambda each: each[0]):
        if at > newest:
            made += archive.record(clock(), at, [event for _, event in group])
    if not made and not newest:
        return 0  # nothing that we would know of
    ended = [Imported(origin.source, origin.digest), SessionEnded("recorded")]
    return made + len(store.append(archive.session, ended, at=clock(), happened_at=max(at, newest)))


class Archive:
    """One session that is being read in."""

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
        """When the last thing happened that was read in already, 0 when nothing was; None when
        all of it was."""
        newest = 0
        for recorded in self._store.timeline(session=self.session):
            newest = max(newest, recorded.happened_at)
            if recorded.fact == Imported(self._origin.source, self._origin.digest):
                return None
        return newest

    def record(self, now: int, at: int, told: Iterable[Event]) -> int:
        """Record what was told of one time; how many facts that made."""
        facts: list[Fact] = []
        if not self._known:
            parent = self._origin.parent
            facts.append(SessionStarted(self._origin.agent, parent and f"{ARCHIVE}{parent}"))
            self._known = True
        for event in told:
            facts += self._facts(event)
        texts, self._texts = self._texts, []
        if not facts:
            return 0
        made = self._store.append(self.session, facts, at=now, happened_at=at, blobs=texts)
        return len(made)

    def _facts(self, event: Event) -> list[Fact]:
        if isinstance(event, Began):
            return [ModelUsed(None, event.model)] if event.model else []
        if isinstance(event, Prompted):
            self._turn += 1
            return [TurnBegan(self._turn)]
        if isinstance(event, Compacted):
            for path in self._store.known(self.session):
                self._before(path)
            self._held = {path: held and _dropped(held) for path, held in self._held.items()}
            return [Dropped(None)]
        if isinstance(event, Shown) and event.text is not None:
            return self._shown(event, event.text)
        return self._wrote(event) if isinstance(event, Wrote) else []

    def _shown(self, event: Shown, text: str) -> list[Fact]:
        path = self._path(event.path)
        if path is None:
            return []
        before, put = self._before(path), split(_clean(text))
        if event.lines is None:
            seen, held = whole(len(put)), first_look(put, whole(len(put)))
        else:
            first, last = event.lines[0], event.lines[0] + len(put) - 1
            lines = _placed(before.lines if before else (), put, first)
            seen = spans([(first, last)])
            held = look(before, lines, seen) if before else first_look(lines, seen)
        belief = self._believe(path, held)
        shown = belief.text if event.lines is None else UNKNOWN
        return [Seen(path, shown, seen, event.via, belief)]

    def _wrote(self, event: Wrote) -> list[Fact]:
        path = self._path(event.path)
        if path is None:
            return []
        old = UNKNOWN if event.before is None else self._keep(path, _clean(event.before))
        if event.before is None and event.known_before:
            old = MISSING
        kind: Change = "created" if old == MISSING else "content"
        cause = Cause("agent", self.session)
        if event.content is None:
            return [Changed(path, old, UNKNOWN, kind, cause)]
        after = _clean(event.content)
        held = _after(self._before(path), event, split(after))
        belief = self._believe(path, held)
        return [Changed(path, old, self._keep(path, after), kind, cause, belief=belief)]

    def _path(self, name: str) -> str | None:
        """The canonical path of a file of this workspace; None for any other."""
        try:
            return canonical(name, self._origin.root, self._flavour)
        except PathRefused:
            return None

    def _before(self, path: str) -> Held | None:
        if path not in self._held:
            self._held[path] = self._recalled(path)
        return self._held[path]

    def _recalled(self, path: str) -> Held | None:
        known = self._store.knowledge(self.session, path)
        data = self._store.blob(known.belief.text) if known else None
        text = decode(data) if data is not None else None
        if known is None or text is None:
            return None
        return Held(tuple(text.lines), known.belief.shown, known.belief.held)

    def _believe(self, path: str, held: Held) -> Belief:
        self._held[path] = held
        revision = self._keep(path, "".join(held.lines))
        return Belief(revision, held.shown, held.held, len(held.lines))

    def _keep(self, path: str, text: str) -> Revision:
        data = text.encode()
        if self._may_store(path):
            self._texts.append(data)
        return revision_of(data)


def _clean(text: str) -> str:
    """A text from JSON in its normal form; half of a character, which JSON can hold, is a mark."""
    return unmarked(text.encode("utf-8", "replace").decode())


def _dropped(held: Held) -> Held:
    return Held(held.lines, held.shown, ())


def _placed(lines: Iterable[str], put: list[str], first: int) -> list[str]:
    """A text with these lines in their place; lines that nobody told of are empty."""
    there = list(lines)
    there += ["\n"] * (first - 1 - len(there))
    put = [line if line.endswith("\n") else f"{line}\n" for line in put]
    return [*there[: first - 1], *put, *there[first - 1 + len(put) :]]


def _after(held: Held | None, event: Wrote, lines: list[str]) -> Held:
    """What the agent holds after its edit: of a text that it did not give itself, the new lines."""
    if event.whole or (event.before is None and event.known_before):
        return first_look(lines, whole(len(lines)))
    base = split(_clean(event.before)) if event.before is not None else []
    mine = diff(base, lines)
    if held is None:
        return first_look(lines, new_sides(mine))
    merged = merge(base, lines, held.lines)
    if merged.clean:
        return edited(held, "".join(merged.lines))
    return look(held, lines, new_sides(mine))
