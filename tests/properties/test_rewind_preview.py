"""What a plan's diff says of each file is what the rewind then does to it, over histories."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.properties.histories import NEW, PATHS, deeds
from tests.properties.test_rewind import ends, lived, wide

from sightline.model.diff import diff, unified
from sightline.model.text import decode


def lines(data):
    text = decode(data or b"")
    assert text is not None
    return text.lines


def links(world):
    """The paths at which a symlink stands."""
    return {path for path in PATHS + NEW if world.tree.read(path).target is not None}


@pytest.mark.wide
@wide
@given(deeds, deeds, ends)
def test_the_diff_of_a_plan_is_what_is_done(before, after, ends):
    world, made, _, _ = lived(before, after, ends)
    plan = world.one.rewind(made, dry_run=True)
    found = plan.diffs
    stood, led = world.disk(), links(world)
    done = world.one.rewind(made)
    now, led = world.disk(), led | links(world)
    told = {*plan.restored, *plan.removed, *plan.merged}
    away = {src for src, _ in plan.moved}  # what is said of these stands at the path they go to
    assert told - away <= {each.path for each in found} <= told
    came = {path: src for src, path in done.moved}
    for each in found:
        if each.diff is None:
            assert each.path in led, "all others are texts, and kept or there"
            continue
        src = came.get(each.path, None if each.path in came.values() else each.path)
        old, new = stood.get(src), now.get(each.path)
        if each.change == "removed" and src != each.path:
            old, new = stood[each.path], None  # another file moves to where it stands
        a, b = lines(old), lines(new)
        hunks = diff(a, b)
        assert each.diff.partition("@@")[2] == unified(a, b, hunks).partition("@@")[2]
        assert each.added - each.removed == len(b) - len(a)
        assert (old is None, new is None) == {
            "added": (True, False),
            "removed": (False, True),
        }.get(each.change, (False, False))
