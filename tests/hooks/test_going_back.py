"""The user takes the conversation back in the client: rows as Claude Code 2.1.329 wrote them."""

import json
from datetime import UTC, datetime

import pytest

from sightline.hooks.handlers import transcript as transcript_reading

TEXT = "one\ntwo\nthree\n"
USERS = "one\ntwo\nthree, says the user\n"


class Transcript:
    """A transcript in which each row names the row before it."""

    def __init__(self, host):
        self.file = host.home / "s1.jsonl"
        self.rows = 0

    def add(self, kind, before, **fields):
        """The id of the new row."""
        self.rows += 1
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        row = {"parentUuid": before, "isSidechain": False, "type": kind, **fields}
        row |= {"uuid": f"row{self.rows}", "timestamp": at}
        with self.file.open("a") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
        return row["uuid"]

    def turn(self, prompt, before):
        """The id of the last row of a turn that was answered."""
        asked = self.add(
            "user", before, promptId=prompt, promptSource="typed", message={"content": "Go on"}
        )
        return self.say(asked)

    def say(self, before):
        """The id of the row of an answer."""
        return self.add("assistant", before, message={"content": []})


@pytest.fixture
def transcript(host):
    return Transcript(host)


def begin(host, prompt):
    host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id=prompt))


def look(host, path, prompt):
    shown = json.loads(host.shown(path, (host.root / "a.txt").read_text()))
    host.ask(json.dumps(shown | {"prompt_id": prompt}).encode())
    host.ask(host.payload("PostToolBatch", tool_calls=[], prompt_id=prompt))
    host.ask(host.payload("Stop", prompt_id=prompt))


def write_over(host, path, prompt):
    attempt = json.loads(host.write(path, "mine\n")) | {"prompt_id": prompt}
    return json.dumps(host.ask(json.dumps(attempt).encode()))


@pytest.fixture
def looked(host, transcript):
    """A conversation that read a file, and read it again after a save: the ids of its last rows."""
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    after = transcript.add("system", transcript.say(first), subtype="turn_duration")
    host.put("a.txt", USERS)
    begin(host, "p2")
    second = transcript.turn("p2", after)
    look(host, path, "p2")
    return path, after, second


def test_a_write_over_what_was_taken_out_of_the_conversation_is_refused(host, transcript, looked):
    path, first, _ = looked
    begin(host, "p3")
    transcript.turn("p3", first)
    refused = write_over(host, path, "p3")
    assert '"deny"' in refused
    assert "+three, says the user" in refused


def test_a_conversation_that_goes_on_knows_all_of_it(host, transcript, looked):
    path, _, second = looked
    begin(host, "p3")
    transcript.turn("p3", second)
    assert '"deny"' not in write_over(host, path, "p3")


def test_what_is_read_after_that_counts(host, transcript, looked):
    path, first, _ = looked
    begin(host, "p3")
    transcript.turn("p3", first)
    look(host, path, "p3")
    assert '"deny"' not in write_over(host, path, "p3")


def test_a_turn_that_was_interrupted_is_found_at_the_next(host, transcript, looked):
    """No hook is called at the end of an interrupted turn."""
    path, first, _ = looked
    begin(host, "p3")
    third = transcript.turn("p3", first)
    begin(host, "p4")
    transcript.turn("p4", third)
    assert '"deny"' in write_over(host, path, "p4")


def test_a_conversation_that_begins_anew_knows_nothing(host, transcript, looked):
    path, _, _ = looked
    begin(host, "p3")
    transcript.turn("p3", None)
    assert '"deny"' in write_over(host, path, "p3")


def test_calls_at_once_and_rows_of_sub_agents_are_no_way_back(host, transcript, looked):
    """Answers of calls at once have the rows of their calls before them."""
    path, _, second = looked
    other = transcript.add("assistant", second, message={"content": []})
    transcript.add("user", second, toolUseResult={}, promptId="p2")
    last = transcript.add("user", other, toolUseResult={}, promptId="p2")
    transcript.add("assistant", None, isSidechain=True)
    begin(host, "p3")
    transcript.turn("p3", last)
    assert '"deny"' not in write_over(host, path, "p3")


def test_an_edit_that_is_gone_is_not_told_as_taken_back(host, transcript):
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    first = transcript.add("system", transcript.say(first), subtype="turn_duration")
    begin(host, "p2")
    transcript.turn("p2", first)
    edit = json.loads(host.edit(path, "two", "2")) | {"prompt_id": "p2"}
    host.ask(json.dumps(edit).encode())
    host.put("a.txt", TEXT.replace("two", "2"))
    done = edit | {"hook_event_name": "PostToolUse"}
    done["tool_response"] = {"filePath": path, "originalFile": TEXT, "structuredPatch": []}
    host.ask(json.dumps(done).encode())
    host.ask(host.payload("Stop", prompt_id="p2"))
    host.put("a.txt", TEXT)
    told = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p3"))
    transcript.turn("p3", first)
    later = host.ask(host.payload("PostToolBatch", tool_calls=[], prompt_id="p3"))
    assert "taken back" not in json.dumps([told, later])
    assert '"deny"' not in write_over(host, path, "p3")


def test_a_notice_that_is_gone_does_not_count_again(host, transcript):
    """Counted once at the end of its turn, it was as if it had not been counted."""
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    first = transcript.add("system", transcript.say(first), subtype="turn_duration")
    host.put("a.txt", USERS)
    told = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p2"))
    assert "+three, says the user" in json.dumps(told)
    transcript.turn("p2", first)
    host.ask(host.payload("Stop", prompt_id="p2"))
    begin(host, "p3")
    transcript.turn("p3", first)
    again = host.ask(host.payload("PostToolBatch", tool_calls=[], prompt_id="p3"))
    assert "+three, says the user" in json.dumps(again)


@pytest.mark.parametrize("is_taken_out", [True, False], ids=["taken out", "stays"])
def test_what_a_prompt_told_counts_while_it_is_in_the_conversation(host, transcript, is_taken_out):
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    host.put("a.txt", USERS)
    told = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p2"))
    assert "+three, says the user" in json.dumps(told)
    second = transcript.turn("p2", first)
    begin(host, "p3")
    transcript.turn("p3", first if is_taken_out else second)
    assert ('"deny"' in write_over(host, path, "p3")) == is_taken_out


def test_a_row_about_the_turn_before_may_come_behind_the_hooks_of_the_prompt(host, transcript):
    """The client writes how long a turn took when the next prompt has been sent already."""
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    first = transcript.say(first)
    host.put("a.txt", USERS)
    told = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p2"))
    assert "+three, says the user" in json.dumps(told)
    after = transcript.add("system", first, subtype="turn_duration")
    transcript.turn("p2", after)
    begin(host, "p3")
    transcript.turn("p3", after)
    assert '"deny"' in write_over(host, path, "p3")


def stopped_prompt(transcript, before, kind):
    """The id of the last row of a prompt that another hook stopped; `continue: false` keeps it."""
    is_kept = kind == "stopped_by_hook"
    if is_kept:
        prompt = transcript.add("user", before, promptId="p2", promptSource="sdk")
        before = transcript.add("user", prompt, promptId="p2", isMeta=True)
    ending = {"ending": {"kind": kind, "reason": "no"}, "promptKept": is_kept}
    return transcript.add("system", before, subtype="informational", promptSubmitEnding=ending)


@pytest.mark.parametrize("kind", ["blocked_by_hook", "stopped_by_hook", "no_verdict"])
@pytest.mark.parametrize("end", ["", "SessionEnd", "SessionStart"])
def test_what_a_prompt_told_that_another_hook_stopped_does_not_count(host, transcript, kind, end):
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    first = transcript.add("system", transcript.say(first), subtype="turn_duration")
    host.put("a.txt", USERS)
    told = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p2"))
    assert "+three, says the user" in json.dumps(told)
    stopped = stopped_prompt(transcript, first, kind)
    if end:
        host.ask(host.payload(end, prompt_id="p2", source="compact"))
    again = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p3"))
    transcript.turn("p3", stopped)
    if "+three, says the user" not in json.dumps(again):
        refused = write_over(host, path, "p3")
        assert '"deny"' in refused
        assert "+three, says the user" in refused
    assert host.faults() == []


def test_a_change_that_a_stopped_prompt_told_is_told_again(host, transcript):
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    first = transcript.add("system", transcript.say(first), subtype="turn_duration")
    host.put("a.txt", USERS)
    begin(host, "p2")
    stopped = stopped_prompt(transcript, first, "blocked_by_hook")
    begin(host, "p3")
    transcript.turn("p3", stopped)
    again = host.ask(host.payload("PostToolBatch", tool_calls=[], prompt_id="p3"))
    assert "+three, says the user" in json.dumps(again)


def test_a_stopped_prompt_takes_nothing_out_that_was_shown_before_or_after(
    host, transcript, looked
):
    path, _, second = looked
    begin(host, "p3")
    stopped = stopped_prompt(transcript, second, "blocked_by_hook")
    begin(host, "p4")
    transcript.turn("p4", stopped)
    assert '"deny"' not in write_over(host, path, "p4")


# The row of a prompt that is written late.


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(transcript_reading, "WAIT", 0.001)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("is_taken_out", [True, False], ids=["taken out", "stays"])
def test_an_edit_waits_for_the_prompts_row_however_late(host, transcript, looked, is_taken_out):
    path, first, second = looked
    begin(host, "p3")
    for _ in range(2):
        assert "Make the same call again" in write_over(host, path, "p3")
    transcript.turn("p3", first if is_taken_out else second)
    assert ('"deny"' in write_over(host, path, "p3")) == is_taken_out
    assert host.faults() == []


@pytest.mark.usefixtures("impatient")
def test_without_the_prompts_row_what_the_turn_showed_counts(host, transcript, looked):
    path, _, _ = looked
    begin(host, "p3")
    assert '"deny"' in write_over(host, path, "p3")
    look(host, path, "p3")
    assert '"deny"' not in write_over(host, path, "p3")
    assert '"deny"' not in write_over(host, str(host.root / "new.txt"), "p3")


@pytest.fixture
def told_at_the_prompt(host, transcript):
    """A conversation that read a file, went on, and was taken back to the reading; a save of the file was told
    with the prompt that followed: the path."""
    path = host.put("a.txt", TEXT)
    begin(host, "p1")
    first = transcript.turn("p1", None)
    look(host, path, "p1")
    after = transcript.add("system", transcript.say(first), subtype="turn_duration")
    begin(host, "p2")
    transcript.turn("p2", after)
    host.put("a.txt", USERS)
    said = host.ask(host.payload("UserPromptSubmit", prompt="Go on", prompt_id="p3"))
    assert "+three, says the user" in json.dumps(said)
    transcript.turn("p3", after)
    return path


def test_a_save_told_with_the_prompt_after_going_back_is_told_once(host, told_at_the_prompt):
    said = host.ask(host.payload("PostToolBatch", tool_calls=[], prompt_id="p3"))
    assert "says the user" not in json.dumps(said)


def test_a_save_told_with_the_prompt_after_going_back_may_be_written_over(host, told_at_the_prompt):
    attempt = json.loads(host.write(told_at_the_prompt, "mine\n")) | {"prompt_id": "p3"}
    assert host.ask(json.dumps(attempt).encode()) == {}


def test_a_save_told_against_what_was_taken_out_of_the_conversation_does_not_count(
    host, transcript, looked
):
    """The prompt tells how the file differs from the text that is gone."""
    path, first, _ = looked
    host.put("a.txt", USERS.replace("two", "two, says the user"))
    begin(host, "p3")
    transcript.turn("p3", first)
    refused = write_over(host, path, "p3")
    assert '"deny"' in refused
    assert "+three, says the user" in refused
