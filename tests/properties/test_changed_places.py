"""Random batches and rewinds in which files and folders change places, killed at any step: all or
none of the batch, the whole rewind once it was begun, and nothing of the user's is lost."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from shutil import rmtree

import pytest
from tests.filesystem.doubles import dying
from tests.guard.test_changed_places import tree
from tests.guard.test_unfinished import dies
from tests.properties.test_killed_batches import recovery_dies
from tests.properties.test_machine import WIDE
from tests.support.examples import widely
from tests.support.places import Place

COUNTS: Counter[str] = Counter()
KILLS = pytest.mark.parametrize("kills", [2_000] if WIDE else [6, *widely(60)])
PATHS = ["a", "a/b", "a/b/c", "a/d", "e/f", "e/f/g", "e", "h"]
STEPS_OF_A_FILE = 45
"""So many steps takes each file of a batch, about."""


def numbered(place, count):
    """Yield the number of each example and a place, a new one for each twenty, so that an example does
    not pay for what hundreds before it left in the store."""
    for number in range(count):
        if number % 20 == 0:
            home = place.home / f"from {number}"
            home.mkdir()
            own = Place(home)
        yield number, own
        if number % 20 == 19 or number == count - 1:
            own.end()
            rmtree(home)


def any_files(random, who):
    """Random files of which none is where another needs a folder; some have equal texts."""
    files: dict[str, str] = {}
    for path in random.sample(PATHS, random.randrange(1, 6)):
        is_folder = any(other.startswith(f"{path}/") for other in files)
        above = {path[:at] for at, sign in enumerate(path) if sign == "/"}
        if not is_folder and not above & files.keys():
            files[path] = f"{who} {random.randrange(3)}\n"
    return files


def lay_out(place, files):
    rmtree(place.root)
    place.root.mkdir()
    for path, text in files.items():
        place.put(path, text)


def batch(random, before, after):
    """The changes that make one state of the other, in any order."""
    changes = [{"path": path, "delete": True} for path in before.keys() - after.keys()]
    for path, text in after.items():
        if path not in before:
            changes.append({"path": path, "content": text, "create": True})
        elif before[path] != text:
            changes.append({"path": path, "content": text})
    random.shuffle(changes)
    return changes


def opened(place, files, name):
    session = place.session(name)
    for path in files:
        session.read(path)
    return session


def files_of(place):
    return {path: text for path, text in tree(place).items() if not path.endswith("/")}


def settled(place, random, name):
    """Open the session again, sometimes after processes that died while they did; the tree then."""
    while random.random() < 0.3 and recovery_dies(place, random.randrange(60)):
        COUNTS["recoveries killed"] += 1
    session = place.session(name)
    pending = session._context.store.pending()
    assert pending == []
    return session


@pytest.mark.wide
@KILLS
def test_a_batch_in_which_places_change_is_there_as_a_whole_or_not_at_all(place, kills):
    random = Random(os.urandom(8) if WIDE else "batches")
    for number, own in numbered(place, kills):
        before, after = any_files(random, "user"), any_files(random, "agent")
        lay_out(own, before)
        then, changes = tree(own), batch(random, before, after)
        step = random.randrange(1, STEPS_OF_A_FILE * (len(changes) + 1))

        def act(name=f"s{number}", own=own, before=before, changes=changes, step=step):
            session = opened(own, before, name)
            session._context.workspace._calls = dying(step)
            session.apply(changes)

        was_killed = dies(act)
        found = tree(own)
        users = random.random() < 0.2 and (own.root / "a").is_dir()
        if users:
            own.put("a/users", "saved\n")
        session = settled(own, random, f"s{number}")
        stands, files = tree(own), files_of(own)
        if not users:
            assert stands == then or files == after, (before, changes, step)
        else:
            assert files.pop("a/users") == "saved\n"
            assert files in (before, after) or session.warnings(), (before, changes, step)
        session.close()
        COUNTS["killed" if was_killed else "done"] += 1
        COUNTS["half"] += found != then and files_of(own) != after


@pytest.mark.wide
@KILLS
def test_a_rewind_over_changed_places_ends_as_before_whenever_it_was_killed(place, kills):
    random = Random(os.urandom(8) if WIDE else "rewinds")
    for number, own in numbered(place, kills):
        before = any_files(random, "user")
        lay_out(own, before)
        then, name = tree(own), f"r{number}"
        session = opened(own, before, name)
        start = session.checkpoint()
        stands = before
        for _ in range(random.randrange(1, 4)):
            wanted = any_files(random, "agent")
            if changes := batch(random, stands, wanted):
                session.apply(changes)
            stands = wanted
        made = tree(own)
        assert files_of(own) == stands
        session.close()
        step = random.randrange(1, STEPS_OF_A_FILE * (len(before) + len(stands) + 1))

        def act(name=name, step=step, start=start.id, own=own):
            session = own.session(name)
            session._context.workspace._calls = dying(step)
            session.rewind(start)

        was_killed = dies(act)
        session = settled(own, random, name)
        assert tree(own) in (then, made), (before, stands, step)
        report = session.rewind(start)
        assert tree(own) == then, (before, stands, step)
        assert report.left_alone == ()
        session.close()
        COUNTS["rewinds killed" if was_killed else "rewinds done"] += 1
