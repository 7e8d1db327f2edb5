"""The scripted model by itself: the right step, whatever the conversation has been through."""

import json
from urllib.request import Request, urlopen

import pytest
from tests.clients.stub import COMPACTION, Model, Step, serving

READ = ("Read", {"file_path": "/a"})


def ask(model, *messages, tools=True):
    """One request of a client; the content blocks of the answer, put together from its stream."""
    body = {"messages": list(messages), "tools": [{"name": "Read"}] if tools else []}
    with urlopen(Request(f"{model.url}/v1/messages?beta=true", json.dumps(body).encode())) as reply:
        rows = [json.loads(line[6:]) for line in reply if line.startswith(b"data: ")]
    blocks = [row["content_block"] for row in rows if row["type"] == "content_block_start"]
    for row in rows:
        if row["type"] == "content_block_delta":
            block, delta = blocks[row["index"]], row["delta"]
            if delta["type"] == "text_delta":
                block["text"] += delta["text"]
            else:
                block["input"] = json.loads(delta["partial_json"])
    return blocks


def user(*texts):
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def assistant(blocks):
    return {"role": "assistant", "content": blocks}


def result(blocks, text):
    used = [each["id"] for each in blocks if each["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": each, "content": text} for each in used]
    return {"role": "user", "content": results}


@pytest.fixture
def served():
    with serving(Model()) as model:
        yield model


def test_the_steps_follow_the_tools_that_were_called(served):
    served.script("fix it", Step("I look.", (READ, READ)), Step("Done."))
    called = ask(served, user("fix it"))
    assert [each["type"] for each in called] == ["text", "tool_use", "tool_use"]
    assert called[1]["input"] == {"file_path": "/a"}
    said = ask(served, user("fix it"), assistant(called), result(called, "text of a"))
    assert said == [{"type": "text", "text": "Done."}]
    assert served.sent(1) == "text of a\ntext of a"


def test_the_last_prompt_of_a_conversation_names_the_script(served):
    served.script("fix it", Step(tools=(READ,)), Step("Done."))
    served.script("go on", Step(tools=(READ,)), Step("Gone on."))
    first = ask(served, user("fix it"))
    begun = [user("fix it"), assistant(first), result(first, "go on is in this file")]
    assert ask(served, *begun)[0]["text"] == "Done."
    called = ask(served, *begun, assistant([{"type": "text", "text": "Done."}]), user("go on"))
    assert served.requests[-1].prompt == "go on"
    assert called[0]["id"] != first[0]["id"]


def test_something_may_happen_once_before_a_step_is_answered(served):
    happened = []
    served.script("fix it", Step("Done.", before=lambda: happened.append(len(served.requests))))
    assert ask(served, user("fix it")) == ask(served, user("fix it"))
    assert happened == [1]


def test_a_title_and_a_summary_need_no_script(served):
    assert ask(served, user("anything"), tools=False)[0]["text"] == "A title"
    assert "<summary>" in ask(served, user("fix it", f"Your task is to {COMPACTION}"))[0]["text"]


def test_what_no_script_answers_is_an_error_that_the_test_finds(served):
    with pytest.raises(OSError, match="400"):
        ask(served, user("who are you"))
    assert "who are you" in served.errors[0]
