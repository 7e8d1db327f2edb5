"""Line ends that were converted once too often, as tools on two systems leave them."""

from __future__ import annotations

import pytest

ODD = b"one\r\r\ntwo\r\r\nthree\n"


def test_writing_what_was_read_changes_nothing(place):
    place.put("f", ODD)
    s = place.session()
    assert not s.write("f", s.read("f").text).changed
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


@pytest.mark.parametrize("marks", [1, 2, 3])
@pytest.mark.parametrize("with_mark", [False, True])
def test_a_file_that_begins_with_several_boms_keeps_all_of_them_on_a_whole_write(
    place, s, marks, with_mark
):
    """The first is the mark of the encoding; the agent is shown the others as text."""
    bom = b"\xef\xbb\xbf"
    place.put("a.txt", bom * marks + b"one\n")
    shown = s.read("a.txt").text
    s.write("a.txt", ("\ufeff" if with_mark else "") + shown + "two\n")
    assert place.bytes("a.txt") == bom * marks + b"one\ntwo\n"


def test_a_host_that_tells_a_text_with_several_boms_wrote_it_itself(place, s):
    bom = b"\xef\xbb\xbf"
    place.put("a.txt", bom * 2 + b"one\n")
    s.read("a.txt")
    place.put("a.txt", bom * 2 + b"one\ntwo\n")
    s.wrote("a.txt", content="\ufeffone\ntwo\n")
    assert s.check("a.txt").state == "fresh"
    assert s.changes() == []
