"""An agent that asks the same again and again, and gets the same answer, goes in circles."""

from __future__ import annotations

import pytest
from tests.messages.talks import call, result

from sightline.window.repeated_calls import RepeatedCall


def ask(s, number, tool, given, text, *, error=False):
    s.conversation.append(call(number, tool, given))
    s.conversation.append(result(number, text, error=error))


@pytest.fixture
def begun(s):
    s.conversation.append({"role": "user", "content": "go"})
    return s


def test_identical_calls_with_one_answer_are_found_whatever_the_order_of_their_keys(begun):
    for n in range(4):
        given = {"pattern": "x", "path": "."} if n % 2 else {"path": ".", "pattern": "x"}
        ask(begun, n, "Grep", given, "a.py:1: x")
    ask(begun, 9, "Grep", {"pattern": "y", "path": "."}, "a.py:1: x")
    [found] = begun.conversation.repeated_calls()
    assert found == RepeatedCall("Grep", '{"path": ".", "pattern": "x"}', 4, (1, 2, 3, 4))


def test_another_answer_and_an_edit_begin_anew(begun):
    for n in range(4):
        ask(begun, n, "Bash", {"command": "make"}, f"failed {n // 2}")
    assert begun.conversation.repeated_calls() == ()
    ask(begun, 5, "Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}, "ok")
    for n in (6, 7):
        ask(begun, n, "Bash", {"command": "make"}, "failed 1")
    assert begun.conversation.repeated_calls() == ()
    [found] = begun.conversation.repeated_calls(2)
    assert found.steps in ((1, 2), (3, 4), (6, 7))


def test_one_call_is_no_repetition(begun):
    with pytest.raises(ValueError, match="2 or more"):
        begun.conversation.repeated_calls(1)
