"""Agents in processes of their own, over one tree and one store."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading

import pytest

import sightline
from sightline.model.events import Changed, SessionStarted

WORKER = """
import sys
import sightline
from sightline.config.settings import Settings

root, state, name, count, mark = sys.argv[1:]
with sightline.open_session(root, id=name, settings=Settings(state_home=state)) as session:
    sys.stdin.readline()
    for n in range(int(count)):
        session.read("a.py")
        session.edit("a.py", f"{mark} {n}\\n", f"done {mark} {n}\\n")
"""


def start(place, name, count, mark):
    """A process that waits for a line, and then edits its own lines one by one."""
    state = str(place.home / "state")
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(place.root), state, name, str(count), mark],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def together(*workers):
    for worker in workers:
        worker.stdin.write(b"\n")
        worker.stdin.flush()
    for worker in workers:
        _, error = worker.communicate()
        assert worker.returncode == 0, error.decode()


def test_edits_of_two_processes_to_one_file_all_arrive(place, s):
    """Each its own lines, at the same time: they serialise, and nobody's is lost."""
    count = 15
    place.put("a.py", "".join(f"one {n}\ntwo {n}\n" for n in range(count)))
    together(start(place, "one", count, "one"), start(place, "two", count, "two"))
    want = "".join(f"done one {n}\ndone two {n}\n" for n in range(count))
    assert place.text("a.py") == want
    changed = [r.fact for r in s._context.store.timeline(kinds=[Changed])]
    assert {fact.cause.kind for fact in changed} == {"agent"}
    assert all(one.after == other.before for one, other in itertools.pairwise(changed))
    assert place.names() == ["a.py"]


@pytest.mark.wide
def test_one_session_in_two_processes_stays_one(place, s):
    """Two hooks of one agent at once: what one did, the other does not report as foreign."""
    count = 10
    place.put("a.py", "".join(f"one {n}\ntwo {n}\n" for n in range(count)))
    together(start(place, "s", count, "one"), start(place, "s", count, "two"))
    want = "".join(f"done one {n}\ndone two {n}\n" for n in range(count))
    assert place.text("a.py") == want
    assert s.believed("a.py") == want
    assert s.changes() == []


def test_another_sessions_write_is_stale_with_its_name(place, ten):
    """S22."""
    other = place.session("other")
    other.read("a.py")
    other.edit("a.py", "line 3\n", "theirs\n")
    [change] = ten.changes()
    assert (change.changed_by.kind, change.changed_by.who) == ("session", "other")
    assert "agent session other" in change.summary
    result = ten.edit("a.py", "line 9\n", "mine\n")
    assert "agent session other" in result.notice.text
    assert other.check("a.py").state == "stale"


def test_a_stale_process_merges_or_refuses(place, ten):
    other = place.session("other")
    other.read("a.py")
    other.edit("a.py", "line 3\n", "theirs\n")
    text = ten.believed("a.py")
    assert ten.write("a.py", text.replace("line 9\n", "mine\n")).merged
    assert "theirs\n" in place.text("a.py")
    with pytest.raises(sightline.EditRefused) as refused:
        ten.write("a.py", ten.believed("a.py").replace("line 3\n", "mine too\n"))
    assert refused.value.reason == "conflict"
    assert "theirs" in refused.value.diff
    assert "theirs\n" in place.text("a.py")


def test_a_session_that_many_begin_at_once_begins_once(place):
    """The first hooks of an agent's conversation are separate processes at the same moment."""
    barrier = threading.Barrier(8)

    def begin():
        barrier.wait()
        place.session("new")

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log = place.session("new")._context.store.timeline(session="new", kinds=[SessionStarted])
    assert len(list(log)) == 1
