"""To-dos and reports of sub-agents, as the tools of many products write them into a conversation."""

from __future__ import annotations

import json

import pytest

from sightline.messages.blocks import Block
from sightline.messages.recorded_work import NEWEST, read_work


def called(tool, given, answer="ok", *, call="c", error=False):
    return [
        Block(0, 0, "call", json.dumps(given), call=call, tool=tool),
        Block(1, 0, "result", answer, call=call, error=error),
    ]


def noted(text):
    return [Block(0, 0, "system", text)]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("TodoWrite", {"todos": [{"content": "Test it", "status": "in_progress"}]}),
        ("TaskCreate", {"subject": "Test it"}),
        ("update_plan", {"plan": [{"step": "Test it", "status": "in_progress"}]}),
        ("write_todos", {"todos": [{"description": "Test it", "status": "pending"}]}),
        ("todowrite", {"todos": [{"content": "Test it", "status": "pending", "priority": "low"}]}),
        ("manage_todo_list", {"operation": "write", "todoList": [{"id": 1, "title": "Test it", "status": "not-started"}]}),
        ("task_tracker", {"command": "plan", "task_list": [{"title": "Test it", "status": "todo"}]}),
        ("update_todo_list", {"todos": "[ ] Test it"}),
        ("todo__todo_write", {"todos": "- [ ] Test it"}),
        ("todos", {"todos": [{"content": "Test it", "status": "pending", "active_form": "Testing"}]}),
        ("SetTodoList", {"todos": [{"title": "Test it", "status": "Pending"}]}),
    ],
)  # fmt: skip
def test_the_to_dos_of_every_products_tool_are_read(tool, given):
    assert [todo.text for todo in read_work(called(tool, given)).todos] == ["Test it"]


@pytest.mark.parametrize("tool", ["Task", "Agent", "task", "new_task", "runSubagent", "delegate"])
def test_the_result_of_a_sub_agent_is_its_report(tool):
    [report] = read_work(called(tool, {"description": "Look", "prompt": "x"}, "Found it.")).reports
    assert (report.about, report.text) == ("Look", "Found it.")


@pytest.mark.parametrize(
    "blocks",
    [
        called("Agent", {"description": "Look"}, "Async agent launched successfully. (more)"),
        called("spawn_agent", {"message": "Look"}, '{"agent_id": "a1"}'),
        called("Agent", {"description": "Look"}, "The user doesn't want it", error=True),
        called("Agent", {"description": "Look"}, " "),
        noted('<task-notification><summary>Background command "x" done</summary></task-notification>'),
        noted("<subagent_notification>{no JSON</subagent_notification>"),
        noted('<subagent_notification>{"agent_id": "a", "status": "running"}</subagent_notification>'),
    ],
)  # fmt: skip
def test_an_agent_that_has_not_answered_has_no_report(blocks):
    assert read_work(blocks).reports == ()


def test_a_notification_brings_the_report_of_an_agent_in_the_background():
    summary = '<summary>Agent "Look" finished</summary><result>Found it.</result>'
    claude = f"<task-notification>{summary}</task-notification>"
    status = json.dumps({"agent_path": "/main/look", "status": {"completed": "Found, too."}})
    codex = f"<subagent_notification>\n{status}\n</subagent_notification>"
    reports = read_work([*noted(claude), *noted(codex)]).reports
    assert [(each.about, each.text) for each in reports] == [
        ("Look", "Found it."),
        ("/main/look", "Found, too."),
    ]


def test_the_newest_reports_count_and_an_agent_that_is_called_again_reports_once():
    blocks = [
        block
        for number in [*range(9), 0]
        for block in called("Task", {"description": f"d{number}"}, f"r{number}", call=f"c{number}")
    ]
    assert [each.about for each in read_work(blocks).reports] == ["d5", "d6", "d7", "d8", "d0"]
    assert len(read_work(blocks).reports) == NEWEST
