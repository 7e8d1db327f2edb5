"""The state before an effect comes from the timeline or from a checkpoint."""

import pytest

from sightline.checkpoints.rewind.effects import PriorState
from sightline.checkpoints.rewind.undo_plan import Effect
from sightline.model.events import Changed
from sightline.model.revision import MISSING


@pytest.fixture
def removed(place, s):
    """A file with rights of its own that a command removed, twice."""
    for number in range(2):
        place.put("a.py", f"{number}\n").chmod(0o750 if number else 0o640)
        s.read("a.py")
        s.checkpoint()
        with s.ran("make clean"):
            (place.root / "a.py").unlink()
    return list(s._context.store.timeline(path="a.py", kinds=[Changed]))


def test_the_permission_bits_before_a_removal_are_those_of_its_time(s, removed):
    context = s._context
    gone = [r for r in removed if r.fact.after == MISSING]
    assert len(gone) == 2
    prior = PriorState(context)
    for asked, mode in zip(gone, (0o640, 0o750), strict=True):
        effect = Effect("a.py", asked.fact.before, MISSING, asked.position, 0, removes_file=True)
        assert prior.complete(effect).prior_mode == mode


def test_a_file_is_on_record_from_its_first_fact_on(s, removed):
    context = s._context
    first = next(iter(context.store.timeline(path="a.py"))).position
    prior = PriorState(context)
    assert not prior.is_on_record("a.py", first - 1)
    assert prior.is_on_record("a.py", first)
    assert not prior.is_on_record("b.py", removed[-1].position)
