"""To-do lists in the forms in which products write them; the newest one wins."""

from __future__ import annotations

from json import dumps

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.messages.blocks import Block
from sightline.messages.formats.format import FORMATS
from sightline.messages.todos import ITEM_CHARACTERS, ITEMS_MAX, TEXT_CHARACTERS, todos
from sightline.model.agent_work import Todo

PAIR = (Todo("read it", "done"), Todo("mend it", "in_progress"), Todo("test it", "proposed"))
ITEMS = [("read it", "completed"), ("mend it", "in_progress"), ("test it", "pending")]


def called(tool, arguments, call="c1"):
    text = arguments if isinstance(arguments, str) else dumps(arguments)
    return Block(0, 0, "call", text, call=call, tool=tool)


def said(text, kind="text"):
    return Block(0, 0, kind, text)


def result(text, call="c1", *, error=False):
    return Block(0, 0, "result", text, call=call, error=error)


def listed(key, state="status", words=None):
    words = words or {}
    return [{key: text, state: words.get(word, word)} for text, word in ITEMS]


MARKDOWN = "- [x] read it\n- [-] mend it\n- [ ] test it\n"

FORMS = {
    "Claude Code": called("TodoWrite", {"todos": listed("content")}),
    "Codex": called("update_plan", {"explanation": "why", "plan": listed("step")}),
    "Gemini": called("write_todos", {"todos": listed("description")}),
    "OpenCode": called("todowrite", {"todos": listed("content")}),
    "Copilot": called(
        "manage_todo_list",
        {
            "operation": "write",
            "todoList": listed("title", words={"in_progress": "in-progress"}),
        },
    ),
    "OpenHands": called("task_tracker", {"command": "plan", "task_list": listed("title")}),
    "a list as a text": called("TodoWrite", {"todos": dumps(listed("content"))}),
    "a server's tool": called("mcp__plans__todo_write", {"todos": listed("content")}),
    "Copilot CLI": called("update_todo", {"todos": MARKDOWN}),
    "Roo": called(
        "update_todo_list", {"todos": "[x] read it\n[-] mend it\n[ ] test it"}
    ),
    "Roo, as tags": said(
        "<update_todo_list>\n<todos>\n[x] read it\n[-] mend it\n[ ] test it\n</todos>\n"
        "</update_todo_list>"
    ),
    "Cline": called("read_file", {"path": "a.py", "task_progress": MARKDOWN}),
    "Cline, as tags": called(
        "read_file",
        f"<read_file>\n<path>a.py</path>\n<task_progress>\n{MARKDOWN}</task_progress></read_file>",
    ),
    "a structured answer": said(dumps({"text": "ok", "todos": listed("text", "state")})),
    "a structured answer in a fence": said(
        f"I use {{}} here.\n```json\n{dumps({'todos': listed('text')}, indent=1)}\n```\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_product_s_list_is_read(form):
    assert todos([FORMS[form]]) == PAIR


@pytest.mark.parametrize("form", FORMS)
def test_the_newest_list_wins_whoever_wrote_it(form):
    older = called("TodoWrite", {"todos": [{"content": "old", "status": "pending"}]})
    assert tuple(todo for todo in todos([older, FORMS[form]]) if todo.text != "old") == PAIR
    assert todos([FORMS[form], older]) == (Todo("old", "proposed"),)


def create(subject, call):
    return called("TaskCreate", {"subject": subject, "description": "longer"}, call)


def test_tasks_are_known_by_the_name_that_their_result_gives():
    blocks = [
        create("first", "a"),
        create("second", "b"),
        result("Task #8 created successfully: second", "b"),
        result("Task #7 created successfully: first", "a"),
        called("TaskUpdate", {"taskId": "8", "status": "completed"}),
        called("TaskUpdate", {"taskId": "7", "status": "in_progress", "subject": "one"}),
        called("TaskUpdate", {"taskId": "99", "status": "completed"}),
    ]
    assert todos(blocks) == (Todo("one", "in_progress"), Todo("second", "done"))


def test_tasks_without_a_result_are_numbered_and_failed_ones_are_none():
    blocks = [
        create("first", "a"),
        create("second", "b"),
        result("no such tool", "b", error=True),
        called("TaskUpdate", {"taskId": 1, "status": "deleted"}),
    ]
    assert todos(blocks) == (Todo("first", "dropped"),)


def test_tasks_and_lists_take_turns():
    whole, task = FORMS["Claude Code"], create("first", "a")
    assert todos([task, whole]) == PAIR
    assert todos([whole, task]) == (Todo("first", "proposed"),)


def test_names_of_tasks_that_begin_anew_mean_the_new_ones():
    blocks = [
        create("old", "a"),
        result("Task #1 created successfully: old", "a"),
        called("TaskUpdate", {"taskId": "1", "status": "completed"}),
        create("new", "b"),
        result("Task #1 created successfully: new", "b"),
        called("TaskUpdate", {"taskId": "1", "status": "in_progress"}),
    ]
    assert todos(blocks) == (Todo("new", "in_progress"),)


def test_a_list_that_is_merged_keeps_the_rest():
    first = {"todos": [{"id": "a", "content": "one"}, {"id": "b", "content": "two"}]}
    then = {"merge": True, "todos": [{"id": "b", "content": "two", "status": "completed"}]}
    blocks = [called("todo_write", first), called("todo_write", then)]
    assert todos(blocks) == (Todo("one", "proposed"), Todo("two", "done"))


@pytest.mark.parametrize(
    "silent",
    [
        said("- [ ] test it\n- [x] a list in prose is no list of work"),
        said("<task_progress>\n- [x] typed by a person\n</task_progress>", "user"),
        called("manage_todo_list", {"operation": "read"}),
        called("read_file", {"path": "todos.py"}),
        called("TodoWrite", '{"todos": [{"content": "cut'),
        called("TodoWrite", "[" * 100_000),
        called("Bash", {"command": "echo task_progress"}),
        said('the field "todos" of {"todos": 3}'),
    ],
)  # fmt: skip
def test_what_is_no_list_changes_nothing(silent):
    assert todos([FORMS["Claude Code"], silent]) == PAIR


def test_an_emptied_list_is_empty():
    assert todos([FORMS["Codex"], called("update_plan", {"plan": []})]) == ()


def test_what_nobody_could_work_through_is_cut():
    names = [str(number) for number in range(ITEMS_MAX + 5)]
    assert len(todos([called("TodoWrite", {"todos": names})])) == ITEMS_MAX
    assert len(todos([create(name, name) for name in names])) == ITEMS_MAX
    long = [{"content": "x" * 9_000}]
    assert len(todos([called("TodoWrite", {"todos": long})])[0].text) == ITEM_CHARACTERS
    assert todos([called("TodoWrite", {"todos": ["x" * TEXT_CHARACTERS]})]) == ()


@pytest.mark.parametrize(
    "hostile",
    [
        said('{"todos": ' + "9" * 5_000 + "}"),
        said('{"todos": ' + "[" * 50_000),
        said('```json {"todos": 1}' * 40_000),
        called("update_todo_list", {"todos": (" " * 1_999 + "x\n") * 500}),
        called("update_todo_list", {"todos": (" -" * 999 + "\n") * 500}),
        said("<task_progress>" * 60_000 + "</task_progress>"),
        said("<task_progress></task_progress>" * 30_000),
        called("TaskUpdate", {"taskId": ["a"], "status": {"b": 1}}),
    ],
    ids=range(8),
)
def test_hostile_texts_are_read_to_their_end(hostile):
    """In squares of their length it would take minutes."""
    assert len(todos([FORMS["Claude Code"], hostile])) < 1_000


def test_blocks_of_a_real_format_are_read():
    message = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I plan."},
            {
                "type": "tool_use",
                "id": "t1",
                "name": "TodoWrite",
                "input": {"todos": listed("content")},
            },
        ],
    }
    given = {"name": "update_plan", "arguments": dumps({"plan": listed("step")})}
    call = {"id": "c", "type": "function", "function": given}
    chat = {"role": "assistant", "content": None, "tool_calls": [call]}
    for name, each in (("anthropic", message), ("chat", chat)):
        assert todos(FORMATS[name].blocks([each], len)) == PAIR


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["todos", "plan", "content", "status", "id", "merge", "taskId", "subject"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.wide
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["TodoWrite", "TaskCreate", "TaskUpdate", "update_plan", "x"]), VALUES
        ),
        max_size=5,
    )
)
def test_whatever_a_model_gives_a_list_has_texts_and_states(given_calls):
    found = todos([called(tool, value) for tool, value in given_calls])
    assert all(each.text.strip() and isinstance(each.text, str) for each in found)
    assert {each.state for each in found} <= {"proposed", "in_progress", "done", "dropped"}
