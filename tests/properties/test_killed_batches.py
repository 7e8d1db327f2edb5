"""Batches that are killed at any step, and whose recovery is killed, too: all or none, and told."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest
from tests.filesystem.doubles import dying
from tests.guard.test_unfinished import NAMES, OLD, after_apply, after_patch, dies, disk, killed
from tests.properties.test_machine import WIDE

from sightline.filesystem import disk as disk_module

COUNTS: Counter[str] = Counter()
BATCHES = 1_000 if WIDE else 12
LAST_STEP = 330


def recovery_dies(place, number):
    """Open the workspace in a process that is killed at a step, if it makes so many."""

    def opening():
        vars(disk_module)["Calls"] = lambda: dying(number)
        place.session()

    return dies(opening)


@pytest.mark.wide
@pytest.mark.parametrize(("verb", "then"), [("apply", after_apply()), ("patch", after_patch())])
def test_a_batch_killed_at_any_step_is_there_as_a_whole_or_not_at_all(place, verb, then):
    random = Random(verb if not WIDE else os.urandom(8))
    before = dict.fromkeys(NAMES, OLD)
    for _ in range(BATCHES):
        outside = random.random() < 0.4  # a second name of the first file, outside the workspace
        was_killed = killed(place, verb, random.randrange(1, LAST_STEP), outside=outside)
        found = {name: text for name, text in disk(place).items() if name[0] != "."}
        is_half = found not in (before, then)
        while was_killed and random.random() < 0.4 and recovery_dies(place, random.randrange(60)):
            COUNTS["recoveries killed"] += 1
        session = place.session()
        assert disk(place) in (before, then)
        assert session._context.store.pending() == []
        # Files of an earlier round that are gone are the test's own doing.
        assert all(change.what == "deleted" for change in session.changes())
        told = session.warnings()
        if is_half:
            assert "was cut off" in told[-1].text
        for warned in told:
            session.acknowledge(warned.id)
        session.close()
        COUNTS["killed" if was_killed else "done"] += 1
        COUNTS["half"] += is_half
