"""What stood at a path before comes from the timeline, from what is at hand of it, or a checkpoint."""

import pytest

from sightline.checkpoints.rewind.effects import EFFECTS, PriorState
from sightline.checkpoints.rewind.undo_plan import Effect
from sightline.model.events import Changed
from sightline.model.revision import MISSING
from sightline.model.timeline import Recorded


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


def test_what_is_at_hand_says_the_same_as_the_timeline(s, removed):
    ground = s._context
    gone = [r for r in removed if r.fact.after == MISSING]
    assert len(gone) == 2
    for position in (0, gone[0].position):
        since = [*ground.store.timeline(after=position, kinds=list(EFFECTS))]
        for asked, mode in zip(gone, (0o640, 0o750), strict=True):
            effect = Effect(
                "a.py", asked.fact.before, MISSING, asked.position, 0, removes_file=True
            )
            known = [r for r in since if r.position > position]
            assert PriorState(ground, position, known).complete(effect).prior_mode == mode


def test_a_file_is_heard_of_from_its_first_fact_on(s, removed):
    ground = s._context
    first = next(iter(ground.store.timeline(path="a.py"))).position
    nothing: list[Recorded] = []
    for since in (nothing, removed):
        prior = PriorState(ground, 0, since)
        assert not prior.is_on_record("a.py", first - 1)
        assert prior.is_on_record("a.py", first)
        assert not prior.is_on_record("b.py", removed[-1].position)
