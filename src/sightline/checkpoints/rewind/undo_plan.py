"""Taking back what one session did: its effects, newest first, each by a merge in reverse.

Base is the text after an effect, ours the one before it, theirs what stands there now: the
session's own lines go, and everybody else's stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from sightline.checkpoints.rewind.reverse_merge import Kept, shares_lines, take_out
from sightline.model.revision import MISSING, UNKNOWN, Revision, is_link, known, revision_of
from sightline.model.spans import Spans

Text = Callable[[Revision], bytes | None]
"""The bytes of a revision; None where they are not kept."""

Why = Literal[
    "unreadable", "elsewhere", "kind", "too_large", "not_kept", "unknown", "never_stored",
    "conflict", "bytes", "edited_since", "deleted_since", "in_the_way", "moved_since",
    "doubtful", "refused", "busy", "vanished", "replaced_since",
]  # fmt: skip


class Effect(Struct, frozen=True):
    """What a session once did to a path. before, after: what stood there, of a symlink where it
    led (as_link); of a move: the bytes that went from src to path. sure: whether it is certain that it was this session. twin: the
    path at which the same bytes went away when they came to this one, as a shell moves a file.
    mode: the permission bits that it gave; was: those before it, where they are on record."""

    path: str
    before: Revision
    after: Revision
    position: int
    at: int
    src: str | None = None
    sure: bool = True
    twin: str | None = None
    mode: int | None = None
    was: int | None = None


class CurrentState(Struct, frozen=True):
    """What stands at a path now, as far as it could be read; revision of a symlink: where it leads
    (as_link). why: of what cannot be touched; mode: a file's permission bits."""

    revision: Revision = MISSING
    data: bytes | None = None
    why: Why | None = None
    mode: int | None = None


class Put(Struct, frozen=True):
    """Bytes, or a symlink, to put at a path where `before` stands; after MISSING: nothing stands
    there then.
    merged: others' bytes are among them. kept: lines of the result that stay because others
    rewrote what the session had written there. forced: asked for, whatever stands there."""

    path: str
    before: Revision
    after: Revision
    data: bytes | None
    merged: bool = False
    kept: Spans = ()
    forced: bool = False


class Rename(Struct, frozen=True):
    """A file to move back."""

    src: str
    path: str
    revision: Revision


class Rights(Struct, frozen=True):
    """A file to give its permission bits back. before: those that it has, None for whatever a
    file has that has just come back."""

    path: str
    before: int | None
    after: int


Step = Put | Rename | Rights


class Skipped(Struct, frozen=True):
    """A path at which nothing is done, and why. lines: of what stands there, that are disputed."""

    path: str
    why: Why
    lines: Spans = ()
    other: str | None = None


class UndoPlan(Struct, frozen=True):
    """What taking back comes to, for paths that hang together: steps in order, or what is left
    alone. effects: the session's own that go; gone: paths at which nothing is to do, because
    others removed all of it."""

    steps: tuple[Step, ...] = ()
    left: tuple[Skipped, ...] = ()
    effects: tuple[Effect, ...] = ()
    gone: tuple[Skipped, ...] = ()


def together(effects: Iterable[Effect]) -> list[list[Effect]]:
    """Effects by paths that hang together through moves, each in order; by first path."""
    groups: dict[str, list[Effect]] = {}
    for effect in with_twins(effects):
        joined: list[Effect] = []
        for path in paths_of(effect):
            joined += [each for each in groups.get(path, ()) if each not in joined]
        joined.append(effect)
        groups |= {path: joined for each in joined for path in paths_of(each)}
    found = {id(group): group for _, group in sorted(groups.items())}
    return [sorted(group, key=lambda each: each.position) for group in found.values()]


def with_twins(effects: Iterable[Effect]) -> list[Effect]:
    """Effects, those that made a file told where its bytes were taken away."""
    every = list(effects)
    taken = {each.before: each.path for each in every if each.after == MISSING}
    return [
        structs.replace(each, twin=taken[each.after])
        if each.before in (MISSING, UNKNOWN) and taken.get(each.after, each.path) != each.path
        else each
        for each in every
    ]


def paths_of(effect: Effect) -> tuple[str, ...]:
    """The paths an effect is about."""
    return tuple(path for path in (effect.src, effect.twin, effect.path) if path is not None)


def undo(effects: Sequence[Effect], standing: Mapping[str, CurrentState], text: Text) -> UndoPlan:
    """Take back effects that hang together, or leave all of their paths alone. standing: of each
    of their paths."""
    doing = _Undo(standing, text)
    try:
        for effect in reversed(effects):
            doing.take_back(effect)
        doing.settle()
    except _Stop as stop:
        if _as_before(effects, standing):
            return UndoPlan()
        first = stop.left
        others = sorted({path for each in effects for path in paths_of(each)} - {first.path})
        also = [Skipped(path, "moved_since", other=first.path) for path in others]
        return UndoPlan(left=(first, *also))
    if doing.gone and _as_before(effects, standing):
        return UndoPlan()
    sure = tuple(each for each in effects if each.sure)
    steps: tuple[Step, ...] = (*doing.steps, *doing.rights)
    return UndoPlan(steps, doing.left(), sure if steps else (), doing.untouched())


def _as_before(effects: Iterable[Effect], standing: Mapping[str, CurrentState]) -> bool:
    """Whether all stands as it did before the first effect: they were taken back already."""
    before: dict[str, Revision] = {}
    for effect in effects:
        if effect.src is not None:
            return False
        before.setdefault(effect.path, effect.before)
    return all(standing[path].revision == was != UNKNOWN for path, was in before.items())


def _touched(step: Put | Rename) -> tuple[str, ...]:
    return (step.path,) if isinstance(step, Put) else (step.src, step.path)


def _removes(step: Put | Rename) -> bool:
    return isinstance(step, Put) and step.after == MISSING


class _Stop(Exception):
    def __init__(self, left: Skipped) -> None:
        super().__init__(left)
        self.left = left


class _Undo:
    """What would stand at each path, as effects are taken back in thought. chains: effects that
    follow on each other without anybody in between are one."""

    def __init__(self, standing: Mapping[str, CurrentState], text: Text) -> None:
        self.standing = standing
        self.now = dict(standing)
        self.rights: list[Rights] = []
        self.text = text
        self.steps: list[Put | Rename] = []
        self.chains: dict[str, Effect] = {}
        self.puts: dict[str, tuple[Revision, bool, Spans]] = {}
        self.doubtful: dict[str, Revision] = {}
        self.modes: dict[str, tuple[int | None, int | None]] = {}
        self.gone: dict[str, Why] = {}

    def left(self) -> tuple[Skipped, ...]:
        """What stays of what may have been this session's."""
        some = sorted(self.doubtful.items())
        return tuple(Skipped(path, "doubtful") for path, was in some if self._is_not(path, was))

    def untouched(self) -> tuple[Skipped, ...]:
        """Paths where others removed all that was this session's, and nothing is done."""
        touched = {path for step in self.steps for path in _touched(step)} | self.doubtful.keys()
        some = sorted(self.gone.items())
        return tuple(Skipped(path, why) for path, why in some if path not in touched)

    def _is_not(self, path: str, revision: Revision) -> bool:
        return self.now[path].revision != revision

    def take_back(self, effect: Effect) -> None:
        if not effect.sure:
            self.doubtful[effect.path] = effect.before  # somebody else's, for all anybody knows
            return
        if effect.src is not None:
            self._move_back(effect, effect.src)
            return
        if effect.mode is not None or effect.after == MISSING or is_link(effect.after):
            given = self.modes.get(effect.path, (effect.mode, None))[0]
            self.modes[effect.path] = (given, effect.was)
        newer = self.chains.get(effect.path)
        if newer is not None and newer.before == effect.after != UNKNOWN:
            effect = structs.replace(effect, after=newer.after)
        elif newer is not None:
            self._undo(newer)
        self.chains[effect.path] = effect

    def settle(self) -> None:
        """What is open at every path becomes its step."""
        for path in sorted({*self.chains, *self.puts}):
            self._settle(path)
        # What comes back comes first: bytes that only change their place are never nowhere.
        renames = [n for n, step in enumerate(self.steps) if isinstance(step, Rename)]
        first = renames[-1] + 1 if renames else 0
        self.steps[first:] = sorted(self.steps[first:], key=_removes)
        self.rights = [step for path in sorted(self.modes) for step in self._rights(path)]

    def _rights(self, path: str) -> Iterator[Rights]:
        """Permission bits to give back: of a file that comes back, and of one that has those that
        this session gave it."""
        given, was = self.modes[path]
        now, stood = self.now[path], self.standing[path]
        if was is None or path in self.gone or now.revision == MISSING or is_link(now.revision):
            return
        if stood.revision == MISSING or is_link(stood.revision):
            yield Rights(path, None, was)
        elif given is not None and stood.mode == given != was:
            yield Rights(path, given, was)

    def _settle(self, path: str) -> None:
        chain = self.chains.pop(path, None)
        if chain is not None:
            self._undo(chain)
        first, merged, kept = self.puts.pop(path, (None, False, ()))
        now = self.now[path]
        if first is None or first == now.revision:
            return
        last = self._last(path)
        if isinstance(last, Put):  # nobody needs what would stand there in between
            self.steps.remove(last)
            first, merged, kept = last.before, merged or last.merged, kept or last.kept
        if first != now.revision:
            self.steps.append(Put(path, first, now.revision, now.data, merged, kept))

    def _last(self, *paths: str) -> Put | Rename | None:
        """The last step that touches one of these paths."""
        touching = [step for step in self.steps if not set(paths).isdisjoint(_touched(step))]
        return touching[-1] if touching else None

    def _move_back(self, effect: Effect, src: str) -> None:
        for path in (src, effect.path):
            self._settle(path)
        if effect.path in self.gone:
            raise _Stop(Skipped(effect.path, self.gone[effect.path]))
        there, free = self._now(effect.path), self._now(src)
        if there.revision == MISSING:
            if free.revision == effect.after:
                return  # somebody moved it back already
            raise _Stop(Skipped(effect.path, "deleted_since"))
        if is_link(there.revision):  # the file may have been moved to where it leads
            raise _Stop(Skipped(effect.path, "kind"))
        if free.revision != MISSING:
            raise _Stop(Skipped(src, "in_the_way"))
        self.now[src], self.now[effect.path] = there, free
        last = self._last(src, effect.path)
        if last == Rename(src, effect.path, there.revision):
            self.steps.remove(last)  # it was moved back and is moved on again: nothing is to do
        else:
            self.steps.append(Rename(effect.path, src, there.revision))

    def _undo(self, effect: Effect) -> None:
        path, before, after = effect.path, effect.before, effect.after
        if before == after != UNKNOWN:
            return
        now = self._now(path)
        if now.revision == before:
            return
        if (why := self._why_gone(effect, now)) is not None:
            self.gone.setdefault(path, why)
        elif path in self.gone:
            raise _Stop(Skipped(path, self.gone[path]))
        elif now.revision == after:
            self._put(path, before, self._text(path, before))
        elif MISSING in (before, after, now.revision):
            self._of_existence(path, before, after, now.revision)
        elif any(map(is_link, (before, after, now.revision))):
            raise _Stop(Skipped(path, "kind"))
        else:
            self._merge(path, before, after, now)

    def _why_gone(self, effect: Effect, now: CurrentState) -> Why | None:
        """Why nothing of an effect is left where something else stands than it left; None where
        something is, or may be. Of one that took a whole file away, that is still not there."""
        before, after = effect.before, effect.after
        took = after == MISSING or (is_link(after) and before != MISSING and not is_link(before))
        if now.revision == after or UNKNOWN in (before, after) or took:
            return None
        if now.revision == MISSING:
            return "deleted_since" if before != MISSING else None
        if is_link(now.revision):  # the file may have been moved to where it leads
            return "replaced_since" if is_link(after) else None
        text = self.text(after) if before == MISSING and not is_link(after) else None
        if text is None or now.data is None or shares_lines(text, now.data):
            return None
        return "replaced_since"

    def _of_existence(self, path: str, before: Revision, after: Revision, now: Revision) -> None:
        if before == MISSING and now == MISSING:
            return  # it is gone already
        if after == MISSING:
            raise _Stop(Skipped(path, "in_the_way"))
        raise _Stop(Skipped(path, "deleted_since" if now == MISSING else "edited_since"))

    def _merge(self, path: str, before: Revision, after: Revision, now: CurrentState) -> None:
        if now.data is None:
            raise _Stop(Skipped(path, "too_large"))
        base, ours = self._text(path, after), self._text(path, before)
        assert base is not None
        assert ours is not None
        taken = take_out(base, ours, now.data)
        if not isinstance(taken, Kept):
            raise _Stop(Skipped(path, "conflict" if taken is not None else "bytes", taken or ()))
        self._put(path, revision_of(taken.data), taken.data, merged=True, kept=taken.lines)

    def _put(
        self, path: str, after: Revision, data: bytes | None, *, merged: bool = False,
        kept: Spans = (),
    ) -> None:  # fmt: skip
        first, was_merged, were_kept = self.puts.get(path, (self.now[path].revision, False, ()))
        self.puts[path] = (first, merged or was_merged, kept or were_kept)
        self.now[path] = CurrentState(after, data)

    def _now(self, path: str) -> CurrentState:
        now = self.now[path]
        if now.why is not None:
            raise _Stop(Skipped(path, now.why))
        return now

    def _text(self, path: str, revision: Revision) -> bytes | None:
        """The bytes of a revision; None of a missing file, and of a symlink."""
        if revision == MISSING or is_link(revision):
            return None
        data = self.text(revision) if known(revision) else None
        if data is None:
            raise _Stop(Skipped(path, "unknown" if revision == UNKNOWN else "not_kept"))
        return data
