"""The dialogues: what Claude Code tells its hooks, and what others do to the files meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.golden.agent import Agent, recorded_read
from tests.golden.telling import Story

APP = "host = 'localhost'\nport = 8080\n\n\ndef run():\n    return host, port\n"
LONG = "".join(f"line {number} of a longer file\n" for number in range(1, 31))


def clean(story: Story) -> None:
    """A conversation in which nothing goes wrong."""
    story.put("app.py", APP)
    story.put("CLAUDE.md", "Be brief.\n")
    agent = Agent(story)
    agent.tell("SessionStart", source="startup", model="claude-x")
    agent.tell("InstructionsLoaded", file_path="<project>/CLAUDE.md", memory_type="Project")
    agent.prompt("Please look at @app.py")
    agent.read("app.py")
    agent.edit("app.py", "port = 8080", "port = 9090")
    agent.batch()
    agent.edit_each("app.py", ("port = 9090", "port = 9091"), ("def run", "def start"))
    agent.write("new/made.py", "x = 1\n")
    agent.write("app.py", APP)
    agent.tell("Stop", stop_hook_active=False)
    agent.tell("SessionEnd", reason="other")
    story.stands("app.py")
    story("status")
    story("log")


def stale(story: Story) -> None:
    """The user changes what the agent is about to edit."""
    story.put("app.py", APP)
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.read("app.py")
    story.put("app.py", APP.replace("8080", "7070"))
    agent.edit("app.py", "port = 8080", "port = 9090")
    agent.edit("app.py", "host = 'localhost'\nport = 8080", "port = 9090")
    agent.write("app.py", APP.replace("8080", "9090"))
    agent.read("app.py")
    agent.edit("app.py", "port = 7070", "port = 9090")
    agent.tell("Stop")
    story("log")


def merged(story: Story) -> None:
    """The user changes other lines than the agent."""
    story.put("long.txt", LONG)
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.read("long.txt")
    story.put("long.txt", LONG.replace("line 3 of", "LINE 3 of"))
    agent.edit("long.txt", "line 20 of", "Line 20 of")
    story.put("long.txt", LONG.replace("line 3 of", "LINE THREE of"))
    agent.write("long.txt", LONG.replace("line 28 of", "Line 28 of"))
    story.stands("long.txt")
    agent.tell("Stop")
    story("log")


def noticed(story: Story) -> None:
    """What changed is told with the next prompt, and after a batch of tool calls, once."""
    story.put("app.py", APP)
    story.put("long.txt", LONG)
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.read("app.py")
    agent.read("long.txt", 5, 3)
    story.put("app.py", APP.replace("8080", "7070"))
    agent.prompt("Go on.")
    agent.prompt("Go on.")
    story.put("long.txt", LONG.replace("line 20 of", "LINE 20 of"))
    agent.batch()
    story.put("long.txt", LONG.replace("line 6 of", "LINE 6 of"))
    agent.tell("FileChanged", file_path="<project>/long.txt")
    agent.batch()
    agent.batch()
    agent.prompt("And what about @app.py:1-2?")
    agent.tell("Stop")
    story("changes", "--session", "s1")


def unseen(story: Story) -> None:
    """Files that the agent was never shown."""
    story.put("app.py", APP)
    story.put("long.txt", LONG)
    story.put(".env", "SECRET=1\n")
    agent = Agent(story)
    agent.write("app.py", "all = 'new'\n")
    agent.edit("app.py", "port = 8080", "port = 9090")
    agent.edit("app.py", "no such text", "x")
    agent.read("long.txt", 1, 5)
    agent.write("long.txt", LONG.replace("line 9 of", "Line 9 of"))
    story.put("sightline.toml", 'protect = ["generated/"]\n')
    story.put("generated/api.py", "API = 1\n")
    agent.read("generated/api.py")
    agent.edit("generated/api.py", "1", "2", made=False)
    story.place.environ["SIGHTLINE_UNSEEN"] = "refuse"
    agent.edit("app.py", "host", "server")
    story("log")


def commands(story: Story) -> None:
    """Commands of the agent that change files, and one that fails."""
    story.put("app.py", APP)
    story.put("b.txt", "b\n")
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.read("app.py")
    agent.read("b.txt")
    agent.run("sed -i 's/8080/9090/' app.py && echo changed")
    agent.batch()
    agent.run("cat app.py")
    agent.run("rm b.txt; echo oops >&2; exit 3")
    agent.edit("b.txt", "b", "c")
    agent.tell(
        "PostToolUse",
        tool_name="Grep",
        tool_input={"pattern": "return", "path": "<project>", "output_mode": "content"},
        tool_response={
            "mode": "content",
            "numFiles": 1,
            "filenames": [],
            "content": "app.py:6:    return host, port",
            "numLines": 1,
        },
        tool_use_id="toolu_grep",
    )
    agent.tell("Stop")
    story("status")
    story("log")


def formatted(story: Story) -> None:
    """A formatter that runs after every edit, as a hook of the user's."""
    story.put("app.py", "a = [1,2]\nb = 3\n")
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.read("app.py")
    agent.edit("app.py", "b = 3", "b=4")
    story.put("app.py", "a = [1, 2]\nb = 4\n", who="A formatter")
    agent.batch()
    agent.edit("app.py", "b=4", "b = 5")
    agent.edit("app.py", "b = 4", "b = 5")
    agent.prompt("Go on.")
    story("log")


def compacted(story: Story) -> None:
    """A compaction: what the window held is gone."""
    story.put("app.py", APP)
    story.put("long.txt", LONG)
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.prompt("Please change the port.")
    agent.read("app.py")
    agent.read("long.txt")
    agent.edit("app.py", "port = 8080", "port = 9090")
    agent.tell("PreCompact", trigger="manual", custom_instructions="keep the list of files")
    story.put("long.txt", LONG.replace("line 3 of", "LINE 3 of"))
    agent.tell("SessionStart", source="compact", model="claude-y")
    agent.tell("PostCompact", trigger="manual", compact_summary="Changed the port.")
    agent.prompt("please continue")
    agent.write("long.txt", LONG.replace("line 28 of", "Line 28 of"))
    agent.edit("app.py", "port = 9090", "port = 9091")
    story("status")
    story("registry", "--session", "s1")
    story("log")


def sub_agents(story: Story) -> None:
    """A sub-agent, and a second conversation in the same folder."""
    story.put("app.py", APP)
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.read("app.py")
    helper = Agent(story, agent_id="a953853db99e1180f", agent_type="general-purpose")
    helper.tell("SubagentStart")
    helper.write("app.py", "x\n")
    helper.read("app.py")
    helper.edit("app.py", "port = 8080", "port = 9090")
    helper.batch()
    helper.tell("SubagentStop", stop_hook_active=False, last_assistant_message="Done.")
    agent.batch()
    agent.edit("app.py", "port = 8080", "port = 1")
    other = Agent(story, "s2")
    other.tell("SessionStart", source="startup")
    other.read("app.py")
    story("--session", "s2", "claim", "app.py")
    other.edit("app.py", "host = 'localhost'", "host = ''")
    agent.prompt("Go on.")
    agent.edit("app.py", "port = 9090", "port = 2")
    agent.edit("app.py", "port = 2", "port = 3")
    other.tell("SessionEnd", reason="other")
    agent.tell("Stop")
    story("session", "list")
    story("log")


def resumed(story: Story) -> None:
    """A conversation that ends, is resumed and is forked."""
    story.put("app.py", APP)
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.read("app.py")
    agent.tell("Stop")
    agent.tell("SessionEnd", reason="prompt_input_exit")
    story.put("app.py", APP.replace("localhost", "0.0.0.0"))
    agent.tell("SessionStart", source="resume", context_tokens=140)
    agent.prompt("continue please")
    agent.edit("app.py", "port = 8080", "port = 9090")
    transcript = story.place.home / ".claude/projects/demo/s2.jsonl"
    transcript.parent.mkdir(parents=True)
    text = (story.place.root / "app.py").read_text()
    transcript.write_text(recorded_read(f"{story.place.root}/app.py", text))
    fork = Agent(story, "s2")
    fork.tell("SessionStart", source="fork")
    fork.prompt("fork it")
    fork.edit("app.py", "port = 9090", "port = 9091")
    agent.tell("SessionStart", source="clear")
    agent.write("app.py", "x\n")
    story("session", "list")
    story("log")


def deleted(story: Story) -> None:
    """Files that go away, move or become something else."""
    for name in ("a.py", "b.py", "c.py"):
        story.put(name, f"name = '{name}'\nvalue = 1\n")
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    for name in ("a.py", "b.py", "c.py"):
        agent.read(name)
    story.remove("a.py")
    story.move("b.py", "moved.py")
    agent.prompt("Go on.")
    agent.tool(
        "PreToolUse",
        "Edit",
        {"file_path": "<project>/a.py", "old_string": "value = 1", "new_string": "value = 2"},
    )
    agent.write("a.py", "name = 'anew'\n")
    agent.edit("moved.py", "value = 1", "value = 2")
    story.remove("c.py")
    agent.write("c.py", "name = 'anew'\n")
    agent.tell("Stop")
    story("status")
    story("log")


def notebooks(story: Story) -> None:
    """A notebook, whose cells are edited."""
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": f"print({n})", "outputs": []}
        for n in (1, 2)
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    story.put("nb.ipynb", json.dumps(book))
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    agent.edit_cell("nb.ipynb", "c1", "print(0)")
    file = {"filePath": "<project>/nb.ipynb", "cells": cells}
    agent.tool(
        "PostToolUse",
        "Read",
        {"file_path": "<project>/nb.ipynb"},
        tool_response={"type": "notebook", "file": file},
    )
    agent.edit_cell("nb.ipynb", "c1", "print(10)")
    cells[1]["source"] = "print('by the user')"
    cells[0]["source"] = "print(10)"
    story.put("nb.ipynb", json.dumps(book))
    agent.edit_cell("nb.ipynb", "c2", "print(20)")
    agent.edit_cell("nb.ipynb", "c1", "print(11)")
    story("log")


def failing(story: Story) -> None:
    """What cannot be understood, with the guard open and with it closed."""
    story.put("app.py", APP)
    agent = Agent(story)
    bad = {"file_path": 7}
    for fail in ("open", "closed"):
        story.remark(f'fail = "{fail}"')
        story.place.environ["SIGHTLINE_FAIL"] = fail
        for raw in (b"", b'{"session_id": "s1", "cwd', b"[1, 2]", b'{"hook_event_name": "Stop"}'):
            story.hook(raw)
        story.hook({"session_id": "s1", "cwd": "<project>", "hook_event_name": "Brandnew"})
        agent.tool("PreToolUse", "Edit", bad)
        agent.tool("PostToolUse", "Read", bad, tool_response=[])
        story.put("sightline.toml", "policy = [")
        agent.tell("SessionStart", source="startup")
        agent.tool(
            "PreToolUse", "Write", {"file_path": "<project>/app.py", "content": "port = 1\n"}
        )
        agent.tool("PreToolUse", "Bash", {"command": "make"})
        story.remove("sightline.toml")
    story.stands("app.py")
    story("doctor")


DIALOGUES: dict[str, Callable[[Story], None]] = {
    "clean": clean,
    "stale": stale,
    "merged": merged,
    "noticed": noticed,
    "unseen": unseen,
    "commands": commands,
    "formatted": formatted,
    "compacted": compacted,
    "sub_agents": sub_agents,
    "resumed": resumed,
    "deleted": deleted,
    "notebooks": notebooks,
    "failing": failing,
}
