"""A structured answer: read tolerantly, and every wrong place named."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from sightline import AnswerInvalid
from sightline.answers.answer import Answer
from sightline.answers.reading import ReadAnswer, read_answer, read_plan
from sightline.model.embedded_json import TEXT_MAX

SAMPLE = {
    "summary": 'Fixed the "parser", {and} more',
    "todos": [{"text": "Fix it", "aiText": "in a.py, [line 3]"}, "Test it"],
    "fileChanges": [
        {"path": "a.py", "todoIndex": 0, "edits": [{"old": "a\n", "new": "b\\\n", "count": 2}]},
        {"path": "b.py", "todoIndex": 1, "content": "x = {1: [2]}\n"},
        {"path": "c.py", "moveTo": "d.py"},
    ],
    "filesToLoad": [{"patterns": ["a", "**/a"], "fallbackAction": "skip"}],
    "directoryRequests": [{"path": "src"}],
    "nextSteps": [{"html": "Go on", "inputText": "continue"}],
    "commands": ["npm test", {"command": "ls", "reason": "to look"}],
}
TEXT = json.dumps(SAMPLE)


def places(raw):
    with pytest.raises(AnswerInvalid) as error:
        read_answer(raw)
    return error.value.places


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.encode(),
        f"\n\n{TEXT}\n",
        f"Here is what I do {{see}}:\n```json\n{json.dumps(SAMPLE, indent=2)}\n```\nAnything else?",
        f'I thought of {{"x": 1}} first. {TEXT} Done.',
        TEXT.replace("fileChanges", "file_changes").replace("todoIndex", "todo_index"),
        TEXT.replace("aiText", "ai_text").replace("filesToLoad", "files_to_load"),
    ],
)
def test_an_answer_is_found_in_the_text_around_it(text):
    assert read_answer(text) == read_answer(SAMPLE)
    read = read_answer(text)
    assert [change.path for change in read.answer.file_changes] == ["a.py", "b.py", "c.py"]
    assert not read.is_cut


def test_an_answer_that_was_read_is_an_answer():
    answer = read_answer(SAMPLE).answer
    assert read_answer(answer) == ReadAnswer(answer)


def test_line_ends_that_a_model_did_not_escape_are_read():
    answer = read_answer(
        '{"summary": "a\nb", "fileChanges": [{"path": "a", "content": "1\n2"}]}'
    ).answer
    assert (answer.summary, answer.file_changes[0].content) == ("a\nb", "1\n2")


def items(answer: Answer) -> list[object]:
    return [
        *([answer.summary] if answer.summary else []),
        *answer.todos, *answer.file_changes, *answer.file_requests, *answer.directory_requests,
        *answer.next_steps, *answer.commands,
    ]  # fmt: skip


def ends(text):
    """The place behind each item of the sample, in order."""
    at = 0
    for name, value in SAMPLE.items():
        at = text.index(f'"{name}": ', at) + len(name) + 4
        for each in value if isinstance(value, list) else [value]:
            part = json.dumps(each)
            at = text.index(part, at) + len(part)
            yield at


@pytest.mark.wide
def test_a_text_that_ends_early_gives_its_whole_items_at_every_character():
    whole = items(read_answer(TEXT).answer)
    behind = list(ends(TEXT))
    assert len(behind) == len(whole)
    for cut in range(behind[0], len(TEXT)):
        read = read_answer(TEXT[:cut])
        assert items(read.answer) == whole[: sum(end <= cut for end in behind)], TEXT[:cut]
        assert read.is_cut
    for cut in range(behind[0]):
        try:
            assert items(read_answer(TEXT[:cut]).answer) == []
        except AnswerInvalid:
            continue


def test_a_fence_that_ends_early_gives_its_whole_items():
    read = read_answer(f"Here:\n```json\n{TEXT[: TEXT.index('c.py')]}")
    assert [change.path for change in read.answer.file_changes] == ["a.py", "b.py"]
    assert read.is_cut


def test_a_to_do_that_was_cut_off_is_not_missed():
    text = '{"fileChanges": [{"path": "a", "todoIndex": 1, "content": "x"}], "todos": ["one", "tw'
    answer = read_answer(text).answer
    assert (answer.file_changes[0].todo_index, len(answer.todos)) == (1, 1)


@pytest.mark.parametrize(
    ("answer", "place", "what"),
    [
        ({"summary": 3}, "summary", "Expected `str`"),
        ({"sumary": "x"}, "sumary", "Is it summary?"),
        ({"todos": "x"}, "todos", "expected a list, got a text"),
        ({"todos": [{"aiText": "x"}]}, "todos[0].text", "is missing"),
        ({"todos": [{"text": "a", "index": 3}]}, "todos[0].index", "is its place"),
        ({"todos": [{"text": "a", "status": "lost"}]}, "todos[0].status", "Invalid enum"),
        ({"todos": ["a"], "fileChanges": [{"path": "a", "todoIndex": 1}]}, "fileChanges[0].todoIndex", "no to-do 1"),
        ({"fileChanges": [{"path": "a"}, {"path": "b", "todoIndex": -1}]}, "fileChanges[1].todoIndex", ">= 0"),
        ({"fileChanges": [{"content": "x"}]}, "fileChanges[0].path", "is missing"),
        ({"fileChanges": [{"path": "a", "content": "x", "delete": True}]}, "fileChanges[0]", "content and delete"),
        ({"fileChanges": [{"path": "a", "create": True}]}, "fileChanges[0].content", "needs its text"),
        ({"fileChanges": [{"path": "a", "delete": True, "moveTo": "b"}]}, "fileChanges[0].moveTo", "neither"),
        ({"fileChanges": [{"path": "a", "edits": [{"old": "x"}]}]}, "fileChanges[0].edits[0].new", "is missing"),
        ({"fileChanges": [{"path": "a", "edits": [{"old": "", "new": "x"}]}]}, "fileChanges[0].edits[0].old", "length"),
        ({"fileChanges": [{"path": "a", "patch": "nothing"}]}, "fileChanges[0].patch", "cannot be read"),
        ({"fileChanges": [{"path": "a", "patch": "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n"}]}, "fileChanges[0].patch", "this file"),
        ({"newFiles": [{"path": "a"}]}, "newFiles[0].content", "needs its text"),
        ({"filesToLoad": [{"patterns": ["../a"]}]}, "filesToLoad[0].patterns", "leads out"),
        ({"subTasks": [{"id": "a"}]}, "subTasks[0].goal", "is missing"),
        ({"nextSteps": [3]}, "nextSteps[0]", "expected an object"),
        ({"todos": ["a"] * 1001}, "todos", "1,001 are too many"),
        ({"fileChanges": [], "file_changes": 3}, "file_changes", "expected a list"),
        ({"summary": "\ud800"}, "summary", "not valid Unicode"),
    ],
)  # fmt: skip
def test_a_wrong_place_is_named(answer, place, what):
    [(named, words)] = places(answer)
    assert named == place
    assert what in words


def test_a_new_file_without_create_is_one():
    answer = read_answer({"newFiles": [{"path": "a", "content": "x"}]}).answer
    assert answer.file_changes[0].create


def test_every_wrong_place_is_named_and_many_are_counted():
    wrong = places({"summary": 3, "todos": [{}, {"txt": 1}], "sumary": 1})
    assert [place for place, _ in wrong] == ["sumary", "summary", "todos[0].text", "todos[1].txt", "todos[1].text"]  # fmt: skip
    many = places({"todos": [3] * 1_000})
    assert (len(many), many[-1][1]) == (21, "And 980 more.")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no JSON object"),
        ("I cannot do that.", "no JSON object"),
        (b"\xff\xfe{}", "not UTF-8"),
        ('{"summary": "\udc80"}', "not UTF-8"),
        ('{"summary": "a", "summary": "b"}', "more than once"),
        ('{"todos": [{"text": "a", "text": "b"}]}', "more than once"),
        (f"{TEXT} {TEXT}", "two answers"),
        ('{"summary": "a" "todos": []}', "line 1, column 17"),
        ('{"todos": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
        ('{"summary": ' + "9" * 10_000 + "}", "number"),
        ("[1, 2]", "expected an object, got a list"),
        (5, "expected an object, got a number"),
    ],
)
def test_a_text_without_an_answer_says_why(text, what):
    assert what in "\n".join(words for _, words in places(text))


@pytest.mark.parametrize(
    ("text", "slips"),
    [
        ('{"summary": "x", "todos": [{"text": "a"},],}', ["a trailing comma (line 1, column 41)", "a trailing comma (line 1, column 43)"]),
        ('{ // the plan\n"summary": "x", "todos": ["a"]}', ["a comment (line 1, column 3)"]),
        ('{/* a {} */ "summary": "x", "todos": ["a"]}', ["a comment (line 1, column 2)"]),
        ('{"summary": "x", # {"summary": "y"}\n"todos": ["a", // b\n]}', ["a comment (line 1, column 18)", "a trailing comma (line 2, column 14)", "a comment (line 2, column 16)"]),
        ('{"summary": "x", "todos": ["a"' + ", " * 1 + "]}", ["a trailing comma (line 1, column 31)"]),
    ],
)  # fmt: skip
def test_trailing_commas_and_comments_are_read_as_if_they_were_not_there_and_named(text, slips):
    read = read_answer(text)
    assert (read.answer.summary, [todo.text for todo in read.answer.todos]) == ("x", ["a"])
    assert (list(read.slips), read.is_cut) == (slips, False)


def test_slips_before_an_early_end_are_named_and_many_are_counted():
    read = read_answer('{"summary": "x", // {\n"todos": ["a", /* b */ "c')
    assert ([todo.text for todo in read.answer.todos], read.is_cut) == (["a"], True)
    assert len(read.slips) == 2
    many = read_answer('{"todos": [' + '{"text": "a",}, ' * 9 + "]}").slips
    assert (len(many), many[-1]) == (6, "5 more")


def test_marks_inside_of_texts_are_no_slips():
    content = "x = [1,]  // http://a\n# {,}\n/* ,] */"
    text = json.dumps({"fileChanges": [{"path": "a", "content": content}]})[:-1] + ",}"
    read = read_answer(text)
    assert read.answer.file_changes[0].content == content
    assert len(read.slips) == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{“summary”: “x”, “todos”: [{"text": "a"}]}', "not in “ (line 1, column 2)"),
        ('{"summary”: “x”, "todos": [{"text": "a"}]}', "not in ” (line 1, column 10)"),
        ('{"summary": "x”, "todos": [{"text": "a"}]}', "not in ” (line 1, column 15)"),
        ('{"summary”: “x”}', "not in ” (line 1, column 10)"),
        ("{'summary': {}, 'todos': [{\"text\": \"a\"}]}", "not in ' (line 1, column 2)"),
        ('{summary: "x", todos: [{"text": "a"}]}', "line 1, column 2), before `summary:"),
        ('{"summary": "x" "todos": [{"text": "a"}]}', 'line 1, column 17), before `"todos"'),
        ('{"summary": "say "hi" now", "todos": [{"text": "a"}]}', "line 1, column 19), before `hi"),
        ('{"summary": "x", "todos": ["a 5" disk", "b"]}', "line 1, column 34), before `disk"),
        ('{"summary": "x", "todos": ["a 5" disk"', "line 1, column 34), before `disk"),
        ('{"summary": "x\\d", "todos": [{"text": "a"}]}', "line 1, column 15"),
        ('{"summary": "x", ..., "todos": [{"text": "a"}]}', "line 1, column 18), before `..."),
        ('{"summary": "x",, "todos": [{"text": "a"}]}', "line 1, column 17"),
        ('{"summary": "x", "todos": [,]}', "line 1, column 28"),
        ('{"fileChanges": [{"path": "a", "content": `b {"summary": "y"}`}]}', "not in ` (line 1, column 43)"),
        ('{"summary": "x", // "todos": ["a"], "commands": ["ls"]}', "line 1, column 18), before `//"),
        ('{"summary": "x"}, "todos": [{"text": "a"}]}', "more of it follows (line 1, column 17)"),
        ('[{"summary": "x"}, oops]', "line 1, column 20), before `oops"),
        ('{"foo": 1 "bar": {"summary": "x"}}', 'line 1, column 11), before `"bar"'),
        ('{foo: "}", bar: {"summary": "x"}', "line 1, column 2), before `foo"),
        ('{"foo": "a }" b", "bar": [{"summary": "x"}]}', "line 1, column 15"),
        ('{"summary": "x', "before an item of its JSON is whole"),
    ],
)  # fmt: skip
def test_broken_json_says_where_and_no_inner_object_is_the_answer(text, what):
    [(place, said)] = places(text)
    assert (place, what in said) == ("", True), said


@pytest.mark.parametrize(
    "words",
    [
        'Instead of `{"path": "a", ...}` I give this: ',
        "function f() { return {a: 1, b: [{c: 2}]} } and ",
        'if (x) { "use strict"; } ',
        "[Note] ",
        "{'a': 1} in Python is ",
    ],
)
def test_code_and_broken_json_before_an_answer_are_passed_over(words):
    read = read_answer(f"{words}{TEXT}")
    assert (read.answer, read.slips) == (read_answer(SAMPLE).answer, ())


@pytest.mark.wide
def test_an_answer_of_50_megabytes_is_refused():
    text = json.dumps({"fileChanges": [{"path": "a", "content": "x" * 50_000_000}]})
    [(place, what)] = places(text)
    assert (place, f"{TEXT_MAX:,} is the most" in what) == ("", True)


def test_an_object_that_holds_itself_is_refused():
    loop: dict[str, object] = {}
    loop["todos"] = [loop]
    assert places(loop)[0][0] == "todos[0].text"
    inner: list[object] = []
    inner.append(inner)
    assert places({"subTasks": [{"id": "a", "goal": "b", "files": inner}]})


NAMES = st.sampled_from(
    [
        *SAMPLE, "path", "content", "edits", "old", "new", "count", "patch", "delete", "moveTo", "text",
        "status", "patterns", "goal", "id", "subTasks", "newFiles", "basedOn", "create", "x", "\x00",
    ]
)  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2**70), st.floats(), st.text(max_size=5),
    st.sampled_from(["a.py", "../a", "done", "@@ -1 +1 @@\n-a\n+b\n", "\ud800"]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.wide
@settings(max_examples=examples(500))
@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=5), st.data())
def test_malformed_answers_raise_the_one_error_with_its_place(raw, data):
    """500 of them where the profile is wide."""
    text = json.dumps(raw)
    spoiled = text[: data.draw(st.integers(0, len(text)))] + data.draw(
        st.sampled_from(["", "}", "]", '"', "\\", "\x00", "{", ",,", "null"])
    )
    wrong = []
    for form in (raw, text, spoiled, spoiled.encode("utf-8", "surrogatepass")):
        try:
            read_answer(form)
        except AnswerInvalid as error:
            wrong.append(error)
    assert all(error.places and all(what for _, what in error.places) for error in wrong)


@settings(max_examples=examples(200))
@given(st.text(alphabet='{}[]",:\\ax1 \n', max_size=60))
def test_any_text_is_an_answer_or_the_error(text):
    assume(text)
    try:
        read_answer(text)
    except AnswerInvalid:
        return


GROK = {
    "summary": "Added the check.",
    "sections": [{"heading": "What changed", "content": "A check."}],
    "todos": [{"text": "Check", "completed": True}, {"text": "Test", "completed": False}],
    "fileChanges": [{"path": "a.py", "language": "python", "content": "x = 1\n", "isDiff": False}],
    "commands": [{"command": "pytest", "description": "Run the tests"}],
    "fileHashes": {"a.py": "9a906fd5909d"},
}
"""An answer with the fields that models add to those of the schema."""


def test_fields_outside_the_schema_are_used_where_their_meaning_is_plain():
    answer = read_answer(GROK).answer
    assert [todo.status for todo in answer.todos] == ["done", None]
    assert answer.file_changes[0].content == "x = 1\n"
    assert answer.commands[0].reason == "Run the tests"


def test_fields_outside_the_schema_without_a_plain_meaning_are_set_aside_and_named():
    assert read_answer(GROK).set_aside == ("sections", "fileHashes", "fileChanges[0].language")


def test_a_content_that_is_a_diff_is_a_patch():
    diff = "@@ -1 +1 @@\n-x\n+y\n"
    for name in ("isDiff", "is_diff"):
        change = read_answer(
            {"fileChanges": [{"path": "a", "content": diff, name: True}]}
        ).answer.file_changes[0]
        assert (change.patch, change.content) == (diff, None)


@pytest.mark.parametrize(
    ("said", "create", "delete"),
    [("create", True, False), ("Delete", False, True), ("modify", False, False)],
)
@pytest.mark.parametrize("name", ["action", "operation", "type"])
def test_a_word_for_what_a_change_does_is_understood(name, said, create, delete):
    content = {} if delete else {"content": "x"}
    answer = read_answer({"fileChanges": [{"path": "a", name: said, **content}]})
    [change] = answer.answer.file_changes
    assert (change.create, change.delete, answer.set_aside) == (create, delete, ())


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"lineRange": {"start": 1, "end": 2}}, "by edits, with old and new"),
        ({"startLine": 3}, "by edits"),
        ({"mode": "append"}, "by edits"),
        ({"isDiff": "yes"}, "by edits"),
        ({"action": "rename"}, "by edits"),
        ({"based_one": "12345678"}, "Is it basedOn?"),
        ({"delet": True}, "Is it delete?"),
    ],
)
def test_a_field_that_may_make_it_another_change_is_wrong(more, what):
    [(place, words)] = places({"fileChanges": [{"path": "a", "content": "x", **more}]})
    assert place == f"fileChanges[0].{next(iter(more))}"
    assert what in words


def test_a_plan_may_explain_itself_and_changes_nothing():
    plan = {
        "reasoning": "I need the schema",
        "summary": "Look first",
        "filesToLoad": [{"pattern": "a"}],
    }
    assert read_plan(plan).file_requests[0].patterns == ("a",)
    for deed in ("fileChanges", "todos", "subTasks", "commands"):
        with pytest.raises(AnswerInvalid, match="is no part of a plan"):
            read_plan({**plan, deed: []})
