"""Every answer and request that the documents show does what they say."""

from __future__ import annotations

import json

import pytest
from tests.answers import seeds

from sightline.answers.reading import read_answer

NAMES = ("script1.py", "script2.py", "script3.py")


@pytest.fixture
def scripts(place, s):
    s.turn()
    for name in NAMES:
        place.put(name, "print(1)\nprint(2)\n")
        s.read(name)
    return s


def completed(text):
    """The document leaves out what the changes are."""
    answer = json.loads(text)
    for change in answer["fileChanges"]:
        change["edits"] = [{"old": "print(2)\n", "new": "print(2)\nprint(3)\n"}]
    return answer


def test_a_three_file_task_is_one_answer_and_one_application(place, scripts):
    result = scripts.answer(completed(seeds.BATCH))
    assert [change.state for change in result.changes] == ["applied"] * 3
    assert [place.text(name).count("print(3)") for name in NAMES] == [1, 1, 1]
    [todo] = result.todos
    assert (todo.state, todo.files, todo.turn) == ("done", NAMES, 1)


def test_a_task_in_three_to_dos_leaves_two_of_them_open(place, scripts):
    result = scripts.answer(completed(seeds.WRONG_BATCH))
    assert [todo.state for todo in result.todos] == ["done", "proposed", "proposed"]
    assert place.text("script2.py").count("print(3)") == 0


def test_changes_as_the_document_abbreviates_them_are_read_and_say_nothing_to_do(scripts):
    result = scripts.answer(seeds.BATCH)
    assert {change.state for change in result.changes} == {"refused"}
    assert "does not say what to change" in result.changes[0].refusal.message
    assert [(todo.state, todo.files) for todo in result.todos] == [("proposed", NAMES)]


@pytest.fixture
def prompts(place, s):
    place.put("src/prompts/other.ts", "x\n")
    place.put("src/prompts/deep/mySchema.ts", "x\n")
    place.put("src/prompts/notes.md", "x\n")
    return s


def test_an_action_for_a_file_tries_its_patterns_from_exact_to_broad(prompts):
    [found] = prompts.find_each(json.loads(f'{{"actions": [{seeds.FILE_ACTION}]}}'))
    assert (found.matches, found.tried) == (("src/prompts/deep/mySchema.ts",), 3)
    assert (found.request.reason, found.request.required) == ("Schema definition", True)


def test_an_action_for_a_file_may_stand_alone(prompts):
    [found] = prompts.find_each(json.loads(seeds.FILE_ACTION))
    assert found.pattern == "**/*Schema.ts"


def test_files_to_load_are_found_or_take_their_fallbacks(prompts):
    result = prompts.answer(seeds.FILES_TO_LOAD)
    schema, test = result.files
    assert (schema.request.name, schema.matches) == (
        "Response Schema",
        ("src/prompts/deep/mySchema.ts",),
    )
    assert (test.matches, test.fallback) == ((), "skip")


def test_a_required_file_that_is_not_there_asks_the_user(s):
    schema, test = s.answer(seeds.FILES_TO_LOAD).files
    assert (schema.fallback, test.fallback) == ("ask_user", "skip")
    assert "Response Schema" in schema.question


@pytest.mark.parametrize("text", [seeds.DIRECTORY, seeds.DIRECTORY_SHORT])
def test_a_requested_listing_comes_with_the_next_briefing_once(prompts, text):
    prompts.answer(text)
    brief = prompts.briefing("continue")
    [listing] = [part.text for part in brief.parts if part.name == "listings"]
    assert "other.ts" in listing
    assert "notes.md" not in listing
    prompts.acknowledge(brief)
    assert "listings" not in [part.name for part in prompts.briefing("continue").parts]


def test_next_steps_are_read_with_the_message_that_they_stand_for():
    [step] = read_answer(seeds.DIRECTORY).answer.next_steps
    assert (step.html, step.input_text) == (
        "After listing, I'll identify the correct file",
        "continue",
    )


def test_sub_tasks_are_read_with_their_dependencies(s):
    answer = s.answer(seeds.SUBTASKS).answer
    assert [task.id for task in answer.sub_tasks] == ["api", "frontend", "tests"]
    assert answer.sub_tasks[2].dependencies == ("api", "frontend")
    assert not any(task.auto_execute for task in answer.sub_tasks)
    assert [todo.ai_text for todo in answer.todos] == ["..."] * 3
