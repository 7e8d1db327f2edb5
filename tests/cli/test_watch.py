"""watch: changes as they happen, a line each, from real processes."""

from __future__ import annotations

import json
import os
import signal
from contextlib import contextmanager

import pytest
from msgspec import structs

import sightline
from sightline.cli.watch import Calm
from sightline.model.events import Cause
from sightline.model.log_entries import Entry
from sightline.model.revision import MISSING


@contextmanager
def watching(sl, *args):
    """The command under way: its child, once it watches; ended as by Ctrl-C."""
    with sl.spawn("watch", *args, own_group=True) as child:
        said = child.stderr.readline()
        assert b"Watching" in said, said + child.stderr.read()
        try:
            yield child
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGINT)
            child.communicate()


@pytest.mark.wide
def test_a_change_is_a_line_with_who_made_it(sl):
    sl.put("app.py", "a\n")
    sl("read", "app.py")
    with watching(sl) as child:
        sl.put("app.py", "b\n")
        assert child.stdout.readline().endswith(
            b"  app.py was changed by the user or another program\n"
        )
        sl("edit", "app.py", "--old", "b", "--new", "c", "--session", "s7")
        assert child.stdout.readline().endswith(b"  s7  app.py was changed by agent session s7\n")
    assert child.returncode == 130


@pytest.mark.wide
def test_programs_get_the_objects_of_log(sl):
    sl.put("app.py", "a\n")
    sl("read", "app.py")
    with watching(sl, "--json") as child:
        sl.put("app.py", "b\n")
        told = json.loads(child.stdout.readline())
    assert told == json.loads(sl("log", "app.py", "--json").out.splitlines()[-1])
    assert (told["kind"], told["path"], told["session"]) == ("changed", "app.py", None)
    assert told["cause"]["kind"] == "external"
    assert told["position"] > 0


@pytest.mark.wide
def test_a_file_that_no_agent_was_shown_is_told_without_a_position(sl):
    sl.put("new.py", "x\n")
    with watching(sl, "--json") as child:
        (sl.root / "new.py").unlink()
        gone = json.loads(child.stdout.readline())
        sl.put("a/b/made.py", "x\n")
        made = json.loads(child.stdout.readline())
    assert (gone["kind"], gone["path"], gone["position"]) == ("deleted", "new.py", None)
    assert (made["kind"], made["path"], made["before"]) == ("changed", "a/b/made.py", "missing")


@pytest.mark.wide
def test_a_path_that_is_not_there_is_named(sl):
    sl.put("src/a.py", "a\n")
    with watching(sl, "src", "nope", "no/such.py") as child:
        assert child.stderr.readline() == b"There is no file or folder nope or no/such.py yet.\n"


@pytest.mark.wide
def test_only_what_was_asked_for_is_told(sl):
    sl.put("src/a.py", "a\n")
    sl.put("src/b.py", "b\n")
    sl.put("other.py", "c\n")
    with watching(sl, "src") as child:
        sl.put("other.py", "C\n")
        sl.put("src/b.py", "B\n")
        assert b"src/b.py was changed" in child.stdout.readline()


@pytest.mark.parametrize("outside", ["../else", "/etc/passwd"])
def test_a_path_outside_is_refused_before_anything_is_watched(sl, outside):
    answer = sl("watch", outside)
    assert answer.code == 1
    assert "Hint:" in answer.err


@pytest.mark.wide
def test_a_reader_that_goes_away_ends_it_though_nothing_happens(sl):
    with sl.spawn("watch", own_group=True) as child:
        child.stderr.readline()
        child.stdout.close()
        child.wait()
        assert child.returncode == 0
        assert child.stderr.read() == b""


def test_the_library_watches_too(sl):
    sl.put("app.py", "a\n")
    with sightline.open_session(sl.root, id="s1") as session:
        session.read("app.py")
        with sightline.open_workspace(sl.root) as workspace:
            sl.put("app.py", "b\n")  # before: it comes first
            told = workspace.watch(timeout_s=20.0)
            assert next(told).path == "app.py"
            sl.put("unshown.py", "x\n")
            later = next(told)
            assert (later.path, later.position) == ("unshown.py", None)
            told.close()
            assert list(workspace.watch(timeout_s=0.0, unshown=False)) == []


@pytest.mark.wide
def test_its_own_words_in_a_file_of_the_tree_are_no_news(sl):
    out = sl.put("watch.log", "")
    command = 'exec "$@" > watch.log'
    with sl.spawn("watch", own_group=True, through=("sh", "-c", command, "sh")) as child:
        child.stderr.readline()
        for name in ("one.py", "two.py", "three.py"):
            sl.put(name, "x\n")
            while name.encode() not in out.read_bytes():
                assert child.poll() is None
        os.killpg(child.pid, signal.SIGINT)
        child.communicate()
    assert [line.split()[2] for line in out.read_text().splitlines()] == [
        "one.py",
        "two.py",
        "three.py",
    ]


def entry(path, before=None, after=None, position=0):
    return Entry(position, 0, "", "", "changed", path, None, None, before, after, Cause("external"))


def test_a_file_that_changes_all_the_time_is_told_of_once_a_second_and_at_last(tmp_path):
    calm = Calm(str(tmp_path))
    log = [structs.replace(entry("a.log"), at=at) for at in range(40)]
    said = [(at, each.at) for at in range(40) for each in calm.due([log[at]], at / 10)]
    assert said == [(0, 0), (10, 10), (20, 20), (30, 30)]
    assert calm.due([], 4.0) == [log[39]]
    assert calm.due([], 9.0) == []


def test_what_came_or_went_or_is_on_the_timeline_is_never_held_back(tmp_path):
    calm = Calm(str(tmp_path))
    made, gone = entry("a.log", before=MISSING), entry("a.log", after=MISSING)
    ours = [entry("app.py", "x", "y", position=at) for at in (1, 2)]
    told = [made, entry("a.log"), gone, made, *ours]
    assert calm.due(told[:1], 0.0) == [made]
    assert calm.due(told[1:], 0.1) == [gone, made, *ours]
    assert calm.due([], 5.0) == []
