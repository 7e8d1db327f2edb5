"""What the `!` of a slash command or a skill printed: rows and payloads as Claude Code 2.1.332 wrote them."""

import pytest
from tests.hooks.hooking import refusal
from tests.hooks.test_going_back import Transcript

from sightline.model.events import Changed

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def transcript(host):
    return Transcript(host)


def prompted(host):
    host.ask(host.payload("UserPromptSubmit", prompt="/show", prompt_id="p1"))


def inserts(host, *commands):
    """Begin the commands of one text; their answers."""
    return [
        host.ask(
            host.payload(
                "PreSkillShellCommand",
                tool_name="Bash",
                tool_input={"command": command},
                tool_use_id=f"8f45:inner:preamble-{number}",
                prompt_id="p1",
                command_name="show",
                invoked_by="user",
            )
        )
        for number, command in enumerate(commands)
    ]


def given(transcript, text, prompt="p1"):
    asked = transcript.add("user", None, promptId=prompt, message={"content": "/show"})
    content = [{"type": "text", "text": text}]
    more = {"isMeta": True, "turnCompanion": True, "cwd": str(transcript.file.parent / "project")}
    transcript.add("user", asked, promptId=prompt, message={"content": content}, **more)


def writes(host, path, text="mine\n"):
    return refusal(host.ask(host.write(path, text)))


@pytest.mark.parametrize(
    "around", ["Look:\n\n{}\n\nGo on.", "Look here: {} and\nthen", "{}", "```\n{}\n```\n"]
)
def test_a_file_that_a_slash_command_printed_may_be_written_over(host, transcript, around):
    path = host.put("a.txt", TEXT)
    prompted(host)
    assert inserts(host, "cat a.txt") == [{}]
    given(transcript, around.format(TEXT.rstrip()))
    assert writes(host, path) == ""


def test_several_commands_of_one_text_are_all_known(host, transcript):
    paths = [host.put(name, f"{name} 1\n{name} 2\n") for name in ("a.txt", "b.txt", "c.txt")]
    prompted(host)
    inserts(host, "cat b.txt\ncat c.txt", "head -n 2 a.txt")
    given(transcript, "A: a.txt 1\na.txt 2.\n\nb.txt 1\nb.txt 2\nc.txt 1\nc.txt 2\n")
    assert [bool(writes(host, path)) for path in paths] == [True, False, False]


def test_a_short_text_within_a_longer_one_was_not_printed(host, transcript):
    path = host.put("VERSION", "1\n")
    prompted(host)
    inserts(host, "cat VERSION")
    given(transcript, "Now 10, once 1.2")
    assert "never shown" in writes(host, path)


def test_a_file_that_no_command_printed_stays_unknown(host, transcript):
    path = host.put("a.txt", TEXT)
    prompted(host)
    inserts(host, "cat b.txt")
    given(transcript, TEXT)
    assert "never shown" in writes(host, path)


def test_a_change_after_the_text_is_kept(host, transcript):
    path = host.put("a.txt", TEXT)
    prompted(host)
    inserts(host, "cat a.txt")
    given(transcript, TEXT)
    host.put("a.txt", TEXT.replace("two", "two, says the user"))
    said = writes(host, path)
    assert "two, says the user" in said or "never shown" in said


def test_a_file_that_was_changed_before_the_text_is_read_counts_as_it_was_printed(host, transcript):
    path = host.put("a.txt", TEXT)
    prompted(host)
    inserts(host, "cat a.txt 2>/dev/null || echo nothing")
    given(transcript, TEXT)
    host.put("a.txt", TEXT.replace("two", "two, says the user"))
    said = writes(host, path)
    assert "+two, says the user" in said
    assert "never shown" not in said


def test_a_servers_write_over_a_change_of_such_a_file_is_refused_once(host, transcript):
    path = host.put("a.txt", TEXT)
    prompted(host)
    inserts(host, "cat a.txt")
    given(transcript, TEXT)
    host.put("a.txt", TEXT.replace("two", "two, says the user"))
    call = {"tool_name": "mcp__files__write_file", "tool_use_id": "t1", "prompt_id": "p1"}
    asked = host.payload(
        "PreToolUse", tool_input={"path": path, "content": f"{TEXT}mine\n"}, **call
    )
    assert "+two, says the user" in refusal(host.ask(asked))
    assert host.ask(asked) == {}


def test_what_was_read_since_is_newer_than_the_text(host, transcript):
    """The user puts back what the slash command had shown: the agent knows what it read."""
    path = host.put("a.txt", TEXT)
    prompted(host)
    inserts(host, "cat a.txt")
    given(transcript, TEXT)
    newer = TEXT.replace("two", "two and a half")
    host.put("a.txt", newer)
    host.ask(host.shown(path, newer))
    host.put("a.txt", TEXT)
    host.ask(host.payload("Stop", prompt_id="p1"))
    assert "two and a half" in refusal(host.ask(host.edit(path, "two and a half", "TWO")))


def test_what_the_command_changed_is_the_agents(host, transcript):
    host.put("a.txt", TEXT)
    prompted(host)
    inserts(host, "echo four >> a.txt; cat a.txt")
    path = host.put("a.txt", f"{TEXT}four\n")
    host.ask(host.payload("PostToolBatch", tool_calls=[], prompt_id="p1"))
    host.put("a.txt", f"{TEXT}four\nfive\n")
    given(transcript, f"{TEXT}four")
    host.ask(host.shown(path, f"{TEXT}four\nfive\n"))
    causes = [each.fact.cause.kind for each in host.facts() if isinstance(each.fact, Changed)]
    assert causes == ["command", "external"]


def test_the_turns_checkpoint_is_taken_before_the_command(host):
    host.put("a.txt", TEXT)
    prompted(host)
    inserts(host, "rm a.txt")
    (host.root / "a.txt").unlink()
    host.ask(host.payload("Stop", prompt_id="p1"))
    session = host.session()
    try:
        session.rewind(session.checkpoints()[0], commands=True)
    finally:
        session.close()
    assert (host.root / "a.txt").read_text() == TEXT


def test_a_file_that_an_ignore_file_refuses_is_not_printed(host):
    host.put(".sightlineignore", "a.txt\n")
    host.put("a.txt", TEXT)
    prompted(host)
    [said] = inserts(host, "cat a.txt")
    assert said["hookSpecificOutput"]["hookEventName"] == "PreSkillShellCommand"
    assert "a.txt" in refusal(said)


def test_a_command_by_line_number_of_the_users_own_text_is_not_refused(host):
    path = host.put("a.txt", TEXT)
    prompted(host)
    host.ask(host.shown(path, TEXT))
    host.put("a.txt", f"zero\n{TEXT}")
    assert inserts(host, "sed -i '2s/two/TWO/' a.txt") == [{}]
