"""The text of answers: every tool for agents has one, and it says what the JSON says."""

from typing import get_args

import pytest

from sightline.api.tools import answer_type, tools
from sightline.api.words import TEXTS, text_of
from sightline.guard.batch import Change

FOR_AGENTS = [tool for tool in tools().values() if tool.is_for_agents]


@pytest.mark.parametrize("tool", FOR_AGENTS, ids=lambda tool: tool.name)
def test_the_answer_of_every_tool_for_agents_has_a_text(tool):
    answer = answer_type(tool.method)
    assert (get_args(answer) or (answer,))[0] in TEXTS


def test_an_answer_without_words_is_a_mistake_of_the_face():
    with pytest.raises(TypeError, match="no words for float"):
        text_of(1.5)


def test_a_file_is_shown_with_its_line_numbers_and_what_is_left(place, s):
    place.put("a.txt", "one\ntwo\nthree\n")
    assert text_of(s.read("a.txt", (2, 2))) == "2  two\n(1 more line of 3)"
    place.put("b.txt", "")
    assert text_of(s.read("b.txt")) == "b.txt is empty."


def test_an_edit_says_what_it_changed_and_what_others_changed(place, s):
    place.put("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    s.read("a.txt")
    place.put("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    done = text_of(s.edit("a.txt", "one", "ONE"))
    assert "+ONE" in done
    assert "+SEVEN" in done
    again = text_of(s.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n"))
    assert again == "a.txt has this text already: nothing was written."


def test_a_list_and_a_batch_have_the_text_of_each(place, s):
    made = s.apply([Change("a.txt", content="a\n"), Change("b.txt", content="b\n")])
    assert text_of(made).count("+++ ") == 2
    assert text_of(s.files()).split("\n") == [
        "fresh  a.txt, the only line",
        "fresh  b.txt, the only line",
    ]
