"""Decisions carried out: what they leave of messages, format by format, and what they may not do."""

from typing import Any

import pytest

from sightline.messages.blocks import Decision, Fold, Tail
from sightline.messages.formats.format import FORMATS

LONG = "x = 1\n" * 100


def view(name, messages, *, folds=(), tails=(), dropped=()):
    form = FORMATS[name]
    decision = Decision(
        tuple(Fold(at, stub, 1, "again") for at, stub in folds),
        tuple(Tail(at, text, 1) for at, text in tails),
        tuple(dropped),
    )
    return form.project(messages, form.blocks(messages, len), [decision])


def claude(*said, results=()):
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": list(said)},
        {"role": "user", "content": list(results)},
    ]


def use(name, **given):
    return {"type": "tool_use", "id": name, "name": "Write", "input": given}


def result(name, content="done", **more):
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def test_a_stub_keeps_the_id_the_error_and_the_mark_of_a_result():
    mark = {"type": "ephemeral"}
    messages = claude(use("1"), results=[result("1", LONG, is_error=True, cache_control=mark)])
    (found,) = view("anthropic", messages, folds=[(2, "[gone]")])[2]["content"]
    assert found == result("1", "[gone]", is_error=True, cache_control=mark)


def test_a_stub_in_arguments_stands_for_what_is_long_and_nothing_else():
    given = {"path": "a.py", "content": LONG, "also": [LONG[:300], 3, None], "flag": True}
    messages = claude(use("1", **given), results=[result("1")])
    (found,) = view("anthropic", messages, folds=[(1, "[gone]")])[1]["content"]
    assert found["input"] == {
        "path": "a.py",
        "content": "[gone]",
        "also": ["[removed]", 3, None],
        "flag": True,
    }


def test_arguments_of_short_texts_are_fixed():
    messages = claude(use("1", path="a.py"), results=[result("1")])
    assert FORMATS["anthropic"].blocks(messages, len)[1].fixed


def test_a_stub_names_a_picture_in_its_place():
    picture = {"type": "image", "source": {"type": "base64", "data": "aaaa"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "see"}, picture]}]
    found = view("anthropic", messages, folds=[(1, "[image/png, 3 bytes]")])
    assert found[0]["content"][1] == {"type": "text", "text": "[image/png, 3 bytes]"}


def test_what_is_behind_a_tail_comes_after_it():
    messages = [*claude(use("1"), results=[result("1")]), {"role": "assistant", "content": "ok"}]
    found = view("anthropic", messages, tails=[(2, "Now: a.py")])
    assert found[2]["content"] == [result("1"), {"type": "text", "text": "Now: a.py"}]
    assert found[3] is messages[3]


def test_a_tail_does_not_part_the_results_of_a_batch():
    calls = [{"id": n, "function": {"name": "f", "arguments": "{}"}} for n in ("1", "2")]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "a"},
        {"role": "tool", "tool_call_id": "2", "content": "b"},
    ]
    found = view("chat", messages, tails=[(3, "Now")])
    assert found == [*messages, {"role": "user", "content": "Now"}]


@pytest.mark.parametrize(
    ("name", "message", "after"),
    [
        ("chat", {"role": "user", "content": "a"}, [{"role": "user", "content": "a\n\nNow"}]),
        (
            "responses",
            {"type": "function_call_output", "call_id": "1", "output": "a"},
            [
                {"type": "function_call_output", "call_id": "1", "output": "a"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Now"}]},
            ],
        ),
        (
            "gemini",
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
            [
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
                {"role": "user", "parts": [{"text": "Now"}]},
            ],
        ),
        (
            "gemini",
            {"role": "user", "parts": [{"text": "a"}]},
            [{"role": "user", "parts": [{"text": "a"}, {"text": "Now"}]}],
        ),
        (
            "langchain",
            {"type": "tool", "content": "a", "tool_call_id": "1"},
            [
                {"type": "tool", "content": "a", "tool_call_id": "1"},
                {"type": "human", "content": "Now"},
            ],
        ),
        (
            "pydantic-ai",
            {"kind": "request", "parts": []},
            [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Now"}]}],
        ),
    ],
)  # fmt: skip
def test_a_tail_stands_where_its_format_takes_it(name, message, after):
    assert FORMATS[name].adapter.with_tail(message, "Now") == after


def test_no_tail_stands_behind_the_model():
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    with pytest.raises(ValueError, match="message 1 is the model's"):
        view("chat", messages, tails=[(1, "Now")])


def test_a_batch_goes_as_a_whole_and_leaves_what_was_said():
    said = {"type": "text", "text": "Both."}
    aside = {"type": "text", "text": "hurry"}
    messages = claude(said, use("1"), use("2"), results=[result("1"), result("2"), aside])
    found = view("anthropic", messages, dropped=[2, 3, 4, 5])
    assert [each["content"] for each in found] == ["go", [said], [aside]]
    with pytest.raises(ValueError, match="all calls of one answer go"):
        view("anthropic", messages, dropped=[2, 4])
    with pytest.raises(ValueError, match="cannot be removed by itself"):
        view("anthropic", messages, dropped=[4])
    with pytest.raises(ValueError, match="cannot be removed by itself"):
        view("anthropic", messages, dropped=[0])


def test_a_call_without_its_result_stays():
    messages = claude(use("1"), results=[])[:2]
    with pytest.raises(ValueError, match="still waits for its result"):
        view("anthropic", messages, dropped=[1])


def test_thinking_goes_with_what_it_led_to_but_not_while_the_model_is_at_work():
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    at_work = claude(thought, use("1"), results=[result("1")])
    with pytest.raises(ValueError, match="its thinking has to stay"):
        view("anthropic", at_work, dropped=[2, 3])
    later = [*at_work, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "next"}]
    found = view("anthropic", later, dropped=[2, 3])
    assert found == [later[0], later[3], later[4]]


def test_reasoning_goes_with_the_item_that_it_led_to():
    items = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "r1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
        {"type": "reasoning", "id": "r2", "summary": []},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "a"},
        {"role": "user", "content": "next"},
    ]  # fmt: skip
    assert view("responses", items, dropped=[4, 5]) == [*items[:3], items[6]]
    with pytest.raises(ValueError, match="part 0 of message 3 cannot be removed by itself"):
        view("responses", items, dropped=[3])


def test_thinking_of_what_was_said_before_goes_alone_where_a_format_allows_that():
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    messages = claude(thought, use("1"), results=[result("1")])
    with pytest.raises(ValueError, match="part 0 of message 1 cannot be removed by itself"):
        view("anthropic", messages, dropped=[1])
    found = view("anthropic", [*messages, {"role": "user", "content": "next"}], dropped=[1])
    assert found[1]["content"] == [use("1")]


def test_two_contents_of_a_gemini_model_become_one_where_the_call_between_them_goes():
    call = {"functionCall": {"name": "f", "args": {}}}
    answer = {"functionResponse": {"name": "f", "response": {"output": "a"}}}
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"text": "First."}, call]},
        {"role": "user", "parts": [answer]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [answer]},
    ]
    found = view("gemini", contents, dropped=[2, 3])
    assert found[1] == {"role": "model", "parts": [{"text": "First."}, call]}
    assert FORMATS["gemini"].problems(found, sending=True) == []


def test_a_signed_call_of_gemini_is_never_changed():
    call = {"functionCall": {"name": "f", "args": {"x": LONG}}, "thoughtSignature": "s"}
    contents = [{"role": "model", "parts": [call]}]
    assert FORMATS["gemini"].blocks(contents, len)[0].fixed


def test_a_call_that_langchain_says_three_times_is_changed_three_times():
    message = {
        "type": "ai",
        "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"x": LONG}}],
        "tool_calls": [{"id": "1", "name": "f", "args": {"x": LONG}}],
        "additional_kwargs": {"tool_calls": [{"id": "1", "function": {"arguments": "..."}}]},
    }
    (found,) = view("langchain", [message], folds=[(0, "[gone]")])
    assert "x = 1" not in str(found)
    assert str(found).count("[gone]") == 3


@pytest.mark.parametrize(
    ("decisions", "words"),
    [
        ([Decision((Fold(2, " ", 1, "again"),))], "would be blank"),
        ([Decision((Fold(0, "s", 1, "again"),))], r"block 0 \(user\) may never be folded"),
        (
            [Decision((Fold(2, "s", 1, "again"),)), Decision((Fold(2, "t", 1, "again"),))],
            "block 2 is folded twice",
        ),
    ],
)
def test_what_cannot_be_carried_out_is_refused_in_words(decisions, words):
    messages = claude(use("1"), results=[result("1")])
    form = FORMATS["anthropic"]
    with pytest.raises(ValueError, match=words):
        form.project(messages, form.blocks(messages, len), decisions)
