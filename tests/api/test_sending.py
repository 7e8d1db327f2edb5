"""What leaves for a model or a provider is UTF-8, whatever bytes files and histories hold."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hooks.hooking import Host
from tests.messages.formats.histories import NAMES as NAMES_OF_FORMATS
from tests.messages.formats.histories import published
from tests.messages.formats.test_every_format import is_taken
from tests.support.examples import examples, few_examples
from tests.support.hook_answers import HOOK_CHECKS
from tests.support.providers import check
from tests.support.published_types import check_types, pydantic_ai_requests

from sightline import EditRefused, PathRefused
from sightline.agents.products import connectable
from sightline.hooks.call import Call
from sightline.messages.formats.format import FORMATS
from sightline.testing import make_session

PIECES = [
    b"line\n",
    b"x = 1\n",
    "é\n".encode(),
    b"\xff",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xc3\n",
]
"""Parts of files: text, broken bytes, half a character, a surrogate as some programs write it."""


def texts(value):
    """Yield every text in an answer."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, field in value.items():
            yield key
            yield from texts(field)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from texts(each)
    elif hasattr(value, "__struct_fields__"):
        for name in value.__struct_fields__:
            yield from texts(getattr(value, name))
    elif isinstance(value, Exception):
        yield from texts(vars(value))
        yield str(value)


NAMES = [b"ok.py", b"caf\xe9.py", b"\xf0\x9f\x98/in.py", "é.py".encode()]
"""Names of files: some are no UTF-8."""


def names(place, session, dice):
    """Yield what a session answers about names of files, and about words, that are no UTF-8."""
    for name in NAMES:
        path = os.path.join(os.fsencode(place.root), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"import ok\n")
    odd = os.fsdecode(dice.choice(NAMES))
    yield session.find("**/*.py")
    yield session.find_each([{"patterns": ["missing.py", "**/in.py"]}])
    yield session.list_directory(".", recursive=True)
    mentioned = session.mentioned(f"see @{odd} and @./ and \udcff")
    yield [mentioned.text, *mentioned.found]  # its looks keep the bytes, and go to acknowledge()
    yield session.briefing(f"continue with @{odd}")
    yield session.warn("half \ud83d")
    yield session.warnings()
    yield session.checkpoint("half \ud83d")
    yield session.checkpoints()
    yield session.answer({"summary": "ok", "filesToLoad": ["**/*.py"], "listings": ["."]})
    for act in (session.read, session.check, session.related, session.find):
        try:
            yield act(odd)
        except (PathRefused, ValueError) as error:
            yield error
    yield [session.registry(), session.files(), session.stats()]
    yield session.briefing("continue")


def answers(place, session, dice):
    """Yield what a session answers about a file whose bytes others change."""
    data = b"".join(dice.choices(PIECES, k=dice.randint(1, 12)))
    place.put("a.txt", data)
    shown = session.read("a.txt")
    yield shown
    later = data + b"".join(dice.choices(PIECES, k=2))
    place.put("a.txt", dice.choice([later, later[::-1], b"\xff" + later]))
    yield session.changes()
    yield session.check("a.txt")
    yield session.briefing()
    for act in (
        lambda: session.edit("a.txt", dice.choice(["x = 1", "line", "é", "�"]), "y"),
        lambda: session.write("a.txt", shown.text + "more\n"),
        lambda: session.patch("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-line\n+\ud83d\n"),
        lambda: session.apply([{"path": "a.txt", "edits": [{"old": "line", "new": "\udcff"}]}]),
    ):
        try:
            yield act()
        except (EditRefused, ValueError) as error:
            yield error
    yield session.read("a.txt")
    place.put("a.txt", b"\xfe\n" + data)
    yield session.notice()
    yield session.changes()


@pytest.mark.wide
@pytest.mark.hypothesis
def test_every_answer_about_invalid_bytes_can_be_sent(place):
    """`SIGHTLINE_TEST_WIDE=1` plays 2,000 files."""
    number = 2_000 if os.environ.get("SIGHTLINE_TEST_WIDE") else few_examples(4, examples(100))
    for seed in range(number):
        session, dice = place.session(f"s{seed}"), random.Random(seed)
        told = names(place, session, dice) if seed % 4 == 1 else answers(place, session, dice)
        for answer in told:
            for text in texts(answer):
                text.encode()


def hook_calls(host, dice, session):
    """Yield an event of Claude Code with the payload of its hook: a conversation about a file whose bytes
    others change, and whose tools cut within characters."""
    data = b"".join(dice.choices(PIECES, k=dice.randint(1, 12)))
    path = os.path.join(os.fsencode(host.root), dice.choice([b"a.txt"] * 6 + NAMES[1:]))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    name, half = os.fsdecode(path), dice.choice(["", "\ud83d", "\udcff"])

    def put(data):
        with open(path, "wb") as file:
            file.write(data)

    def tool(event, tool_name, given, response=None):
        fields = {"tool_name": tool_name, "tool_use_id": f"t{len(told)}", "tool_input": given}
        told.append(event)
        more = {} if response is None else {"tool_response": response}
        return event, host.payload(event, session, **fields, **more)

    told: list[str] = []
    text = data.decode("utf-8", "replace")
    file = {"filePath": name, "content": text, "startLine": 1, "numLines": 9, "totalLines": 9}
    put(data)
    start = dice.choice(["startup", "resume", "compact"])
    yield "SessionStart", host.payload("SessionStart", session, source=start)
    prompt = f"look at @{name} {half}"
    yield "UserPromptSubmit", host.payload("UserPromptSubmit", session, prompt=prompt)
    yield tool("PreToolUse", "Read", {"file_path": name})
    yield tool("PostToolUse", "Read", {"file_path": name}, {"type": "text", "file": file})
    later = dice.choice([data + b"\xff new\n", b"\xed\xa0\x80\n" + data, data[::-1], data])
    put(later)
    yield "FileChanged", host.payload("FileChanged", session, file_path=name)
    yield "PostToolBatch", host.payload("PostToolBatch", session, tool_calls=[])
    old = dice.choice(["x = 1", "line", "�", text, f"x{half}"])
    edit = {"file_path": name, "old_string": old, "new_string": f"y{half}"}
    write = {"file_path": name, "content": text + half}
    yield tool("PreToolUse", *dice.choice([("Edit", edit), ("Write", write)]))
    shell = {"command": dice.choice([f"sed -i s/x/y/ '{name}'", f"cat > '{name}' <<E\n{half}\nE"])}
    yield tool("PreToolUse", "Bash", shell)
    put(later + "é\n".encode()[:1])
    printed = {"stdout": text[:9] + half, "stderr": "", "interrupted": False}
    yield tool("PostToolUse", "Bash", shell, printed)
    yield tool("PostToolUseFailure", "Edit", edit)
    wrote = {"filePath": name, "oldString": old, "newString": "y", "originalFile": text}
    yield tool("PostToolUse", "Edit", edit, wrote | {"structuredPatch": []})
    agent = {"agent_id": f"g{half}", "agent_type": "Explore"}
    yield "SubagentStart", host.payload("SubagentStart", session, **agent)
    yield "SubagentStop", host.payload("SubagentStop", session, **agent)
    yield "PreSkillShellCommand", tool("PreSkillShellCommand", "Bash", shell)[1]
    yield "Stop", host.payload("Stop", session)
    put(b"\xfe" + later)
    yield "UserPromptSubmit", host.payload("UserPromptSubmit", session, prompt="go on" + half)


@pytest.mark.wide
def test_every_hook_answer_about_invalid_bytes_can_be_sent():
    """`SIGHTLINE_TEST_WIDE=1` plays 2,000 files."""
    assert {*HOOK_CHECKS} == {each.name for each in connectable()}
    answers = []
    for first in range(0, 2_000 if os.environ.get("SIGHTLINE_TEST_WIDE") else 12, 50):
        host = Host()
        host.put("b.py", "a file that a checkpoint covers\n")
        try:
            for seed in range(first, first + 50 if os.environ.get("SIGHTLINE_TEST_WIDE") else 12):
                for event, raw in hook_calls(host, random.Random(seed), f"s{seed}"):
                    answer = Call(
                        "claude-code", host.environ, str(host.home), given=host.given()
                    ).answered(raw)
                    HOOK_CHECKS["claude-code"](event, answer)
                    answers += [answer] if b"fffd" in answer else []
            assert host.faults() == []
        finally:
            host.close()
    assert len(answers) > 12


MESSAGE = {
    "anthropic": {"role": "user", "content": [{"type": "text", "text": "cut \ud83d"}]},
    "chat": {"role": "user", "content": "cut \ud83d"},
    "gemini": {"role": "user", "parts": [{"text": "cut \ud83d"}]},
}


@pytest.mark.parametrize("format", sorted(MESSAGE))
def test_a_view_can_be_sent_and_the_conversation_keeps_what_it_was_given(s, format):
    s.conversation.append(MESSAGE[format])
    [sent] = s.conversation.view(10**9)
    json.dumps(sent, ensure_ascii=False).encode()
    assert "cut �" in json.dumps(sent, ensure_ascii=False)
    assert s.conversation.messages() == [MESSAGE[format]]
    assert not FORMATS[format].problems([sent])


TEXTS = ("text", "content", "output", "error", "thinking", "reasoning_content", "old_string")
"""Fields of messages that hold a text, and no name, id or picture."""


def spoiled(value, dice, field=""):
    """A message whose texts were cut within a character, or hold bytes that are none."""
    if isinstance(value, str):
        return value + dice.choice(["", "\ud83d", "\udcff", "\x00"]) if field in TEXTS else value
    if isinstance(value, dict):
        return {key: spoiled(each, dice, key) for key, each in value.items()}
    return [spoiled(each, dice) for each in value] if isinstance(value, list) else value


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", NAMES_OF_FORMATS)
def test_a_view_of_any_history_is_sent_and_taken(name):
    """`SIGHTLINE_TEST_WIDE=1` plays 400 histories of each format."""
    number = 400 if os.environ.get("SIGHTLINE_TEST_WIDE") else few_examples(4, examples(20))

    @settings(max_examples=number, deadline=None, database=None)
    @given(told=published(name), seed=st.integers(0, 9))
    def play(told, seed):
        conversation = make_session().conversation
        for message in spoiled(told, random.Random(seed)):
            conversation.append(message)
        view = conversation.view(10**9)
        json.dumps(view, ensure_ascii=False).encode()
        is_taken(name, view)
        if number > 4:  # a start of the packages that publish the types takes seconds
            check_types(name, view)

    play()


@pytest.mark.wide
@pytest.mark.parametrize("provider", ["chat", "anthropic"])
def test_what_pydantic_ai_makes_of_a_view_is_taken(provider):
    """`SIGHTLINE_TEST_WIDE=1` plays 400 histories."""
    send = pydantic_ai_requests(provider)

    @settings(max_examples=400 if os.environ.get("SIGHTLINE_TEST_WIDE") else 20)
    @given(told=published("pydantic-ai"), seed=st.integers(0, 9))
    def play(told, seed):
        conversation = make_session().conversation
        for message in spoiled(told, random.Random(seed)):
            conversation.append(message)
        view: list[Any] = conversation.view(10**9)
        while view and view[-1]["kind"] == "response":
            view = FORMATS["pydantic-ai"].repaired(view[:-1])
        if view:
            sent = send(view)
            check(provider, sent)
            check_types(provider, sent)

    play()
