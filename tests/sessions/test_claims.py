"""Claims: who may take them, how they fall, and what they mean for a write."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.sessions.test_presence import hold, sleeper  # noqa: F401  a fixture

import sightline
from sightline import ClaimRefused, EditRefused, PathRefused
from sightline.model.events import ClaimReleased, ClaimTaken, SessionEnded
from sightline.sessions.path_patterns import covers
from sightline.testing import FixedClock, MemoryWorkspace, make_session


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def two(place, clock):
    """Two sessions that were shown one file."""
    place.put("src/a.py", "one\ntwo\nthree\n")
    both = place.session("a", clock=clock), place.session("b", clock=clock)
    for session in both:
        session.read("src/a.py")
    return both


def enforcing(place, id="e", clock=None):
    return place.session(id, clock=clock, claims="enforce")


def test_a_claim_says_whose_it_is_and_until_when(two, clock):
    a, b = two
    made = a.claim("src/a.py", ttl=90)
    assert (made.session, made.agent, made.paths) == ("a", "library", ("src/a.py",))
    assert made.expires_at - made.taken_at == timedelta(seconds=90)
    assert made.taken_at == datetime.fromtimestamp(clock() / 1_000_000, UTC)
    assert b.claims() == [made] == a.claims()


def test_what_is_claimed_is_refused_to_others(two):
    a, b = two
    made = a.claim(["src"], ttl=90)
    with pytest.raises(ClaimRefused, match="claimed by agent session a until") as refused:
        b.claim("src/a.py", ttl=90)
    assert refused.value.claims == (made,)
    b.claim("README.md", ttl=90)


def test_shared_claims_stand_beside_each_other_and_none_beside_an_exclusive_one(two):
    a, b = two
    a.claim("src", ttl=90, exclusive=False)
    b.claim("src", ttl=90, exclusive=False)
    for session in two:
        with pytest.raises(ClaimRefused, match="shared"):
            session.claim("src/a.py", ttl=90)


def test_claiming_the_same_again_renews_it(two, clock):
    a, _ = two
    first = a.claim(["src", "./src"], ttl=10)
    clock.advance(seconds=5)
    again = a.claim("src", ttl=10)
    assert again == structs.replace(first, expires_at=first.expires_at + timedelta(seconds=5))
    assert a.claims() == [again]


def test_a_claim_is_renewed_from_now_on(two, clock):
    a, b = two
    made = a.claim("src", ttl=timedelta(minutes=1))
    clock.advance(seconds=50)
    renewed = a.renew(made.id, 60)
    assert renewed.expires_at - made.expires_at == timedelta(seconds=50)
    clock.advance(seconds=59)
    assert b.claims() == [renewed]
    clock.advance(seconds=1)
    assert b.claims() == []
    with pytest.raises(ClaimRefused, match="no claim"):
        a.renew(made, 60)


def test_a_released_claim_is_free(two):
    a, b = two
    a.release(a.claim("src", ttl=60))
    made = b.claim("src", ttl=60)
    with pytest.raises(ClaimRefused, match="another session's: b"):
        a.release(made)
    with pytest.raises(ClaimRefused, match="no claim 'c-nope'"):
        a.release("c-nope")


def test_a_claim_falls_when_its_session_ends(two):
    a, b = two
    a.claim("src", ttl=60)
    a._context.append([SessionEnded()])
    b.claim("src", ttl=60)


def test_a_claim_falls_with_the_process_of_its_session(two, sleeper):  # noqa: F811
    a, b = two
    hold(a, sleeper.pid)
    made = a.claim("src", ttl=60)
    with pytest.raises(ClaimRefused):
        b.claim("src", ttl=60)
    sleeper.kill()
    sleeper.wait()
    assert b.claims() == []
    b.claim("src", ttl=60)
    (fell,) = b._context.store.timeline(kinds=[ClaimReleased])
    assert (fell.session, fell.fact.claim) == ("b", made.id)


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), timedelta(0), 365 * 86_400, True, "30m"])
def test_an_odd_time_is_refused(s, ttl):
    with pytest.raises(ValueError, match="ttl is a "):
        s.claim("a.py", ttl=ttl)


@pytest.mark.parametrize("paths", [[], ["a"] * 101])
def test_a_claim_is_of_some_paths(s, paths):
    with pytest.raises(ValueError, match="1 to 100 paths"):
        s.claim(paths, ttl=1)


@pytest.mark.parametrize("path", ["", "../x", "/etc/passwd", "/etc/*", "../*.py", "!a", "a" * 501])
def test_a_path_that_is_none_is_refused(s, path):
    with pytest.raises(PathRefused):
        s.claim(path, ttl=1)


@pytest.mark.parametrize(
    ("claimed", "path", "about"),
    [
        ("src", "src/deep/a.py", True),
        ("src", "src2/a.py", False),
        ("a.py", "src/a.py", False),
        ("*.py", "src/a.py", True),
        ("./*.py", "src/a.py", False),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/deep/a.py", True),
        (".", "any/thing", True),
        ("#*", "#a", True),
    ],
)
def test_a_path_is_claimed_with_all_below_it_and_a_pattern_as_git_has_it(claimed, path, about):
    session = make_session({"a.py": ""})
    (pattern,) = session.claim(claimed, ttl=1).paths
    assert covers(pattern, path) is about


def test_a_name_that_stands_there_is_no_pattern(place, s):
    place.put("app/[id]/page.tsx", "x")
    place.put("app/i/page.tsx", "x")
    (pattern,) = s.claim("app/[id]", ttl=1).paths
    assert covers(pattern, "app/[id]/page.tsx")
    assert not covers(pattern, "app/i/page.tsx")


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("src/*.py", "src/a.py", True),
        ("src/**", "src/deep/*.py", True),
        ("*.py", "src", True),  # src/a.py is there
        ("*.js", "src", False),
        ("*.py", "*.pyi", False),
        ("src/a.*", "src/*.py", True),
        ("src/b.*", "src/*.js", False),
        ("docs", "src", False),
    ],
)
def test_patterns_meet_in_each_other_or_in_a_file_that_is_there(one, other, meet):
    tree = MemoryWorkspace({"src/a.py": "", "docs/a.md": ""})
    a, b = make_session(tree, id="a"), make_session(tree, id="b")
    a.claim(one, ttl=60)
    if meet:
        with pytest.raises(ClaimRefused):
            b.claim(other, ttl=60)
    else:
        b.claim(other, ttl=60)


NAMES = st.sampled_from(["a", "b", "*", "**", "a*", "?", "[ab]"])
PATTERNS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TREE = [f"{x}/{y}" for x in "ab" for y in ("a", "b", "ab/a")] + ["ab"]


@pytest.mark.wide
@given(one=PATTERNS, other=PATTERNS)
def test_no_two_exclusive_claims_are_about_one_file_of_the_tree(one, other):
    tree = MemoryWorkspace(dict.fromkeys(TREE, ""))
    a, b = make_session(tree, id="a"), make_session(tree, id="b")
    mine = a.claim(one, ttl=60).paths[0]
    try:
        theirs = b.claim(other, ttl=60).paths[0]
    except ClaimRefused:
        return
    assert not [path for path in TREE if covers(mine, path) and covers(theirs, path)]


def test_a_claim_is_advice_by_default(place, two):
    a, b = two
    b.claim("src", ttl=60)
    result = a.edit("src/a.py", "one", "1")
    assert "src/a.py is claimed by agent session b until 00:01 UTC as part of src." in str(
        result.notice
    )
    assert a.check("src/a.py", old="two").decision == "notice"
    assert a.check("src/a.py", old="two").reason == "claimed"
    assert a.check("src/a.py").claimed_by == ("b",)
    assert "claimed" not in str(b.edit_lines("src/a.py", 2, 2, "2\n").notice)
    assert place.text("src/a.py") == "1\n2\nthree\n"


def test_where_claims_are_enforced_a_write_is_refused(place, two, clock):
    _, b = two
    e = enforcing(place, clock=clock)
    e.read("src/a.py")
    made = b.claim("src/*.py", ttl=60)
    attempts = {
        "edit": lambda: e.edit("src/a.py", "one", "1"),
        "write": lambda: e.write("src/a.py", "1\n"),
        "create": lambda: e.create("src/b.py", "1\n"),
        "delete": lambda: e.delete("src/a.py"),
        "move": lambda: e.move("src/a.py", "a.py"),
        "patch": lambda: e.patch("--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-one\n+1\n"),
        "apply": lambda: e.apply([{"path": "src/a.py", "content": "1\n"}]),
    }
    for verb, attempt in attempts.items():
        with pytest.raises(EditRefused, match="claimed by agent session b") as refused:
            attempt()
        assert (verb, refused.value.reason) == (verb, "claimed")
        assert made.id in refused.value.hint
    said = e.check("src/a.py", content="1\n")
    assert (said.decision, said.reason) == ("refuse", "claimed")
    assert e.check("src/a.py").state == "fresh"
    assert place.text("src/a.py") == "one\ntwo\nthree\n"
    clock.advance(seconds=60)
    e.edit("src/a.py", "one", "1")


def test_moving_onto_a_claimed_path_is_refused(place, two, clock):
    _, b = two
    e = enforcing(place, clock=clock)
    place.put("c.py", "c\n")
    e.read("c.py")
    b.claim("src", ttl=60)
    with pytest.raises(EditRefused, match=r"src/c\.py is claimed"):
        e.move("c.py", "src/c.py")
    assert place.text("c.py") == "c\n"


def test_a_shared_claim_refuses_nothing(place, two, clock):
    _, b = two
    e = enforcing(place, clock=clock)
    e.read("src/a.py")
    b.claim("src", ttl=60, exclusive=False)
    assert "(shared)" in e.edit("src/a.py", "one", "1").notice.text


def test_who_claimed_first_may_write_where_a_later_claim_came_to_meet_it(place, clock):
    """Two patterns met in no file when they were claimed; then one of them made such a file."""
    a, b = enforcing(place, "a", clock), enforcing(place, "b", clock)
    a.claim("*.py", ttl=60)
    clock.advance(seconds=1)
    b.claim("src", ttl=60)
    a.create("src/new.py", "x\n")
    b.read("src/new.py")
    with pytest.raises(EditRefused, match="claimed by agent session a"):
        b.edit("src/new.py", "x", "y")


def test_a_claim_holds_for_those_who_work_for_its_session(place, clock):
    lead = enforcing(place, "lead", clock)
    helper = sightline.open_session(
        place.root,
        id="helper",
        parent="lead",
        settings=place.settings(claims="enforce"),
        clock=clock,
    )
    place.opened.append(helper)
    lead.claim("src", ttl=60)
    helper.create("src/a.py", "x\n")
    helper.claim("src/a.py", ttl=60)
    other = enforcing(place, "other", clock)
    with pytest.raises(EditRefused, match="claimed"):
        other.create("src/b.py", "x\n")


def test_a_fork_works_for_itself(place):
    a = enforcing(place, "a")
    fork = a.fork("fork")
    a.claim("src", ttl=60)
    with pytest.raises(EditRefused, match="claimed by agent session a"):
        fork.create("src/b.py", "x\n")


def test_a_session_that_never_comes_back_blocks_for_its_ttl_at_most(place, two, clock):
    """Its process cannot be asked, so the claim's own time decides."""
    a, b = two
    from sightline.sessions.presence import environment

    a._context.append([environment("another-machine:1:2")])
    a.claim("src", ttl=60)
    with pytest.raises(ClaimRefused):
        b.claim("src", ttl=60)
    clock.advance(seconds=60)
    b.claim("src", ttl=60)


CLAIMER = """
import sys
import sightline
from sightline.config.settings import Settings

root, state, name = sys.argv[1:]
with sightline.open_session(root, id=name, settings=Settings(state_home=state)) as session:
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        print(session.claim("src/**", ttl=60).id, flush=True)
    except sightline.ClaimRefused as refused:
        print("refused", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.wide
def test_of_processes_that_claim_at_once_one_wins(place, s):
    command = [sys.executable, "-c", CLAIMER, str(place.root), str(place.home / "state")]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    workers: list[Any] = [
        subprocess.Popen(
            [*command, f"p{n}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        )
        for n in range(4)
    ]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [worker.stdout.readline().strip() for worker in workers]
    (won,) = [word for word in said if word != "refused"]
    assert [each.id for each in s.claims()] == [won]
    for worker in workers:
        worker.communicate("end\n")
    assert s.claims() == []  # its process has ended
    assert len(list(s._context.store.timeline(kinds=[ClaimTaken]))) == 1
