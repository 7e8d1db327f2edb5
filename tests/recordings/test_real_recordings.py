"""Pieces of real recordings (data/README.md says whose): what each reader takes out of them, and
what no reader invents when they are cut, glued or mangled."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from bench.readers import compare
from tests.recordings.samples import lines, write

from sightline.audit.run_sessions import segments
from sightline.errors import HistoryError
from sightline.messages.formats.format import FORMATS
from sightline.messages.formats.parse_blocks import effect_of, result_excerpts
from sightline.messages.tool_calls import make_call
from sightline.recordings.read_recordings import read_messages, read_recording
from sightline.recordings.recorded_conversation import Unread

DATA = Path(__file__).parent / "data"
CLAUDE_CODE = Path(__file__).parents[1] / "agents" / "claude_code" / "data"
ROO = DATA / "roo-task" / "api_conversation_history.json"
FILES = sorted(path for path in DATA.rglob("*") if path.suffix in (".json", ".jsonl", ".traj"))
AGENTS = {
    "claude-code-fence.jsonl": "claude-code",
    "claude-code-memory.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "copilot.jsonl": "copilot",
    "entire.jsonl": "entire",
    "gemini-cli.json": "gemini-cli",
    "mini-fences.traj.json": "mini-swe-agent",
    "mini.traj.json": "mini-swe-agent",
    "opencode.json": "opencode",
    "openhands-1.json": "openhands",
    "openhands.json": "openhands",
    "pi.jsonl": "pi",
    "api_conversation_history.json": "roo",
    "ui_messages.json": None,
    "swe-agent-fences.traj": "swe-agent",
    "swe-agent.traj": "swe-agent",
}


def found(path):
    conversation = read_recording(str(path))
    assert not isinstance(conversation, Unread), conversation
    return conversation


def blocks(path):
    conversation = found(path)
    return FORMATS[conversation.format].blocks(conversation.messages, len)


def results(path):
    return [block for block in blocks(path) if block.kind == "result"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_is_read_as_its_product_s_or_named_with_a_reason(path):
    conversation = read_recording(str(path))
    if isinstance(conversation, Unread):
        assert AGENTS[path.name] is None
        assert "beside api_conversation_history.json" in conversation.why
        with pytest.raises(HistoryError, match="which holds the messages"):
            read_messages(path)
        return
    assert conversation.agent == AGENTS[path.name]
    history = read_messages(path)
    assert (history.agent, history.format.name) == (conversation.agent, conversation.format)
    assert history.problems() == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_a_reader_finds_is_what_a_plain_walk_counts(path):
    compared = compare(str(path))
    assert compared.read == compared.walked
    assert compared.agent == "" or compared.walked is not None


def test_the_rows_that_roo_shows_a_person_are_no_messages_whatever_their_name(tmp_path):
    shown = (DATA / "roo-task" / "ui_messages.json").read_text(encoding="utf-8")
    for name in ("ui_messages.json", "claude_messages.json", "saved.json"):
        with pytest.raises(HistoryError, match=r"beside api_conversation_history\.json"):
            read_messages(write(tmp_path, name, shown))
    listed = '{"files_in_context": [{"path": "a.ts", "record_state": "active"}]}'
    with pytest.raises(HistoryError, match=r"beside api_conversation_history\.json"):
        read_messages(write(tmp_path, "metadata.json", listed))


def test_an_error_in_roo_s_words_is_no_text_of_the_file():
    """The words are those of the recording, behind the head of a read."""
    messages = json.loads(ROO.read_text(encoding="utf-8"))
    error = messages[2]["content"][1]["text"]
    assert error.startswith("The tool execution failed with the following error:")
    call, result = messages[3], messages[4]
    head = result["content"][0]
    failed = {"role": "user", "content": [head, {"type": "text", "text": error}]}
    shown = FORMATS["anthropic"].blocks([messages[0], call, result, call, failed], len)
    first, second = (block for block in shown if block.kind == "result" and block.deed == "read")
    assert (first.error, len(first.excerpts), first.excerpts[0].first) == (False, 1, 1)
    assert (second.error, second.excerpts) == (True, ())


def test_a_call_of_roo_s_that_breaks_off_is_a_call():
    calls = [block for block in blocks(ROO) if block.kind == "call"]
    assert [block.tool for block in calls] == ["execute_command", "read_file"]


def test_what_copilot_views_is_a_file_s_text_and_a_folder_s_names_are_none():
    path = DATA / "copilot.jsonl"
    viewed = [block for block in results(path) if block.tool == "view"]
    assert sum(bool(block.excerpts) for block in viewed) == 10
    assert [block.text.split("\n")[0][:24] for block in viewed if not block.excerpts] == [
        "File too large to read a",
        "commands",
        "agents_management.md",
    ]


def test_what_copilot_views_without_numbers_is_the_same_text(tmp_path):
    numbered = (DATA / "copilot.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in numbered]
    for row in rows:
        if row["type"] == "tool.execution_complete":
            result = row["data"]["result"]
            parts = [line.split(". ", 1) for line in result["content"].split("\n")]
            if all(part[0].isdigit() for part in parts):
                result["content"] = "\n".join(part[1] for part in parts)
    bare = write(tmp_path, "events.jsonl", lines(*rows))

    def shown(path):
        return [(e.path, e.first, e.text) for block in results(path) for e in block.excerpts]

    assert shown(bare) == shown(DATA / "copilot.jsonl")


@pytest.mark.parametrize(
    ("tool", "path", "text", "first"),
    [
        ("view", "a.md", "# Steps\n\n1. Build.\n2. Test.\n", 1),
        ("read", "a.yml", "codes:\n200: fine\n201: made\nnames: []\n", 1),
        ("read_file", "a.txt", "x\n1 | one\n2 | two\n", 1),
        ("view", "a.md", "1. Build.\n2. Test.\n\nThen go home.\n", None),  # or a text that was cut
    ],
)
def test_numbers_that_are_the_file_s_own_are_text(tool, path, text, first):
    effect = effect_of(make_call("1", tool, {"path": path}))
    shown = [(excerpt.first, excerpt.text) for excerpt in result_excerpts(effect, text)]
    assert shown == ([] if first is None else [(first, text.removesuffix("\n"))])


def test_a_failed_view_of_copilot_s_is_no_text_and_its_mark_is_not_sent(tmp_path):
    rows = [json.loads(line) for line in (DATA / "copilot.jsonl").read_text().splitlines()]
    for row in rows:
        if row["type"] == "tool.execution_complete":
            row["data"] = {
                "toolCallId": row["data"]["toolCallId"],
                "success": False,
                "error": {"message": "Path does not exist: a name, and more"},
            }
    path = write(tmp_path, "events.jsonl", lines(*rows))
    assert all(block.error and not block.excerpts for block in results(path))
    history = read_messages(path)
    shape, parsed = history.format, history.format.blocks(history.messages, len)
    assert "is_error" not in json.dumps(shape.project(history.messages, parsed, []))


def test_a_read_that_begins_with_the_age_of_a_memory_shows_the_memory():
    (block,) = results(DATA / "claude-code-memory.jsonl")
    (shown,) = block.excerpts
    assert (shown.path[-22:], shown.first) == ("omp-dev-environment.md", 1)
    assert shown.text.startswith("---\nname: omp-dev-environment\n")
    assert "system-reminder" not in shown.text


def claude_code_results(path):
    """The text of each result of a Read as the client reports it beside the messages."""
    for line in path.read_text(encoding="utf-8").splitlines():
        report = json.loads(line).get("toolUseResult")
        file = report.get("file") if isinstance(report, dict) else None
        if isinstance(file, dict) and report.get("type") == "text" and file["content"]:
            yield file["filePath"], max(file["startLine"], 1), file["content"]


@pytest.mark.parametrize(
    "path",
    [
        DATA / "claude-code-memory.jsonl",
        CLAUDE_CODE / "transcript-mentions.jsonl",
        *sorted((Path(__file__).parents[1] / "bench" / "recordings").glob("*.jsonl")),
    ],
    ids=lambda path: path.name,
)
def test_claude_code_s_reads_are_what_the_client_reports_beside_them(path):
    """A read of offset 0 counts its lines from 0."""
    shown = [
        (excerpt.path, excerpt.first, excerpt.text)
        for block in results(path)
        if block.tool == "Read"
        for excerpt in block.excerpts
    ]
    reported = list(claude_code_results(path))
    assert shown
    assert shown == reported


def test_a_closing_block_of_shell_is_no_call_where_nobody_asked_for_one():
    (said,) = blocks(DATA / "claude-code-fence.jsonl")
    assert said.text.endswith("\n```")
    assert said.kind == "text"


@pytest.mark.parametrize("name", ["mini-fences.traj.json", "swe-agent-fences.traj"])
def test_it_is_one_where_the_host_asked_for_it(name):
    parsed = blocks(DATA / name)
    fenced = [block for block in parsed if block.text.endswith("\n```") and block.step]
    assert {(block.kind, block.tool) for block in fenced} == {("call", "bash")}
    answered = [block for block in parsed if block.kind == "result"]
    assert len(answered) >= len(fenced) - 1 > 0


def test_events_of_openhands_1_are_the_messages_that_were_sent():
    conversation = found(DATA / "openhands-1.json")
    roles = [message["role"] for message in conversation.messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "user"]
    call = conversation.messages[2]["tool_calls"][0]
    assert call["function"]["name"] == "terminal"
    ran = results(DATA / "openhands-1.json")[0]
    assert ran.text == "\n[The command completed with exit code 0.]"


def test_they_may_be_rows_or_files_of_a_folder(tmp_path):
    events = json.loads((DATA / "openhands-1.json").read_text(encoding="utf-8"))
    whole = found(DATA / "openhands-1.json").messages
    assert found(write(tmp_path, "events.jsonl", lines(*events))).messages == whole
    files = [
        write(tmp_path, f"c1/events/event-{number:05}-{event['id']}.json", event)
        for number, event in enumerate(events)
    ]
    first = found(files[0])
    assert (first.messages, first.session) == (whole, "c1")
    other = read_recording(files[1])
    assert isinstance(other, Unread)
    assert "read from event-00000-5df490d1" in other.why


def test_a_condensation_of_openhands_1_begins_anew_with_what_it_keeps(tmp_path):
    events = json.loads((DATA / "openhands-1.json").read_text(encoding="utf-8"))
    gone = [event["id"] for event in events[2:6]]
    kind = {
        "kind": "Condensation",
        "id": "c",
        "timestamp": "2026-02-05T11:25:00",
        "source": "agent",
    }
    told = {
        **kind,
        "forgotten_event_ids": gone,
        "summary": "A file was written.",
        "summary_offset": 2,
    }
    conversation = found(write(tmp_path, "a.json", [*events, told]))
    assert conversation.borders == (7,)
    after = [message["content"] for message in conversation.messages[7:]]
    assert after[2] == "A file was written."
    assert len(after) == 4


def test_a_transcript_of_entire_is_calls_with_their_results():
    conversation = found(DATA / "entire.jsonl")
    roles = [message["role"] for message in conversation.messages]
    assert roles == ["user", "assistant"] + ["user", "assistant"] * 2 + ["user"]
    bash, large, shown = results(DATA / "entire.jsonl")
    assert (bash.error, large.error, large.excerpts) == (True, True, ())
    (excerpt,) = shown.excerpts
    assert (excerpt.path[-11:], excerpt.first, excerpt.last) == ("manifest.go", 200, 208)
    texts = [block.text for block in blocks(DATA / "entire.jsonl") if block.kind == "text"]
    assert texts == [
        "Let me investigate what #1145 actually added and how it surfaces in `entire review`."
    ]


def test_fields_of_the_host_do_not_reach_the_provider():
    messages = json.loads(ROO.read_text(encoding="utf-8"))
    own = {"isSummary": True, "condenseId": "c", "modelInfo": {"modelId": "m"}, "id": "m1"}
    messages[0] = {**messages[0], **own}
    messages[1]["content"].append(
        {"type": "tool_use", "id": "t", "name": "x", "input": {"ts": 1}, "call_id": "f", "ts": 2}
    )
    shape = FORMATS["anthropic"]
    view = shape.project(messages, shape.blocks(messages, len), [])
    assert {key for message in view for key in message} == {"role", "content"}
    sent = view[1]["content"][-1]
    assert sent == {"type": "tool_use", "id": "t", "name": "x", "input": {"ts": 1}}
    assert view[4]["content"] is messages[4]["content"]


def test_a_message_that_no_format_holds_is_left_out_by_name_and_the_session_goes_on(tmp_path):
    messages = json.loads(ROO.read_text(encoding="utf-8"))
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0K broken"}
    broken = {"role": "user", "content": [{"type": "image", "source": source}]}
    path = write(tmp_path, "api_conversation_history.json", [*messages[:2], broken, *messages[2:]])
    conversation = found(path)
    assert len(conversation.messages) == len(messages)
    assert conversation.set_aside == ("message 2: the base64 of a picture or a document is broken",)
    assert read_messages(path).set_aside == conversation.set_aside


# --- bad input


def mangled(data: bytes, chance: random.Random) -> bytes:
    """The bytes cut, with a part doubled, removed or moved, or with some bytes changed."""
    first, second = sorted(chance.randrange(len(data)) for _ in range(2))
    kind = chance.randrange(6)
    if kind == 0:
        return data[:first]
    if kind == 1:
        return data[second:]
    if kind == 2:
        return data[:first] + data[second:]
    if kind == 3:
        return data[:second] + data[first:]
    if kind == 4:
        return data.replace(b"\n", b"", chance.randrange(1, 9))
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 20)):
        changed[chance.randrange(len(data))] = chance.choice(b'"{}[]:,\\x00nt0\xff')
    return bytes(changed)


def texts_in(value):
    """Every text in JSON, and in the JSON that texts hold."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_in(inner)


def check_nothing_is_invented(path: Path, name: str, data: bytes, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    conversation = read_recording(str(file))
    if isinstance(conversation, Unread):
        assert conversation.why
        return
    plain = data.decode("utf-8", "replace")
    for segment in segments(conversation, len):
        assert FORMATS[conversation.format].problems(segment.messages) == []
        for block in segment.blocks:
            for excerpt in block.excerpts:
                for line in excerpt.text.split("\n"):
                    coded = json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]
                    assert line in plain or any(each in plain for each in coded), line


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_recording_that_is_cut_or_mangled_is_read_or_named_and_nothing_is_invented(
    path, tmp_path
):
    chance = random.Random(path.name)
    for _ in range(4):
        data = mangled(path.read_bytes(), chance)
        check_nothing_is_invented(path, path.name, data, tmp_path)


@pytest.mark.wide
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_so_it_is_at_500_places(path, tmp_path):
    chance = random.Random(f"wide {path.name}")
    others = [other.read_bytes() for other in FILES]
    for number in range(500):
        data = mangled(path.read_bytes(), chance)
        if number % 5 == 0:  # glued to another product's recording
            data += chance.choice((b"", b"\n")) + mangled(chance.choice(others), chance)
        check_nothing_is_invented(path, path.name, data, tmp_path)
