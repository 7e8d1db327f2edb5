"""The recorded conversations of a workspace."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.agents.claude_code.samples import DATA

from sightline.model.hook_events import Began, Compacted, Prompted, Shown, Wrote
from sightline.recordings.claude_code.recorded_sessions import folder_name, recordings, timed_events
from sightline.recordings.reader import Recording

SESSION = "b25679aa-1f9f-446b-b1da-25185cdc8c0a"
ROOT = "/home/me/demo"


@pytest.fixture
def home(tmp_path):
    """A home in which the client recorded a conversation with a sub-agent, and another one."""
    folder = tmp_path / ".claude" / "projects" / "-home-me-demo"
    inner = folder / SESSION / "subagents"
    inner.mkdir(parents=True)
    shutil.copy(DATA / "transcript-tools.jsonl", folder / f"{SESSION}.jsonl")
    shutil.copy(DATA / "transcript-compacted.jsonl", folder / "other.jsonl")
    shutil.copy(DATA / "transcript-agent.jsonl", inner / "agent-a9a5ddd00f7b1cc90.jsonl")
    (inner / "agent-a9a5ddd00f7b1cc90.meta.json").write_text('{"agentType": "general-purpose"}')
    (folder / "memory").mkdir()
    return tmp_path


def of(home, root=ROOT):
    return [(each.session, each.parent) for each in recordings(root, {}, str(home))]


def test_conversations_are_found_each_sub_agents_after_its_own(home):
    found = recordings(ROOT, {}, str(home))
    assert [(each.session, each.parent) for each in found] == [
        ("other", None),
        (SESSION, None),
        (f"{SESSION}/general-purpose-a9a5ddd0", SESSION),
    ]
    assert {each.cwd for each in found} == {ROOT}
    assert found[0].started < found[1].started


def test_the_folder_has_the_name_of_the_workspace_and_so_may_another(home):
    """/home/me/demo.two and a folder two in /home/me/demo look alike."""
    assert folder_name("/home/me/demo.two/ä_b") == "-home-me-demo-two---b"
    projects = home / ".claude" / "projects"
    for name, cwd in (("a", f"{ROOT}/two"), ("b", "/home/me/demo.two")):
        folder = projects / "-home-me-demo-two"
        folder.mkdir(exist_ok=True)
        row = {"type": "user", "cwd": cwd, "timestamp": "2026-11-20T10:00:00.000Z"}
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    assert ("a", None) in of(home)
    assert ("b", None) not in of(home)
    assert of(home, "/home/me/demo.two") == [("b", None)]


def test_a_workspace_without_recordings_has_none(tmp_path, home):
    assert recordings(ROOT, {}, str(tmp_path / "nobody")) == []
    assert of(home, "/home/me/elsewhere") == []


def test_the_client_may_keep_its_files_elsewhere(tmp_path, home):
    moved = tmp_path / "moved"
    shutil.move(home / ".claude", moved)
    assert len(recordings(ROOT, {"CLAUDE_CONFIG_DIR": str(moved)}, str(home))) == 3


def test_a_transcript_that_says_neither_when_nor_where_is_no_recording(home):
    folder = home / ".claude" / "projects" / "-home-me-demo"
    (folder / "empty.jsonl").write_text("")
    (folder / "title.jsonl").write_text('{"type": "summary"}\n{"cwd": "/home/me/demo"}\nx"cwd"\n')
    assert len(of(home)) == 3


def test_a_recording_is_told_in_order(home):
    (_, main, _) = recordings(ROOT, {}, str(home))
    found = list(timed_events(main))
    times = [at for at, _ in found]
    assert times == sorted(times)
    assert times[0] >= main.started
    kinds = [type(event) for _, event in found]
    assert kinds[:3] == [Prompted, Shown, Shown]
    assert kinds.count(Wrote) == 4  # an edit of a notebook is none of a text
    assert Began in kinds


def test_what_the_client_wrote_itself_is_no_prompt(home):
    (other, *_) = recordings(ROOT, {}, str(home))
    prompts = [event.text for _, event in timed_events(other) if isinstance(event, Prompted)]
    assert prompts == ["fix add", "continue please"]
    assert Compacted() in [event for _, event in timed_events(other)]


def test_copied_and_damaged_rows_are_passed_over(tmp_path):
    row = {"type": "user", "uuid": "u1", "timestamp": "2026-11-20T10:00:00Z", "cwd": ROOT}
    rows = [
        {**row, "message": {"content": "one"}},
        {**row, "message": {"content": "one"}},
        {**row, "uuid": "u2", "message": {"content": [{"type": "text", "text": "two"}]}},
        {**row, "uuid": "u3", "message": {"content": "helper"}, "isSidechain": True},
        {**row, "uuid": "u4", "message": {"content": "made"}, "isMeta": True},
        {**row, "uuid": "u5", "message": None},
        {**row, "uuid": "u6", "toolUseResult": {"structuredPatch": []}},
        {**row, "uuid": "u7", "toolUseResult": {"type": "text", "file": {"filePath": 1}}},
        {**row, "uuid": ["u8"], "timestamp": "soon", "message": {"content": "three"}},
        {**row, "uuid": "u9", "isMeta": "yes", "type": "future", "message": {"content": "four"}},
    ]
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in rows) + '{"user": \n"user"\n')
    found = list(timed_events(Recording(str(file), "s", 0, ROOT, file.stat().st_size)))
    assert [event for _, event in found] == [Prompted("one"), Prompted("two"), Prompted("three")]
    assert len({at for at, _ in found}) == 1
