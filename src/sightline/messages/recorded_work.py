"""Read the to-dos and the reports of sub-agents that the messages of a conversation hold.

A sub-agent's report is the result of the call that sent it, or comes later in a notification of its
host. A call that only began an agent has no report yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sightline.messages.blocks import Block
from sightline.messages.todos import TodoReader, is_todo_tool
from sightline.messages.tool_calls import field, parse_object
from sightline.messages.tool_names import plain_name
from sightline.model.agent_work import RecordedWork, Report

AGENTS = frozenset(
    [
        *("task", "agent", "newtask", "spawnagent", "runsubagent", "subagent", "dispatchagent"),
        *("delegate", "delegatetask", "usesubagents", "launchagent", "calltask", "sessionsspawn"),
    ]
)
"""Plain names of the tools that send a sub-agent."""

ABOUT = ("description", "title", "name", "subagent_type", "agent_type", "message", "prompt")
"""Arguments that say in few words what a sub-agent is to do, the best first."""

BEGUN = re.compile(r'\s*(?:Async agent launched|\{"agent_?[iI]d"|agentId:)')
"""The start of a result that only says that an agent began."""

NOTIFICATION = re.compile(
    r"<task-notification>(?:(?!</task-notification>).)*?<summary>Agent \"(?P<about>.*?)\""
    r"(?:(?!</task-notification>).)*?<result>(?P<text>.*?)</result>",
    re.DOTALL,
)
SUBAGENT = re.compile(r"<subagent_notification>(.*?)</subagent_notification>", re.DOTALL)

NEWEST = 5
"""Reports that are kept, the newest ones."""

ABOUT_CHARACTERS = 200
TEXT_CHARACTERS = 4_000
"""Limits beyond which a report is not kept."""


def is_of_work(tool: str) -> bool:
    """Return whether a tool writes to-dos or sends a sub-agent."""
    return plain_name(tool) in AGENTS or is_todo_tool(tool)


def read_work(blocks: Iterable[Block]) -> RecordedWork:
    """Return the work that a conversation tells of."""
    todos, reports = TodoReader(), ReportReader()
    for block in blocks:
        todos.add(block)
        reports.add(block)
    return RecordedWork(todos.newest(), reports.newest())


class ReportReader:
    """Reads the reports of one conversation, block by block."""

    def __init__(self) -> None:
        self._sent: dict[str | None, str] = {}  # call -> the task of the agent that it sent
        self._reports: dict[
            str, Report
        ] = {}  # by task: an agent that is called again reports again

    def newest(self) -> tuple[Report, ...]:
        """Return the last reports, in order."""
        return tuple(self._reports.values())[-NEWEST:]

    def add(self, block: Block) -> None:
        """Read the next block."""
        if block.kind == "call" and plain_name(block.tool or "") in AGENTS:
            arguments = parse_object(block.text) or {}
            self._sent[block.call] = str(field(arguments, *ABOUT) or block.tool)
        elif block.kind == "result" and block.call in self._sent:
            about = self._sent.pop(block.call)
            if block.text.strip() and not block.error and not BEGUN.match(block.text):
                self._keep(about, block.text)
        elif block.kind in ("user", "system") and "notification>" in block.text:
            for about, text in _notified(block.text):
                self._keep(about, text)

    def _keep(self, about: str, text: str) -> None:
        about = about.strip()[:ABOUT_CHARACTERS]
        self._reports.pop(about, None)
        self._reports[about] = Report(about, text.strip()[:TEXT_CHARACTERS])


def _notified(text: str) -> Iterator[tuple[str, str]]:
    """Yield (task, report) of the agents whose end a host's text tells."""
    for match in NOTIFICATION.finditer(text):
        yield match["about"], match["text"]
    for match in SUBAGENT.finditer(text):
        told = parse_object(match[1]) or {}
        status = told.get("status")
        report = status.get("completed") if isinstance(status, dict) else None
        if isinstance(report, str) and report.strip():
            yield str(field(told, "agent_path", "agent_name", "agent_id") or "agent"), report
