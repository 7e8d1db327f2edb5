"""P6 and what follows from it: over histories of agents, users, commands and a second session, a
rewind takes the session's own work back, keeps everybody else's, and can be taken back itself."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.properties.histories import NEW, OF_AGENT, PATHS, World, deeds, foreign, whose
from tests.properties.test_machine import WIDE
from tests.support.examples import examples

from sightline.api.workspace import Workspace
from sightline.errors import RewindRefused
from sightline.model.events import WriteIntended
from sightline.model.session_ids import NOBODY

COUNTS: Counter[str] = Counter()
some = settings(derandomize=not WIDE, database=None, deadline=None)
wide = settings(some, max_examples=2_000 if WIDE else examples(150))
ends = st.sampled_from(["\n", "\r\n"])


def lived(before, after, ends):
    """A world with a history: before the checkpoint and behind it."""
    world = World(ends)
    for deed in before:
        world.does(deed)
    world.touched.clear()
    made = world.one.checkpoint()
    then, last = world.disk(), world.count
    for deed in after:
        world.does(deed)
    return world, made, then, last


@pytest.mark.wide
@wide
@given(deeds, deeds, ends)
def test_only_what_the_session_did_is_taken_back(before, after, ends):
    world, made, then, last = lived(before, after, ends)
    stood = world.disk()
    report = world.one.rewind(made)
    now = world.disk()
    left = {each.path for each in report.left_alone}
    gone = {each.path for each in report.gone}
    moved = {path for pair in report.moved for path in pair}
    for path in PATHS + NEW:
        linked = moved if path in moved else {path}  # a file that moved back brings its lines
        who = {who for each in linked for who in world.touched.get(each, ())}
        if not who & set(OF_AGENT):
            assert now.get(path) == stood.get(path), "a path that the agent never touched"
        elif who <= set(OF_AGENT) and path not in left:
            assert now.get(path) == then.get(path), "a path that nobody else touched"
        if path in left | gone:
            assert now.get(path) == stood.get(path)
    lines = {path: foreign(data) for path, data in now.items()}
    assert Counter(line for some in lines.values() for line in some) >= Counter(
        line for data in stood.values() for line in foreign(data)
    ), "somebody else's line is gone"
    for path in now.keys() - left - world.renamed:
        mine = [
            x for x in now[path].splitlines() if whose(x) in OF_AGENT and int(x.split()[1]) > last
        ]
        assert not mine, "the agent's line stands"
    acted = [p for p, who in world.touched.items() if who & set(OF_AGENT)]
    COUNTS["paths"] += len(acted)
    COUNTS["left alone"] += len(left)
    COUNTS["gone"] += len(gone)
    COUNTS["merged"] += len(report.merged)
    event("left alone" if left else "clean")


@wide
@given(deeds, ends)
def test_a_rewind_of_the_rewind_is_the_identity(after, ends):
    world, made, _, _ = lived([], after, ends)
    stood = world.disk()
    report = world.one.rewind(made)
    if report.safety_checkpoint is None:
        assert world.disk() == stood
        return
    rewound = world.disk()
    again = world.one.rewind(report.safety_checkpoint)
    assert world.disk() == stood
    assert again.left_alone == ()
    world.one.rewind(again.safety_checkpoint)
    assert world.disk() == rewound


@pytest.mark.wide
@wide
@given(deeds, ends)
def test_undos_go_back_one_after_the_other_and_can_all_be_taken_back(after, ends):
    world, _, _, _ = lived([], after, ends)
    ways: list[tuple[str, dict[str, bytes]]] = []
    while len(ways) < 3:
        stood = world.disk()
        try:
            report = world.one.undo()
        except RewindRefused:
            break
        if report.safety_checkpoint is None:  # all of that turn was left alone
            assert world.disk() == stood
            break
        ways.append((report.safety_checkpoint, stood))
    COUNTS["undone"] += len(ways)
    for back, stood in reversed(ways):
        world.one.rewind(back)
        assert world.disk() == stood


class Killed(BaseException):
    """The process ends here."""


class Dying:
    """What a rewind stands on, that ends at the `left`th step: before or after a file is touched
    or a fact is recorded."""

    def __init__(self, world: World, left: int) -> None:
        self.left = left
        ground = world.one._context
        self.calls = [
            (ground.workspace, "replace_each"), (ground.workspace, "move_if"), (ground.store, "append"),
        ]  # fmt: skip

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed

    def around(self, call):
        def dying(*arguments, **options):
            self.step()
            answer = call(*arguments, **options)
            self.step()
            return answer

        return dying

    def __enter__(self):
        for thing, name in self.calls:
            setattr(thing, name, self.around(getattr(thing, name)))
        return self

    def __exit__(self, *_):
        for thing, name in self.calls:
            delattr(thing, name)


@pytest.mark.wide
@settings(some, max_examples=400 if WIDE else examples(20))
@given(deeds, ends)
def test_killed_at_any_step_and_told_again_it_ends_at_the_same_bytes(after, ends):
    whole, made, _, _ = lived([], after, ends)
    report = whole.one.rewind(made)
    ended, step = report.safety_checkpoint is None, 0
    while not ended:
        step += 1
        world, made, _, _ = lived([], after, ends)
        stood = world.disk()
        ended = dies(world, made, step)
        COUNTS["kills"] += 1
        for path, data in world.disk().items():
            assert data in (stood.get(path), whole.disk().get(path)) or path in whole.touched
        world.comes_back()
        pending = world.one._context.store.pending
        assert not any(isinstance(each.fact, WriteIntended) for each in pending())
        world.one.rewind(made)
        assert pending() == []
        assert world.disk() == whole.disk()


def dies(world, made, step) -> bool:
    """Rewind, and die at a step; True when it was done before that."""
    try:
        with Dying(world, step):
            world.one.rewind(made)
    except Killed:
        return False
    return True


def person_in(world) -> Workspace:
    """The workspace of a world, as a person uses it."""
    ground = world.one._context
    return Workspace(ground.for_session(NOBODY), ground.settings)


@pytest.mark.wide
@settings(some, max_examples=100 if WIDE else examples(10))
@given(deeds, ends)
def test_a_persons_rewind_that_is_killed_goes_on_with_the_next_session(after, ends):
    def lived() -> World:
        world = World(ends)
        person_in(world).checkpoint("start")
        for deed in after:
            world.does(deed)
        return world

    whole = lived()
    ended, step = person_in(whole).rewind("start").safety_checkpoint is None, 0
    while not ended:
        step += 1
        world = lived()
        ended = True
        try:
            with Dying(world, step):
                person_in(world).rewind("start")
        except Killed:
            ended = False
        world.comes_back()
        person_in(world).rewind("start")
        assert world.one._context.store.pending() == []
        assert world.disk() == whole.disk()


@pytest.mark.wide
@wide
@given(deeds, deeds, ends)
def test_a_persons_rewind_takes_back_all_sessions_keeps_the_users_and_can_be_undone(
    before, after, ends
):
    world = World(ends)
    for deed in before:
        world.does(deed)
    world.touched.clear()
    person = person_in(world)
    made = person.checkpoint()
    then, last = world.disk(), world.count
    for deed in after:
        world.does(deed)
    stood = world.disk()
    preview = person.rewind(made, dry_run=True)
    report = person.rewind(made)
    now = world.disk()
    assert (preview.restored, preview.removed, preview.merged) == (
        report.restored,
        report.removed,
        report.merged,
    )
    left = {each.path for each in report.left_alone}
    moved = {path for pair in report.moved for path in pair}
    for path in PATHS + NEW:
        linked = moved if path in moved else {path}
        who = {who for each in linked for who in world.touched.get(each, ())}
        if who <= {"user"}:
            assert now.get(path) == stood.get(path), "a path that only the user touched"
        elif "user" not in who and path not in left:
            assert now.get(path) == then.get(path), "a path that the user never touched"
    lines = Counter(line for data in now.values() for line in data.splitlines())
    kept = Counter(
        line for data in stood.values() for line in data.splitlines() if whose(line) == "user"
    )
    assert lines >= kept, "a line of the user's is gone"
    for path in now.keys() - left - world.renamed:
        news = [line for line in now[path].splitlines() if int(line.split()[1]) > last]
        assert all(whose(line) == "user" for line in news), "a session's line stands"
    if report.safety_checkpoint is None:
        assert now == stood
        return
    again = person.rewind(report.safety_checkpoint)
    assert world.disk() == stood
    assert again.left_alone == ()
    person.rewind(again.safety_checkpoint)
    assert world.disk() == now
