"""Sessions and saved chats as contents."""

from __future__ import annotations

from tests.recordings.samples import AT, AT_US, GEMINI, gemini_call, lines, write

from sightline.messages.formats.format import FORMATS
from sightline.recordings.gemini_cli import conversation


def session(tmp_path, *messages):
    return conversation(write(tmp_path, "s.json", {**GEMINI, "messages": list(messages)}))


def keys(of):
    return [(each["role"], [next(iter(part)) for part in each["parts"]]) for each in of.messages]


def test_calls_of_an_answer_stand_together_and_their_results_by_themselves(tmp_path):
    told = conversation(write(tmp_path, "s.json", GEMINI))
    assert keys(told) == [
        ("user", ["text"]),
        ("model", ["text", "functionCall", "functionCall"]),
        ("user", ["functionResponse", "functionResponse"]),
        ("model", ["text"]),
    ]
    assert told.messages[1]["parts"][1] == {
        "functionCall": {"id": "c1", "name": "read_file", "args": {"file_path": "a.py"}}
    }
    assert (told.format, told.session, set(told.times)) == ("gemini", "s1", {AT_US})


def test_thoughts_and_what_the_client_says_were_not_sent(tmp_path):
    told = session(
        tmp_path,
        {"type": "error", "content": "no network"},
        {"type": "user", "content": [{"text": "one"}, {"text": ""}]},
        {"type": "gemini", "content": "", "thoughts": [{"subject": "s"}]},
        {"type": "gemini", "content": "two"},
    )
    assert keys(told) == [("user", ["text"]), ("model", ["text"])]


def test_what_comes_with_a_result_stands_behind_it(tmp_path):
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    call = gemini_call("read_file", "c1", "read", picture, file_path="a.png")
    told = session(tmp_path, {"type": "user", "content": "look"}, {"type": "gemini", "content": "", "toolCalls": [call]})  # fmt: skip
    assert keys(told)[1:] == [
        ("model", ["functionCall"]),
        ("user", ["functionResponse"]),
        ("user", ["inlineData"]),
    ]
    assert FORMATS["gemini"].problems(told.messages) == []


def test_a_call_that_was_cancelled_may_lack_its_result(tmp_path):
    call = {"id": "c1", "name": "replace", "args": {}, "status": "cancelled"}
    told = session(
        tmp_path,
        {"type": "user", "content": "one"},
        {"type": "gemini", "content": "", "toolCalls": [call]},
        {"type": "user", "content": "two"},
    )
    gemini = FORMATS["gemini"]
    assert gemini.problems(told.messages)
    assert gemini.problems(gemini.repaired(told.messages)) == []


def test_newer_sessions_are_rows_of_which_the_last_of_an_id_counts(tmp_path):
    header = {key: value for key, value in GEMINI.items() if key != "messages"}
    one, asked, done = GEMINI["messages"][1:]
    begun = {**asked, "toolCalls": []}
    wrong = {"id": "9", "type": "user", "content": "wrong"}
    more = {"id": "10", "type": "user", "content": "right"}
    held = lines(header, one, begun, {"$set": {"lastUpdated": "x"}}, asked, '{"id": "cut', done)
    told = conversation(write(tmp_path, "session-1.jsonl", held))
    assert told.messages == conversation(write(tmp_path, "s.json", GEMINI)).messages
    assert (told.session, told.passed_over) == ("s1", 1)
    back = lines(header, one, done, wrong, {"$rewindTo": "9"}, more)
    contents = conversation(write(tmp_path, "session-2.jsonl", back)).messages
    assert [each["parts"][0]["text"] for each in contents] == ["mend a.py", "done", "right"]
    anew = lines(header, wrong, {"$set": {"messages": [one]}}, done)
    assert len(conversation(write(tmp_path, "session-3.jsonl", anew)).messages) == 2


def test_rows_without_the_first_one_are_a_session_and_a_result_counts_once(tmp_path):
    """Newer clients keep a result beside its call, and in the user's message that was sent."""
    call = gemini_call("read_file", "c1", "x = 1", file_path="a.py")
    sent = [
        {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x = 1"}}}
    ]
    rows = [
        {"id": "2", "timestamp": AT, "type": "user", "content": "mend a.py"},
        {"id": "3", "timestamp": AT, "type": "gemini", "content": "", "toolCalls": [call]},
        {"id": "4", "timestamp": AT, "type": "user", "content": sent},
        {"id": "5", "timestamp": AT, "type": "user", "content": sent},
        {"id": "6", "timestamp": AT, "type": "gemini", "content": "done"},
    ]
    for begins in (0, 1):
        told = conversation(write(tmp_path, "s.jsonl", lines(*rows[begins:])))
        kinds = [list(part) for each in told.messages for part in each["parts"]]
        asked = [["functionCall"], ["functionResponse"], ["text"]]
        assert kinds == [*[["text"]] * (1 - begins), *asked]


def test_a_saved_chat_is_contents_without_times(tmp_path):
    contents = [
        {"role": "user", "parts": [{"text": "one"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "glob", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "glob", "response": {}}}]},
    ]
    for held in (contents, {"history": contents, "authType": "x"}):
        told = conversation(write(tmp_path, "checkpoint.json", held))
        assert list(told.messages) == contents
        assert told.times == (None, None, None)
