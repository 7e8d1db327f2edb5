"""What is left of a name when spelling is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.search.fuzzy import (
    LENGTH_MAX,
    PARTS_MAX,
    Asked,
    folded,
    key,
    keys,
    name_of,
    numbers,
    style,
    words,
)

NAMES = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12)


@pytest.mark.parametrize(
    "name", ["userProfile.ts", "UserProfile.tsx", "user_profile.py", "user-profile", "USER_PROFILE"]
)
def test_spellings_of_one_name_have_one_key(name):
    assert key(name) == "userprofile"


@pytest.mark.parametrize(
    ("name", "stem", "ending"),
    [
        ("a.test.ts", "a.test", ".ts"),
        ("a.d.ts", "a", ".d.ts"),
        ("a.d.mts", "a", ".d.mts"),
        ("a.d.py", "a.d", ".py"),
        (".gitignore", ".gitignore", ""),
        ("Makefile", "Makefile", ""),
        ("A.PY", "A", ".py"),
    ],
)
def test_a_name_is_a_stem_and_an_ending(name, stem, ending):
    assert (name_of(name).stem, name_of(name).ending) == (stem, ending)


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_many_names_have_the_keys_that_each_has(names):
    assert keys(folded("\n".join(names))) == [key(name) for name in names]


def test_words_of_a_stem():
    assert words("loadHTTPUser_v2-final") == ("load", "http", "user", "v", "2", "final")


@pytest.mark.parametrize(
    ("stem", "said"),
    [
        ("user_profile", "snake_case"),
        ("user-profile", "kebab-case"),
        ("UserProfile", "PascalCase"),
        ("userProfile", "camelCase"),
        ("user", ""),
        ("_user", ""),
    ],
)
def test_the_way_words_are_joined_has_a_name(stem, said):
    assert style(stem) == said


@pytest.mark.parametrize(
    ("one", "other"), [("user", "users"), ("entry", "entries"), ("box", "boxes")]
)
def test_singular_and_plural(one, other):
    assert other in numbers(one)
    assert one in numbers(other)


@pytest.mark.parametrize(
    "written",
    [
        "src/a.py",
        "./src/a.py",
        "src\\a.py",
        "/src//a.py",
        "C:\\src\\a.py",
        "'src/a.py'",
        "`src/a.py:12`",
        "src/a.py:3:14",
        "src/a.py#L3-L9",
        "file:///src/a.py",
        "src/b/../a.py",
        "~/src/a.py",
        "src/a.py\n",
    ],
)
def test_a_guess_is_read_generously(written):
    assert Asked(written).path == "src/a.py"


@pytest.mark.parametrize("written", ["/a/b.py", "C:\\a\\b.py", "~/a/b.py", "file:///a/b.py"])
def test_a_place_on_some_machine_is_known(written):
    assert Asked(written).rooted
    assert not Asked("a/b.py").rooted


@given(st.text())
def test_any_text_can_be_read(written):
    asked = Asked(written)
    assert asked.path == "/".join(asked.parts)
    assert not {"", ".", ".."} & set(asked.parts)


def test_of_a_long_guess_the_end_is_read():
    asked = Asked("a/" * 10_000 + "b.py")
    assert len(asked.parts) == PARTS_MAX
    assert asked.name.written == "b.py"
    assert len(Asked("x" * 10_000).path) == LENGTH_MAX
