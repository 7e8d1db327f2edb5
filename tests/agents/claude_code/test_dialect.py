"""What is printed in answer to a hook."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.claude_code.samples import CLAUDE, payload, tool

from sightline.model.hook_events import NOTHING, Answer

WRITE = tool("PreToolUse", "Write", {"file_path": "a", "content": "mine", "more": 1})
LIMIT = 10_000


def said(made, *answers):
    """Return what stands under the one key that has the answer."""
    printed = CLAUDE.answer(made, answers)
    assert set(printed) <= {"hookSpecificOutput"}
    out = printed.get("hookSpecificOutput", {})
    assert out.pop("hookEventName", made["hook_event_name"]) == made["hook_event_name"]
    return out


def test_nothing_to_say_is_an_empty_object():
    assert CLAUDE.answer(WRITE, []) == {}
    assert CLAUDE.answer(WRITE, [NOTHING, NOTHING]) == {}


def test_an_attempt_is_refused_with_the_reason():
    out = said(
        WRITE, Answer(refuse="stale", contents={"a": "x"}, context="and more", ask="may it?")
    )
    assert out == {
        "permissionDecision": "deny",
        "permissionDecisionReason": "stale\n\nand more",
    }


def test_the_user_is_asked():
    asked = {"permissionDecision": "ask", "permissionDecisionReason": "may it?"}
    assert said(WRITE, Answer(ask="may it?")) == asked


def test_a_merge_is_the_tools_new_input_and_the_user_is_not_passed_over():
    merged = {"file_path": "a", "content": "both", "more": 1}
    out = said(WRITE, Answer(contents={"a": "both"}, context="merged"))
    assert out == {"updatedInput": merged, "additionalContext": "merged"}
    assert said(WRITE, Answer(contents={"a": ""})) == {"updatedInput": {**merged, "content": ""}}


def test_only_a_write_has_a_content_to_replace():
    edit = tool("PreToolUse", "Edit", {"file_path": "a", "old_string": "", "new_string": ""})
    assert said(edit, Answer(contents={"a": "both"})) == {}


def test_words_of_several_answers_are_set_apart():
    batch = payload("PostToolBatch", tool_calls=[])
    out = said(batch, Answer(context="one"), NOTHING, Answer(context="two"))
    assert out == {"additionalContext": "one\n\ntwo"}


@pytest.mark.parametrize("event", ["SessionStart", "FileChanged", "CwdChanged"])
def test_paths_to_watch(event):
    answers = [Answer(watch=("/a", "/b")), Answer(watch=("/a",))]
    assert said(payload(event), *answers) == {"watchPaths": ["/a", "/b"]}


@pytest.mark.parametrize(
    "event", ["SessionEnd", "Stop", "SubagentStop", "InstructionsLoaded", "PostCompact", "Future"]
)
def test_events_that_take_no_words_get_none(event):
    assert CLAUDE.answer(payload(event), [Answer("no", "ask", {"a": "x"}, "words", ("/a",))]) == {}


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit"])
def test_what_was_done_cannot_be_refused(event):
    words = {"additionalContext": "words"}
    assert said(payload(event), Answer("no", "ask", {"a": "x"}, "words", ("/a",))) == words


texts = st.lists(st.text("ab ", max_size=120), max_size=300).map("\n".join)


@given(texts, texts, texts)
def test_the_words_stay_below_what_the_client_takes(refuse, ask, context):
    out = said(WRITE, Answer(refuse=refuse, ask=ask, context=context * 3))
    assert sum(len(words) for words in out.values()) < LIMIT
    json.dumps(out)


def test_words_are_cut_at_the_end_of_a_line_and_it_says_so():
    lines = "".join(f"line {number}\n" for number in range(2000))
    cut = said(payload("PostToolUse"), Answer(context=lines))["additionalContext"]
    *kept, last = cut.split("\n")
    assert kept == lines.split("\n")[: len(kept)]
    assert last == f"[{2000 - len(kept)} more lines are left out here.]"
    assert len(cut) > LIMIT - 300
