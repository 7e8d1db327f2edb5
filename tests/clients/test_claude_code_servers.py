"""Tools of an MCP server that read and write files: Claude Code itself, a server over stdio."""

import json
import sys
from pathlib import Path

import pytest
from tests.clients import file_server
from tests.clients.acting import TEXT, changed, done, edit, saves, write
from tests.clients.stub import Step

pytestmark = pytest.mark.client

ALLOWED = ("--allowedTools", "mcp__files", "--mcp-config")
THEIRS = changed(l3="line 3, says the user")
MINE = changed(l28="line 28, says the agent")


def tool(name, before=None, **given):
    """Return a step in which the agent calls a tool of the server."""
    return Step(tools=((f"mcp__{file_server.NAME}__{name}", given),), before=before)


@pytest.fixture
def served(guarded):
    """A guarded client with the server."""
    server = {"command": sys.executable, "args": [str(Path(file_server.__file__))]}
    config = guarded.home / "servers.json"
    config.write_text(json.dumps({"mcpServers": {file_server.NAME: server}}))
    guarded.args = (*ALLOWED, str(config))
    return guarded


@pytest.mark.full
def test_a_file_that_a_server_read_may_be_written_over(served, model):
    file = served.put("notes.txt", TEXT)
    model.script("Go", tool("read_text_file", path=file), write(file, MINE), done())
    run = served.run("Go", args=served.args)
    assert served.text("notes.txt") == MINE
    assert served.log("refused") == []
    assert served.status()[run.session]["notes.txt"]["state"] == "fresh"


def test_an_edit_by_a_server_is_the_agents_own(served, model):
    file = served.put("notes.txt", TEXT)
    model.script(
        "Go",
        tool("read_numbered", path=file),
        tool("edit_file", path=file, old="line 3\n", new="LINE 3\n"),
        edit(file, "line 9\n", "LINE 9\n"),
        done(),
    )
    run = served.run("Go", args=served.args)
    assert "by the command you ran: mcp__files__edit_file notes.txt" in model.sent(2)
    assert "the user" not in "".join(model.sent(step) for step in (2, 3))
    assert served.text("notes.txt") == changed(l3="LINE 3", l9="LINE 9")
    [change, _] = served.log("changed")
    assert change["cause"]["kind"] == "command"
    assert change["cause"]["confidence"] == "certain"
    assert served.status()[run.session]["notes.txt"]["state"] == "fresh"


def test_a_stale_write_by_a_server_over_a_save_is_refused_once_with_the_save(served, model):
    file = served.put("notes.txt", TEXT)
    both = MINE.replace("line 3\n", "line 3, says the user\n")
    model.script(
        "Go",
        tool("read_text_file", path=file),
        tool("write_file", saves(served, "notes.txt", THEIRS), path=file, content=MINE),
        tool("write_file", path=file, content=both),
        done(),
    )
    served.run("Go", args=served.args)
    assert "+line 3, says the user" in model.sent(2)
    assert "The command was not run" in model.sent(2)
    assert served.text("notes.txt") == both
    assert [row["path"] for row in served.log("refused")] == ["notes.txt"]


def test_a_call_that_failed_ends_well(served, model):
    missing = str(served.root / "missing.txt")
    model.script("Go", tool("read_text_file", path=missing), done())
    served.run("Go", args=served.args)
    assert len(served.log("command_ended")) == 1
