from hypothesis import given
from hypothesis import strategies as st

from sightline.text.terminal_cells import cells, middle

TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


def test_wide_letters_take_two_columns_and_marks_none():
    assert [cells(text) for text in ("abc", "日本", "e\u0301", "👍", "")] == [3, 4, 1, 2, 0]


@given(TEXTS, st.integers(0, 30))
def test_what_is_made_to_fit_fits(text, room):
    assert cells(middle(text, room)) <= room


@given(TEXTS)
def test_what_fits_is_left_alone(text):
    assert middle(text, cells(text)) == text


def test_a_path_keeps_its_name():
    assert middle("packages/server/src/handlers/login.py", 25) == "packages/server…/login.py"
    assert middle("packages/server/src/handlers/login.py", 14) == "pack…/login.py"
    assert middle("a_name_that_is_far_too_long.py", 11) == "a_nam…ng.py"
