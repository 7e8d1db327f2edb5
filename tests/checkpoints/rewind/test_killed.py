"""A rewind whose process is killed at any of its calls to the disk, and then told again."""

from __future__ import annotations

import os

import pytest
from tests.filesystem.doubles import dying
from tests.properties.test_machine import WIDE
from tests.support.places import Place

STRIDE = 1 if WIDE else 29
"""Every so many steps; three rewinds with different ones go through the test below."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a child")


def prepared(home):
    """A place with a history of every kind, and the checkpoint before it."""
    home.mkdir()
    place = Place(home)
    for name in ("a.py", "b.py", "c.py"):
        place.put(name, f"{name}\ntwo\nthree\n").chmod(0o755)
    with place.session() as s:
        for name in ("a.py", "b.py", "c.py"):
            s.read(name)
        then = s.checkpoint().id
        s.edit("a.py", "two", "2")
        place.put("a.py", "a.py\n2\nthree\nthe user's\n")
        s.delete("b.py")
        s.move("c.py", "d.py")
        s.edit("d.py", "two", "2")
        s.create("new/e.py", "e\n")
    return place, then


def tree(place):
    files = [file for file in place.root.rglob("*") if file.is_file()]
    return {
        str(file.relative_to(place.root)): (file.read_bytes(), file.stat().st_mode)
        for file in files
    }


def killed_at(place, then, step):
    """Return whether the rewind's process was killed there, and did not come to its end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with place.session() as s:
                s._context.workspace._calls = dying(step)
                s.rewind(then)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -9)
    return code == -9


@pytest.mark.wide
@pytest.mark.parametrize(
    "first", [1, *(pytest.param(first, marks=pytest.mark.wide) for first in (11, 21))]
)
def test_killed_at_any_call_it_ends_at_the_same_bytes(tmp_path, first):
    step = first
    place, then = prepared(tmp_path / "whole")
    with place.session() as s:
        s.rewind(then)
    whole = tree(place)
    assert whole["a.py"][0] == b"a.py\ntwo\nthree\nthe user's\n"
    assert sorted(whole) == ["a.py", "b.py", "c.py"]
    while True:
        place, then = prepared(tmp_path / str(step))
        if not killed_at(place, then, step):
            break
        with place.session() as s:
            assert s._context.store.pending() == []
            s.rewind(then)
            assert tree(place) == whole
            assert s._context.store.verify() == []
        step += STRIDE
    assert step > first
    assert tree(place) == whole
