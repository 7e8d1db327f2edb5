"""Arguments of verbs: checked types, least numbers, and limits that are cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.model import validation


def test_a_number_is_cut_to_the_maximum_and_refused_below_the_minimum():
    assert validation.number("limit", 7) == 7
    assert validation.number("limit", 700, most=100) == 100
    assert validation.number("depth", 0, least=0) == 0
    with pytest.raises(ValueError, match=r"^limit is 1 or more, not 0\.$"):
        validation.number("limit", 0)


@pytest.mark.parametrize("value", ["7", 7.0, True, None])
def test_only_a_whole_number_is_a_number(value):
    with pytest.raises(TypeError, match="limit is a whole number, not"):
        validation.number("limit", value)


def test_none_stands_for_all():
    assert validation.number_or_all("limit", None) is None
    assert validation.number_or_all("limit", 3) == 3
    with pytest.raises(ValueError, match="or None for all, not 0"):
        validation.number_or_all("limit", 0)
    with pytest.raises(TypeError, match="or None for all, not 'all'"):
        validation.number_or_all("limit", "all")


@pytest.mark.parametrize("value", ["src/app.py", Path("src/app.py")])
def test_a_path_is_text_or_a_path_object(value):
    assert validation.path(value) == "src/app.py"


class BytesPath:
    def __fspath__(self):
        return b"app.py"


@pytest.mark.parametrize("value", [None, 3, b"app.py", BytesPath()])
def test_anything_else_is_no_path(value):
    with pytest.raises(TypeError, match=r"path is the path of a file or folder, such as a\.py"):
        validation.path(value, "a.py")


def test_an_optional_text():
    assert validation.text_or_none("message", None, "the user's message") is None
    assert validation.text_or_none("message", "hi", "the user's message") == "hi"
    with pytest.raises(TypeError, match="message is the user's message, or None, not 3"):
        validation.text_or_none("message", 3, "the user's message")


def test_an_error_shows_a_part_of_a_long_argument():
    assert len(validation.shown("x" * 1000)) == validation.SHOWN_MAX
