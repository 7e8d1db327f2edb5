"""What is no path, no number and no pattern: the verbs that find say so in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.model.validation import number
from sightline.search.find import find
from sightline.testing import make_session

A_PATH = "path is the path of a file or folder, such as "
NUMBERS = [
    ("list_directory", "limit"),
    ("list_directory", "depth"),
    ("related", "limit"),
    ("related", "max_bytes"),
    ("find", "limit"),
]
NUMBERS_OR_ALL = [("registry", "limit"), ("related", "max_tokens")]


@pytest.fixture
def s():
    with make_session({"src/app.py": "import os\n", "src/b.py": "import app\n"}) as session:
        yield session


def call(s, verb, **given):
    if verb == "find":
        return find(s._context, "app.py", **given)
    where = {"list_directory": ("src",), "related": ("src/app.py",)}.get(verb, ())
    return getattr(s, verb)(*where, **given)


@pytest.mark.parametrize("verb", ["list_directory", "related"])
@pytest.mark.parametrize("given", [5, None, b"src", ["src"], object])
def test_what_is_no_path(s, verb, given):
    with pytest.raises(TypeError, match=A_PATH) as told:
        getattr(s, verb)(given)
    assert str(told.value).endswith(f"not {given!r}.")


def test_a_path_may_come_as_one(s):
    assert s.list_directory(Path("src")).files == 2
    assert s.related(Path("src") / "app.py")[0].path == "src/b.py"


@pytest.mark.parametrize(("verb", "name"), NUMBERS)
def test_a_limit_is_a_whole_number_from_one_on(s, verb, name):
    for given in (0, -1):
        with pytest.raises(ValueError, match=rf"^{name} is 1 or more, not {given}\.$"):
            call(s, verb, **{name: given})
    for wrong in ("ten", 2.5, True, None):
        with pytest.raises(TypeError, match=rf"^{name} is a whole number, not {wrong!r}\.$"):
            call(s, verb, **{name: wrong})


@pytest.mark.parametrize(("verb", "name"), NUMBERS_OR_ALL)
def test_none_is_all_where_there_may_be_many(s, verb, name):
    call(s, verb, **{name: None})
    with pytest.raises(ValueError, match=rf"^{name} is 1 or more, or None for all, not 0\.$"):
        call(s, verb, **{name: 0})
    with pytest.raises(
        TypeError, match=rf"^{name} is a whole number, or None for all, not 1\.5\.$"
    ):
        call(s, verb, **{name: 1.5})


@pytest.mark.parametrize("verb", ["find", "list_directory", "related", "registry"])
def test_more_than_there_is_to_give_is_no_mistake(s, verb):
    call(s, verb, limit=10**12)


def test_a_limit_above_the_most_is_cut_to_it(s):
    assert s.list_directory("src", limit=10**12).limit == 10_000
    assert number("limit", 11, most=10) == 10


def test_steps_begin_at_none(s):
    assert s.related("src/b.py", transitive=0)
    with pytest.raises(ValueError, match=r"^transitive is 0 or more, not -1\.$"):
        s.related("src/b.py", transitive=-1)


@pytest.mark.parametrize("given", [5, None, b"a.py", {"a.py": 1}, {"a.py"}])
def test_what_is_no_chain(s, given):
    with pytest.raises(TypeError, match=r"^Give a pattern or a list of 1 to 5 patterns, not "):
        s.find(given)


def test_what_is_no_pattern(s):
    with pytest.raises(TypeError, match=r"^A pattern is a text such as \*\*/\*\.py, not 5\.$"):
        s.find(["a.py", 5])


@pytest.mark.parametrize("given", [[], ["a"] * 6])
def test_a_chain_has_one_to_five_patterns(s, given):
    with pytest.raises(ValueError, match=f"this one has {len(given)}"):
        s.find(given)


def test_what_is_no_message_and_no_filter(s):
    with pytest.raises(TypeError, match=r"^message is what the user said, or None, not 5\.$"):
        s.briefing(5)
    with pytest.raises(TypeError, match=r"^filter is a pattern such as \*\.py, or None, not 5\.$"):
        s.list_directory("src", filter=5)


def test_a_long_mistake_is_told_in_short(s):
    with pytest.raises(TypeError) as told:
        s.find(list(range(10_000)))
    assert len(str(told.value)) < 100
    with pytest.raises(TypeError) as told:
        s.list_directory(b"x" * 10_000)
    assert len(str(told.value)) < 200
