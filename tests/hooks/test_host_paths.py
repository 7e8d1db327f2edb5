"""Paths in every form that a host may give."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.hooks.call import absolute, with_absolute_paths
from sightline.model.hook_events import Answered, Failed, Prompted, Shown, Stopped


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/p/a.py", "/p/a.py"),
        ("a.py", "/p/sub/a.py"),
        ("../a.py", "/p/sub/../a.py"),
        ("~/a.py", "/home/ada/a.py"),
        ("file:///p/a%20b.py", "/p/a b.py"),
        ("file://localhost/p/a.py", "/p/a.py"),
        ("file:///p/100%", "/p/100%"),
        ("file:///p/%zz", "/p/%zz"),
        ("C:\\p\\a.py", "/p/sub/C:\\p\\a.py"),  # a name like any other here, as to the client
    ],
)
def test_a_path_is_made_absolute(path, found):
    assert absolute(path, "/p/sub", "/home/ada") == found


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_uri_says_the_path_it_was_made_of(name):
    assert absolute("file:///" + quote(name), "/p", "/h") == "/" + name


def test_every_path_of_an_event_is_spelled_out():
    failed = Answered((Failed("a", "c"),))
    assert with_absolute_paths(failed, "/p", "/h") == Answered((Failed("/p/a", "c"),))
    mentioned = Prompted("@a", (("a", (1, 2)),))
    assert with_absolute_paths(mentioned, "/p", "/h") == Prompted("@a", (("/p/a", (1, 2)),))
    assert with_absolute_paths(Shown("a"), "/p", "/h") == Shown("/p/a")
    assert with_absolute_paths(Stopped(), "/p", "/h") == Stopped()
