"""Timeline and views: a few facts of each kind, folded in any order that can happen."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.support.folding import fold_knowledge

from sightline.model.events import (
    Belief,
    Cause,
    Changed,
    Dropped,
    ModelUsed,
    Moved,
    NoticeAcknowledged,
    RewindEnded,
    Seen,
    SessionEnded,
    SessionForked,
    SessionStarted,
    TurnBegan,
    WindowEmptied,
)
from sightline.model.projections import (
    DiskFile,
    Knowledge,
    column,
    fold_disk,
    know,
    on_disk,
)
from sightline.model.revision import MISSING, UNKNOWN
from sightline.model.session_ids import ARCHIVE
from sightline.model.timeline import Recorded, Stretch, branch, columns_of, effective

PATHS = ["a", "b", "c"]
paths, revisions = st.sampled_from(PATHS), st.sampled_from(["r1", "r2", "r3"])
beliefs = st.builds(
    Belief, revisions, st.just(((1, 9),)), st.sampled_from([((1, 9),), ((2, 3),)]), st.just(9)
)
causes = st.sampled_from([Cause("agent", "s"), Cause("external"), Cause("session", "t")])
afters = st.sampled_from(["r1", "r2", MISSING])
facts = st.one_of(
    st.builds(Seen, paths, revisions, st.just(((1, 9),)), st.just("read"), beliefs),
    st.builds(Dropped, paths, st.none() | st.just(((1, 2),))),
    st.builds(WindowEmptied),
    st.builds(Changed, paths, revisions, afters, st.just("content"), causes, belief=st.none() | beliefs),
    st.builds(Moved, paths, paths, revisions, causes),
    st.builds(NoticeAcknowledged, st.just("n"), paths, beliefs),
    st.builds(TurnBegan, st.integers(1, 9)),
    st.builds(RewindEnded, st.integers(0, 12), st.booleans()),
    st.builds(SessionForked, st.sampled_from(["s", "t"]), st.integers(0, 12)),
)  # fmt: skip
logs = st.lists(st.tuples(st.sampled_from(["s", "t"]), facts), max_size=14).map(
    lambda pairs: [Recorded(n, who, n * 10, n * 10, fact) for n, (who, fact) in enumerate(pairs, 1)]
)


def log(*facts, session="s"):
    return [Recorded(n, session, n * 10, n * 10, fact) for n, fact in enumerate(facts, 1)]


def seen(path, text="r1"):
    return Seen(path, text, ((1, 9),), "read", Belief(text, ((1, 9),), ((1, 9),), 9))


def wrote(path, after, kind="agent", belief=True):
    held = Belief(after, ((1, 9),), ((1, 9),), 9) if belief else None
    return Changed(path, "r1", after, "content", Cause(kind, "s"), belief=held)


@given(logs)
def test_a_step_changes_only_the_paths_it_says(some):
    known: dict[str, Knowledge] = {}
    disks: dict[str, DiskFile] = {}
    for recorded in some:
        before, stood = dict(known), dict(disks)
        know(known, recorded)
        on_disk(disks, recorded)
        named = recorded.fact.known_paths()
        if named is not None:
            assert {p for p in PATHS if before.get(p) != known.get(p)} <= set(named)
        changed = {p for p in PATHS if stood.get(p) != disks.get(p)}
        assert changed <= set(recorded.fact.disk_paths())
    assert all(state.path == path for path, state in known.items())
    assert all(state.path == path for path, state in disks.items())


@given(logs, st.integers(0, 14))
def test_what_was_known_then_does_not_depend_on_what_came_later(some, upto):
    assert fold_knowledge(some, "s", upto) == fold_knowledge(some[:upto], "s", upto)


@given(logs)
def test_the_disk_view_does_not_depend_on_rewinds(some):
    turned = [r for r in some if not isinstance(r.fact, RewindEnded | SessionForked)]
    assert fold_disk(some) == fold_disk(turned)


@given(logs, st.data())
def test_the_disk_view_does_not_depend_on_archives(some, data):
    """Not where they lie between the others, and not what they tell."""
    mixed: list[Recorded] = []
    for recorded in some:
        told = data.draw(st.lists(facts, max_size=2))
        mixed += [Recorded(0, f"{ARCHIVE}s", 5, 5, fact) for fact in told]
        mixed.append(recorded)
    assert fold_disk(mixed) == fold_disk(some)
    assert fold_knowledge(mixed, "s", 14) == fold_knowledge(some, "s", 14)


@given(logs, st.sampled_from(["s", "t"]))
def test_a_branch_is_in_order_and_takes_each_fact_once(some, session):
    positions = [r.position for r in effective(columns_of(some), session, 14)]
    assert len(set(positions)) == len(positions)
    assert positions == sorted(positions)


def test_two_sessions_that_are_forks_of_one_another_have_a_branch():
    turns = {
        "s": log(SessionForked("t", 0), TurnBegan(1), RewindEnded(0))[::2],
        "t": [Recorded(2, "t", 1, 1, SessionForked("s", 0))],
    }
    assert branch("s", 3, turns.__getitem__) == ()


def test_a_rewind_takes_back_what_is_known_and_can_be_taken_back():
    facts = log(seen("a"), seen("b"), RewindEnded(1), seen("c"), RewindEnded(2))
    assert set(fold_knowledge(facts, "s", 2)) == {"a", "b"}
    assert set(fold_knowledge(facts, "s", 4)) == {"a", "c"}
    assert set(fold_knowledge(facts, "s")) == {"a", "b"}
    assert set(fold_disk(facts)) == {"a", "b", "c"}


def test_a_fork_begins_with_what_the_parent_knew():
    facts = [*log(seen("a"), seen("b")), Recorded(3, "t", 30, 30, SessionForked("s", 1))]
    facts += [Recorded(4, "t", 40, 40, seen("c")), Recorded(5, "s", 50, 50, seen("d"))]
    assert set(fold_knowledge(facts, "t")) == {"a", "c"}
    assert set(fold_knowledge(facts, "s")) == {"a", "b", "d"}
    turns: dict[str, list[Recorded]] = {"s": [], "t": [facts[2]]}
    assert branch("t", 5, turns.__getitem__) == (Stretch("s", 0, 1), Stretch("t", 3, 5))


def test_own_edits_move_knowledge_and_others_do_not():
    facts = log(seen("a"), wrote("a", "r2"), wrote("a", "r3", "external", belief=False))
    known = fold_knowledge(facts, "s")["a"]
    assert (known.belief.text, known.last_agent_edit, known.last_read) == ("r2", 20, 10)
    disk = fold_disk(facts)["a"]
    assert disk.cause is not None
    assert (disk.revision, disk.cause.kind, disk.last_external_edit) == ("r3", "external", 30)


def test_what_an_agent_deleted_it_no_longer_knows():
    assert fold_knowledge(log(seen("a"), wrote("a", MISSING)), "s") == {}


def test_a_move_takes_knowledge_and_disk_along():
    facts = log(seen("a"), Moved("b", "a", "r1", Cause("external")))
    assert set(fold_knowledge(facts, "s")) == {"b"}
    disks = fold_disk(facts)
    assert (disks["a"].revision, disks["a"].moved_to, disks["b"].revision) == (MISSING, "b", "r1")


def test_dropped_lines_are_shown_and_no_longer_held():
    facts = log(seen("a"), seen("b"), Dropped("a", ((1, 4),)), WindowEmptied())
    known = fold_knowledge(facts, "s", 3)
    assert (known["a"].belief.held, known["a"].belief.shown) == (((5, 9),), ((1, 9),))
    assert [k.belief.held for k in fold_knowledge(facts, "s").values()] == [(), ()]


def test_a_look_at_unknown_bytes_says_nothing_of_the_disk():
    assert fold_disk(log(structs.replace(seen("a"), revision=UNKNOWN))) == {}


def test_a_sessions_column():
    facts = log(SessionStarted("cli"), TurnBegan(3), ModelUsed(None, "m"), SessionEnded(), TurnBegan(4))  # fmt: skip
    state = None
    for recorded in facts:
        state = column(state, recorded)
    assert state is not None
    assert (state.agent, state.turn, state.model, state.ended, state.position) == ("cli", 4, "m", None, 5)  # fmt: skip
