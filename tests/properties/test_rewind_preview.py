"""What a plan's diff says of each file is what the rewind then does to it, over histories."""

from __future__ import annotations

from hypothesis import given
from tests.properties.histories import deeds
from tests.properties.test_rewind import ends, lived, wide

from sightline.core.diff import diff, unified
from sightline.core.text import decode
from sightline.services.previews import preview


def lines(data):
    text = decode(data or b"")
    assert text is not None
    return text.lines


@wide
@given(deeds, deeds, ends)
def test_the_diff_of_a_plan_is_what_is_done(before, after, ends):
    world, made, _, _ = lived(before, after, ends)
    plan = world.one.rewind(made, dry_run=True)
    found = preview(world.one._ground, plan)
    stood = world.disk()
    done = world.one.rewind(made)
    now = world.disk()
    told = {*plan.restored, *plan.removed, *plan.merged}
    away = {src for src, _ in plan.moved}  # what is said of these stands at the path they go to
    assert told - away <= {each.path for each in found} <= told
    came = {path: src for src, path in done.moved}
    for each in found:
        src = came.get(each.path, None if each.path in came.values() else each.path)
        old, new = stood.get(src), now.get(each.path)
        if each.change == "removed" and src != each.path:
            old, new = stood[each.path], None  # another file moves to where it stands
        a, b = lines(old), lines(new)
        hunks = diff(a, b)
        assert each.diff is not None, "all of these are texts, and kept or there"
        assert each.diff.partition("@@")[2] == unified(a, b, hunks).partition("@@")[2]
        assert each.added - each.removed == len(b) - len(a)
        assert (old is None, new is None) == {
            "added": (True, False),
            "removed": (False, True),
        }.get(each.change, (False, False))
