"""What blocks say of a conversation beyond its texts: steps, tools, whose result is whose."""

import pytest

from sightline.messages.blocks import Excerpt, Rewrite
from sightline.messages.formats.format import FORMATS
from sightline.text.tokens import PICTURE

READ = {"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": "a.py"}}
SHOWN = {"type": "tool_result", "tool_use_id": "1", "content": "     1→one"}


def blocks(name, messages):
    return FORMATS[name].blocks(messages, len)


def test_a_result_knows_the_call_that_it_answers():
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [READ]},
        {"role": "user", "content": [SHOWN]},
    ]
    call, result = blocks("anthropic", messages)[1:]
    assert (call.call, call.tool, call.deed, call.paths) == ("1", "Read", "read", ("a.py",))
    assert (result.call, result.tool, result.deed, result.paths) == ("1", "Read", "read", ("a.py",))
    assert result.excerpts == (Excerpt("a.py", 1, "one", None, whole=True),)


def test_steps_count_answers_however_many_messages_they_have():
    messages = [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "more"},
        {"role": "assistant", "content": "c"},
    ]
    assert [block.step for block in blocks("chat", messages)] == [0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("chat", [
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "1", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}]},
            {"role": "tool", "tool_call_id": "1", "content": "x\n"}]),
        ("responses", [
            {"type": "function_call", "call_id": "1", "name": "read_file", "arguments": '{"path": "a"}'},
            {"type": "function_call_output", "call_id": "1", "output": "x\n"}]),
        ("gemini", [
            {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"path": "a"}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "read_file", "response": {"output": "x\n"}}}]}]),
        ("langchain", [
            {"type": "ai", "content": "", "tool_calls": [
                {"id": "1", "name": "read_file", "args": {"path": "a"}}]},
            {"type": "tool", "tool_call_id": "1", "content": "x\n"}]),
        ("pydantic-ai", [
            {"kind": "response", "parts": [
                {"part_kind": "tool-call", "tool_name": "read_file", "tool_call_id": "1", "args": {"path": "a"}}]},
            {"kind": "request", "parts": [
                {"part_kind": "tool-return", "tool_name": "read_file", "tool_call_id": "1", "content": "x\n"}]}]),
    ],
)  # fmt: skip
def test_a_read_is_a_read_in_every_format(name, messages):
    call, result = blocks(name, messages)
    assert (call.kind, call.deed, call.paths) == ("call", "read", ("a",))
    assert (result.kind, result.deed, result.call) == ("result", "read", call.call)
    assert result.excerpts == (Excerpt("a", 1, "x", None, whole=True),)


def test_pictures_are_counted_wherever_they_stand():
    picture = {"type": "image", "source": {"type": "base64", "data": "aaaa"}}
    shown = {**SHOWN, "content": [{"type": "text", "text": "see"}, picture]}
    messages = [
        {"role": "user", "content": [picture, picture]},
        {"role": "assistant", "content": [READ]},
        {"role": "user", "content": [shown]},
    ]
    assert [block.tokens for block in blocks("anthropic", messages) if block.kind != "call"] == [
        PICTURE,
        PICTURE,
        PICTURE + 3,
    ]


ROO = [
    {"role": "user", "content": [{"type": "text", "text": "<task>\nfix\n</task>"}]},
    {
        "role": "assistant",
        "content": "I look.\n<read_file>\n<args><file><path>a.ts</path></file></args>\n</read_file>",
    },
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "[read_file for 'a.ts'] Result:"},
            {
                "type": "text",
                "text": '<file><path>a.ts</path>\n<content lines="1-1">\n1 | one\n</content></file>',
            },
            {"type": "text", "text": "<environment_details>\n# Time\n</environment_details>"},
        ],
    },
    {
        "role": "assistant",
        "content": "<write_to_file>\n<path>b.ts</path>\n<content>\ntwo\n</content>\n</write_to_file>",
    },
    {"role": "user", "content": "[write_to_file for 'b.ts'] Result:\nSaved."},
]


def test_calls_in_tags_and_their_results_are_found():
    found = blocks("anthropic", ROO)
    assert [block.kind for block in found] == [
        *("user", "call", "system", "result", "system", "call", "result"),
    ]
    read, shown, write, saved = (found[at] for at in (1, 3, 5, 6))
    assert (read.tool, read.paths, read.fixed) == ("read_file", ("a.ts",), True)
    assert (shown.call, shown.fixed) == (read.call, False)
    assert shown.excerpts == (Excerpt("a.ts", 1, "one", None, whole=True),)
    assert write.rewrites == (Rewrite("b.ts", None, "\ntwo\n"),)
    assert (saved.call, saved.deed) == (write.call, "write")


def test_words_of_a_person_in_a_result_keep_all_of_it():
    said = "[write_to_file for 'b.ts'] Result:\nDenied.\n<feedback>\nnot there\n</feedback>"
    last = blocks("anthropic", [*ROO[:4], {"role": "user", "content": said}])[-1]
    assert (last.kind, last.fixed) == ("user", True)


def test_a_file_that_holds_such_a_tag_inside_a_line_was_read():
    asked = "<read_file>\n<path>a.ts</path>\n</read_file>"
    said = "[read_file for 'a.ts'] Result:\n 1 | const tag = \"<task>\"\n"
    messages = [{"role": "assistant", "content": asked}, {"role": "user", "content": said}]
    last = blocks("anthropic", messages)[-1]
    assert [part.text for part in last.excerpts] == ['const tag = "<task>"']


def test_a_first_call_as_a_block_of_shell_is_found_by_its_output():
    """The words of the host that asked for it are cut off."""
    messages = [
        {"role": "assistant", "content": "THOUGHT: look.\n\n```bash\ncat a.py\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\none\n</output>"},
    ]
    assert [block.kind for block in blocks("chat", messages)] == ["call", "result"]


def test_a_command_at_the_end_of_a_text_and_its_output_are_found():
    asks = "Answer with exactly ONE bash code block."
    messages = [
        {"role": "user", "content": f"fix it. {asks}"},
        {"role": "assistant", "content": "THOUGHT: look.\n\n```bash\ncat a.py\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\none\n</output>"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "thanks"},
    ]
    found = blocks("chat", messages)
    assert [block.kind for block in found] == ["user", "call", "result", "text", "user"]
    assert found[2].excerpts == (Excerpt("a.py", 1, "one", 1, whole=True),)
    assert found[2].call == found[1].call
    assert not found[2].fixed
    said = "Look at ```x = 1```.\n"
    last = {"role": "user", "content": "RESPONSE FORMAT: one command."}
    for command in ("<command>\ncat a.py\n</command>", "```\ncat a.py\n```"):
        told = {"role": "assistant", "content": said + command}
        assert blocks("chat", [last, told])[1].paths == ("a.py",)
        assert blocks("chat", [messages[0], told])[1].kind == "text"  # not the only block
    unasked = blocks("chat", [{"role": "user", "content": "fix it"}, *messages[1:2]])
    assert [block.kind for block in unasked] == ["user", "text"]


def test_a_result_of_a_call_that_failed_says_so_and_shows_nothing():
    messages = [
        {"role": "assistant", "content": [READ]},
        {"role": "user", "content": [{**SHOWN, "is_error": True}]},
    ]
    result = blocks("anthropic", messages)[1]
    assert (result.error, result.excerpts) == (True, ())


def test_a_person_is_told_from_a_program_and_a_summary():
    messages = [
        {"role": "user", "content": "<system-reminder>be brief</system-reminder>"},
        {"role": "user", "content": "was: a summary", "isCompactSummary": True},
        {"role": "user", "content": "go on"},
    ]
    assert [block.kind for block in blocks("anthropic", messages)] == ["system", "summary", "user"]
    assert all(block.fixed for block in blocks("anthropic", messages))
