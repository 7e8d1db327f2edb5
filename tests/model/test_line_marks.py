"""Marks of lines: nothing of a text is left in them, and all of it comes back from an equal text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model import line_marks
from sightline.model.diff import diff
from sightline.model.line_marks import has_marks, is_mark, unmarked_lines
from sightline.model.relocation import _depth
from sightline.model.text import decode as decoded
from sightline.model.text import split

KEY = bytes(range(32))
TEXTS = st.text(st.sampled_from("ab=_[]#\"':* \t\r\u00a0é\n"), max_size=60)


def decode(data):
    return decoded(data)


def marked(text, key):
    return line_marks.marked(text, key)


def marks_of(plain, key=KEY):
    text = decode(plain.encode())
    return marked(text, key)


@given(TEXTS)
def test_the_characters_come_back_from_the_same_text(plain):
    text = decode(plain.encode())
    back = decode(unmarked_lines(marked(text, KEY), KEY, [text.lines]))
    assert back.plain == text.plain
    assert back.crlf == text.crlf


@given(TEXTS)
def test_no_line_keeps_a_character_but_its_white_space(plain):
    lines = decode(plain.encode()).lines
    out = decode(marks_of(plain)).lines
    assert len(out) == len(lines)
    for line, mark in zip(lines, out, strict=True):
        assert is_mark(mark) == bool(line.strip())
        assert (
            mark.partition(mark.strip() or "\0")[::2] == line.partition(line.strip() or "\0")[::2]
        )


@given(TEXTS)
def test_a_mark_encloses_what_its_line_encloses(plain):
    lines = decode(plain.encode()).lines
    assert [_depth(mark) for mark in decode(marks_of(plain)).lines] == [_depth(x) for x in lines]


@given(TEXTS)
def test_marks_of_marks_are_the_same_marks(plain):
    once = decode(marks_of(plain))
    assert decode(marked(once, KEY)).plain == once.plain


@given(TEXTS, TEXTS)
def test_two_texts_of_marks_differ_where_the_texts_differ(one, other):
    ends = [decode(each.encode()).lines for each in (one, other)]
    marks = [decode(marks_of(each)).lines for each in (one, other)]
    assert diff(*ends) == diff(*marks)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_text_of_any_encoding_comes_back(encoding):
    text = decode("é = 1\r\n\r\n[ü]\r\nß".encode(encoding))
    marks = marked(text, KEY)
    assert has_marks(decode(marks).lines)
    assert decode(unmarked_lines(marks, KEY, [text.lines])).plain == text.plain


def test_another_key_gives_other_marks():
    assert marks_of("a\n") != marks_of("a\n", bytes(32))
    assert unmarked_lines(marks_of("a\n"), bytes(32), [split("a\n")]) == marks_of("a\n")


def test_a_line_that_no_text_has_stays_a_mark():
    back = decode(unmarked_lines(marks_of("a\n  b\nc"), KEY, [["\tb\n"], ["c\n"]])).lines
    assert [is_mark(line) for line in back] == [True, False, False]
    assert back[1:] == ["  b\n", "c"]
