"""The stories behind the stores of version 0.1.0, and what is asked of each store afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256

from tests.golden.agent import Agent
from tests.golden.telling import Story
from tests.golden.texts import messages

import sightline

APP = "host = 'localhost'\nport = 8080\n\n\ndef run():\n    return host, port\n"
LONG = "".join(f"line {number} of a longer file\n" for number in range(1, 201))
NOW_US = 1_767_225_600_000_000
"""What the clock says where the library is asked: the beginning of 2026."""

THEN_US = 1_748_772_060_000_000
"""A minute after the stories of the stores began: their claims stand."""

NOISE = b"".join(sha256(b"%d" % number).digest() for number in range(1_600)) * 24
"""More than a megabyte that deflate makes no smaller: a store keeps it in a file of its own."""


def small(story: Story) -> None:
    """One session: reads, an edit, a merge, a refusal, a change that nobody told it of."""
    story.put("app.py", APP)
    story.put("long.txt", LONG)
    story("read", "app.py", "--quiet")
    story("read", "long.txt", "--lines", "1-50", "--quiet")
    story("edit", "app.py", "--old", "8080", "--new", "9090")
    story.put("app.py", APP.replace("8080", "9090").replace("localhost", "0.0.0.0"))
    story("edit", "app.py", "--old", "def run", "--new", "def start")
    story("edit", "app.py", "--old", "host = 'localhost'", "--new", "host = ''")
    story("create", "new.py", stdin="new = True\n")
    story("move", "new.py", "moved.py")
    story("find", "aap.py", "nothing.zzz")
    story.put("long.txt", LONG.replace("line 7 of", "LINE 7 of"))
    story("status")


def conversation(story: Story) -> None:
    """A conversation with folds, a condensation, a side chain and a rewind."""
    root = str(story.place.root)
    story.put("app.py", APP)
    with sightline.open_session(root, id="talk", agent="my-agent") as session:
        session.environment("my-editor", "1.2")
        session.turn(model="model-x", provider="some-provider", mode="plan")
        talk = session.conversation
        for message in messages(calls=8):
            talk.append(message)
        session.read("app.py")
        session.edit("app.py", "8080", "9090")
        talk.view(sightline.Budget(hard=2_500), price="none")
        session.turn(model="model-y")
        side = talk.side("explore", "t3")
        side.append({"role": "user", "content": "Look around."})
        side.append({"role": "assistant", "content": [{"type": "text", "text": "Nothing."}]})
        for number in range(3):
            talk.append({"role": "assistant", "content": f"Answer {number}: ünïcödé."})
            talk.append({"role": "user", "content": [{"type": "text", "text": f"And {number}?"}]})
        talk.rewind(talk.display()[-3].id)
        session.warn("app.py is generated: edit app.in.", ["app.py"])
        with session.fork("fork") as fork:
            fork.conversation.append({"role": "assistant", "content": "Only in the fork."})
    with sightline.open_session(root, id="summed", agent="my-agent") as session:
        talk = session.conversation
        for message in messages(calls=6):
            talk.append(message)
        talk.condense(lambda _: "The user asked for the importer; nothing was found.")
        talk.append({"role": "assistant", "content": "What now?"})


def history(story: Story) -> None:
    """Several sessions, an agent behind hooks, checkpoints, rewinds, packs, patches, claims."""
    for number in range(60):
        story.put(f"src/part_{number}.py", f"number = {number}\n" + APP)
    story.put("app.py", APP)
    story.put("long.txt", LONG)
    story.put("noise.bin", NOISE)
    story.put("tool.sh", "#!/bin/sh\necho hello\n")
    (story.place.root / "tool.sh").chmod(0o755)
    (story.place.root / "link").symlink_to("app.py")
    story.put(".gitignore", "*.log\n")
    story.put("trace.log", "x\n")
    story.git("add", "--all")
    story.git("commit", "--quiet", "--message", "first")
    for name in ("app.py", "long.txt", "tool.sh"):
        story("--session", "one", "read", name, "--quiet")
    story("--session", "two", "read", "long.txt", "--quiet")
    story("--session", "one", "claim", "src/", "app.py", "--ttl", "1h")
    story("--session", "two", "claim", "docs/**", "--shared")
    story("--session", "two", "claim", "src/part_1.py")
    story("--session", "one", "checkpoint", "start")
    for number in (20, 40, 60):
        text = ("--old", f"line {number} of", "--new", f"Line {number} of")
        story("--session", "one", "edit", "long.txt", *text)
        story("--session", "one", "checkpoint", f"line {number}")
    story("--session", "one", "delete", "tool.sh")
    story("--session", "two", "edit", "long.txt", "--old", "line 150 of", "--new", "Two's 150 of")
    story("--session", "one", "checkpoint", "all")
    story("--session", "one", "rewind", "line 40", "--yes")
    story("--session", "one", "rewind", "start", "--yes", "--conversation", "--no-files")
    story.put("long.txt", LONG.replace("line 100 of", "user's line 100 of"))
    story("--session", "two", "changes", "--for-agent")
    story("session", "fork", "one", "--as", "forked")
    story("session", "delete", "two", "--force")
    story("--session", "three", "run", "--", "touch", "touched.txt", process=False)
    agent = Agent(story)
    agent.tell("SessionStart", source="startup", model="claude-x")
    agent.prompt("Please look at @app.py")
    agent.read("app.py")
    agent.edit("app.py", "port = 8080", "port = 9090")
    helper = Agent(story, agent_id="a953853db99e1180f", agent_type="Explore")
    helper.tell("SubagentStart")
    helper.read("long.txt", 10, 5)
    helper.edit("long.txt", "line 12 of", "Line 12 of")
    helper.tell("SubagentStop")
    agent.run("sed -i 's/hello/goodbye/' tool.sh")
    story.git("stash", "--quiet")
    agent.prompt("Go on.")
    story.git("stash", "pop", "--quiet")
    agent.tell("SessionStart", source="compact")
    agent.prompt("continue")
    agent.tell("Stop")
    agent.tell("SessionEnd", reason="other")
    story("gc", "--dry-run")


def aborted(story: Story) -> None:
    """Writes that were begun and not ended: the process died. One had written, one had not.
    A rewind to "before" died as well."""
    for name in ("written.py", "unwritten.py", "a.py", "b.py"):
        story.put(name, APP)
    agent = Agent(story)
    agent.tell("SessionStart", source="startup")
    for name in ("written.py", "unwritten.py"):
        agent.read(name)
        given = {"file_path": f"<project>/{name}", "old_string": "8080", "new_string": "9090"}
        agent.tool("PreToolUse", "Edit", {**given, "replace_all": False})
    story.place.save("written.py", APP.replace("8080", "9090").encode())
    with sightline.open_session(story.place.root, id="dying") as session:
        for name in ("a.py", "b.py"):
            session.read(name)
        session.checkpoint("before")
        for name in ("a.py", "b.py"):
            session.edit(name, "8080", "7070")


MADE: dict[str, Callable[[Story], None]] = {
    "small": small,
    "conversation": conversation,
    "history": history,
    "aborted": aborted,
}


# What is asked afterwards


def _asked_of_all(story: Story) -> None:
    """What the command says of any store."""
    story("log")
    story("--json", "log")
    for words in (
        ["session", "list"],
        ["status"],
        ["checkpoint", "list"],
        ["claim", "list"],
        ["warnings"],
        ["models"],
        ["stats"],
        ["gc", "--dry-run"],
    ):
        story(*words)
        story("--json", *words)
    with sightline.open_workspace(story.place.root) as workspace:
        summaries = workspace.sessions()
        position = workspace.position
        for each in summaries:
            known = workspace.as_of(position).files(each.id)
            for file in known:
                text = workspace.as_of(position).text(each.id, file.path)
                shown = text if text is None or len(text) < 400 else f"{len(text)} characters"
                story.told(f"{each.id} believes {file.path}", f"{_fields(file)}\n{shown}")


def _asked_of(story: Story, session: str, *paths: str) -> None:
    """What the command says to a session."""
    for words in (
        ["changes"],
        ["changes", "--for-agent"],
        ["registry"],
        ["changes", "--since", "1"],
    ):
        story("--session", session, *words)
        story("--json", "--session", session, *words)
    for path in paths:
        for verb in ("check", "diff", "why"):
            story("--session", session, verb, path)
            story("--json", "--session", session, verb, path)
        story("log", path)


def ask_small(story: Story) -> None:
    _asked_of_all(story)
    _asked_of(story, "cli", "app.py", "long.txt", "moved.py")
    story("edit", "app.py", "--old", "9090", "--new", "1")
    story("edit", "long.txt", "--old", "line 7 of", "--new", "mine")
    story("log")


def ask_conversation(story: Story) -> None:
    _asked_of_all(story)
    _asked_of(story, "talk", "app.py")
    for name in ("talk", "fork", "summed"):
        with sightline.open_session(story.place.root, id=name, clock=lambda: NOW_US) as session:
            talk = session.conversation
            story.told(f"messages of {name}", _lines(talk.messages()))
            for shown in talk.display():
                story.told(f"display of {name}", _fields(shown))
            try:
                view = talk.view(sightline.Budget(hard=2_500), price="none")
            except sightline.WindowFull as full:  # 0.1.0 sent it all the same
                view = talk.view(price="none")
                story.told(f"hard budget of {name}", full)
            story.told(f"view of {name}", _lines(view))
            for stub in _stubs(view):
                text = talk.expand(stub)
                story.told(f"expand {stub}", f"{len(text)} characters, {text[:60]!r}")
            story.told(f"sides of {name}", talk.sides())
            for side in talk.sides():
                story.told(f"messages of {side}", _lines(talk.side(side).messages()))
            story.told(f"models of {name}", _lines(map(_fields, session.model_usage())))
            seen = [each for each in session.environment() if each.at.year < 2026]
            story.told(f"environment of {name}", _lines(map(_fields, seen)))
            talk.append({"role": "assistant", "content": "One more."})
            story.told(f"messages of {name}, newest", _lines(talk.messages(last=2)))
            saved = story.place.home / f"{name}.jsonl"
            story.told(f"{name} is saved", _fields(talk.save(str(saved))))
            story.told(f"saved {name}", saved.read_text().rstrip("\n"))


def ask_history(story: Story) -> None:
    _asked_of_all(story)
    _asked_of(story, "one", "app.py", "long.txt", "tool.sh")
    _asked_of(story, "s1", "app.py")
    with sightline.open_session(story.place.root, id="asker", clock=lambda: THEN_US) as session:
        story.told("claims that stood then", _lines(map(_fields, session.claims())))
    for first, last in (("start", "line 20"), ("line 20", "all"), ("start", "all")):
        story("checkpoint", "diff", first, last)
        story("--json", "checkpoint", "diff", first, last)
    story("checkpoint", "export", "all", "--patch", "--since", "line 40")
    story("--session", "one", "rewind", "line 20", "--dry-run", "--diff")
    story("--json", "--session", "one", "rewind", "line 20", "--dry-run")
    story("--session", "s1", "rewind", "1", "--dry-run", "--diff")
    story("--session", "s1", "rewind", "1", "--yes")
    story.stands("app.py", "tool.sh")
    story("checkpoint", "made now")
    story("checkpoint", "diff", "line 60", "made now", "--stat")
    story("gc", "--older-than", "1d", "--dry-run")


def ask_aborted(story: Story) -> None:
    story("--session", "s1", "status")
    story("--session", "dying", "status")
    story.stands("written.py", "unwritten.py", "a.py", "b.py")
    _asked_of_all(story)
    _asked_of(story, "s1", "written.py", "unwritten.py")
    _asked_of(story, "dying", "a.py", "b.py")


ASKED: dict[str, Callable[[Story], None]] = {
    "small": ask_small,
    "conversation": ask_conversation,
    "history": ask_history,
    "aborted": ask_aborted,
}


def _lines(values: object) -> str:
    assert hasattr(values, "__iter__")
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in values)


def _fields(value: object) -> str:
    """The public attributes of a value by their names, whatever kind of class it has."""
    names = [name for name in dir(value) if not name.startswith("_")]
    told = {name: getattr(value, name) for name in names if not callable(getattr(value, name))}
    return json.dumps(told, default=_plain, ensure_ascii=False)


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _stubs(view: object) -> list[str]:
    """The names in the stubs of a view, by which a text comes back."""
    told = json.dumps(view)
    parts = told.split("expand ")[1:]
    return [part.partition("]")[0] for part in parts]
