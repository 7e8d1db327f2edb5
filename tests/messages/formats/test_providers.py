"""The judges of the tests can say no, and empty fields that strict servers refuse are left out of every
view."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.support.providers import RULES, Refused, check
from tests.support.published_types import check_types

from sightline.messages.formats.format import FORMATS

# --- each rule refuses what breaks it, and nothing else


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content) or "go"}


def said(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "f", "input": {}, **more}


def result(id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "x"}


def thought(**more: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "Hm.", "signature": "c2ln", **more}


def mark(**more: Any) -> dict[str, Any]:
    return {**text("marked"), "cache_control": {"type": "ephemeral", **more}}


def call(id: str, arguments: str = "{}", name: str = "f") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made)}


def told(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "x"}


def item(id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "f", "arguments": arguments}


def output(id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": "x"}


def parts(role: str, *content: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(content)}


RUN = {"functionCall": {"name": "f", "args": {}}}
RAN = {"functionResponse": {"name": "f", "response": {"output": "x"}}}
SYSTEM = {"role": "system", "content": "You are an agent."}
THINKS = {"type": "reasoning", "id": "rs_1", "summary": []}
ASKED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}

RIGHT: dict[str, list[Any]] = {
    "anthropic": [user(), said(thought(), use("a"), use("b")), user(result("a"), result("b"))],
    "chat": [user(), calls(call("a"), call("b")), told("b"), told("a"), user()],
    "mistral": [SYSTEM, user(), calls(call("abcDEF123")), told("abcDEF123"), user()],
    "responses": [ASKED, THINKS, item("a"), item("b"), output("b"), output("a")],
    "deepseek": [ASKED, THINKS, item("a"), item("b"), output("b"), output("a")],
    "gemini": [parts("user", {"text": "go"}), parts("model", RUN, RUN), parts("user", RAN, RAN)],
}
"""Provider -> messages that it takes."""

LONG = "c" * 65
WRONG: dict[tuple[str, str], list[Any]] = {
    ("anthropic", "the user speaks first"): [said(text("hi"))],
    ("anthropic", "a message has content"): [user(), said(), user()],
    ("anthropic", "results come first"): [user(), said(use("a")), user(text("so"), result("a"))],
    ("anthropic", "the next message answers the calls"): [user(), said(use("a")), user()],
    ("anthropic", "a result answers the message before"): [user(), said(text("no")), user(result("a"))],
    ("anthropic", "a call has one result"): [user(), said(use("a")), user(result("a"), result("a"))],
    ("anthropic", "ids of calls are unique"): [user(), said(use("a"), use("a")), user(result("a"))],
    ("anthropic", "ids are letters and digits"): [user(), said(use("a|b")), user(result("a|b"))],
    ("anthropic", "input is an object"): [user(), said(use("a", input="{}")), user(result("a"))],
    ("anthropic", "text is not blank"): [user(text(" \n"))],
    ("anthropic", "results are the user's"): [user(), said(use("a"), result("a"))],
    ("anthropic", "calls are the model's"): [user(use("a"))],
    ("anthropic", "thinking is not last"): [user(), said(text("so"), thought()), user()],
    ("anthropic", "thinking is signed"): [user(), said(thought(signature=""), text("so")), user()],
    ("anthropic", "thinking has no mark"): [user(), said(thought(cache_control={}), text("so"))],
    ("anthropic", "four marks at most"): [user(*[mark()] * 5)],
    ("anthropic", "a mark for an hour comes first"): [user(mark(), mark(ttl="1h"))],
    ("chat", "no empty list of calls"): [user(), {"role": "assistant", "content": "no", "tool_calls": []}],
    ("chat", "calls are answered next"): [user(), calls(call("a")), user(), told("a")],
    ("chat", "a result answers a call before"): [user(), told("a")],
    ("chat", "content is a text"): [user(), {"role": "assistant", "content": None}],
    ("chat", "arguments are an object"): [user(), calls(call("a", '"Beijing"')), told("a")],
    ("chat", "a call has a name"): [user(), calls(call("a", name="")), told("a")],
    ("mistral", "roles follow each other"): [SYSTEM, told("abcDEF123")],
    ("mistral", "as many results as calls"): [user(), calls(call("abcDEF123")), user()],
    ("mistral", "ids of one answer differ"): [user(), calls(*[call("abcDEF123")] * 2), *[told("abcDEF123")] * 2],
    ("mistral", "ids have nine characters"): [user(), calls(call("call_0001")), told("call_0001")],
    ("mistral", "the user speaks last"): [user(), {"role": "assistant", "content": "ok"}],
    ("responses", "an output has its call"): [ASKED, output("a")],
    ("responses", "a call has its output"): [ASKED, item("a"), ASKED],
    ("responses", "call ids have 64 characters at most"): [ASKED, item(LONG), output(LONG)],
    ("responses", "reasoning leads to an item"): [ASKED, THINKS, ASKED],
    ("responses", "no null"): [ASKED, {**item("a"), "status": None}, output("a")],
    ("responses", "arguments are an object"): [ASKED, item("a", '{"value": '), output("a")],
    ("deepseek", "nothing between a call and its output"): [ASKED, item("a"), ASKED, output("a")],
    ("gemini", "the user speaks first"): [parts("model", RUN), parts("user", RAN)],
    ("gemini", "a content has parts"): [parts("user")],
    ("gemini", "a part has one kind of data"): [parts("user", {})],
    ("gemini", "as many responses as calls"): [*RIGHT["gemini"][:2], parts("user", RAN)],
    ("gemini", "responses stand alone"): [*RIGHT["gemini"][:2], parts("user", RAN, RAN, {"text": "so"})],
    ("gemini", "a call follows the user"): [
        RIGHT["gemini"][0], parts("model", {"text": "so"}), *RIGHT["gemini"][1:]
    ],
}  # fmt: skip
"""Provider and rule -> messages that break this rule only."""


def test_every_rule_has_messages_that_break_it():
    assert {*WRONG} == {(name, rule) for name, rules in RULES.items() for rule in rules}
    assert all(page.startswith("https://") for rules in RULES.values() for page in rules.values())


@pytest.mark.parametrize("name", RIGHT)
def test_right_messages_are_taken(name):
    check(name, RIGHT[name])


@pytest.mark.parametrize(("name", "rule"), WRONG, ids=lambda each: each.replace(" ", "-"))
def test_messages_that_break_a_rule_are_refused(name, rule):
    with pytest.raises(Refused) as caught:
        check(name, WRONG[name, rule])
    assert caught.value.rule == rule


# --- each published type refuses what is not of it

AS = {"mistral": "chat", "deepseek": "responses"}


@pytest.mark.wide
@pytest.mark.parametrize("name", RIGHT)
def test_right_messages_are_of_the_published_types(name):
    check_types(AS.get(name, name), RIGHT[name])


TEXTS = ("role", "type", "text", "thinking", "arguments", "name", "output", "content")

PLACES: dict[str, list[tuple[Any, ...]]] = {
    "anthropic": [(0, "ts"), (1, "content", 0, "ts"), (1, "content", 1, "call_id"), (2, "content", 0, "ts")],
    "chat": [(0, "ts"), (1, "tool_calls", 0, "index"), (1, "tool_calls", 0, "function", "x"), (2, "is_error")],
    "responses": [(0, "content", 0, "ts"), (1, "ts"), (2, "ts"), (4, "error")],
    "gemini": [(0, "ts"), (0, "parts", 0, "type"), (1, "parts", 0, "functionCall", "x")],
}  # fmt: skip
"""Provider -> places of fields in the right messages that it does not know."""


@pytest.mark.wide
@pytest.mark.parametrize(
    ("name", "place"),
    [(name, place) for name, places in PLACES.items() for place in places],
    ids=str,
)
def test_an_unknown_field_and_a_number_in_place_of_a_text_are_refused(name, place):
    for key in [place[-1], *TEXTS]:
        messages = copy.deepcopy(RIGHT[name])
        holder = messages
        for each in place[:-1]:
            holder = holder[each]
        if key == place[-1] or key in holder:
            holder[key] = 5
            with pytest.raises(ValueError, match=r"."):
                check_types(name, messages)


# --- empty fields

USER = {"role": "user", "content": "go"}
CALL = call("c")
SAID = {"role": "assistant", "content": "ok"}
EMPTY = {
    "no calls": [USER, {**SAID, "tool_calls": []}, USER],
    "null calls": [USER, {**SAID, "tool_calls": None, "function_call": None}, USER],
    "as the client dumps it": [
        USER, {**SAID, "refusal": None, "annotations": [], "audio": None, "function_call": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "", "name": None},
    ],
    "no reasoning": [USER, {**SAID, "reasoning_content": None, "thinking_blocks": []}, USER],
}  # fmt: skip


def empty_fields(messages: list[Any]) -> list[Any]:
    return [each for message in messages for each in message.items() if each[1] in (None, [])]


@pytest.mark.parametrize("messages", EMPTY.values(), ids=EMPTY)
def test_empty_fields_are_left_out_for_strict_servers(s, messages):
    assert empty_fields(messages)
    for message in messages:
        s.conversation.append(message)
    view = s.conversation.view(10**9)
    check("chat", view)
    assert empty_fields(view) == []
    assert len(view) == len(messages)
    assert s.conversation.messages() == messages


def test_empty_fields_of_responses_are_left_out():
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": "go"},
        {"type": "function_call", "id": None, "status": None, "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x", "status": None},
    ]  # fmt: skip
    form = FORMATS["responses"]
    with pytest.raises(Refused):
        check("responses", items)
    check("responses", form.project(items, form.blocks(items, len), []))


# --- what a view adds is dumped as the rest is


def test_two_calls_of_one_id_get_ids_of_the_same_length():
    messages = [
        *([user(), calls(call("abcDEF123")), told("abcDEF123")] * 12),
        *([user(), calls(call("abcDEF1_")), told("abcDEF1_")] * 2),
    ]
    mended = FORMATS["chat"].repaired(messages)
    ids = [each["tool_calls"][0]["id"] for each in mended if "tool_calls" in each]
    assert len({*ids}) == 14
    assert {*map(len, ids)} == {9, 8}
    check("mistral", mended[:36])


WRAPPED = {
    "data": lambda fields: {"type": fields["type"], "data": fields},
    "kwargs": lambda fields: {"lc": 1, "type": "constructor", "id": [], "kwargs": fields},
}


@pytest.mark.parametrize("home", WRAPPED)
def test_a_message_that_a_langchain_view_adds_is_wrapped_as_the_others(home):
    wrapped = WRAPPED[home]
    messages = [
        wrapped({"type": "human", "content": "go"}),
        wrapped(
            {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "f", "args": {}}]}
        ),
        wrapped({"type": "human", "content": "and?"}),
    ]
    mended = FORMATS["langchain"].repaired(messages)
    assert [each[home]["type"] for each in mended] == ["human", "ai", "tool", "human"]
    *_, added = FORMATS["langchain"].adapter.with_tail(mended[2], "Now:")
    assert added[home] == {"type": "human", "content": "Now:"}


def test_results_come_before_what_the_user_says_in_a_request_of_pydantic_ai():
    given = {"part_kind": "tool-call", "tool_name": "f", "tool_call_id": "c", "args": {}}
    told = {"part_kind": "tool-return", "tool_name": "f", "tool_call_id": "c", "content": "x"}
    aside = {"part_kind": "user-prompt", "content": "wait"}
    messages = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "go"}]},
        {"kind": "response", "parts": [given]},
        {"kind": "request", "parts": [aside, told]},
    ]
    form = FORMATS["pydantic-ai"]
    assert [each.invariant for each in form.problems(messages)] == ["I2"]
    rest = [part for each in form.repaired(messages)[2:] for part in each["parts"]]
    assert rest == [told, aside]


def test_a_stub_of_the_models_text_keeps_the_fields_that_responses_require():
    adapter = FORMATS["responses"].adapter
    content = [{"type": "output_text", "text": "long", "annotations": [], "logprobs": []}]
    message = {"type": "message", "role": "assistant", "content": content}
    [part] = adapter.parts(message)
    [stub] = adapter.with_text(message, part, "short")["content"]
    assert stub == {"type": "output_text", "annotations": [], "text": "short"}
