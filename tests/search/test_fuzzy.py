"""Names that are only almost right, looked up among many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sightline.search.fuzzy import CROWD, NEAR_MAX, Asked, Names

WORDS = tuple(f"{one}{other}" for one in ("load", "save", "find") for other in ("User", "Page"))
PATHS = tuple(f"src/{word.lower()}/{word}.ts" for word in WORDS)


def near(asked, *paths):
    return Names(paths).near(Asked(asked))


def slipped(word, at, letter, how):
    """A word with one slip at a letter."""
    return {
        "more": word[:at] + letter + word[at:],
        "less": word[:at] + word[at + 1 :],
        "other": word[:at] + letter + word[at + 1 :],
        "swapped": word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
    }[how]


@given(
    st.sampled_from(PATHS),
    st.integers(0, 7),
    st.sampled_from("xyzuse"),
    st.sampled_from(["more", "less", "other", "swapped"]),
)
def test_a_name_a_slip_away_is_always_near(path, at, letter, how):
    stem = path.rpartition("/")[2].removesuffix(".ts")
    assert path in near(f"{slipped(stem, at, letter, how)}.ts", *PATHS)


def test_every_spelling_of_a_name_is_near():
    assert near("a/load_user.py", *PATHS)[0] == "src/loaduser/loadUser.ts"


def test_an_index_file_is_near_its_folders_name():
    assert near("lib/page", "src/page/index.ts", "src/other/index.ts") == ["src/page/index.ts"]


def test_a_longer_name_is_near():
    assert near("handlers.go", "cli/hooks_handlers_all.go") == ["cli/hooks_handlers_all.go"]


def test_of_a_crowd_those_in_the_asked_folders_are_near():
    crowd = [f"p{n}/lib/x.py" for n in range(CROWD * 3)]
    found = near("p250/lib/x.py", *crowd)
    assert "p250/lib/x.py" in found
    assert len(found) == CROWD


def test_no_more_are_near_than_can_be_compared():
    many = [f"p{n % 70}/handler{n // 70}.py" for n in range(70 * 200)]
    assert NEAR_MAX <= len(near("handler1.py", *many)) < NEAR_MAX + CROWD


def test_a_line_end_in_a_name_moves_no_other_name():
    assert near("c.py", "a\nb.py", "x/c.py") == ["x/c.py"]
