"""What a provider refuses, each by the invariant that it breaks, and how it is mended."""

import pytest

from sightline.messages.formats.format import FORMATS

GO = {"role": "user", "content": "go"}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def use(name):
    return {"type": "tool_use", "id": name, "name": "Read", "input": {}}


def result(name):
    return {"type": "tool_result", "tool_use_id": name, "content": "a"}


def said(*content):
    return {"role": "assistant", "content": list(content)}


def heard(*content):
    return {"role": "user", "content": list(content)}


def text(words):
    return {"type": "text", "text": words}


def mark(words, ttl="5m"):
    return {**text(words), "cache_control": {"type": "ephemeral", "ttl": ttl}}


def make_call(name, arguments="{}"):
    made = {"id": name, "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def answer(name, words="a"):
    return {"role": "tool", "tool_call_id": name, "content": words}


def item(kind, name, **more):
    return {"type": kind, "call_id": name, **more}


def called(*ids):
    calls = [{"functionCall": {"name": "f", "args": {}, "id": name}} for name in ids]
    return {"role": "model", "parts": calls}


def responded(*ids, more=()):
    results = [{"functionResponse": {"name": "f", "id": n, "response": {}}} for n in ids]
    return {"role": "user", "parts": [*results, *more]}


ASK = {"role": "user", "parts": [{"text": "go"}]}

WRONG = {
    "a call without a result": ("anthropic", [GO, said(use("1")), GO], "I1"),
    "one of two without a result": ("anthropic", [GO, said(use("1"), use("2")), heard(result("1"))], "I1"),
    "a result without a call": ("anthropic", [GO, said(text("x")), heard(result("1"), text("y"))], "I1"),
    "two results": ("anthropic", [GO, said(use("1")), heard(result("1"), result("1"))], "I1"),
    "a result behind a text": ("anthropic", [GO, said(use("1")), heard(text("x"), result("1"))], "I2"),
    "an id used twice": (
        "anthropic", [GO, said(use("1")), heard(result("1")), said(use("1")), heard(result("1"))], "I15"),
    "a thought without a signature": (
        "anthropic", [GO, said({"type": "thinking", "thinking": "x"}, text("y"))], "I5"),
    "a thought at the end": ("anthropic", [GO, said(text("x"), THOUGHT)], "I5"),
    "a blank text": ("anthropic", [GO, said(text(" \n")), GO], "I9"),
    "no content": ("anthropic", [GO, said(), GO], "I9"),
    "the model first": ("anthropic", [said(text("x")), GO], "I9"),
    "five marks": ("anthropic", [heard(*(mark(str(n)) for n in range(5)))], "I12"),
    "a mark too many in a result": (
        "anthropic", [GO, said(use("1")), heard({**result("1"), "content": [mark("x")]}, *(mark(str(n)) for n in range(4)))], "I12"),
    "an hour behind five minutes": ("anthropic", [heard(mark("a"), mark("b", "1h"))], "I12"),
    "a marked thought": (
        "anthropic", [GO, said({**THOUGHT, "cache_control": {}}, text("x"))], "I12"),
    "results in two messages": (
        "anthropic", [GO, said(use("1"), use("2")), heard(result("1")), heard(result("2"), text("y"))], "I3"),
    "responses in two contents": ("gemini", [ASK, called("1", "2"), responded("1"), responded("2")], "I3"),
    "an empty list for a result": ("chat", [GO, make_call("1"), {**answer("1"), "content": []}], "I9"),
    "an empty list beside a call": ("chat", [GO, {**make_call("1"), "content": []}, answer("1")], "I9"),
    "no message of the tool": ("chat", [GO, make_call("1"), GO], "I1"),
    "a message of the tool too late": ("chat", [GO, make_call("1"), GO, answer("1")], "I2"),
    "a message of a tool that nobody called": ("chat", [GO, answer("9")], "I1"),
    "arguments that are no JSON": ("chat", [GO, make_call("1", '{"a": '), answer("1")], "I11"),
    "arguments that are no object": ("chat", [GO, make_call("1", "[1]"), answer("1")], "I11"),
    "no output": ("responses", [item("function_call", "1"), GO], "I1"),
    "an output without a call": ("responses", [GO, item("function_call_output", "1", output="a")], "I1"),
    "an output before its call": (
        "responses", [item("function_call_output", "1"), item("function_call", "1")], "I1"),
    "reasoning alone": ("responses", [GO, {"type": "reasoning", "id": "r"}, GO], "I6"),
    "fewer responses than calls": ("gemini", [ASK, called("1", "2"), responded("1")], "I1"),
    "a text among responses": ("gemini", [ASK, called("1"), responded("1", more=ASK["parts"])], "I3"),
    "a call behind the model": ("gemini", [ASK, {"role": "model", "parts": [{"text": "x"}]}, called("1"), responded("1")], "I7"),
    "a text behind a call": ("gemini", [ASK, called("1"), {"role": "model", "parts": [{"text": "x"}]}, responded("1")], "I7"),
    "a null beside thoughts": ("litellm", [GO, {"role": "assistant", "content": None, "thinking_blocks": [THOUGHT]}, GO], "I9"),
    "a tool message missing": (
        "langchain", [{"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}, {"type": "human", "content": "x"}], "I1"),
    "a return missing": (
        "pydantic-ai",
        [
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "x"}]},
            {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "f", "tool_call_id": "1"}]},
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "x"}]},
        ], "I1"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_and_mended(case):
    name, messages, invariant = WRONG[case]
    form = FORMATS[name]
    assert invariant in [problem.invariant for problem in form.problems(messages)]
    mended = form.repaired(messages)
    assert form.problems(mended) == []
    assert form.repaired(mended) == mended


def test_a_result_is_moved_to_its_call_before_one_is_said_to_be_missing():
    messages = [GO, make_call("1"), GO, answer("1", "the text")]
    assert FORMATS["chat"].repaired(messages) == [GO, make_call("1"), answer("1", "the text"), GO]


def test_what_is_missing_is_said_to_be_missing_and_failed():
    mended = FORMATS["anthropic"].repaired([GO, said(use("1")), GO])
    (found,) = mended[2]["content"]
    assert found["is_error"]
    assert found["content"] == "(No result of this call was recorded.)"
    assert mended[3] == GO


def test_what_stands_beside_a_fault_is_left_as_it_is():
    right = [GO, said(THOUGHT, use("1")), heard(result("1"))]
    mended = FORMATS["anthropic"].repaired([*right, said(use("2")), GO])
    assert all(one is two for one, two in zip(mended, right, strict=False))


def test_calls_may_wait_at_the_end_but_not_when_they_are_sent():
    messages = [GO, said(use("1"))]
    form = FORMATS["anthropic"]
    assert form.problems(messages) == []
    assert form.repaired(messages) == messages
    found = [problem.invariant for problem in form.problems(messages, sending=True)]
    assert sorted(found) == ["I1", "I9"]


def test_calls_without_ids_are_answered_in_their_order():
    one = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}] * 2}
    two = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}] * 2}
    form = FORMATS["gemini"]
    assert form.problems([ASK, one, two]) == []
    blocks = form.blocks([ASK, one, two], len)
    assert [block.call for block in blocks[1:]] == ["#1.0", "#1.1", "#1.0", "#1.1"]
    short = {"role": "user", "parts": two["parts"][:1]}
    assert form.problems(form.repaired([ASK, one, short])) == []
