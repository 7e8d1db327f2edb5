"""What every store must do. Each kind of store runs this suite (test_memory, test_sqlite, …)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.store.facts import EXAMPLES, A, B, C, any_fact
from tests.support.examples import examples
from tests.support.folding import fold_knowledge

from sightline.errors import StoreConflict
from sightline.model import events
from sightline.model.active_claims import fold as fold_claims
from sightline.model.events import Belief, Cause, Fact
from sightline.model.projections import fold_disk, fold_running, fold_stashes
from sightline.model.revision import MISSING, UNKNOWN, Stamp, StatSignature, revision_of
from sightline.model.session_ids import ARCHIVE, NOBODY
from sightline.model.timeline import Recorded, live
from sightline.store.memory import MemoryStore
from sightline.store.port import Append, Store

Open = Callable[[], Store]

AGENT = Cause("agent")
OTHER = Cause("external")
STAMP = Stamp(StatSignature(2**40, 5, 6, 2**64 - 1, 2**64 - 2, 0o100644), A, 9)


MOVING: list[type[Fact]] = [events.Changed, events.Moved, events.GitMoved]
STASHING = ("stash", "stash pop", "stash apply")
KINDS: list[list[type[Fact]] | None] = [MOVING, [events.Seen, events.TurnBegan], None]
QUESTIONS: list[dict[str, Any]] = [
    {"newest": 2},
    {"limit": 2},
    {"since": 2, "path": "a.py"},
    {"newest": 1, "path": "a.py"},
    {"limit": 1, "path": "b/ö.py", "upto": 4},
]


def belief(text: str = A, shown: int = 10) -> Belief:
    return Belief(text, ((1, shown),), ((1, shown),), 20)


def seen(path: str, text: str = A, name: str | None = None) -> events.Seen:
    return events.Seen(path, text, ((1, 10),), "read", belief(text), name)


def changed(path: str, after: str, cause: Cause = OTHER, **more: object) -> events.Changed:
    return events.Changed(path, A, after, "content", cause, **more)  # type: ignore[arg-type]


def facts_in(recorded: Iterator[Recorded] | list[Recorded]) -> list[Fact]:
    return [r.fact for r in recorded]


# A small world, so that facts meet: few paths, few sessions, positions that may not be there yet.
paths = st.sampled_from(["a.py", "b/ö.py", "odd\udcff.py"])
people = st.sampled_from(["s1", "s2", "s3", NOBODY, f"{ARCHIVE}s1"])
places = st.integers(0, 30)
claims = st.sampled_from(["k1", "k2"])
commits = st.sampled_from(["c1", "c2", "c3"])
runs = st.sampled_from(["r1", "r2"])
texts = st.sampled_from([A, B, MISSING, UNKNOWN])
beliefs = st.builds(belief, st.sampled_from([A, B, C]), st.integers(1, 9))
happenings = st.one_of(
    st.builds(
        events.Seen, paths, texts, st.just(((1, 5),)), st.just("read"), beliefs, st.none() | paths
    ),
    st.builds(events.Dropped, paths, st.none() | st.just(((2, 3),))),
    st.builds(events.WindowEmptied),
    st.builds(events.Dropped, paths, st.none(), st.just(True), beliefs),
    st.builds(events.NoticeAcknowledged, st.just("n"), paths, beliefs),
    st.builds(
        events.Changed,
        *(paths, texts, texts, st.just("content"), st.sampled_from([AGENT, OTHER])),
        *(st.sampled_from([None, 0o644, 0o755]), st.none() | beliefs, st.none() | places),
    ),
    st.builds(events.Moved, paths, paths, texts, st.just(AGENT), st.none() | places),
    st.builds(events.WriteIntended, paths, texts, texts),
    st.builds(events.WriteAbandoned, paths, places),
    st.builds(events.TurnBegan, places),
    st.builds(events.ModelUsed, st.none(), st.sampled_from(["m1", "m2"])),
    st.builds(events.SessionStarted, st.just("agent"), st.none() | people),
    st.builds(events.SessionEnded),
    st.builds(
        events.GitMoved,
        *(commits, commits, st.sampled_from(["checkout", *STASHING]), st.just(("a.py",))),
        st.lists(st.builds(events.Rewritten, paths, texts, texts), max_size=3).map(tuple),
    ),
    st.builds(events.StashDropped, commits),
    st.builds(events.CommandStarted, st.just(A), runs),
    st.builds(events.CommandEnded, runs, st.just(0)),
    st.builds(
        events.EnvironmentSeen,
        *(st.just("linux"), st.just("3.11"), st.none(), st.none()),
        st.none() | st.sampled_from(["m:1:2", "m:3:4"]),
    ),
    st.builds(events.ClaimTaken, claims, st.just(("src/**", "a.py")), places, st.booleans()),
    st.builds(events.ClaimRenewed, claims, places),
    st.builds(events.ClaimReleased, claims),
)
turnings = st.one_of(
    st.builds(events.RewindEnded, places, st.booleans()),
    st.builds(events.SessionForked, people, places),
)
histories = st.lists(
    st.tuples(people, st.lists(happenings | turnings, min_size=1, max_size=3)), max_size=25
)


# Each kind of store is another executor of the same property; no database mixes their examples.
for_each_store = settings(
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.differing_executors]
)


class StoreContract(ABC):
    """Subclasses say how to get an empty store: `empty()` gives a function that opens it, each
    call another handle on the same store."""

    @abstractmethod
    def empty(self) -> AbstractContextManager[Open]: ...

    @pytest.fixture
    def opened(self) -> Iterator[Open]:
        with self.empty() as opened:
            yield opened

    @pytest.fixture
    def store(self, opened) -> Store:
        made: Store = opened()
        return made

    # --- the timeline ---------------------------------------------------------------------------

    def test_positions_count_from_one(self, store):
        assert store.position() == 0
        first = store.append(Append("s1", [seen("a"), seen("b")], at=1))
        second = store.append(Append("s2", [seen("a")], at=2))
        assert [r.position for r in first + second] == [1, 2, 3]
        assert store.position() == 3

    def test_a_fact_carries_when_it_happened_and_when_it_was_recorded(self, store):
        (recorded,) = store.append(Append("s1", [seen("a")], at=50, happened_at=40))
        assert (recorded.happened_at, recorded.recorded_at) == (40, 50)
        assert list(store.timeline()) == [recorded]
        assert store.append(Append("s1", [seen("a")], at=60))[0].happened_at == 60

    @for_each_store
    @given(st.lists(any_fact, max_size=8))
    def test_every_kind_of_fact_comes_back(self, facts):
        with self.empty() as opened:
            recorded = opened().append(Append("s", facts, at=1))
            assert list(opened().timeline()) == recorded
            assert opened().verify() == []

    def test_the_timeline_is_asked_by_session_path_kind_and_position(self, store):
        store.append(Append("s1", [seen("a"), seen("b"), events.TurnBegan(1)], at=1))
        store.append(Append("s2", [seen("a"), events.TurnBegan(1), changed("b", B)], at=2))

        def at(**question: object) -> list[int]:
            return [r.position for r in store.timeline(**question)]

        assert at() == [1, 2, 3, 4, 5, 6]
        assert at(session="s1") == [1, 2, 3]
        assert at(path="a") == [1, 4]
        assert at(path="a", session="s2") == [4]
        assert at(kinds=[events.TurnBegan]) == [3, 5]
        assert at(kinds=[events.TurnBegan, events.Changed], session="s2") == [5, 6]
        assert at(after=2, upto=5) == [3, 4, 5]
        assert at(since=2) == [4, 5, 6]
        assert at(since=2, newest=1, path="a") == [4]
        assert at(newest=2) == [5, 6]
        assert at(newest=1, kinds=[events.Seen]) == [4]
        assert at(newest=0) == []
        assert at(limit=2) == at()[:2]
        assert at(limit=1, session="s1") == at(session="s1")[:1]
        assert at(limit=1, path="a", kinds=[events.Changed, events.Seen]) == at(path="a")[:1]
        assert at(kinds=[]) == []
        assert at(session="nobody") == at(path="nowhere") == []

    @pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
    def test_a_path_finds_every_fact_that_names_it_in_any_field(self, store, fact):
        named = [getattr(fact, field, None) for field in ("path", "src", "name")]
        named += [*getattr(fact, "paths", ()), *getattr(fact, "files", ())]
        store.append(Append("s0", [seen("elsewhere")], at=1))
        store.append(Append("s1", [fact], at=1))
        for path in filter(None, named):
            assert facts_in(store.timeline(path=path)) == [fact]

    def test_an_answer_once_begun_does_not_see_later_facts(self, store):
        store.append(Append("s1", [seen(f"f{n}") for n in range(1200)], at=1))
        answer = store.timeline()
        first = next(answer)
        store.append(Append("s1", [seen("late")], at=2))
        assert [first.position, *(r.position for r in answer)] == list(range(1, 1201))

    # --- views ----------------------------------------------------------------------------------

    @settings(for_each_store, max_examples=examples(150))
    @given(histories)
    def test_every_view_is_the_fold_from_zero_whatever_happened(self, history):
        """Also through rewinds, rewinds of rewinds, forks of forks, and forks of the past."""
        reference = MemoryStore()
        with self.empty() as opened:
            one, other = opened(), opened()
            for number, (session, facts) in enumerate(history):
                store = (one, other)[number % 2]
                made = store.append(Append(session, facts, at=number))
                assert made == reference.append(Append(session, facts, at=number))
            log = list(one.timeline())
            assert other.verify() == reference.verify() == []
            assert set(other.paths()) == set(fold_disk(log))
            assert one.disks() == fold_disk(log) == {p: other.disk(p) for p in fold_disk(log)}
            for session in ("s1", "s2", "s3"):
                known = other.known(session)
                assert known == fold_knowledge(log, session)
                assert list(known) == sorted(known)
                assert {path: one.knowledge(session, path) for path in known} == known
                for upto in (0, len(log) // 3, len(log) // 2, len(log)):
                    assert one.known(session, upto) == fold_knowledge(log, session, upto)
            assert one.sessions() == reference.sessions()
            for ended in (True, False):
                for newest in (None, 1, 2):
                    chosen = one.sessions(ended=ended, newest=newest)
                    assert chosen == reference.sessions(ended=ended, newest=newest)
                counted = [one.session_count(ended=ended, archived=old) for old in (True, False)]
                assert sum(counted) == len(one.sessions(ended=ended))
                assert sum(counted) == one.session_count(ended=ended)
                assert counted[0] == reference.session_count(ended=ended, archived=True)
                for asked in ({"after": "s1"}, {"before": "s2", "newest": 1}, {"limit": 2}):
                    chosen = one.sessions(ended=ended, **asked)
                    assert chosen == reference.sessions(ended=ended, **asked)
            assert one.sessions(parent="s1") == reference.sessions(parent="s1")
            assert one.held_on("m") == reference.held_on("m")
            for at in (0, len(history) // 2, len(history)):
                assert sorted(one.active_since(at)) == sorted(reference.active_since(at))
            assert other.running() == reference.running() == fold_running(log)
            of_two = ["s1", "s2", "nobody"]
            assert other.running(of_two) == reference.running(of_two)
            assert [*one.stashes().items()] == [*fold_stashes(log).items()]
            assert [*reference.stashes().items()] == [*fold_stashes(log).items()]
            assert one.agents(["s1", "nobody"]) == reference.agents(["s1", "nobody"])
            assert other.pending() == reference.pending()
            assert other.claims() == reference.claims() == fold_claims(log)
            for path in ("a.py", "b/ö.py", "odd\udcff.py"):
                assert list(one.timeline(path=path)) == list(reference.timeline(path=path))
                assert one.knowledge("s1", path) == reference.knowledge("s1", path)
                for machine, at in (("m", len(history) // 2), ("nobody", 0), ("nobody", 1 << 60)):
                    present = {*one.held_on(machine), *one.active_since(at)}
                    knowers = {
                        each: one.known(each)[path]
                        for each in sorted(present)
                        if path in one.known(each)
                    }
                    assert one.knowers(path, machine, at) == knowers
                    assert [*reference.knowers(path, machine, at).items()] == [*knowers.items()]
                changing = live(other.timeline(kinds=MOVING))
                times = sum(path in each.fact.disk_paths() for each in changing)
                assert times == (row.changes if (row := one.disk(path)) else 0)
            for session in ("s1", "s2", "archive:s1"):
                changed_paths = one.paths_changed(session)
                assert sorted(changed_paths) == sorted(reference.paths_changed(session))
                for asked, kinds in product(QUESTIONS, KINDS):
                    ours = one.timeline(session=session, kinds=kinds, **asked)
                    assert [*ours] == [*reference.timeline(session=session, kinds=kinds, **asked)]

    def test_a_rewind_restores_what_was_known_and_leaves_the_disk_view(self, store):
        store.append(Append("s1", [seen("a", A)], at=1))
        then = store.known("s1")
        store.append(Append("s1", [changed("a", B, AGENT, belief=belief(B)), seen("b")], at=2))
        now = store.known("s1")
        store.append(Append("s1", [events.RewindEnded(1)], at=3))
        assert store.known("s1") == then
        assert store.disk("a").revision == B
        store.append(Append("s1", [events.RewindEnded(3)], at=4))  # rewinding the rewind
        assert store.known("s1") == now

    def test_a_compaction_drops_what_was_held_of_every_file(self, store):
        store.append(Append("s1", [seen("a"), seen("b")], at=1))
        store.append(Append("s2", [seen("a")], at=1))
        store.append(Append("s1", [events.WindowEmptied()], at=2))
        assert [state.belief.held for state in store.known("s1").values()] == [(), ()]
        assert store.knowledge("s1", "a").belief.shown == ((1, 10),)
        assert store.knowledge("s2", "a").belief.held == ((1, 10),)
        store.append(Append("s1", [seen("a"), events.Dropped("a", ((1, 4),))], at=3))
        assert store.knowledge("s1", "a").belief.held == ((5, 10),)

    def test_a_fork_begins_with_what_its_parent_knew_and_goes_its_own_way(self, store):
        store.append(Append("s1", [seen("a"), seen("b")], at=1))
        store.append(Append("s2", [events.SessionForked("s1", 1)], at=2))
        store.append(Append("s1", [seen("a", B)], at=3))
        assert list(store.known("s2")) == ["a"]
        assert store.knowledge("s2", "a").belief.text == A
        assert store.session("s2").parent == "s1"

    def test_a_file_is_known_by_the_other_name_it_was_asked_for(self, store):
        store.append(Append("s1", [seen("a", name="link"), seen("b", name="link")], at=1))
        assert store.knowledge("s1", "link").path == "b"
        assert store.knowledge("s2", "link") is None
        store.append(Append("s1", [seen("link")], at=2))  # now a file of its own
        assert store.knowledge("s1", "link").path == "link"

    def test_a_session_has_one_column(self, store):
        store.append(
            Append("s1", [events.SessionStarted("claude-code"), events.TurnBegan(4)], at=5)
        )
        store.append(Append("s2", [seen("a")], at=3))
        store.append(Append("s1", [events.ModelUsed("p", "m"), seen("a")], at=6))
        state = store.session("s1")
        assert (state.agent, state.turn, state.model, state.started) == ("claude-code", 4, "m", 5)
        assert state.position == 5
        assert [s.id for s in store.sessions()] == ["s2", "s1"]
        assert store.session("s3") is None

    def test_a_list_is_read_a_page_at_a_time(self, store):
        for number in range(7):
            store.append(
                Append(f"s{number}", [seen(f"f{number}")], at=number // 2, texts=[b"%d" % number])
            )

        def pages(ask, cursor, start):
            rows: list[Any] = []
            while page := ask(after=rows[-1] if rows else start):
                assert len(page) <= 3
                rows += [getattr(row, cursor) for row in page]
            return rows

        facts = pages(lambda after: [*store.timeline(after=after, limit=3)], "position", 0)
        assert facts == [1, 2, 3, 4, 5, 6, 7]
        begun = pages(lambda after: store.sessions(after=after, limit=3), "id", None)
        assert begun == [state.id for state in store.sessions()]
        texts = pages(lambda after: store.texts(after=after, limit=3), "revision", "")
        assert texts == [text.revision for text in store.texts()]
        backwards = store.sessions(newest=3), store.sessions(newest=3, before="s4")
        assert [[state.id for state in page] for page in backwards] == [
            ["s4", "s5", "s6"],
            ["s1", "s2", "s3"],
        ]
        assert store.sessions(after="nobody") == []

    # --- conditions on an append ----------------------------------------------------------------

    def test_a_decision_on_a_row_that_moved_is_refused_whole(self, opened):
        one, other = opened(), opened()
        one.append(Append("s1", [seen("a")], at=1))
        other.append(Append("s1", [seen("a", B)], at=2))
        with pytest.raises(StoreConflict, match="position 1, now at 2"):
            one.append(Append("s1", [seen("b"), seen("a")], at=3, expect={"a": 1}, texts=[b"x"]))
        assert one.position() == 2
        assert one.blob(revision_of(b"x")) is None
        assert one.knowledge("s1", "b") is None
        assert one.append(Append("s1", [seen("a")], at=3, expect={"a": 2, "b": 0}))

    def test_a_row_nobody_has_yet_is_expected_at_zero(self, store):
        store.append(Append("s1", [seen("a")], at=1, expect={"a": 0}))
        with pytest.raises(StoreConflict):
            store.append(Append("s1", [seen("a")], at=1, expect={"a": 0}))
        store.append(Append("s2", [seen("a")], at=1, expect={"a": 0}))  # another session's row

    def test_a_column_that_went_on_is_not_written_behind(self, opened):
        one, other = opened(), opened()
        one.append(Append("s1", [seen("a")], at=1))
        other.append(Append("s2", [seen("a")], at=2))
        assert one.append(
            Append("s1", [seen("b")], at=3, column=1)
        )  # another session's fact came between
        with pytest.raises(StoreConflict, match="after position 2"):
            other.append(Append("s1", [seen("c")], at=4, column=2, texts=[b"x"]))
        assert one.position() == 3
        assert one.blob(revision_of(b"x")) is None
        assert other.append(Append("s1", [seen("c")], at=4, column=3))

    def test_an_observation_that_says_nothing_new_is_not_recorded(self, store):
        assert store.append(Append("s1", [changed("gone", MISSING)], at=1)) == []
        made = store.append(Append("s1", [changed("a", B), changed("a", B), changed("a", C)], at=1))
        assert facts_in(made) == [changed("a", B), changed("a", C)]
        assert store.append(Append("s2", [changed("a", C)], at=2)) == []
        own = changed("a", C, AGENT, belief=belief(C))
        assert facts_in(store.append(Append("s1", [own], at=3))) == [own]

    # --- intents --------------------------------------------------------------------------------

    def test_a_move_of_gits_that_two_found_is_recorded_once_with_every_file(self, store):
        a, b = (events.Rewritten(path, "r1", "r2") for path in ("a.py", "b.py"))
        moved = events.GitMoved("c1", "c2", "checkout", ("a.py",), (a,))
        both = structs.replace(moved, paths=("a.py", "b.py"), changes=(a, b))
        assert [r.fact for r in store.append(Append("s", [moved, moved], at=1))] == [moved]
        [rest] = store.append(Append("t", [both], at=2))
        assert rest.fact == structs.replace(both, paths=("b.py",), changes=(b,))
        back = structs.replace(
            moved, before="c2", after="c1", changes=(structs.replace(a, after="r1"),)
        )
        assert [r.fact for r in store.append(Append("s", [back, moved], at=3))] == [back, moved]

    def test_an_intent_is_pending_until_something_settles_it(self, opened):
        store, other = opened(), opened()
        intents = [events.WriteIntended(path, A, B) for path in "abcd"]
        made = store.append(Append("s1", intents, at=1, durable=True))
        assert other.pending() == made
        other.append(Append("s1", [changed("a", C, AGENT, belief=belief(C), intent=1)], at=2))
        store.append(Append("s1", [events.WriteAbandoned("b", 2)], at=2))
        other.append(Append("s2", [changed("c", C), changed("c", B)], at=2))  # its very bytes
        assert store.pending() == made[3:]
        store.append(Append("s1", [events.Moved("e", "d", B, AGENT, intent=4)], at=2))
        assert other.pending() == []

    def test_a_command_is_under_way_until_its_run_its_turn_or_its_session_ends(self, store):
        begun = [events.CommandStarted(A, f"run {number}") for number in range(300)]
        made = store.append(Append("s1", begun, at=1))
        assert store.running(["s1"]) == made
        store.append(Append("s1", [events.CommandEnded("run 7", 0)], at=2))
        assert store.running() == [*made[:7], *made[8:]]
        [again] = store.append(Append("s1", [events.CommandStarted(B, "run 9")], at=2))
        [other] = store.append(Append("s2", [events.CommandStarted(B, "run 9")], at=2))
        assert store.running() == [*made[:7], made[8], *made[10:], again, other]
        store.append(Append("s1", [events.TurnBegan(2)], at=3))
        assert store.running() == [other]
        store.append(Append("s2", [events.SessionEnded()], at=3))
        assert store.running() == []

    # --- archives -------------------------------------------------------------------------------

    def test_an_archive_is_known_by_its_own_session_and_says_nothing_of_now(self, opened):
        store, archive = opened(), f"{ARCHIVE}s9"
        intent = store.append(Append("s1", [events.WriteIntended("a", A, B)], at=1))
        told = [changed("a", B), changed("a", B), seen("b"), events.Moved("c", "b", A, AGENT)]
        assert facts_in(store.append(Append(archive, told, at=2, happened_at=1))) == told
        assert store.disks() == {}
        assert store.pending() == intent
        assert list(store.known(archive)) == ["c"]
        assert archive in [state.id for state in store.sessions()]
        assert store.verify() == opened().verify() == []

    # --- texts ----------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "data",
        [b"", b"x", b"line\n" * 5000, os.urandom(3000), os.urandom(3 << 20), b"big\n" * (1 << 20)],
        ids=["empty", "tiny", "packs", "random", "large", "large but packs"],
    )
    def test_a_text_is_kept_as_it_is(self, opened, data):
        store = opened()
        revision = revision_of(data)
        assert store.blob(revision) is None
        store.append(Append("s1", [seen("a", revision)], at=1, texts=[data, data]))
        store.keep([data])
        assert opened().blob(revision) == data
        assert store.verify() == []

    def test_a_purged_text_is_gone_and_can_be_kept_anew(self, opened):
        one, other = opened(), opened()
        for data in (b"secret", os.urandom(2 << 20)):
            revision = revision_of(data)
            one.keep([data])
            gone = other.purge(lambda: [revision], "secret", session="s1", at=5, secret=True)  # noqa: B023
            assert gone == (revision,)
            assert one.blob(revision) is None
            assert one.purge(lambda: [revision], "secret", session="s1", at=6) == ()  # noqa: B023
            one.keep([data])
            assert other.blob(revision) == data
        kinds = [events.BlobPurged]
        assert [r.fact.reason for r in one.timeline(kinds=kinds)] == ["secret", "secret"]
        assert one.verify() == []

    def test_marks_of_a_text_are_kept_until_the_text_is_purged(self, opened):
        one, other = opened(), opened()
        revision = revision_of(b"secret")
        assert one.marks(revision) is None
        one.keep_marks(revision, b"marks")
        one.keep_marks(revision, b"marks")
        assert other.marks(revision) == b"marks"
        assert other.blob(revision) is None
        assert [text.revision for text in other.texts()] == [revision]
        assert other.purge(lambda: [revision], "age", session="s1", at=5) == (revision,)
        assert one.marks(revision) is None
        assert one.verify() == []

    def test_the_key_of_marks_is_the_stores_own(self, opened):
        key = opened().marks_key()
        assert opened().marks_key() == key
        assert len(key) == 32

    def test_many_texts_are_forgotten_as_one_fact(self, store):
        texts = [f"text {number}".encode() for number in range(5)]
        store.keep({revision_of(data): data for data in texts})
        wanted = [revision_of(data) for data in texts[:3]]
        gone = store.purge(lambda: [*wanted, A, wanted[0]], "age", session="s1", at=7)
        assert gone == tuple(wanted)
        told = facts_in(store.timeline(kinds=[events.BlobPurged]))
        assert told == [events.BlobPurged(gone[0], "age", gone[1:])]
        assert [store.blob(revision_of(data)) is not None for data in texts] == [0, 0, 0, 1, 1]
        assert {each.revision for each in store.texts()} == {revision_of(d) for d in texts[3:]}
        assert store.verify() == []

    def test_many_texts_are_kept_at_once_small_and_large_new_and_old(self, store):
        texts = [b"", *(f"text {number}".encode() for number in range(450)), os.urandom(3 << 20)]
        store.keep(texts[::3])
        store.keep([*texts, texts[0], texts[-1]])
        store.keep([])
        for data in texts:
            assert store.blob(revision_of(data)) == data
        assert len(store.texts()) == len(texts)
        assert store.verify() == []

    def test_which_texts_are_kept_is_told_without_reading_them(self, store):
        store.keep([b"one", b"two"])
        one, two, three = map(revision_of, (b"one", b"two", b"three"))
        store.purge(lambda: [two], "age", session="s1", at=1)
        assert store.stored_among([one, two, three, one]) == {one}
        assert store.stored_among([]) == set()

    @pytest.mark.parametrize("gone", [b"needed", b"other"])
    def test_facts_that_need_a_text_that_was_deleted_meanwhile_are_not_recorded(self, opened, gone):
        store, other = opened(), opened()
        texts = [b"needed", b"other", b"early"]
        store.keep(texts)
        other.purge(lambda: [revision_of(b"early")], "age", session="s1", at=1)
        since = store.position()
        other.purge(lambda: [revision_of(gone)], "age", session="s1", at=2)
        needed = map(revision_of, (b"needed", b"early"))
        if gone == b"other":
            assert store.append(
                Append("s1", [events.TurnBegan(1)], at=3, needed=needed, needed_since=since)
            )
        else:
            with pytest.raises(StoreConflict, match="deleted a text"):
                store.append(
                    Append("s1", [events.TurnBegan(1)], at=3, needed=needed, needed_since=since)
                )
            assert list(store.timeline(kinds=[events.TurnBegan])) == []

    def test_who_chooses_what_goes_sees_all_that_was_recorded(self, opened):
        store, other = opened(), opened()
        store.keep([b"needed"])

        def choose():
            return [revision_of(b"needed")] if store.position() == 0 else []

        other.append(Append("s1", [seen("a", revision_of(b"needed"))], at=1))
        assert store.purge(choose, "age", session="s1", at=2) == ()
        assert store.blob(revision_of(b"needed")) == b"needed"
        assert store.position() == 1

    def test_a_text_kept_ahead_of_its_fact_says_since_when(self, store):
        store.append(Append("s1", [seen("a", revision_of(b"one"))], at=1, texts=[b"one"]))
        assert [(each.size >= 3, each.since) for each in store.texts()] == [(True, 0)]
        store.keep([b"one"])
        assert [(each.size >= 3, each.since) for each in store.texts()] == [(True, 1)]

    def test_room_and_tally_count_what_is_there(self, store):
        store.append(
            Append("s1", [seen("a"), seen("b"), events.TurnBegan(1)], at=1, texts=[b"text"])
        )
        assert store.tally() == {"Seen": 2, "TurnBegan": 1}
        assert store.room().texts >= 4
        assert store.room().total >= store.room().texts
        assert store.tidy() >= 0
        assert store.verify() == []

    # --- the stat cache -------------------------------------------------------------------------

    def test_stamps_are_refreshed_along_with_an_append(self, opened):
        store = opened()
        newer = structs.replace(STAMP, revision=B)
        store.append(
            Append("s1", [seen("a")], at=1, stats={"b": STAMP, "a": STAMP, "odd\udcff": STAMP})
        )
        store.append(Append("s1", [], at=2, stats={"a": newer}))
        assert opened().stamps() == {"a": newer, "b": STAMP, "odd\udcff": STAMP}
        assert store.stamps(["b", "a", "nowhere"]) == {"a": newer, "b": STAMP}
        assert store.stamps([]) == {}
        many = {f"f{n:04}": STAMP for n in range(2000)}
        store.append(Append("s1", [], at=3, stats=many))
        assert store.stamps(iter(many)) == many

    # --- several at once ------------------------------------------------------------------------

    def test_two_handles_see_what_the_other_writes(self, opened):
        one, other = opened(), opened()
        for number in range(10):
            store = (one, other)[number % 2]
            text = (A, B)[number % 2]
            store.append(Append("s1", [seen("a", text), changed("a", text)], at=number))
        assert one.known("s1") == other.known("s1")
        assert one.position() == other.position()
        assert one.verify() == other.verify() == []

    def test_threads_may_share_one_store(self, store):
        from concurrent.futures import ThreadPoolExecutor

        def work(who: int) -> list[int]:
            made = [store.append(Append(f"s{who}", [seen(f"f{n}")], at=n)) for n in range(25)]
            return [recorded.position for (recorded,) in made]

        with ThreadPoolExecutor(4) as pool:
            columns = list(pool.map(work, range(4)))
        assert sorted(p for column in columns for p in column) == list(range(1, 101))
        assert all(a < b for column in columns for a, b in pairwise(column))
        assert store.verify() == []
