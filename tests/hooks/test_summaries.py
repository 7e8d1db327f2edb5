"""A conversation that was summarised: a notice that is gone does not count, the old text may stay."""

import json

import pytest
from tests.hooks.test_going_back import TEXT, USERS, Transcript, begin, look

MINE = "one, says the agent\ntwo\nthree\n"


@pytest.fixture
def transcript(host):
    return Transcript(host)


@pytest.fixture
def told(host, transcript):
    """A conversation that read a file, and was told of a save by its second prompt: the path, and the last
    rows of both turns."""
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    first = transcript.say(first)
    host.put("a.txt", USERS)
    said = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p2"))
    assert "+three, says the user" in json.dumps(said)
    second = transcript.turn("p2", first)
    host.ask(host.payload("Stop", prompt_id="p2"))
    return path, first, second


def summarise(host, transcript, kept=None):
    """The client replaces the conversation by a summary; kept: the last row that stays before it."""
    last = transcript.add("system", None, subtype="compact_boundary")
    if kept is not None:
        rows = transcript.file.read_text().splitlines()
        boundary = json.loads(rows.pop())
        boundary["compactMetadata"] = {"preservedSegment": {"tailUuid": kept}}
        transcript.file.write_text(
            "\n".join([*rows, json.dumps(boundary, separators=(",", ":"))]) + "\n"
        )
    more = {} if kept is None else {"summarizeMetadata": {"direction": "from"}}
    last = transcript.add("user", last, isCompactSummary=True, message={"content": "s"}, **more)
    host.ask(host.payload("SessionStart", source="compact"))
    return last


def write(host, path, text, prompt):
    return host.ask(json.dumps(json.loads(host.write(path, text)) | {"prompt_id": prompt}).encode())


def test_a_change_that_a_notice_told_is_told_again_at_the_next_turn_once(host, transcript, told):
    last = summarise(host, transcript)
    again = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p3"))
    assert "+three, says the user" in json.dumps(again)
    transcript.turn("p3", last)
    later = host.ask(host.payload("PostToolBatch", tool_calls=[], prompt_id="p3"))
    assert "says the user" not in json.dumps(later)


def test_what_was_told_comes_with_the_prompt_and_what_is_new_with_the_summary(
    host, transcript, told
):
    """Until the prompt the client may put files back into the window by itself."""
    other = host.put("b.txt", TEXT)
    host.ask(host.shown(other, TEXT))
    host.put("b.txt", TEXT.replace("two", "two, says the user"))
    transcript.add("system", None, subtype="compact_boundary")
    said = json.dumps(host.ask(host.payload("SessionStart", source="compact")))
    assert "+two, says the user" in said
    assert "three, says the user" not in said


def test_a_text_that_the_client_put_back_is_not_told(host, transcript, told):
    path, _, _ = told
    last = summarise(host, transcript)
    file = {"filePath": path, "content": USERS, "numLines": 4, "startLine": 1, "totalLines": 4}
    attached = {"type": "file", "filename": path, "content": {"type": "text", "file": file}}
    transcript.add("attachment", last, attachment=attached)
    said = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p3"))
    assert "says the user" not in json.dumps(said)


def test_s46_a_write_in_the_same_turn_as_a_summary_is_judged_without_the_notice(
    host, transcript, told
):
    """The client summarises in the middle of a turn, too: no prompt comes before the write."""
    path, _, _ = told
    summarise(host, transcript)
    said = write(host, path, MINE, "p2")
    merged = said["hookSpecificOutput"]["updatedInput"]["content"]
    assert merged == MINE.replace("three", "three, says the user")


def test_an_own_edit_stays_known_without_what_a_notice_told(host, transcript, told):
    path, _, _ = told
    host.ask(host.edit(path, "two", "TWO"))
    host.put("a.txt", USERS.replace("two", "TWO"))
    given = {"file_path": path, "old_string": "two", "new_string": "TWO"}
    hunk = {"oldStart": 2, "oldLines": 1, "newStart": 2, "newLines": 1, "lines": ["-two", "+TWO"]}
    response = {"filePath": path, "originalFile": USERS, "oldString": "two", "newString": "TWO"}
    response |= {"structuredPatch": [hunk], "replaceAll": False, "userModified": False}
    call = {"tool_name": "Edit", "tool_use_id": "t1", "tool_input": given, "prompt_id": "p2"}
    host.ask(host.payload("PostToolUse", **call, tool_response=response))
    summarise(host, transcript)
    said = write(host, path, MINE.replace("two", "TWO"), "p2")
    merged = said["hookSpecificOutput"]["updatedInput"]["content"]
    assert merged == MINE.replace("two", "TWO").replace("three", "three, says the user")


def test_a_text_that_was_read_after_the_notice_counts(host, transcript, told):
    path, _, _ = told
    look(host, path, "p2")
    summarise(host, transcript)
    again = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p3"))
    assert "says the user" not in json.dumps(again)


@pytest.mark.wide
def test_a_text_that_is_summarised_while_an_older_one_stays_does_not_count(host, transcript, told):
    """Summarize from here: what was read before stays in the conversation as it was."""
    path, first, _ = told
    look(host, path, "p2")
    last = summarise(host, transcript, kept=first)
    begin(host, "p3")
    transcript.turn("p3", last)
    said = write(host, path, MINE, "p3")
    merged = said["hookSpecificOutput"]["updatedInput"]["content"]
    assert merged == MINE.replace("three", "three, says the user")
