"""Writers that were killed, and clocks that step back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from hashlib import sha256

import pytest

import sightline
from sightline.model.events import Changed, Moved, WriteAbandoned
from sightline.testing import FixedClock

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 3", "mine")

KILLED = """
import os, signal, sys
import sightline
from sightline.config.settings import Settings

root, state, verb, when = sys.argv[1:]
session = sightline.open_session(root, id="s", settings=Settings(state_home=state))
session.read("a.py")
workspace = session._context.workspace
replace_each, move_if = workspace.replace_each, workspace.move_if

def dying(real):
    def act(*args, **named):
        if when == "after":
            real(*args, **named)
        elif real is replace_each:
            aside = workspace.asides(args[0][0].path, args[0][0].token)[0]
            open(os.path.join(root, aside), "wb").write(b"half a fi")
        os.kill(os.getpid(), signal.SIGKILL)
    return act

workspace.replace_each, workspace.move_if = dying(replace_each), dying(move_if)
{
    "edit": lambda: session.edit("a.py", "line 3", "mine"),
    "create": lambda: session.create("new.py", "new\\n"),
    "delete": lambda: session.delete("a.py"),
    "move": lambda: session.move("a.py", "b.py"),
}[verb]()
"""


def killed(place, verb, when, then=""):
    """The session resumed after a process of its own died by SIGKILL between the journal and the
    record; `then` is what the user saved before anybody looked."""
    place.put("a.py", TEN)
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(place.root), str(place.home / "state"), verb, when],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
        capture_output=True,
    )
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()
    if then:
        place.put("a.py", then)
    return place.session()


@pytest.mark.wide
@pytest.mark.parametrize("verb", ["edit", "create", "delete", "move"])
def test_a_write_that_did_not_happen_is_abandoned_and_cleaned(place, verb):
    s = killed(place, verb, "before")
    store = s._context.store
    assert place.names() == ["a.py"]
    assert place.text("a.py") == TEN
    assert store.pending() == []
    assert len(list(store.timeline(kinds=[WriteAbandoned]))) == 1
    assert s.check("a.py").state == "fresh"
    assert s.believed("a.py") == TEN


@pytest.mark.wide
@pytest.mark.parametrize(
    ("verb", "names", "path", "believed"),
    [
        ("edit", ["a.py"], "a.py", MINE),
        ("create", ["a.py", "new.py"], "new.py", "new\n"),
        ("delete", [], "a.py", None),
        ("move", ["b.py"], "b.py", TEN),
    ],
)
def test_a_write_that_happened_is_recorded_as_the_agents_own(place, verb, names, path, believed):
    s = killed(place, verb, "after")
    store = s._context.store
    assert place.names() == names
    assert store.pending() == []
    [change] = store.timeline(kinds=[Changed, Moved])
    assert (change.fact.cause.kind, change.fact.cause.who) == ("agent", "s")
    assert s.believed(path) == believed
    assert s.changes() == []
    assert store.blob(sha256(TEN.encode()).hexdigest()) == TEN.encode()


@pytest.mark.wide
def test_a_killed_write_that_the_user_saved_over_loses_nothing(place):
    """Whether the write happened cannot be told any more: the agent is told of all of it."""
    again = killed(place, "edit", "after", then=MINE.replace("line 9", "LINE 9"))
    store = again._context.store
    assert store.pending() == []
    assert again.check("a.py").state == "stale"
    assert "+LINE 9" in again.changes()[0].diff
    for text in (TEN, MINE):
        assert store.blob(sha256(text.encode()).hexdigest()) == text.encode()


def test_a_write_of_a_process_that_lives_is_left_to_it(place):
    s = place.session()
    place.put("a.py", TEN)
    s.read("a.py")
    with s.writing("a.py", MINE):
        other = place.session("other")
        assert len(other._context.store.pending()) == 1
        place.put("a.py", MINE)
    assert s.check("a.py").state == "fresh"


def test_nothing_depends_on_the_clock_going_on(place):
    clock = FixedClock()
    s = place.session(clock=clock)
    place.put("a.py", TEN)
    s.read("a.py")
    clock.advance(seconds=-86_400)
    s.edit("a.py", "line 3\n", "mine\n")
    assert s.check("a.py").state == "fresh"
    place.put("a.py", MINE.replace("line 9", "LINE 9"))
    clock.advance(seconds=-86_400)
    assert s.check("a.py").state == "stale"
    s.read("a.py")
    assert s.check("a.py").state == "fresh"
    [file] = s.files()
    assert file.last_read < file.first_seen


def test_a_store_that_cannot_record_says_that_the_write_happened(place, monkeypatch):
    s = place.session()
    place.put("a.py", TEN)
    s.read("a.py")
    store = s._context.store
    append = store.append

    def full(given):
        if any(isinstance(fact, Changed) for fact in given.facts):
            raise sightline.StoreError("The disk is full.", "Free some space.")
        return append(given)

    monkeypatch.setattr(store, "append", full)
    notice = s.edit("a.py", "line 3", "mine").notice
    assert "a.py was written, but" in notice.text
    assert "Do not repeat" in notice.text
    assert place.text("a.py") == MINE
    monkeypatch.undo()
    s.edit("a.py", "line 4", "four")
    assert s.check("a.py").state == "fresh"
    assert s.believed("a.py") == MINE.replace("line 4", "four")
