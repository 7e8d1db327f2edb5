"""Every reader knows its own recordings by their beginning, and leaves the others alone."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from bench.readers import Compared, compare_parts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.recordings.samples import SAMPLES, lines, write
from tests.support.examples import examples

from sightline.audit.record import build_record
from sightline.audit.run_sessions import play, segments
from sightline.cli.replay import order
from sightline.messages.formats.format import FORMATS
from sightline.recordings.product_readers import READERS
from sightline.recordings.read_recordings import read_recording
from sightline.recordings.recorded_conversation import NotOurs, Unread

each_sample = pytest.mark.parametrize("agent", SAMPLES)


@each_sample
def test_a_recording_is_its_product_s_and_no_other_s(tmp_path, agent):
    path = write(tmp_path, *SAMPLES[agent])
    assert READERS[agent].conversation(path).agent == agent
    for other in READERS.keys() - {agent}:
        with pytest.raises(NotOurs):
            READERS[other].conversation(path)


def test_every_reader_has_a_recording_here_and_finds_none_on_a_machine_without_its_product(
    tmp_path,
):
    assert READERS.keys() == SAMPLES.keys() | {"aider, SpecStory", "entire"}
    for name, reader in READERS.items():
        assert reader.name == name
        assert reader.title
        assert reader.sessions(str(tmp_path), {}, str(tmp_path)) == []


@each_sample
def test_its_messages_are_a_history_that_a_provider_takes(tmp_path, agent):
    told = read_recording(write(tmp_path, *SAMPLES[agent]))
    assert not isinstance(told, Unread)
    assert len(told.messages) == len(told.times)
    assert FORMATS[told.format].problems(told.messages) == []


@each_sample
def test_it_is_played_and_its_file_was_seen(tmp_path, agent):
    told = read_recording(write(tmp_path, *SAMPLES[agent]))
    assert not isinstance(told, Unread)
    (segment,) = segments(told, len)
    record = build_record(segment.blocks, segment.times, None)
    assert len(record.turns) == {"claude-code": 1, "pi": 3, "codex": 3}.get(agent, 2)
    shown = [excerpt.text for block in segment.blocks for excerpt in block.excerpts]
    assert agent == "claude-code" or shown[0] == "x = 1"


@each_sample
def test_the_same_session_has_the_same_id_wherever_it_lies(tmp_path, agent):
    name, held = SAMPLES[agent]
    first = READERS[agent].conversation(write(tmp_path / "a", name, held))
    assert (
        first.session
        == READERS[agent].conversation(write(tmp_path / "b", name, held)).session
        != ""
    )


@each_sample
def test_a_recording_that_breaks_off_is_played_or_named_but_never_lost(tmp_path, agent):
    name, held = SAMPLES[agent]
    data = held if isinstance(held, str) else json.dumps(held)
    for end in range(0, len(data), 97):
        told = read_recording(write(tmp_path, name, data[:end]))
        if isinstance(told, Unread):
            assert told.why
        else:
            assert told.agent in (agent, "cline", "roo")
            assert told.messages


@each_sample
def test_a_recording_without_its_head_or_its_tail_has_the_calls_that_are_left(tmp_path, agent):
    """Counted beside a plain walk through its JSON; a part without a message is nobody's."""
    parts = compare_parts(Compared(write(tmp_path, *SAMPLES[agent]), agent))
    assert [part for part in parts if part.read != part.walked] == []


@each_sample
@given(data=st.data())
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_recording_of_another_shape_is_played_or_named(tmp_path, agent, data):
    name, held = SAMPLES[agent]
    if isinstance(held, str) and name.endswith(".jsonl"):
        rows = [json.loads(line) for line in held.splitlines()]
        changed = lines(*another(rows, data))
    else:
        changed = held if isinstance(held, str) else json.dumps(another(held, data))
    told = play(order(["none"]), write(tmp_path, name, changed))
    assert told.why if isinstance(told, Unread) else told.outcomes[0].invalid == 0


def another(value, data):
    """A copy with something else at one place."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = data.draw(st.sampled_from(keys))
    copy = dict(value) if isinstance(value, dict) else list(value)
    deeper = isinstance(value[key], dict | list) and value[key] and data.draw(st.integers(0, 5))
    junk: Any = st.sampled_from([None, 3, "x", "", [], {}, [3], {"x": None}, True, [{}], [None]])
    copy[key] = another(value[key], data) if deeper else data.draw(junk)
    return copy


@pytest.mark.parametrize(
    ("name", "held", "why"),
    [
        ("a.json", "{}", "its format is none of these: codex, copilot"),
        ("a.jsonl", lines({"type": "x"}) * 200, "its format is none of these"),
        ("a.md", "# Notes\n", "its format is none of these"),
        ("a.json", b"\xff\xfe\x00".decode("latin-1"), "its format is none of these"),
        (
            ".aider.chat.history.md",
            "\n# aider chat started at 2024-05-21 15:46:38\n\n#### mend a.py\n",
            r"rendering by aider, which holds no messages as they were sent \(the texts of files",
        ),
        (
            "a.md",
            "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n_**User**_\n",
            "rendering by SpecStory, which holds no messages as they were sent",
        ),
        (
            "full.jsonl",
            '{"v":1,"agent":"claude-code","cli_version":"0.1","type":"user"}\n',
            "recording of entire, but it holds no messages",
        ),
        (
            "ui_messages.json",
            '[{"ts": 1, "type": "say", "say": "text", "text": "hello"}]',
            "beside api_conversation_history.json, which holds the messages",
        ),
        (
            "demo.json",
            '[{"kind":"MessageEvent","source":"user","id":"1"}]',
            "openhands, but it holds",
        ),
        ("a.json", '{"info": {"projectID": "p"}, "messages": [', r"its JSON is damaged \(.*record"),
        (
            "a.json",
            '{"info": {"projectID": "p"}, "messages": []}',
            "opencode, but it holds no mess",
        ),
    ],
)
def test_what_cannot_be_played_is_said_with_its_reason(tmp_path, name, held, why):
    told = read_recording(write(tmp_path, name, held))
    assert isinstance(told, Unread)
    assert re.search(why, told.why)


def test_a_large_file_of_another_is_left_alone_after_its_beginning(tmp_path):
    """A sparse file: reading all of it would need its size in memory."""
    file = tmp_path / "large.jsonl"
    file.write_text(lines({"type": "something", "data": {}}) * 200)
    with file.open("r+b") as opened:
        opened.truncate(1 << 36)
    told = read_recording(str(file))
    assert isinstance(told, Unread)
    assert "none of these" in told.why


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    told = read_recording(str(tmp_path))
    assert isinstance(told, Unread)
    assert told.why.startswith("it is no file")
