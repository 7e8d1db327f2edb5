"""Files whose names are not valid Unicode: a rewind names those that came since its target."""

from __future__ import annotations

import os

import pytest


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_new_file_whose_name_is_not_unicode_is_named(place, dry_run):
    root = os.fsencode(place.root)
    with open(root + b"/old-\xff", "wb"):
        pass
    place.put("a.py", "one\n")
    session = place.session()
    session.read("a.py")
    start = session.checkpoint()
    with session.ran("touch new-$'\\xfe'; echo two > a.py"):
        with open(root + b"/new-\xfe", "wb"):
            pass
        place.put("a.py", "two\n")
    report = session.rewind(start, dry_run=dry_run)
    [left] = [each for each in report.left_alone if each.path.startswith("new-")]
    assert left.path.isprintable()
    assert "its name is not valid Unicode" in left.reason
    assert not any("old-" in each.path for each in report.left_alone)
    assert os.path.exists(root + b"/new-\xfe")
