"""What each hook of the real client tells."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.claude_code.samples import CLAUDE, FILES, payload, payloads, told, tool

from sightline.model.attempts import CellEdit, Replace, Several, WriteWhole
from sightline.model.hook_events import (
    Answered,
    Attempted,
    Began,
    Caller,
    ChangedOutside,
    CommandBegan,
    CommandEnded,
    Compacted,
    Ended,
    Failed,
    Instructed,
    Prompted,
    Shown,
    Stopped,
    Wrote,
)

DEMO = "/home/me/demo"
CALC = f"{DEMO}/calc.py"


def read(content, first=1, count=1, total=1, **more):
    file = {"filePath": CALC, "content": content, "startLine": first, "numLines": count}
    return tool(
        "PostToolUse",
        "Read",
        {"file_path": CALC},
        tool_response={"type": "text", "file": {**file, "totalLines": total, **more}},
    )


# --- whose event ----------------------------------------------------------------------------------


def test_a_session_is_the_clients_own():
    first = payloads("hooks-tools.jsonl")[0]
    caller = CLAUDE.caller(first)
    assert caller == Caller(first["session_id"], DEMO, None, first["transcript_path"])


def test_a_sub_agent_has_a_session_of_its_own_and_its_own_transcript():
    mine = {"agent_id": "a953853db99e1180f", "agent_type": "general-purpose"}
    caller = CLAUDE.caller(payload("PreToolUse", **mine))
    assert caller.session == "s1/general-purpose-a953853d"
    assert caller.parent == "s1"
    assert caller.transcript == "/home/me/t/s1/subagents/agent-a953853db99e1180f.jsonl"
    told = {**mine, "agent_transcript_path": "/elsewhere.jsonl"}
    assert CLAUDE.caller(payload("SubagentStop", **told)).transcript == "/elsewhere.jsonl"


@pytest.mark.parametrize(
    ("kind", "name"), [(None, "agent"), ("", "agent"), ("a\nb\x00", "a-b-"), ("ä b", "ä b")]
)
def test_a_sub_agents_kind_becomes_a_name(kind, name):
    mine = {"agent_id": "0123456789", "agent_type": kind}
    assert CLAUDE.caller(payload("Stop", **mine)).session == f"s1/{name}-01234567"


def test_a_call_of_a_servers_tool_tells_of_all_texts_of_its_input_and_result():
    given = {"path": CALC, "edits": [{"old": "a", "new": "b"}], "dry": True, "head": 3}
    name, texts = "mcp__files__edit_file", (CALC, "a", "b")
    [began] = CLAUDE.events(tool("PreToolUse", name, given))
    assert (began.tool, began.given) == (name, texts)
    shown = [{"type": "text", "text": '{"content": "x\\ny"}'}, {"type": "image", "data": "z"}]
    [ended] = CLAUDE.events(tool("PostToolUse", name, given, tool_response=shown))
    assert (ended.given, ended.texts) == (texts, ('{"content": "x\\ny"}', "x\ny"))
    assert (ended.has_failed, began.call) == (False, ended.call)
    [failed] = CLAUDE.events(tool("PostToolUseFailure", name, given, error="no such file"))
    assert (failed.texts, failed.has_failed) == (("no such file",), True)


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        "text",
        None,
        {},
        {"session_id": "s"},
        {"cwd": "/"},
        {"session_id": 1, "cwd": "/"},
        {"session_id": "s", "cwd": None},
        {"session_id": "s", "cwd": "/", "agent_id": 7},
        {"session_id": "s", "cwd": "/", "transcript_path": []},
    ],
)
def test_a_payload_without_what_every_payload_has_is_a_clear_error(wrong):
    with pytest.raises(ValueError, match="The payload"):
        CLAUDE.caller(wrong)


# --- the conversation -----------------------------------------------------------------------------


def test_a_compaction_begins_the_conversation_anew():
    assert told("hooks-compact.jsonl", Began, Compacted) == [
        Began("resume"),
        Compacted(),
        Began("compact", "claude-opus-5-5"),
        Began("resume"),
        Began("fork"),
    ]


def test_a_source_that_is_not_known_is_a_start():
    assert CLAUDE.events(payload("SessionStart", source="teleport")) == [Began("startup")]


def test_instructions_prompt_and_mentions():
    assert told("hooks-tools.jsonl", Instructed, Prompted)[:3] == [
        Instructed(f"{DEMO}/CLAUDE.md"),
        Prompted(
            "please look at @notes.txt and @sub/m.py",
            (("notes.txt", None), ("sub/m.py", None)),
            "acceptEdits",
        ),
        Instructed(f"{DEMO}/sub/CLAUDE.md"),
    ]


def test_nothing_is_mentioned_in_a_prompt_of_the_clients_own():
    made = payload("UserPromptSubmit", prompt="<task-notification>\n@a.py </task-notification>")
    (prompted,) = CLAUDE.events(made)
    assert isinstance(prompted, Prompted)
    assert prompted.mentions == ()


def test_stops_and_ends():
    assert told("hooks-compact.jsonl", Stopped, Ended)[-2:] == [Stopped(), Ended("other")]
    helper = payload("SubagentStop", agent_id="a1", agent_type="")
    assert CLAUDE.events(helper) == []


# --- reads ----------------------------------------------------------------------------------------


def test_reads_of_the_real_client():
    assert told("hooks-edges.jsonl", Shown)[:5] == [
        Shown(f"{DEMO}/big.txt", (1, 2), "1\n2\n"),  # it says line 0 for an offset of 0
        Shown(CALC, None, "def add(a, b):\n    return a - b\n"),
        Shown(f"{DEMO}/empty.txt", None, ""),
        Shown(f"{DEMO}/crlf.txt", None, "a\nb\nc\n"),
        Shown(f"{DEMO}/big.txt", (99, 100), "99\n100\n"),
    ]


@given(
    st.lists(st.sampled_from(["", "a", "  b"]), max_size=9),
    st.booleans(),
    st.integers(1, 11),
    st.integers(1, 11),
)
def test_a_read_is_of_the_lines_that_are_there(lines, ended, first, limit):
    """The client cuts the text at newlines and counts what stands behind the last one."""
    text = "\n".join(lines) + ("\n" if ended and lines else "")
    cut = text.split("\n")
    part = cut[first - 1 : first - 1 + limit]
    found = CLAUDE.events(read("\n".join(part), first, len(part), len(cut)))
    there = text.splitlines(keepends=True)
    seen = there[first - 1 : first - 1 + limit]
    if first == 1 and len(part) == len(cut):
        assert found == [Shown(CALC, None, text)]
    elif seen:
        assert found == [Shown(CALC, (first, first + len(seen) - 1), "".join(seen))]
    else:
        assert found == []


def test_the_last_line_of_a_read_that_was_cut_short_is_not_counted():
    cut = read("a\nb\nhal", 1, 3, 9, truncatedByTokenCap=True)
    assert CLAUDE.events(cut) == [Shown(CALC, (1, 2), "a\nb\n")]


def test_a_notebook_is_known_by_its_place_and_an_image_is_no_text():
    assert Shown(f"{DEMO}/nb.ipynb", via="notebook") in told("hooks-tools.jsonl", Shown)
    assert told("hooks-images.jsonl", Shown) == []


# --- edits ----------------------------------------------------------------------------------------


def test_attempts_of_the_real_client():
    attempts = told("hooks-tools.jsonl", Attempted)
    assert attempts[:3] == [
        Attempted.single(f"{DEMO}/notes.txt", Replace("hello", "HELLO"), "toolu_stub000017068"),
        Attempted.single(f"{DEMO}/notes.txt", WriteWhole("overwritten\n"), "toolu_stub020018281"),
        Attempted.single(f"{DEMO}/new/made.py", WriteWhole("x = 1\n"), "toolu_stub030018817"),
    ]
    assert attempts[4] == Attempted.single(
        f"{DEMO}/nb.ipynb", CellEdit("c1", "replace", "print(2)"), "toolu_stub070021329"
    )


def test_all_places_and_several_edits():
    one = {"old_string": "a", "new_string": "b", "replace_all": True}
    (every,) = CLAUDE.events(tool("PreToolUse", "Edit", {"file_path": CALC, **one}))
    assert every == Attempted.single(CALC, Replace("a", "b", None), "c1")
    edits = [one, {"old_string": "c", "new_string": ""}]
    (both,) = CLAUDE.events(tool("PreToolUse", "MultiEdit", {"file_path": CALC, "edits": edits}))
    assert both == Attempted.single(
        CALC, Several((Replace("a", "b", None), Replace("c", ""))), "c1"
    )


def test_a_cell_is_deleted_or_put_first():
    gone = {"notebook_path": "n.ipynb", "cell_id": "c1", "edit_mode": "delete"}
    first = {"notebook_path": "n.ipynb", "new_source": "x", "edit_mode": "insert"}
    assert [CLAUDE.events(tool("PreToolUse", "NotebookEdit", each)) for each in (gone, first)] == [
        [Attempted.single("n.ipynb", CellEdit("c1", "delete", ""), "c1")],
        [Attempted.single("n.ipynb", CellEdit(None, "insert", "x"), "c1")],
    ]


def test_an_edit_of_nothing_makes_a_file():
    given = {"file_path": CALC, "old_string": "", "new_string": "x\n"}
    assert CLAUDE.events(tool("PreToolUse", "Edit", given)) == [
        Attempted.single(CALC, WriteWhole("x\n"), "c1")
    ]


def test_what_edits_of_the_real_client_left():
    """These contents stood on disk then; CRLF is told as a newline."""
    wrote = {event.path: event for event in told("hooks-edges.jsonl", Wrote)}
    assert wrote[f"{DEMO}/crlf.txt"].content == "a\nB\nC\nD\n"
    assert wrote[CALC].content == "def add(a, b):\n    "
    assert wrote[f"{DEMO}/quote.txt"].content == "say “ho”\n"
    call = wrote[f"{DEMO}/fresh.txt"].call
    assert wrote[f"{DEMO}/fresh.txt"] == Wrote(
        f"{DEMO}/fresh.txt", call, None, known_before=False, content="new text\n", whole=True
    )


def test_what_writes_of_the_real_client_left():
    notes, made = told("hooks-tools.jsonl", Wrote)[1:3]
    assert notes == Wrote(
        f"{DEMO}/notes.txt",
        "toolu_stub020018281",
        before="HELLO\n",
        content="overwritten\n",
        whole=True,
    )
    assert made == Wrote(
        f"{DEMO}/new/made.py", "toolu_stub030018817", content="x = 1\n", whole=True
    )


def test_the_text_before_an_edit_may_not_be_told():
    given = {"file_path": CALC, "old_string": "a", "new_string": "b"}
    responses: list[object] = [None, "done", {"originalFile": None, "structuredPatch": []}]
    for response in responses:
        after = tool("PostToolUse", "Edit", given, tool_response=response)
        assert CLAUDE.events(after) == [Wrote(CALC, "c1", known_before=False)]


def test_a_notebook_edit_tells_both_texts_or_its_error():
    wrote = next(e for e in told("hooks-tools.jsonl", Wrote) if e.path.endswith(".ipynb"))
    assert "print(1)" in wrote.before
    assert "print(2)" in wrote.content
    assert not wrote.whole
    given = {"notebook_path": "n.ipynb", "new_source": "x"}
    wrong = tool("PostToolUse", "NotebookEdit", given, tool_response={"error": "no cell c9"})
    assert CLAUDE.events(wrong) == [Failed("n.ipynb", "c1", why="no cell c9")]


# --- failures -------------------------------------------------------------------------------------


def test_an_edit_that_the_client_turned_down_is_told_by_the_batch():
    (answered,) = [a for a in told("hooks-compact.jsonl", Answered) if a.failed]
    why = "String to replace not found in file.\nString: return a - b"
    attempt = Replace("return a - b", "return a + b")
    assert answered.failed == (Failed(CALC, "toolu_stub010041110", attempt, why),)


def test_what_another_hook_refused_is_no_failure_of_the_client():
    assert {a.failed for a in told("hooks-decisions.jsonl", Answered)} == {()}


def test_input_that_not_even_the_client_could_read_is_passed_over():
    calls = [
        {"tool_name": "Edit", "tool_input": {"edits": 3}, "tool_response": "<tool_use_error>no"},
        {"tool_name": "Edit", "tool_response": "<tool_use_error>no"},
        {"tool_name": "Task", "tool_input": {}, "tool_response": "<tool_use_error>no"},
        {"tool_name": "Read", "tool_input": {}, "tool_response": [{"type": "image"}]},
    ]
    assert CLAUDE.events(payload("PostToolBatch", tool_calls=calls)) == [Answered()]


def test_a_failed_edit_that_began_is_told_with_its_reason():
    given = {"file_path": CALC, "content": "x"}
    failed = tool("PostToolUseFailure", "Write", given, error="EACCES")
    assert CLAUDE.events(failed) == [Failed(CALC, "c1", why="EACCES")]


# --- the shell ------------------------------------------------------------------------------------


def test_commands_of_the_real_client():
    ends = told("hooks-edges.jsonl", CommandEnded)
    assert [(end.command, end.output, end.exit_code, end.background) for end in ends] == [
        ("echo one; sleep 1; false", "one", 1, False),
        ("sleep 30", "", None, True),
        ("cat big.txt | head -3", "1\n2\n3", 0, False),
    ]
    begins = told("hooks-edges.jsonl", CommandBegan)
    assert [(each.command, each.call) for each in begins] == [(e.command, e.call) for e in ends]
    assert {each.cwd for each in begins} == {DEMO}


@pytest.mark.parametrize(
    ("response", "output", "code"),
    [
        ({"stdout": "a", "stderr": "b"}, "a\nb", 0),
        ({"stdout": "a", "persistedOutputPath": "/x"}, "", 0),
        ({"stdout": "a", "interrupted": True}, "a", None),
        ({"stdout": "", "returnCodeInterpretation": "No matches found"}, "", None),
        ("text", "", None),
    ],
)
def test_output_is_what_the_model_was_shown(response, output, code):
    after = tool("PostToolUse", "Bash", {"command": "x"}, tool_response=response)
    assert CLAUDE.events(after) == [CommandEnded("x", "c1", DEMO, output, code)]


def test_an_interrupted_command_has_no_exit_code():
    given = {"command": "x"}
    after = tool("PostToolUseFailure", "Bash", given, error="killed", is_interrupt=True)
    assert CLAUDE.events(after) == [CommandEnded("x", "c1", DEMO, "killed", None)]


# --- the rest -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_every_captured_hook_has_a_caller_and_events(name):
    for each in payloads(name):
        assert CLAUDE.caller(each).cwd == DEMO
        assert isinstance(CLAUDE.events(each), list)


def test_a_change_outside():
    assert ChangedOutside(CALC) in told("hooks-tools.jsonl", ChangedOutside)


def test_the_event_may_be_named_beside_the_payload():
    nameless = {"session_id": "s", "cwd": "/"}
    assert CLAUDE.events(nameless, "Stop") == [Stopped()]
    assert CLAUDE.events(nameless) == []


def test_what_is_of_no_interest_tells_nothing():
    for event in ("PostCompact", "PreCompact", "CwdChanged", "Notification", "Future"):
        assert CLAUDE.events(payload(event)) == []
    for name in ("WebFetch", "Glob", "Future"):
        for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
            assert CLAUDE.events(tool(event, name, {"file_path": 3}, error="x")) == []


@pytest.mark.parametrize(
    "wrong",
    [
        payload("PreToolUse"),
        payload("PreToolUse", tool_name="Edit"),
        tool("PreToolUse", "Edit", []),
        tool("PreToolUse", "Edit", {"file_path": CALC}),
        tool("PreToolUse", "Edit", {"file_path": 1, "old_string": "", "new_string": ""}),
        tool("PreToolUse", "Write", {"file_path": CALC, "content": ["x"]}),
        tool("PreToolUse", "MultiEdit", {"file_path": CALC, "edits": ["x"]}),
        tool("PreToolUse", "Bash", {"command": None}),
        payload("UserPromptSubmit", prompt=7),
        payload("PostToolBatch", tool_calls={}),
        payload("InstructionsLoaded"),
        payload("FileChanged", file_path=None),
    ],
)
def test_wrong_types_are_a_clear_error(wrong):
    with pytest.raises(ValueError, match="The payload"):
        CLAUDE.events(wrong)


def test_an_error_names_no_value_for_it_goes_to_a_log():
    with pytest.raises(
        ValueError, match=r"Expected `str`, got `array` - at `\$.content`"
    ) as caught:
        CLAUDE.events(tool("PreToolUse", "Write", {"file_path": CALC, "content": ["hunter2"]}))
    assert "hunter2" not in str(caught.value)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
fields = st.sampled_from(
    ["tool_name", "tool_input", "tool_response", "tool_calls", "prompt", "file_path", "agent_id"]
)


@given(st.sampled_from([p for name in FILES for p in payloads(name)]), fields, json)
def test_any_field_may_be_anything(captured, field, value):
    """Read, or refused in words: never another error."""
    wrong = {**captured, field: value}
    for ask in (CLAUDE.caller, CLAUDE.events):
        with suppress(ValueError):
            ask(wrong)
