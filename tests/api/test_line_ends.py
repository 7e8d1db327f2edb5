"""Line ends that were converted once too often, as tools on two systems leave them."""

from __future__ import annotations

import pytest

from sightline import EditRefused

ODD = b"one\r\r\ntwo\r\r\nthree\n"


def test_writing_what_was_read_changes_nothing(place):
    place.put("f", ODD)
    s = place.session()
    with pytest.raises(EditRefused) as refused:
        s.write("f", s.read("f").text)
    assert refused.value.reason == "no_change"
    assert place.bytes("f") == ODD


def test_an_edit_across_such_a_line_end_finds_what_was_read(place):
    place.put("f", ODD)
    s = place.session()
    view = s.read("f")
    assert view.total_lines == 3
    s.edit("f", view.text.removesuffix("three\n"), "1\n")
    assert place.bytes("f") == b"1\nthree\n"


def test_lines_beside_such_a_line_end_keep_theirs(place):
    place.put("f", b"a\r\nb\r\r\nc\n")
    s = place.session()
    s.read("f")
    s.edit("f", "c", "C")
    s.edit("f", "a", "A")
    assert place.bytes("f") == b"A\r\nb\r\r\nC\n"
    assert s.check("f").state == "fresh"
