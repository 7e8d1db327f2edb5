"""A workspace as the library's user looks at it: its timeline, its sessions, and its past."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.folding import fold_knowledge

import sightline
from sightline.history.as_of import AsOf
from sightline.model.events import RewindEnded, SessionForked
from sightline.model.revision import revision_of
from sightline.store.port import Append
from sightline.testing import FixedClock, MemoryWorkspace, make_session

START = 1_767_225_600_000_000


@pytest.fixture
def opened(place):
    """The workspace of `place`, opened to look at it."""
    with sightline.open_workspace(place.root, settings=place.settings()) as workspace:
        yield workspace


def test_opening_it_begins_no_session_and_finds_nothing(opened, place):
    assert opened.sessions() == []
    assert opened.timeline() == []
    assert (opened.root, opened.position) == (str(place.root), 0)
    assert opened.as_of(0).sessions() == []
    assert opened.as_of(0).at is None
    assert repr(opened) == f"<Workspace {str(place.root)!r}>"


def test_the_timeline_is_asked_in_the_words_of_log(opened, place):
    place.put("a.py", "one\n")
    place.put("b.py", "x\n")
    with place.session("s1") as session:
        session.read("a.py")
        session.read(str(place.root / "b.py"))
        session.edit("a.py", "one", "1")
    told = opened.timeline("a.py", kinds=["seen", "changed"])
    assert [(e.kind, e.path, e.session, e.agent) for e in told] == [
        ("seen", "a.py", "s1", "library"), ("changed", "a.py", "s1", "library"),
    ]  # fmt: skip
    assert told[0].at.tzinfo is UTC
    assert told[1].cause.kind == "agent"
    assert [e.path for e in opened.timeline(session="s1", kinds="seen", newest=1)] == ["b.py"]
    assert opened.timeline(since=told[1].position - 1)[0] == told[1]
    assert opened.timeline(since=datetime.now(UTC) + timedelta(hours=1)) == []
    assert len(opened.timeline(since=timedelta(hours=1))) == len(opened.timeline(since="1h")) > 2


@pytest.mark.parametrize(
    "asked",
    [{"kinds": ["never"]}, {"since": "soon"}, {"since": -1}, {"since": datetime(2026, 1, 1)}],  # noqa: DTZ001
)
def test_a_question_that_makes_no_sense_is_refused(opened, asked):
    with pytest.raises(ValueError, match=r"kind|position|zone"):
        opened.timeline(**asked)


def test_sessions_say_whose_they_are_and_who_is_there(opened, place):
    place.put("a.py", "one\n")
    place.session("s1").read("a.py")
    (one,) = opened.sessions()
    assert (one.id, one.agent, one.files, one.present, one.ended) == (
        "s1",
        "library",
        1,
        True,
        None,
    )
    assert one.last_sign >= one.started
    assert one.holder.count(":") >= 2


def test_as_of_answers_what_an_agent_knew_then(opened, place):
    place.put("a.py", "one\ntwo\nthree\n")
    session = place.session("s1")
    session.read("a.py", (1, 2))
    first = opened.position
    place.put("a.py", "one\nTWO\nthree\n")
    assert session.check("a.py").state == "stale"
    second = opened.position
    session.read("a.py")
    session.dropped("a.py", lines=(1, 1))
    then, later, now = map(opened.as_of, (first, second, opened.position))
    assert [(f.path, f.state, f.seen_lines) for f in then.files("s1")] == [
        ("a.py", "fresh", ((1, 2),))
    ]
    (stale,) = later.files("s1")
    assert (stale.state, stale.stale, stale.total_lines) == ("stale", True, 3)
    assert stale.revision_on_disk == revision_of(b"one\nTWO\nthree\n")
    assert later.text("s1", "a.py") == "one\ntwo\nthree\n"
    (fresh,) = now.files("s1")
    assert (fresh.state, fresh.seen_lines, fresh.held_lines) == ("fresh", ((1, 3),), ((2, 3),))
    assert now.text("s1", "a.py") == "one\nTWO\nthree\n"
    assert then.at <= later.at <= now.at


def test_a_change_elsewhere_left_it_fresh_then(opened, place):
    """By content, as every verdict: a hash that differs is not enough."""
    place.put("a.py", "one\ntwo\n")
    session = place.session("s1")
    session.read("a.py", (1, 1))
    place.put("a.py", "one\n2\n")
    assert session.check("a.py").state == "fresh"
    (known,) = opened.as_of(opened.position).files("s1")
    assert known.revision_seen != known.revision_on_disk
    assert known.state == "fresh"


def test_what_was_deleted_or_renamed_then_is_said(opened, place):
    for name in ("a.py", "b.py"):
        place.put(name, f"{name}\n")
        place.session("s1").read(name)
    other = place.session("s2")
    other.read("a.py")
    other.delete("a.py")
    other.move("b.py", "c.py")
    states = {f.path: f.state for f in opened.as_of(opened.position).files("s1")}
    assert states == {"a.py": "deleted", "b.py": "moved"}


def test_a_text_that_was_forgotten_is_none_and_nothing_is_guessed(opened, place):
    place.put("a.py", "one\nrest\n")
    place.put("b.py", "one\nrest\n")
    session = place.session("s1")
    session.read("a.py", (1, 1))
    session.read("b.py")
    for name in ("a.py", "b.py"):
        place.put(name, "two\nrest\n")
    session.changes()
    store = session._context.store
    then = opened.as_of(opened.position)
    store.purge(lambda: [revision_of(b"one\nrest\n")], "age", session="s1", at=1)
    assert then.text("s1", "a.py") is None
    partly, whole = then.files("s1")
    assert partly.state == "unverifiable", "the lines that were shown may be as they were"
    assert whole.state == "stale", "every line was shown, and the bytes are others"


def test_pages_of_the_timeline_together_are_the_whole(opened, place):
    session = place.session("s1")
    for number in range(5):
        place.put("a.py", f"{number}\n")
        session.read("a.py")
    pages = opened.timeline(newest=3)
    while page := opened.timeline(newest=3, upto=(pages[0].position or 1) - 1):
        pages = [*page, *pages]
    assert pages == opened.timeline()


def test_there_is_no_position_after_the_newest_and_no_session_before_it_began(opened, place):
    place.put("a.py", "one\n")
    place.session("s1").read("a.py")
    with pytest.raises(ValueError, match="positions 1 to"):
        opened.as_of(opened.position + 1)
    with pytest.raises(ValueError, match="positions 1 to"):
        opened.as_of(-1)
    with pytest.raises(sightline.SessionError, match="no session 's1' at position 0"):
        opened.as_of(0).files("s1")
    with pytest.raises(sightline.SessionError, match="no session 'nobody'"):
        opened.as_of(opened.position).text("nobody", "a.py")


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["read", "edit", "save", "drop", "rewind", "fork", "turn"]),
        st.integers(0, 9),
    ),
    max_size=25,
)


@pytest.mark.wide
@given(ACTS)
def test_as_of_is_what_the_fold_of_the_first_facts_says(acts):
    """Also through rewinds and forks; and what it said once, it says for ever."""
    tree = MemoryWorkspace({"a.py": "0\n1\n2\n", "b.py": "x\n"})
    clock = FixedClock()
    session = make_session(tree, id="s1", clock=clock)
    store = session._context.store
    said = []
    for act, number in acts:
        clock.advance(seconds=1)
        path = "ab"[number % 2] + ".py"
        if act == "read":
            session.read(path)
        elif act == "edit":
            session.write(path, f"{number}\n") if session.check(path).state == "fresh" else None
        elif act == "save":
            tree.put(path, f"saved {number}\n")
            session.changes()
        elif act == "drop":
            session.dropped(path)
        elif act == "turn":
            session.turn()
        elif act == "rewind":
            store.append(Append("s1", [RewindEnded(min(number, store.position()))], at=clock()))
        else:
            store.append(Append("s2", [SessionForked("s1", store.position())], at=clock()))
        then = AsOf(store, store.position())
        said.append((then.position, then.files("s1"), then.sessions()))
    log = list(store.timeline())
    for position, files, sessions in said:
        then = AsOf(store, position)
        assert (then.files("s1"), then.sessions()) == (files, sessions)
        folded = fold_knowledge(log, "s1", position)
        assert [f.path for f in files] == list(dict(sorted(folded.items())))
        assert [f.revision_seen for f in files] == [
            k.belief.text for _, k in sorted(folded.items())
        ]
    if said:
        assert [s.id for s in said[-1][2]] == [state.id for state in store.sessions()]


def test_gc_is_a_verb_of_the_workspace(opened, place):
    session = place.session("s1")
    for number in range(4):
        session.write("a.py", f"{number}\n")
    said = opened.gc(older_than=timedelta(0), dry_run=True)
    assert "library" not in [each.id for each in opened.sessions()]
    done = opened.gc(older_than=timedelta(0))
    assert done.texts == said.texts != ()
    assert opened.timeline(kinds="purged")[0].session is None, "no session forgot it"
    assert opened.gc(max_size=1 << 30).texts == ()


def test_a_closed_workspace_says_so(place):
    workspace = sightline.open_workspace(place.root, settings=place.settings())
    workspace.close()
    with pytest.raises(sightline.StoreError, match="closed"):
        workspace.timeline()
