"""What stood at a path before a session touched it, where the effect itself does not say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from stat import S_IMODE

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.changes.untracked import ManifestHistory
from sightline.checkpoints.rewind.undo_plan import Effect
from sightline.model.events import Changed, Fact, GitMoved, Moved, Seen
from sightline.model.manifest import Entry
from sightline.model.revision import MISSING, UNKNOWN, Revision, as_link, is_link
from sightline.model.timeline import Recorded

RECENT = 20
"""How many changes of a file are looked through for the rights it had."""

KINDS: tuple[type[Fact], ...] = (Changed, Moved)
"""The facts that a session's effects are."""


class Past:
    """What is on record of files, and what checkpoints say of them; to be asked in order of
    position. since: all changes behind a position, where they are at hand."""

    def __init__(self, ground: SessionContext, position: int, since: Iterable[Recorded]) -> None:
        self._ground = ground
        self._pictures = ManifestHistory(ground)
        self._position = position
        self._since: dict[str, list[tuple[int, Changed]]] = {}
        for recorded in since:
            if isinstance(recorded.fact, Changed):
                found = self._since.setdefault(recorded.fact.path, [])
                found.append((recorded.position, recorded.fact))

    def put_before(self, effect: Effect) -> Effect:
        """An effect with what has to be looked up of what stood there before it."""
        if effect.src is None and effect.before in (UNKNOWN, MISSING):
            effect = self._with_before(effect)
        gave = effect.mode is not None and effect.before == effect.after
        gone = effect.after == MISSING or is_link(effect.after)
        if effect.src is None and effect.was is None and (gave or gone):
            return structs.replace(effect, was=self._mode(effect.path, effect.position - 1))
        return effect

    def heard(self, path: str, upto: int) -> bool:
        """Whether anything about a file was on record by then."""
        changes = self._since.get(path)
        if changes and changes[0][0] <= upto:
            return True
        kinds: list[type[Fact]] = [*KINDS, GitMoved, Seen]
        past = self._ground.store.timeline(path=path, kinds=kinds, upto=upto, newest=1)
        return any(True for _ in past)

    def _mode(self, path: str, upto: int) -> int | None:
        """The permission bits that a file had, by the last that is on record of them."""
        entry = self._pictures.entry(path, upto)
        after = self._pictures.taken(upto) if entry is not None and entry.kind == "file" else 0
        for fact in self._changes(path, after, upto):
            if fact.mode is not None:
                return S_IMODE(fact.mode)
        return S_IMODE(entry.mode) if entry is not None else None

    def _changes(self, path: str, after: int, upto: int) -> Iterator[Changed]:
        """The newest changes of a file between two positions, the last one first."""
        if after >= self._position:
            there = reversed(self._since.get(path, ()))
            yield from (fact for at, fact in there if after < at <= upto)
            return
        past = self._ground.store.timeline(
            path=path, kinds=[Changed], after=after, upto=upto, newest=RECENT
        )
        for recorded in reversed([*past]):
            if isinstance(recorded.fact, Changed):
                yield recorded.fact

    def _with_before(self, effect: Effect) -> Effect:
        """What stood there before a command, where only a checkpoint has it: nobody had looked at
        it before, so this is the first that is on record of it. Of a symlink that is on record:
        where it led."""
        if self.heard(effect.path, effect.position - 1):
            led = self._led(effect) if effect.before == UNKNOWN else None
            return effect if led is None else structs.replace(effect, before=as_link(led))
        entry = self._pictures.entry(effect.path, effect.position)
        if entry is None or (effect.before == MISSING and entry.kind == "file"):
            return effect
        return structs.replace(effect, before=of_entry(entry))

    def _led(self, effect: Effect) -> str | None:
        """Where a symlink led by the last that is on record of its path."""
        upto = effect.position - 1
        last = self._ground.store.timeline(path=effect.path, kinds=KINDS, upto=upto, newest=1)
        for recorded in last:
            return recorded.fact.target if isinstance(recorded.fact, Changed) else None
        return None


def of_entry(entry: Entry) -> Revision:
    """What stood there at a checkpoint."""
    return standing(entry.revision, entry.target)


def standing(revision: Revision, target: str | None) -> Revision:
    """What is compared: a file's revision, or where a symlink leads."""
    return revision if target is None else as_link(target)
