"""What would be folded for a budget, in several formats."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.messages.formats.histories import NAMES, histories
from tests.support.examples import examples
from tests.window.histories import LINES, STEPS, anthropic, chat, searched
from tests.window.histories import read as reading

from sightline.errors import UnknownName
from sightline.messages.histories import read_history
from sightline.text.tokens import Counter, estimate
from sightline.window.folding_plan import plan

COUNTER = Counter(estimate, "estimate", "o200k", 0.1)


def planned(messages, budget, **more):
    return plan(read_history(json.dumps(messages).encode(), "h"), COUNTER, budget, **more)


@pytest.mark.parametrize("write", [anthropic, chat])
def test_what_is_over_the_budget_is_brought_below_it(write):
    messages = write(STEPS)
    plan_made = planned(messages, 9_000)
    assert plan_made.before > 9_000 >= plan_made.after
    assert plan_made.freed == plan_made.before - plan_made.after
    assert plan_made.folds
    assert plan_made.folds[0].tier == "again"
    assert "Grep" in plan_made.folds[0].stub
    assert list(plan_made.view) != messages
    assert read_history(json.dumps(plan_made.view).encode(), "h").problems() == []


def test_what_fits_is_left_alone():
    plan_made = planned(anthropic(STEPS), 1_000_000)
    assert (plan_made.folds, plan_made.after) == ((), plan_made.before)
    assert list(plan_made.view) == anthropic(STEPS)


def test_planning_twice_is_planning_once():
    plan_made = planned(anthropic(STEPS), 9_000)
    again = planned(list(plan_made.view), 9_000)
    assert (again.folds, again.view) == ((), plan_made.view)


def test_a_history_that_ends_with_the_model_is_as_it_was_when_it_was_asked():
    steps = [searched("a"), reading("a.py"), ("Edit", {"file_path": "a.py", "old_string": "1", "new_string": "2"}, "done"), *STEPS]  # fmt: skip
    messages = anthropic(steps, last="")
    asking = {"type": "tool_use", "id": "open", "name": "Bash", "input": {"command": "x" * 900}}
    plan_made = planned([*messages, {"role": "assistant", "content": [asking]}], 2_000)
    assert plan_made.folds
    assert plan_made.view[-1] == {"role": "assistant", "content": [asking]}


def test_the_system_text_and_the_tools_count():
    bare = plan(
        read_history(json.dumps({"messages": anthropic(STEPS)}).encode(), "h"), COUNTER, 10**6
    )
    request = {"system": LINES, "tools": [{"name": "Read"}], "messages": anthropic(STEPS)}
    whole = plan(read_history(json.dumps(request).encode(), "h"), COUNTER, 10**6)
    assert whole.before >= bare.before + COUNTER(LINES) + COUNTER.around(0, 1)


def test_a_plan_pays_after_the_answers_that_save_what_its_change_costs():
    assert planned(anthropic(STEPS), 10**6).pays_after is None
    assert planned(anthropic(STEPS), 3_000, price="none").pays_after == 0
    usual, dear = (
        planned(anthropic(STEPS), 3_000, price=name).pays_after for name in ("0.10/1.25", "0.02/1")
    )
    assert 0 < usual < dear


@pytest.mark.parametrize("more", [{"policy": "nobody's"}, {"price": "1/2"}, {"policy": "mask-10"}])
def test_a_policy_or_a_price_that_is_not_there_is_said(more):
    with pytest.raises(UnknownName, match=r"There (is|are) no") as caught:
        planned(anthropic(STEPS), 9_000, **more)
    assert caught.value.hint.startswith("There are: ")


@pytest.mark.parametrize("policy", ["none", "default", "careful"])
def test_any_policy_can_be_asked(policy):
    plan_made = planned(anthropic([*STEPS, *STEPS[2:]]), 3_000, policy=policy)
    assert bool(plan_made.folds) is (policy != "none")


@pytest.mark.wide
def test_a_result_of_twenty_megabytes_goes():
    huge = ("Bash", {"command": "cat log"}, "x" * 20_000_000)
    plan_made = planned(anthropic([huge, *STEPS]), 50_000)
    assert plan_made.after < 50_000 < plan_made.before


def test_a_picture_that_cannot_be_decoded_passes_through():
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "%"},
    }
    messages = [{"role": "user", "content": [picture, {"type": "text", "text": "look"}]}]
    assert list(planned(messages, 10).view) == messages


@pytest.mark.wide
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=examples(30))
@given(data=st.data())
def test_every_view_of_every_format_would_be_taken(name, data):
    messages = data.draw(histories(name))
    history = read_history(json.dumps(messages).encode(), "h")
    plan_made = plan(history, COUNTER, data.draw(st.integers(1, 3_000)))
    assert history.format.problems(list(plan_made.view)) == []
    assert plan_made.after <= plan_made.before
