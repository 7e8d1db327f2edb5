"""A request that was refused as too long comes back as one that fits, or is refused in words."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages.talks import COUNT, TASK, call, chatter, result, talk, texts, tokens

import sightline
from sightline.errors import RecoveryRefused, WindowFull
from sightline.messages.blocks import Block, Kind
from sightline.messages.formats.format import FORMATS
from sightline.model.events import Condensed, CondenseFailed, Folded, RequestMeasured
from sightline.testing import make_session
from sightline.window.words import RECORD, TITLE, summary_request


def too_long(used, limit):
    why = f"prompt is too long: {used} tokens > {limit} maximum"
    return {"type": "error", "error": {"type": "invalid_request_error", "message": why}}


def is_valid(view):
    return FORMATS["anthropic"].problems(view, sending=True) == []


def facts_of(session, *kinds):
    return [row.fact for row in session._context.store.timeline(kinds=list(kinds))]


def test_what_can_be_folded_is_enough(s):
    conversation = talk(s)
    before = conversation.messages()
    recovery = conversation.recover(too_long(20_000, 16_000))
    assert [step.stage for step in recovery.steps] == ["fold"]
    assert recovery.attempt == 1
    assert recovery.after <= recovery.target == 12_000 < recovery.before == 20_000
    assert is_valid(recovery.messages)
    assert recovery.messages == conversation.view()
    assert conversation.messages() == before


def test_a_reduction_keeps_the_task_the_last_words_and_the_newest_exchange(place, s):
    conversation = chatter(s)
    recovery = conversation.recover(too_long(15_000, 3_000))
    text = texts(recovery.messages)
    assert recovery.steps[-1].stage == "reduce"
    assert TASK in text
    assert "then do 39" in text
    assert recovery.messages[-2:][0]["content"][0]["id"] == "c1"
    assert "line 32 of something long enough" in text
    assert "messages left the context window" in text
    assert "- run 4 (failed)" in text
    assert is_valid(recovery.messages)
    assert tokens(recovery.messages) <= recovery.target
    assert place.session("s").conversation.view() == recovery.messages


@pytest.mark.wide
def test_each_try_is_smaller_and_the_fourth_is_refused(s):
    conversation = talk(s)
    sizes = [tokens(conversation.view())]
    for attempt in (1, 2, 3):
        recovery = conversation.recover("Input is too long for requested model.")
        assert recovery.attempt == attempt
        assert is_valid(recovery.messages)
        sizes.append(tokens(recovery.messages))
    assert sizes == sorted(set(sizes), reverse=True)
    view = conversation.view()
    with pytest.raises(WindowFull, match="refused as too long 3 times in a row"):
        conversation.recover("Input is too long for requested model.")
    assert conversation.view() == view


@pytest.mark.wide
def test_an_answer_of_the_model_begins_the_tries_anew(s):
    conversation = talk(s)
    for _ in range(3):
        conversation.recover("Input is too long for requested model.")
    conversation.append({"role": "assistant", "content": "Done."})
    talk(s, 0)
    assert conversation.recover(too_long(9_000, 5_000)).attempt == 1


def test_the_share_to_keep_is_that_of_the_window_or_of_the_request(s):
    conversation = talk(s)
    before = tokens(conversation.view())
    recovery = conversation.recover("Input is too long for requested model.", keep=0.5)
    assert recovery.target == int(before * 0.5)
    assert recovery.after <= recovery.target
    assert conversation.recover(too_long(9_000, 8_000), keep=0.5).target == 4_000
    with pytest.raises(ValueError, match="keep is the part"):
        conversation.recover("Input is too long", keep=75)


def test_a_window_that_is_known_is_enough_where_the_error_has_no_numbers(s):
    recovery = talk(s).recover("Too many input tokens", limit=8_000)
    assert recovery.target == 6_000
    assert recovery.after <= 6_000
    assert recovery.before > 8_000


def test_what_is_sent_beside_the_messages_is_learned_from_the_refusal(s):
    conversation = talk(s)
    here = tokens(conversation.view())
    recovery = conversation.recover(too_long(here + 4_000, here + 2_000))
    assert recovery.before == here + 4_000
    assert tokens(recovery.messages) + 4_000 <= recovery.target == int((here + 2_000) * 0.75)


def test_a_tokenizer_that_counts_more_is_learned_from_the_refusal(s):
    conversation = talk(s)
    here = tokens(conversation.view())
    recovery = conversation.recover(too_long(here * 2, 8_000))
    assert tokens(recovery.messages) * 2 <= recovery.target + 50


@pytest.mark.wide
@pytest.mark.parametrize("used", [3, 10**15, 0])
def test_numbers_that_cannot_be_are_not_believed(s, used):
    conversation = talk(s)
    recovery = conversation.recover(too_long(used, 8_000))
    assert recovery.before == tokens(conversation.messages())
    assert tokens(recovery.messages) <= 6_000


def test_room_for_the_answer_is_taken_from_the_messages(s):
    conversation = talk(s)
    here = tokens(conversation.view())
    limit = here + 1_000
    error = f"input length and `max_tokens` exceed context limit: {here} + 8000 > {limit}"
    recovery = conversation.recover(error, status=400)
    assert recovery.error.kind == "overflow_output"
    assert recovery.after + 8_000 <= limit


@pytest.mark.parametrize(
    ("error", "status", "kind", "why"),
    [
        ("tokens per min (TPM): Limit 30000, Requested 40213", 429, "rate", "Wait"),
        ("request entity too large", 413, "payload_bytes", "fewer pictures do not help"),
        ("invalid auth token", 401, "other", "Look at the error"),
        ({"stop_reason": "max_tokens"}, 200, "overflow_output", "shorter answer"),
        (None, None, "other", "Look at the error"),
    ],
)
def test_an_error_against_which_less_does_not_help_is_refused(s, error, status, kind, why):
    conversation = talk(s)
    view = conversation.view()
    with pytest.raises(RecoveryRefused, match=why) as refused:
        conversation.recover(error, status=status)
    assert refused.value.kind == kind
    assert conversation.view() == view
    assert facts_of(s, Folded, RequestMeasured) == []


def test_calls_without_results_are_repaired_in_the_view_alone(s):
    say = s.conversation.append
    say({"role": "user", "content": "go"})
    say(call(1, "Bash", {"command": "ls"}))
    say({"role": "user", "content": "and?"})
    error = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after"
    recovery = s.conversation.recover(error, status=400)
    assert [step.stage for step in recovery.steps] == ["repair"]
    assert is_valid(recovery.messages)
    assert len(s.conversation.messages()) == 3
    other = make_session(id="t")
    with pytest.raises(RecoveryRefused, match="finds no fault in it"):
        talk(other, 2).recover(error, status=400)


def test_a_conversation_with_unpaired_calls_is_recovered_too(s):
    conversation = talk(s, 12)
    conversation.append(call(90, "Bash", {"command": "lost"}))
    conversation.append({"role": "user", "content": "what now?"})
    recovery = conversation.recover(too_long(9_000, 4_000))
    assert is_valid(recovery.messages)
    assert recovery.after <= 3_000


def test_an_empty_conversation_has_nothing_to_remove(s):
    with pytest.raises(RecoveryRefused, match="no message"):
        s.conversation.recover(too_long(9, 8))


@pytest.mark.parametrize("limit", [2_000, 200, 1])
def test_one_message_larger_than_the_window_is_named_and_nothing_is_removed(s, limit):
    s.conversation.append({"role": "user", "content": "word " * 30_000})
    view = s.conversation.view()
    with pytest.raises(WindowFull, match="Message 0 alone has about") as full:
        s.conversation.recover(too_long(30_000, limit))
    assert full.value.limit == limit
    assert full.value.tokens > limit
    assert s.conversation.view() == view


def test_a_result_larger_than_the_window_keeps_its_head_and_tail_and_comes_back(s):
    say = s.conversation.append
    say({"role": "user", "content": TASK})
    say(call(1, "Bash", {"command": "make"}))
    whole = "first line\n" + "middle\n" * 30_000 + "last line"
    say(result(1, whole))
    recovery = s.conversation.recover(too_long(60_000, 8_000))
    text = recovery.messages[-1]["content"][0]["content"]
    assert text.startswith("first line\n")
    assert text.endswith("last line")
    assert "lines of this answer are left out" in text
    assert recovery.after <= 6_000
    name = text.partition("To see all of it: expand ")[2].partition(";")[0]
    assert s.conversation.expand(name) == whole
    assert s.conversation.expand(name, (1, 2)) == "first line\nmiddle"


def test_a_long_file_keeps_its_head_and_outline(s):
    say = s.conversation.append
    say({"role": "user", "content": TASK})
    say(call(1, "Read", {"file_path": "big.py"}))
    source = ["import os", *(f"def f{n}(a):\n    x = a\n" + "    x += 1\n" * 80 for n in range(60))]
    lines = "\n".join(source).split("\n")
    say(result(1, "\n".join(f"{n:>6}→{line}" for n, line in enumerate(lines, 1))))
    recovery = s.conversation.recover(too_long(40_000, 6_000))
    text = recovery.messages[-1]["content"][0]["content"]
    assert "What it defines, by line:" in text
    assert f"{lines.index('def f30(a):') + 1}: def f30(a):" in text
    assert text.startswith("     1→import os")


def test_pictures_go_when_nothing_else_is_enough(s):
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    content = [{"type": "text", "text": "look"}, *[{"type": "image", "source": source}] * 4]
    s.conversation.append({"role": "user", "content": content})
    recovery = s.conversation.recover(too_long(6_100, 4_000))
    assert "The user put an image here; it was left out" in texts(recovery.messages)
    assert recovery.messages[0]["content"][0]["text"] == "look"


# --- too many bytes


def picture(size):
    source = {"type": "base64", "media_type": "image/png", "data": "iVBO" * (size // 4)}
    return {"type": "image", "source": source}


def pictured(session):
    """A picture of the user's, five screenshots of a tool, and one more of the user's."""
    say = session.conversation.append
    say({"role": "user", "content": [{"type": "text", "text": TASK}, picture(10_000)]})
    for n in range(5):
        say(call(n, "Screenshot", {"window": f"w{n}"}))
        shown = result(n, "")
        shown["content"][0]["content"] = [{"type": "text", "text": f"shot {n}"}, picture(10_000)]
        say(shown)
    say({"role": "assistant", "content": "done"})
    say({"role": "user", "content": [{"type": "text", "text": "like this?"}, picture(10_000)]})
    return session.conversation


def pictures_in(view):
    return json.dumps(view).count('"image/png"')


TOO_LARGE = "request entity too large"


def test_the_oldest_pictures_go_until_the_bytes_fit(place, s):
    conversation = pictured(s)
    before = conversation.messages()
    recovery = conversation.recover("request_too_large: 72000 bytes > 60000 bytes", status=413)
    assert recovery.after <= recovery.target == 45_000 < recovery.before
    assert recovery.after == len(json.dumps(recovery.messages).encode())
    assert pictures_in(recovery.messages) == 4
    text = texts(recovery.messages)
    assert "The user put an image here; it was left out: the request had too many bytes" in text
    assert "shot 0\n[A picture or document of this answer was left out" in text
    assert is_valid(recovery.messages)
    assert conversation.messages() == before
    assert place.session("s").conversation.view() == recovery.messages


def test_without_numbers_the_newest_pictures_go_last_and_three_tries_are_the_most(s):
    conversation = pictured(s)
    first = conversation.recover(TOO_LARGE, status=413)
    assert (first.attempt, pictures_in(first.messages)) == (1, 1)
    assert first.steps[0].told == "6 pictures or documents were left out; all texts stay."
    second = conversation.recover(TOO_LARGE, status=413)
    assert (second.attempt, pictures_in(second.messages)) == (2, 0)
    assert second.after < first.after
    with pytest.raises(RecoveryRefused, match="fewer pictures do not help") as refused:
        conversation.recover(TOO_LARGE, status=413)
    assert refused.value.kind == "payload_bytes"


def test_one_picture_above_its_limit_goes_alone(s):
    say = s.conversation.append
    say({"role": "user", "content": [{"type": "text", "text": TASK}, picture(400), picture(8_000)]})
    error = "messages.0.content.2.image: image exceeds 5 KB maximum: 8000 bytes > 5120 bytes"
    recovery = s.conversation.recover(error, status=400)
    assert pictures_in(recovery.messages) == 1


def test_text_with_too_many_bytes_is_refused_with_the_numbers(s):
    conversation = pictured(s)
    conversation.append({"role": "user", "content": "word " * 9_000})
    view = conversation.view()
    with pytest.raises(RecoveryRefused, match="of them without pictures"):
        conversation.recover("request_too_large: 120000 bytes > 40000 bytes", status=413)
    assert conversation.view() == view


@pytest.mark.parametrize("name", ["chat", "responses", "gemini", "langchain", "pydantic-ai"])
def test_pictures_of_every_format_go(s, name):
    data = "iVBO" * 500
    url = f"data:image/png;base64,{data}"
    messages = {
        "chat": {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}]},
        "responses": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": url}]},
        "gemini": {"role": "user", "parts": [{"text": "see"}, {"inlineData": {"mimeType": "image/png", "data": data}}]},
        "langchain": {"type": "human", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}]},
        "pydantic-ai": {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": ["see", {"kind": "binary", "media_type": "image/png", "data": data}]}]},
    }  # fmt: skip
    s.conversation.append(messages[name])
    recovery = s.conversation.recover(TOO_LARGE, status=413)
    assert data not in json.dumps(recovery.messages)
    assert "it was left out: the request had too many bytes" in json.dumps(recovery.messages)
    assert FORMATS[name].problems(recovery.messages, sending=True) == []


# --- the hard budget


def test_a_hard_budget_is_refused_with_the_numbers_and_recover_takes_the_refusal(s):
    for n in range(8):
        s.conversation.append({"role": "user", "content": f"{n} " + "typed text " * 200})
        s.conversation.append({"role": "assistant", "content": "ok"})
    s.conversation.append({"role": "user", "content": "go on"})
    budget = sightline.Budget(hard=1_800)
    with pytest.raises(WindowFull, match="and the hard budget is 1,800") as full:
        s.conversation.view(budget)
    assert (full.value.limit, full.value.tokens) == (1_800, tokens(s.conversation.messages()))
    assert facts_of(s, Folded) == []
    recovery = s.conversation.recover(full.value)
    assert tokens(s.conversation.view(budget)) <= 1_800
    assert "0 typed text" in texts(recovery.messages)


def test_a_hard_budget_counts_what_a_stub_leaves_of_a_call(s):
    s.conversation.append({"role": "user", "content": "go"})
    for n in range(12):
        given = {"file_path": f"some/long/path/of/a/file/number_{n}.py", "content": "x = 1\n" * 200}
        s.conversation.append(call(n, "Write", given))
        s.conversation.append(result(n, "ok"))
    for hard in (4_000, 3_000, 2_500):
        view = s.conversation.view(sightline.Budget(hard=hard))
        assert tokens(view) <= hard


# --- summarizers


def asked_for(session, limit, used=None):
    """The text that a summarizer is given when a window of this size was exceeded."""
    asked: list[str] = []

    def summarizer(request, /):
        asked.append(request)
        return "We made total() right."

    session.conversation.recover(too_long(used or 2 * limit, limit), summarizer=summarizer)
    return asked[0] if asked else ""


@pytest.mark.parametrize("limit", [16_000, 8_000, 4_000])
def test_a_summarizer_is_given_no_more_than_the_window_holds(s, limit):
    """106,780 bytes were sent to a model with a window of 16,000 tokens."""
    chatter(s, turns=60)
    for n in range(100, 160):
        s.conversation.append(call(n, "Bash", {"command": f"run {n} " + "--an-option-of-it " * 20}))
        s.conversation.append(result(n, f"THE OUTPUT {n} " + "some words of it " * 30))
        s.conversation.append({"role": "assistant", "content": f"did {n}. " + "I think so. " * 20})
    request = asked_for(s, limit, 30_000)
    assert request
    assert COUNT(request) <= limit
    assert TASK in request
    assert "left out here" in request
    assert request.endswith("Now sum it up.")


@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "agent", "tool"]), st.integers(1, 30_000)),
        min_size=3,
        max_size=20,
    ),
    st.integers(1_000, 20_000),
)
def test_any_texts_are_cut_to_the_room_of_a_request(texts_of, room):
    kinds: dict[str, Kind] = {"user": "user", "agent": "text", "tool": "result"}
    written = [
        (kinds[who], f"{n} " + "a word " * (size // 7)) for n, (who, size) in enumerate(texts_of)
    ]
    blocks = [(Block(0, 0, kind, text), text) for kind, text in written]
    request = summary_request(blocks, COUNT, room)
    assert COUNT(request) <= room
    assert summary_request(blocks).count("a word") >= request.count("a word")


def test_a_summarizer_is_asked_when_folding_is_not_enough(s):
    conversation = chatter(s)
    recovery = conversation.recover(
        too_long(15_000, 8_000), summarizer=lambda request: "We made total() right."
    )
    assert [step.stage for step in recovery.steps] == ["condense"]
    assert "We made total() right." in texts(recovery.messages)
    assert is_valid(recovery.messages)


def raises(request):
    raise TimeoutError("the model is busy")


@pytest.mark.wide
@pytest.mark.parametrize(
    ("summarizer", "why"),
    [
        (raises, "the summarizer failed: TimeoutError: the model is busy"),
        (lambda request: "", "it is empty"),
        (lambda request: " \n", "it is empty"),
        (lambda request: 7, "it is not a text, but of type int"),
        (lambda request: request + request, "are the most"),
        (lambda request: "word " * 3_900, "tokens with it, "),
    ],
    ids=["raises", "empty", "blank", "none", "longer", "too long"],
)
def test_a_summary_that_fails_is_told_and_the_next_step_needs_no_model(s, summarizer, why):
    conversation = chatter(s)
    history = conversation.messages()
    recovery = conversation.recover(too_long(15_000, 4_000), summarizer=summarizer)
    assert [step.stage for step in recovery.steps] == ["condense", "reduce"]
    assert why in recovery.steps[0].told
    assert recovery.after <= 3_000
    assert is_valid(recovery.messages)
    assert conversation.messages() == history
    assert len(facts_of(s, CondenseFailed)) == 1


def test_a_summarizer_that_hangs_is_left_alone(s):
    never = threading.Event()

    def hangs(request):
        never.wait()
        return "late"

    conversation = chatter(s)
    recovery = conversation.recover(too_long(15_000, 4_000), summarizer=hangs, timeout_s=0.01)
    assert "TimeoutError: no answer in 0.01 s" in recovery.steps[0].told
    assert recovery.after <= 3_000
    never.set()


def test_a_summary_in_another_language_has_the_record_beside_it(s):
    conversation = chatter(s)
    recovery = conversation.recover(
        too_long(15_000, 8_000), summarizer=lambda request: "我们修好了。"
    )
    text = texts(recovery.messages)
    assert "我们修好了。" in text
    assert "run 4 (failed)" in text.partition(RECORD)[2]


@pytest.mark.wide
def test_a_broken_summarizer_is_not_asked_again_and_again(s):
    asked = []

    def fails(request):
        asked.append(request)
        raise OSError("no network")

    conversation = chatter(s, 60)
    for _ in range(3):
        conversation.recover("Input is too long for requested model.", summarizer=fails, keep=0.3)
    assert len(asked) <= 3
    assert len(facts_of(s, CondenseFailed)) == len(asked)


@pytest.mark.wide
def test_everything_typed_comes_back_in_the_next_summary(s):
    conversation = chatter(s)
    recovery = conversation.recover(too_long(15_000, 800))
    assert "then do 9\n" not in texts(recovery.messages)
    for n in range(40, 50):
        conversation.append({"role": "assistant", "content": "Many more words. " * 150})
        conversation.append({"role": "user", "content": f"then do {n}"})
    made = conversation.condense(keep_tokens=100)
    for n in (9, 39, 45):
        assert f"<user>\nthen do {n}\n</user>" in made.summary
    assert len(facts_of(s, Condensed)) == 2


# --- silent truncation


def test_a_request_that_was_cut_without_a_word_is_found_by_its_usage(s):
    conversation = talk(s)
    here = tokens(conversation.view())
    size = conversation.record_usage({"prompt_eval_count": 2_048, "eval_count": 100})
    assert size.problem == sightline.ProviderError("overflow", here, 2_048)
    assert "read 2,048 of about" in size.warning
    recovery = conversation.recover(size)
    assert recovery.after <= recovery.target == 1_536


@pytest.mark.parametrize(
    "answer",
    [
        {"model": "llama3", "message": {"role": "assistant"}, "prompt_eval_count": 2_048},
        {"choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": 2_048}},
    ],
    ids=["ollama", "ollama /v1"],
)
def test_recover_takes_the_whole_answer_of_a_provider_that_cut(s, answer):
    recovery = talk(s).recover(answer, status=200)
    assert (recovery.error.kind, recovery.error.limit) == ("overflow", 2_048)


def test_an_answer_that_read_everything_is_no_overflow(s):
    conversation = talk(s)
    answer = {"choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": 20_000}}
    with pytest.raises(RecoveryRefused, match="does not say"):
        conversation.recover(answer, status=200)


def test_a_usage_above_the_known_window_is_an_overflow(s):
    conversation = talk(s)
    usage = {"input_tokens": 4_000, "cache_read_input_tokens": 14_000}
    size = conversation.record_usage(usage, limit=16_000)
    assert size.problem == sightline.ProviderError("overflow", 18_000, 16_000)
    assert conversation.recover(size.problem).after <= 12_000


def test_the_same_verb_for_async_hosts(s):
    conversation = talk(s)

    async def run():
        await s.aio.conversation.record_usage({"input_tokens": 15_000})
        return await s.aio.conversation.recover(too_long(20_000, 16_000))

    recovery = asyncio.run(run())
    assert recovery.messages == conversation.view()


@pytest.mark.wide
def test_a_view_with_a_recovery_survives_a_rewind_and_a_fork(place, s):
    conversation = chatter(s)
    view = conversation.recover(too_long(15_000, 3_000)).messages
    assert view[0]["content"].startswith(TITLE)
    assert s.fork("child").conversation.view() == view
    first = conversation.display()[0].id
    conversation.rewind(first)
    assert json.dumps(conversation.view()) == json.dumps([{"role": "user", "content": TASK}])


@pytest.mark.parametrize("limit", ["200000", 0, -1, 1.5, True])
def test_a_limit_that_is_no_window_is_refused_and_not_recorded(s, limit):
    conversation = talk(s)
    with pytest.raises(ValueError, match="limit is a number of tokens"):
        conversation.recover("context_length_exceeded", limit=limit)
    with pytest.raises(ValueError, match="limit is a number of tokens"):
        conversation.record_usage(5_000, limit=limit)
    assert facts_of(s, RequestMeasured) == []
    assert conversation.recover("context_length_exceeded").attempt == 1


def test_a_usage_of_no_token_is_no_request_that_was_cut(s):
    conversation = talk(s)
    with pytest.raises(ValueError, match="has no number of input tokens"):
        conversation.record_usage({"prompt_tokens": 0, "completion_tokens": 0})
