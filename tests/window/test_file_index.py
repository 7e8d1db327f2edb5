"""Which files a text names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.window.file_index import Mentions, mentions


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("mend app.py", True),
        ("app.py", True),
        ("in `src/app.py`, line 3", True),
        ('see "app.py".', True),
        ("src\\app.py", True),
        ("(app.py)", True),
        ("myapp.py is another", False),
        ("my-app.py and my_app.py are others", False),
        ("app.pyi is another", False),
        ("myapp.py, but app.py too", True),
        ("App.py is another", False),
        ("请修改app.py文件", True),
        ("äapp.py is another", False),
        ("", False),
    ],
)
def test_a_name_is_a_word_of_its_own(text, named):
    assert mentions(text, "app.py") is named


def test_short_names_stand_in_any_text():
    assert mentions("a go.c b", "go.c")
    assert not mentions("a go b", "go")


@pytest.mark.parametrize("path", ["src/app.py", "C:\\work\\app.py", "app.py", "/w/src/app.py"])
def test_the_folders_of_a_path_need_not_be_named(path):
    named = Mentions()
    named.add_path(path)
    named.add_text("please mend app.py")
    assert named.paths == {path}


def test_a_folder_alone_names_nothing_in_it():
    named = Mentions()
    named.add_text("please mend source/")
    named.add_path("source/app.py")
    named.add_path("source/")
    assert named.paths == set()


def test_a_file_may_come_before_or_after_the_text_and_all_of_that_name_are_meant():
    named = Mentions()
    named.add_path("a/app.py")
    named.add_text("mend app.py")
    named.add_path("b/app.py")
    named.add_path("b/other.py")
    assert named.paths == {"a/app.py", "b/app.py"}


@pytest.mark.parametrize("path", [".env.local", "[id].tsx", "报告.md", "报告", "naïve.py"])
def test_names_of_any_letters(path):
    before, after = Mentions(), Mentions()
    before.add_path(path)
    before.add_text(f"mend {path} now")
    after.add_text(f"mend {path} now")
    after.add_path(path)
    assert before.paths == after.paths == ({path} if len(path) > 3 else set())


def test_accents_may_be_put_together_in_either_way():
    named = Mentions()
    named.add_path("src/caf\N{LATIN SMALL LETTER E WITH ACUTE}.py")
    named.add_text("mend cafe\N{COMBINING ACUTE ACCENT}.py")
    assert len(named.paths) == 1


SPELLED = st.text("ab.-_ /\\文", max_size=9)


@given(st.lists(st.tuples(st.booleans(), SPELLED), max_size=8))
def test_looking_words_up_finds_what_looking_through_all_texts_finds(drawn):
    named = Mentions()
    for is_path, text in drawn:
        (named.add_path if is_path else named.add_text)(text)
    texts = [text for is_path, text in drawn if not is_path]
    paths = [text for is_path, text in drawn if is_path]
    assert named.paths == {path for path in paths if any(mentions(t, last(path)) for t in texts)}


def last(path):
    return path.replace("\\", "/").rsplit("/", 1)[-1]
