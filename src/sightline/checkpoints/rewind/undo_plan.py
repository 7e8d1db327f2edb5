"""Plan how to undo what one session did: newest effect first, each by a merge in reverse.

The base of each merge is the text after an effect, "ours" is the text before the effect, and
"theirs" is the current text. The session's own lines go, and all other lines stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from sightline.checkpoints.rewind.reverse_merge import shares_lines, take_out
from sightline.model.revision import MISSING, UNKNOWN, Revision, is_link, revision_of
from sightline.model.spans import Spans

LoadText = Callable[[Revision], bytes | None]
"""Return the bytes of a revision; None where the store does not have them."""

Reason = Literal[
    "unreadable", "elsewhere", "kind", "too_large", "not_kept", "unknown", "never_stored",
    "conflict", "bytes", "edited_since", "deleted_since", "renamed_since", "in_the_way",
    "moved_since", "probable", "layout", "refused", "busy", "vanished", "replaced_since", "folder",
    "below_file", "no_unicode",
]  # fmt: skip


class Effect(Struct, frozen=True):
    """A change that a session once made at a path. before, after: the revisions around the change
    (as_link for a symlink); for a move, the revision that went from src to path. certain: whether
    the session surely made the change; is_layout: it is a change of layout alone behind the session's edit;
    command: the command during which it came about. twin: the path that the same bytes disappeared from, as
    when a shell moves a file. mode: the permission bits that the change set; prior_mode: the bits
    before the change, where the timeline or a checkpoint has them. removes_file: no regular file
    stands at the path after the change. happened_at: UTC microseconds. session: whose effect it is,
    model.session_ids.NOBODY of a rewind of several sessions."""

    path: str
    before: Revision
    after: Revision
    position: int
    happened_at: int
    src: str | None = None
    certain: bool = True
    is_layout: bool = False
    twin: str | None = None
    mode: int | None = None
    prior_mode: int | None = None
    removes_file: bool = False
    command: str | None = None
    session: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths that the effect involves, its own path last."""
        return tuple(path for path in (self.src, self.twin, self.path) if path is not None)

    @property
    def skipped(self) -> Skipped:
        """Return why the effect is left alone although somebody of the session may have made it."""
        reason: Reason = "layout" if self.is_layout else "probable"
        return Skipped(self.path, reason, other=self.command)


class CurrentState(Struct, frozen=True):
    """The file at a path now. revision: of its bytes, or as_link for a symlink; mode: its
    permission bits; blocked: the reason why a rewind must not touch the path. is_folder: no file but a
    folder stands there, and the revision is MISSING."""

    revision: Revision = MISSING
    data: bytes | None = None
    blocked: Reason | None = None
    mode: int | None = None
    is_folder: bool = False


class Restore(Struct, frozen=True):
    """Write bytes or a symlink to a path where the revision `before` stands; after MISSING: delete
    the file. merged: the result keeps bytes of others. gives_way: empty folders at the path whose place
    the file takes."""

    path: str
    before: Revision
    after: Revision
    data: bytes | None
    merged: bool = False
    gives_way: tuple[str, ...] = ()


class Rename(Struct, frozen=True):
    """Move a file back from src to path. gives_way: as in Restore."""

    src: str
    path: str
    revision: Revision
    gives_way: tuple[str, ...] = ()


class SetMode(Struct, frozen=True):
    """Give a file its permission bits back. before: the bits to expect; None for a file that this
    rewind has just restored."""

    path: str
    before: int | None
    after: int


Step = Restore | Rename | SetMode


class Skipped(Struct, frozen=True):
    """A path that the rewind leaves alone. lines: the disputed lines of its current text; other:
    another path, the words of the disk's error, or the command during which the file changed."""

    path: str
    reason: Reason
    lines: Spans = ()
    other: str | None = None


class UndoPlan(Struct, frozen=True):
    """A plan to undo the effects on connected paths: the steps in order, and the paths to leave
    alone. effects: the session's effects that the steps undo; gone: paths where others removed
    everything that the session did, so that nothing is left to undo."""

    steps: tuple[Step, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    effects: tuple[Effect, ...] = ()
    gone: tuple[Skipped, ...] = ()


def group_effects(effects: Iterable[Effect]) -> list[list[Effect]]:
    """Group effects whose paths are connected by moves. Each group is in order of position; the
    groups are in order of their first path."""
    groups: dict[str, list[Effect]] = {}
    for effect in _with_twins(list(effects)):
        joined: list[Effect] = []
        for path in effect.paths:
            joined += [each for each in groups.get(path, ()) if each not in joined]
        joined.append(effect)
        groups |= {path: joined for each in joined for path in each.paths}
    distinct = {id(group): group for _, group in sorted(groups.items())}
    return [sorted(group, key=lambda each: each.position) for group in distinct.values()]


def _with_twins(effects: Sequence[Effect]) -> Iterator[Effect]:
    """Link each created file to the path that the same bytes disappeared from."""
    removed = {each.before: each.path for each in effects if each.after == MISSING}
    for each in effects:
        twin = removed.get(each.after, each.path)
        created = each.before in (MISSING, UNKNOWN)
        yield structs.replace(each, twin=twin) if created and twin != each.path else each


def undo(
    effects: Sequence[Effect],
    current: Mapping[str, CurrentState],
    load: LoadText,
    forced: Mapping[str, CurrentState] | None = None,
) -> UndoPlan:
    """Plan the undoing of connected effects, or leave all of their paths alone. current: the state
    of every path that the effects involve. forced: states that the user wants at some of these
    paths, whatever is there now."""
    plan = _undo(effects, current, load)
    if not forced:
        return plan
    steps = [*plan.steps]
    skipped = [each for each in plan.skipped if each.path not in forced]
    for path, then in forced.items():
        blocked = current[path].blocked
        if blocked is not None:
            skipped.append(Skipped(path, blocked))
            continue
        before = current[path].revision
        for step in steps:
            if isinstance(step, Rename) and step.src == path:
                before = MISSING
            elif not isinstance(step, SetMode) and step.path == path:
                before = step.revision if isinstance(step, Rename) else step.after
        if before != then.revision:
            steps.append(Restore(path, before, then.revision, then.data))
        now = current[path].mode
        if then.mode not in (None, now) and then.mode is not None:
            steps = [step for step in steps if step.path != path or not isinstance(step, SetMode)]
            steps.append(SetMode(path, now, then.mode))
    gone = tuple(each for each in plan.gone if each.path not in forced)
    return UndoPlan(tuple(steps), tuple(skipped), plan.effects, gone)


def _undo(
    effects: Sequence[Effect], current: Mapping[str, CurrentState], load: LoadText
) -> UndoPlan:
    undoing = _Undo(current, load)
    try:
        for effect in reversed(effects):
            undoing.take_back(effect)
        undoing.finish()
    except _Blocked as blocked:
        if _is_undone(effects, current):
            return UndoPlan()
        first = blocked.skipped
        if (probable := undoing.probable.get(first.path)) is not None:
            first = probable.skipped
        others = sorted({path for each in effects for path in each.paths} - {first.path})
        also = [Skipped(path, "moved_since", other=first.path) for path in others]
        return UndoPlan(skipped=(first, *also))
    if undoing.gone and _is_undone(effects, current):
        return UndoPlan()
    steps: tuple[Step, ...] = (*undoing.steps, *undoing.mode_steps())
    undone = tuple(each for each in effects if each.certain) if steps else ()
    return UndoPlan(steps, undoing.skipped_probable(), undone, undoing.untouched_gone())


def _is_undone(effects: Iterable[Effect], current: Mapping[str, CurrentState]) -> bool:
    """Return whether every path already has the state before its first effect."""
    first: dict[str, Effect] = {}
    for effect in effects:
        first.setdefault(effect.path, effect)
    return all(each.src is None for each in effects) and all(
        current[path].revision == each.before != UNKNOWN for path, each in first.items()
    )


def _touched(step: Restore | Rename) -> tuple[str, ...]:
    return (step.path,) if isinstance(step, Restore) else (step.src, step.path)


class _Blocked(Exception):
    def __init__(self, path: str, reason: Reason, lines: Spans = ()) -> None:
        super().__init__(path, reason)
        self.skipped = Skipped(path, reason, lines)


class _Undo:
    """The state of each path while effects are undone in memory, newest first.

    now: the state so far. chains: per path, successive effects joined into one, not undone yet.
    written: per path, the revision before the first change that is not a step yet, and whether a
    merge took part. modes: per path, the bits that the session set and the bits before."""

    def __init__(self, current: Mapping[str, CurrentState], load: LoadText) -> None:
        self.current = current
        self.now = dict(current)
        self.load = load
        self.steps: list[Restore | Rename] = []
        self.chains: dict[str, Effect] = {}
        self.written: dict[str, tuple[Revision, bool]] = {}
        self.probable: dict[str, Effect] = {}
        self.modes: dict[str, tuple[int | None, int | None]] = {}
        self.gone: dict[str, Reason] = {}

    def skipped_probable(self) -> tuple[Skipped, ...]:
        """Return the paths that keep a change which somebody else may have made: all of them where
        the state before it is not known, else those that have another state now."""
        return tuple(
            effect.skipped
            for path, effect in sorted(self.probable.items())
            if self._still_differs(path, effect)
        )

    def _still_differs(self, path: str, effect: Effect) -> bool:
        if effect.before == effect.after != UNKNOWN:  # its mode alone
            return self.current[path].mode == effect.mode != effect.prior_mode
        return self.now[path].revision != effect.before or effect.before == UNKNOWN

    def untouched_gone(self) -> tuple[Skipped, ...]:
        """Return the paths where others removed the session's work and no step does anything."""
        touched = {path for step in self.steps for path in _touched(step)} | self.probable.keys()
        gone = sorted(self.gone.items())
        return tuple(Skipped(path, reason) for path, reason in gone if path not in touched)

    def take_back(self, effect: Effect) -> None:
        if not effect.certain:
            self.probable[effect.path] = effect
            return
        if effect.src is not None:
            self._move_back(effect, effect.src)
            return
        if effect.mode is not None or effect.removes_file:
            newest = self.modes.get(effect.path, (effect.mode, None))[0]
            self.modes[effect.path] = (newest, effect.prior_mode)
        newer = self.chains.get(effect.path)
        if newer is not None and newer.before == effect.after != UNKNOWN:
            effect = structs.replace(effect, after=newer.after)
        elif newer is not None:
            self._undo(newer)
        self.chains[effect.path] = effect

    def finish(self) -> None:
        """Turn the open changes of every path into steps."""
        for path in sorted({*self.chains, *self.written}):
            self._settle(path)
        # Deletions come last, so that bytes which only change their place never disappear.
        renames = [n for n, step in enumerate(self.steps) if isinstance(step, Rename)]
        first = renames[-1] + 1 if renames else 0
        self.steps[first:] = sorted(
            self.steps[first:], key=lambda step: isinstance(step, Restore) and step.after == MISSING
        )

    def mode_steps(self) -> Iterator[SetMode]:
        """Yield the permission bits to restore: of files that come back, and of files that still
        have the bits which the session set."""
        for path, (mode, prior) in sorted(self.modes.items()):
            now, current = self.now[path].revision, self.current[path]
            if prior is None or path in self.gone or now == MISSING or is_link(now):
                continue
            if current.revision == MISSING or is_link(current.revision):
                yield SetMode(path, None, prior)
            elif mode is not None and current.mode == mode != prior:
                yield SetMode(path, mode, prior)

    def _settle(self, path: str) -> None:
        chain = self.chains.pop(path, None)
        if chain is not None:
            self._undo(chain)
        first, merged = self.written.pop(path, (None, False))
        now = self.now[path]
        if first is None or first == now.revision:
            return
        last = self._last_step(path)
        if isinstance(last, Restore):  # no step needs the text in between
            self.steps.remove(last)
            first, merged = last.before, merged or last.merged
        if first != now.revision:
            self.steps.append(Restore(path, first, now.revision, now.data, merged))

    def _last_step(self, *paths: str) -> Restore | Rename | None:
        touching = [step for step in self.steps if not set(paths).isdisjoint(_touched(step))]
        return touching[-1] if touching else None

    def _move_back(self, effect: Effect, src: str) -> None:
        path = effect.path
        for each in (src, path):
            self._settle(each)
        if path in self.gone:
            raise _Blocked(path, self.gone[path])
        there, free = self._state(path), self._state(src)
        if there.is_folder:
            raise _Blocked(path, "kind")
        if there.revision == MISSING:
            if free.revision == effect.after:
                return  # somebody moved the file back already
            raise _Blocked(path, "deleted_since")
        if is_link(there.revision):  # the file may have moved to the symlink's target
            raise _Blocked(path, "kind")
        if free.is_folder:
            free = CurrentState()
        if free.revision != MISSING:
            raise _Blocked(src, "in_the_way")
        self.now[src], self.now[path] = there, free
        last = self._last_step(src, path)
        if last == Rename(src, path, there.revision):
            self.steps.remove(last)  # the two moves cancel each other
        else:
            self.steps.append(Rename(path, src, there.revision))

    def _undo(self, effect: Effect) -> None:
        path, before, after = effect.path, effect.before, effect.after
        if before == after != UNKNOWN:
            return
        now = self._state(path)
        if now.is_folder:
            if after not in (MISSING, UNKNOWN):  # somebody else's folder
                raise _Blocked(path, "kind")
            if before != MISSING:
                self._write(path, before, self._text(path, before))
            return
        if now.revision == before:
            return
        if (reason := self._why_gone(effect, now)) is not None:
            self.gone.setdefault(path, reason)
        elif path in self.gone:
            raise _Blocked(path, self.gone[path])
        elif now.revision == after:
            self._write(path, before, self._text(path, before))
        elif MISSING in (before, after, now.revision):
            if after == MISSING:
                raise _Blocked(path, "in_the_way")
            raise _Blocked(path, "deleted_since" if now.revision == MISSING else "edited_since")
        elif any(map(is_link, (before, after, now.revision))):
            raise _Blocked(path, "kind")
        else:
            self._merge(path, before, after, now)

    def _why_gone(self, effect: Effect, now: CurrentState) -> Reason | None:
        """Return why nothing of an effect is left at its path; None where something is left, or
        may be left. A removed file that did not come back is an effect that is left."""
        before, after = effect.before, effect.after
        if now.revision == after or UNKNOWN in (before, after) or after == MISSING:
            return None
        if is_link(after) and before != MISSING and not is_link(before):
            return None
        if now.revision == MISSING:
            return "deleted_since" if before != MISSING else None
        if is_link(now.revision):  # the file may have moved to the symlink's target
            return "replaced_since" if is_link(after) else None
        text = self.load(after) if before == MISSING and not is_link(after) else None
        if text is None or now.data is None or shares_lines(text, now.data):
            return None
        return "replaced_since"

    def _merge(self, path: str, before: Revision, after: Revision, now: CurrentState) -> None:
        if now.data is None:
            raise _Blocked(path, "too_large")
        base, ours = self._text(path, after), self._text(path, before)
        assert base is not None
        assert ours is not None
        merged = take_out(base, ours, now.data)
        if merged.data is None:
            raise _Blocked(path, "conflict" if merged.conflicts else "bytes", merged.conflicts)
        self._write(path, revision_of(merged.data), merged.data, merged=True)

    def _write(
        self, path: str, after: Revision, data: bytes | None, *, merged: bool = False
    ) -> None:
        first, was_merged = self.written.get(path, (self.now[path].revision, False))
        self.written[path] = (first, merged or was_merged)
        self.now[path] = CurrentState(after, data)

    def _state(self, path: str) -> CurrentState:
        now = self.now[path]
        if now.blocked is not None:
            raise _Blocked(path, now.blocked)
        return now

    def _text(self, path: str, revision: Revision) -> bytes | None:
        """Return the bytes of a revision; None for a missing file and for a symlink."""
        data = self.load(revision) if revision not in (MISSING, UNKNOWN) else None
        if data is None and revision != MISSING and not is_link(revision):
            raise _Blocked(path, "unknown" if revision == UNKNOWN else "not_kept")
        return data
