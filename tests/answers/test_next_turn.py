"""What an answer leaves for the next turn: to-dos with a life, the memory, and the files it asked for."""

from __future__ import annotations

import json

import pytest

from sightline.briefing.memory import memory
from sightline.messages.progress import read_progress

PLAN = {
    "summary": "Fixed the syntax error.",
    "todos": [
        {"text": "Fix the syntax error", "aiText": "in utils.py"},
        {"text": "Update the tests", "aiText": "in test_utils.py, for the time-out"},
        "Write it down",
    ],
    "fileChanges": [{"path": "utils.py", "content": "x = 1\n", "todoIndex": 0}],
    "nextSteps": [{"html": "Shall I update the tests?", "inputText": "continue"}],
}


def todos(session):
    return {todo.text: todo for todo in read_progress(session._context).todos}


def part(session, name, message="continue"):
    return next((each.text for each in session.briefing(message).parts if each.name == name), None)


def said(text):
    return {"role": "assistant", "content": text}


@pytest.fixture
def planned(s):
    s.turn()
    s.conversation.append({"role": "user", "content": "Mend the program"})
    s.answer(PLAN)
    return s


def test_to_dos_go_on_from_answer_to_answer(planned):
    planned.turn()
    planned.answer(
        {
            "todos": [{"text": "Update the tests", "status": "in_progress"}, "Release it"],
            "fileChanges": [{"path": "test_utils.py", "content": "y\n", "todoIndex": 1}],
        }
    )
    found = todos(planned)
    assert [*found] == ["Update the tests", "Release it", "Fix the syntax error", "Write it down"]
    assert [todo.state for todo in found.values()] == ["in_progress", "done", "done", "dropped"]
    assert found["Update the tests"].detail == "in test_utils.py, for the time-out"
    assert found["Fix the syntax error"].files == ("utils.py",)
    assert [todo.turn for todo in found.values()] == [2, 2, 1, 2]


def test_an_answer_without_to_dos_names_those_of_the_session(planned):
    planned.turn()
    result = planned.answer({"fileChanges": [{"path": "n.md", "content": "n\n", "todoIndex": 2}]})
    assert [todo.state for todo in result.todos] == ["done", "proposed", "done"]
    assert (result.todos[2].files, result.todos[2].turn) == (("n.md",), 2)


@pytest.mark.parametrize("is_first", [True, False])
def test_the_message_that_holds_the_answer_changes_no_state(s, is_first):
    s.turn()
    text = f"```json\n{json.dumps(PLAN)}\n```"
    s.conversation.append({"role": "user", "content": "Mend it"})
    if is_first:
        s.conversation.append(said(text))
    s.answer(text)
    if not is_first:
        s.conversation.append(said(text))
    assert [todo.state for todo in todos(s).values()] == ["done", "proposed", "proposed"]
    assert todos(s)["Fix the syntax error"].files == ("utils.py",)


def test_a_tool_s_list_goes_on_from_an_answer_s(planned):
    planned.turn()
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {
                    "name": "update_plan",
                    "arguments": json.dumps(
                        {"plan": [{"step": "Update the tests", "status": "completed"}]}
                    ),
                },
            }
        ],
    }
    planned.conversation.append(call)
    [todo] = todos(planned).values()
    assert (todo.state, todo.turn, todo.detail) == ("done", 2, "in test_utils.py, for the time-out")


def test_to_dos_are_the_same_after_a_restart_and_gone_after_a_rewind(place, s):
    s.turn()
    s.conversation.append({"role": "user", "content": "Mend it"})
    checkpoint = s.checkpoint()
    s.answer(PLAN)
    before = todos(s)
    assert todos(place.session()) == before
    s.rewind(checkpoint, conversation=True)
    assert todos(s) == {}


def test_the_memory_says_where_the_work_stands(planned):
    planned.turn()
    planned.turn()
    text = part(planned, "memory")
    assert text is not None
    for line in (
        "Where this session stands in turn 3",
        "- Mend the program",
        "To do, 2 open:",
        "- Update the tests (in test_utils.py, for the time-out)",
        "- created utils.py, turn 1 (2 turns ago)",
        "- Fix the syntax error",
        "Your last answer:\n- Fixed the syntax error.",
        "You offered to go on with:\n- Shall I update the tests?",
        "Go on with the first open to-do.",
    ):
        assert line in text


def test_the_summary_of_an_answer_that_is_only_a_message_is_read(s):
    s.conversation.append({"role": "user", "content": "Mend it"})
    s.conversation.append(said(json.dumps({"summary": "Nothing to mend.", "todos": []})))
    found = memory(s._context)
    assert (found.result, found.is_summary) == ("Nothing to mend.", True)


def test_the_files_of_a_request_come_with_the_next_briefing_once(place, s):
    place.put("src/app.py", "app\n")
    place.put("src/held.py", "held\n")
    place.put("src/long.py", "long\n" * 500)
    place.put("src/bytes.py", b"\0\1")
    place.put("src/gone.py", "gone\n")
    s.read("src/held.py")
    s.answer({"filesToLoad": [{"name": "sources", "patterns": ["src/*.py"]}, "nowhere.py"]})
    (place.root / "src" / "gone.py").unlink()
    brief = s.briefing("and now?")
    text = next(each.text for each in brief.parts if each.name == "files")
    assert "You asked for sources (src/*.py):" in text
    assert "src/app.py, 1 line, revision" in text
    assert "src/long.py, 500 lines" in text
    assert "read it in parts" in text
    assert "You have as it is now: src/held.py." in text
    assert "Not shown: src/bytes.py, src/gone.py." in text
    assert "You asked for nowhere.py. No file matches." in text
    s.acknowledge(brief)
    assert part(s, "files") is None
    s.edit("src/app.py", "app\n", "mine\n")  # it was shown


def test_requests_of_any_number_of_answers_are_due_until_they_are_delivered(place, s):
    for number in range(9):
        place.put(f"f{number}.py", f"text {number}\n")
        s.answer({"filesToLoad": [f"f{number}.py"]})
        s.answer({"summary": "No request."})
    brief = s.briefing("and now?")
    text = next(each.text for each in brief.parts if each.name == "files")
    assert [number for number in range(9) if f"f{number}.py, 1 line" in text] == [*range(9)]
    s.acknowledge(brief)
    assert part(s, "files") is None


def test_files_without_room_are_only_named(place, s):
    for number in range(3):
        place.put(f"f{number}.py", "some words of a program\n" * 60)
    s.answer({"filesToLoad": ["f*.py"]})
    brief = s.briefing("and now?", budget=700)
    [shown] = [each for each in brief.parts if each.name == "files"]
    assert shown.tokens <= 700
    assert [look.path for look in shown.looks] == ["f0.py"]
    assert "f2.py, 60 lines" in shown.text


def test_files_related_to_the_changed_ones_come_along(place, s):
    place.put("src/utils/x.ts", "export const x = 1;\n")
    place.put("tests/utils/x.ts", "import '../../src/utils/x';\n")
    s.turn()
    s.read("src/utils/x.ts")
    s.answer({"fileChanges": [{"path": "src/utils/x.ts", "content": "export const x = 2;\n"}]})
    assert "tests/utils/x.ts" in (part(s, "bundle") or "")


def test_the_memory_is_not_told_again_because_a_turn_went_by(planned):
    brief = planned.briefing("continue")
    planned.acknowledge(brief)
    planned.turn()
    assert part(planned, "memory") is None
    planned.answer({"summary": "Another one."})
    assert "Another one." in (part(planned, "memory") or "")
