"""Carrying out what checkpoints.rewind.undo_plan plans: look, plan, journal, replace, record.

Files that do not hang together go side by side, in batches: their intents are one append, their
bytes reach the platter together, and what became of them is one more append.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from stat import S_IMODE

from msgspec import structs

from sightline.changes.attribution import detect_changes
from sightline.changes.session_context import TRIES, SessionContext
from sightline.checkpoints.rewind.effects import Planned, Target, effects, look, planned_each
from sightline.checkpoints.rewind.undo_plan import (
    CurrentState,
    Effect,
    Put,
    Rename,
    Rights,
    Skipped,
    Step,
    UndoPlan,
    paths_of,
)
from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileState
from sightline.guard.write_journal import Write, recover, write_all
from sightline.model.events import Changed
from sightline.model.revision import MISSING, StatSignature

Answer = bool | Unverifiable
"""Whether a step was done; the error for which nothing was."""

AT_ONCE, BYTES_AT_ONCE = 100, 8 << 20
"""Files of one batch, and their bytes: a replacement holds three open files for each."""


def _nothing() -> None:
    """There is nothing to begin with."""


class Work:
    """Effects that hang together, being taken back. planned: what that comes to by the last look,
    None where it has to be looked again; made: the steps that were done; done: what it came to,
    None as long as something is to do."""

    def __init__(self, group: Sequence[Effect], planned: Planned | None) -> None:
        self.group = group
        self.planned = planned
        self.paths = sorted({path for each in group for path in paths_of(each)})
        self.made: list[Step] = []
        self.done: UndoPlan | None = None
        self.found: dict[str, FileState] = {}
        self._plan = UndoPlan()
        self._left: list[Step] = []

    def begin(self, planned: Planned) -> None:
        """Go on with a plan for what stands there now."""
        self._plan, self.found = planned
        self.planned = None
        self._left = list(self._plan.steps)
        self._look_for_end()

    @property
    def step(self) -> Step | None:
        """What is to do next; None when that is nothing, or has to be planned again."""
        return self._left[0] if self._left else None

    def told(self, answer: Answer) -> None:
        """What became of that step."""
        step = self._left.pop(0)
        if isinstance(answer, Unverifiable):
            self._left = []
            left = Skipped(step.path, "refused", other=answer.message)
            self._end((*self._plan.left, left))
        elif answer:
            self.made.append(step)
            self._look_for_end()
        else:
            self._left = []  # somebody came in between

    def give_up(self) -> None:
        """Others come in between all the time."""
        self.done = UndoPlan(left=tuple(Skipped(path, "busy") for path in self.paths))

    def _look_for_end(self) -> None:
        if not self._left:
            self._end(self._plan.left)

    def _end(self, left: tuple[Skipped, ...]) -> None:
        self.done = structs.replace(self._plan, steps=_joined(self.made), left=left)


def apply_undo(
    ground: SessionContext,
    target: Target,
    groups: Sequence[Sequence[Effect]],
    planned: Sequence[Planned] = (),
    begin: Callable[[], None] = _nothing,
) -> Iterator[UndoPlan]:
    """Take back effects, by groups that hang together; in order what was done. What others do
    meanwhile is planned for again, with what was done until then among the effects. planned: of
    the first groups, where the caller looked at them already. begin: called before anything that
    stands is touched, again and again, and under locks."""
    works = [Work(*each) for each in zip_longest(groups, planned)]
    for some in _batches(ground, works):
        open_ = some
        for _ in range(TRIES):
            _try(ground, target, open_, begin)
            open_ = [work for work in open_ if work.done is None]
            if not open_:
                break
        for work in open_:
            work.give_up()
        yield from [work.done for work in some if work.done is not None]


def _batches(ground: SessionContext, works: Sequence[Work]) -> Iterator[list[Work]]:
    batch: list[Work] = []
    files = size = 0
    for work in works:
        of_work = sum([_size(ground, path) for path in work.paths])
        if batch and (files + len(work.paths) > AT_ONCE or size + of_work > BYTES_AT_ONCE):
            yield batch
            batch, files, size = [], 0, 0
        batch.append(work)
        files, size = files + len(work.paths), size + of_work
    if batch:
        yield batch


def _size(ground: SessionContext, path: str) -> int:
    there = _stat(ground, path)
    return there.size if there is not None else 0


def _stat(ground: SessionContext, path: str) -> StatSignature | None:
    """How a file stands; None where there is none, or it cannot be told: the look at it tells."""
    try:
        return ground.workspace.stat(path)
    except OSError:
        return None


def _try(
    ground: SessionContext, target: Target, works: Sequence[Work], begin: Callable[[], None]
) -> None:
    """All steps of works, until each is done or somebody came in between."""
    paths = [path for work in works for path in work.paths]
    with ground.workspace.lock(*paths):
        if recover(ground, *paths) or any(work.made for work in works):
            _load_again(ground, target, works)
        for work, planned in zip(works, _plans(ground, works), strict=True):
            work.begin(planned)
        while going := [work for work in works if work.step is not None]:
            _step_of_each(ground, target, going, begin)


def _load_again(ground: SessionContext, target: Target, works: Sequence[Work]) -> None:
    every = [each for group in effects(ground, target) for each in group]
    for work in works:
        wanted = set(work.paths)
        work.group = [each for each in every if wanted.issuperset(paths_of(each))]
        work.planned = None


def _plans(ground: SessionContext, works: Sequence[Work]) -> list[Planned]:
    """A plan for each: the one there is where all stands as it did, by its times. Should that not
    be so after all, the write itself finds out, and it is planned again."""
    old = [work.planned if _stands(ground, work.planned) else None for work in works]
    groups = [work.group for work, planned in zip(works, old, strict=True) if planned is None]
    new = planned_each(ground, groups)
    return [next(new) if planned is None else planned for planned in old]


def _stands(ground: SessionContext, planned: Planned | None) -> bool:
    if planned is None:
        return False
    try:
        return all(
            ground.workspace.stat(each.path) == each.signature for each in planned[1].values()
        )
    except OSError:
        return False


def _step_of_each(
    ground: SessionContext, target: Target, works: Sequence[Work], begin: Callable[[], None]
) -> None:
    puts = [(work, work.step) for work in works if isinstance(work.step, Put)]
    looked = [(step, work.found[step.path]) for work, step in puts]
    answers = put_each(ground, target, looked, begin)
    begin()
    for work in works:
        if isinstance(work.step, Rename):
            work.told(_rename(ground, target, work.step, work.found[work.step.src]))
        elif isinstance(work.step, Rights):
            work.told(_rights(ground, target, work.step))
    for (work, _), answer in zip(puts, answers, strict=True):
        work.told(answer)


def _joined(made: Sequence[Step]) -> tuple[Step, ...]:
    """Steps without those that were repeated because somebody came in between."""
    last = {step.path: step for step in made if isinstance(step, Put)}
    return tuple(step for step in made if not isinstance(step, Put) or last[step.path] is step)


def force(ground: SessionContext, target: Target, path: str, then: CurrentState) -> Put | None:
    """Put at a path what stood there then, whatever does now; None when that does."""
    for _ in range(TRIES):
        with ground.workspace.lock(path):
            recover(ground, path)
            standing, found = look(ground, path)
            step = forced(path, standing, then)
            if step is None:
                return None
            [answer] = put_each(ground, target, [(step, found)])
            if isinstance(answer, Unverifiable):
                raise answer
            if answer:
                return step
    raise Unverifiable(path, f"{path} was changed by others {TRIES} times meanwhile.")


def forced(path: str, standing: CurrentState, then: CurrentState) -> Put | None:
    """The step that puts at a path what stood there then; None when that does."""
    if standing.revision == then.revision:
        return None
    return Put(path, standing.revision, then.revision, then.data, forced=True)


def put_each(
    ground: SessionContext,
    target: Target,
    puts: Sequence[tuple[Put, FileState]],
    begin: Callable[[], None] = _nothing,
) -> list[Answer]:
    """Put bytes at different paths, under the caller's lock of them all. With each: how it was
    looked at; one to which a step before moved a file is looked at again. begin: as in
    carry_out."""
    writes = [
        Write(
            step.path,
            step.before,
            step.after,
            on_disk if on_disk.standing == step.before else ground.look(step.path),
            step.data,
        )
        for step, on_disk in puts
    ]
    by = target.cause(ground.session).detail
    unrecorded = detect_changes(ground, *(write.on_disk for write in writes))
    return write_all(ground, writes, by=by, unrecorded=unrecorded, before_replacing=begin)


def _rename(ground: SessionContext, target: Target, step: Rename, found: FileState) -> Answer:
    write = Write(step.path, MISSING, step.revision, found, src=step.src)
    by = target.cause(ground.session).detail
    return write_all(ground, [write], by=by, unrecorded=detect_changes(ground, found))[0]


def _rights(ground: SessionContext, target: Target, step: Rights) -> Answer:
    """In one step of the system's, so nothing is journalled before."""
    stands = _stat(ground, step.path)
    if stands is not None and S_IMODE(stands.mode) == step.after:
        return True
    there = ground.look(step.path)
    now = S_IMODE(there.signature.mode) if there.signature is not None else None
    if now is None or step.before not in (None, now):
        return False
    if now == step.after:
        return True
    try:
        found = ground.workspace.set_mode(step.path, now, step.after)
    except Unverifiable as error:
        return error
    mode = found.signature.mode if found.signature is not None else None
    if mode is not None and S_IMODE(mode) == step.after:
        cause = target.cause(ground.session)
        fact = Changed(step.path, there.revision, found.revision, "mode", cause, mode)
        ground.append([fact], found=[found], durable=True)
    return True
