"""Read to-do lists from a conversation: the list written last counts, whichever tool wrote it.

Readable are lists that a call gives whole (TodoWrite, update_plan, write_todos, todowrite,
update_todo_list, manage_todo_list and their kind), lists that grow by calls (TaskCreate,
TaskUpdate), Markdown in an argument of any call (task_progress) or in a tag of the text, and the
`todos` of a structured answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from json import JSONDecoder, loads
from typing import Any, Literal

from msgspec import Struct

from sightline.conversation.tool_calls import field, is_mapping, parse_object
from sightline.conversation.tool_names import TASKS, plain_name
from sightline.conversation.window.blocks import Block

State = Literal["pending", "doing", "done", "cancelled"]


class Todo(Struct, frozen=True):
    """An item of a to-do list."""

    text: str
    state: State


Todos = dict[str, Todo]
"""The items of a list, by id or number."""

WHOLE = frozenset(
    [
        *("todowrite", "writetodos", "updatetodolist", "updateplan", "managetodolist"),
        *("updatetodo", "updatetodos", "settodolist", "tasktracker", "todolist", "todo"),
        *("managetodos", "updatetasks", "writetodolist"),
    ]
)
"""Plain names of the tools whose arguments hold a whole list."""

LISTS = ("todos", "plan", "todoList", "todo_list", "task_list", "tasks", "items")
TEXTS = ("content", "step", "title", "subject", "text", "task", "name", "description")
STATES: dict[str, State] = {
    **dict.fromkeys(("inprogress", "active", "doing", "started", "current", "running"), "doing"),
    **dict.fromkeys(("completed", "complete", "done", "finished", "closed"), "done"),
    **dict.fromkeys(("cancelled", "canceled", "deleted", "skipped", "removed"), "cancelled"),
}
"""Word -> state. All other words mean pending."""

MARKS: dict[str, State] = {"x": "done", "-": "doing", "~": "doing", "/": "doing", " ": "pending"}
ITEM = re.compile(r"(?:[-*+]|\d{1,4}[.)])?[ \t]*\[([ xX~/-])\][ \t]+(\S.*)")
"""A line of a list in Markdown. Some products leave out the dash."""

TAGS = ("task_progress", "update_todo_list")
CREATED = re.compile(r"Task #(\w+) created")
ITEMS_MAX = 1_000
ITEM_CHARACTERS = 1_000
TEXT_CHARACTERS = 1 << 20
"""Limits beyond which a list is not read further: nobody works through a longer one."""


def todos(blocks: Iterable[Block]) -> tuple[Todo, ...]:
    """Return the newest to-do list of a conversation, in its order; () for none or an emptied one."""
    reader = TodoReader()
    for block in blocks:
        reader.add(block)
    return reader.newest()


class TodoReader:
    """Reads the lists of one conversation, block by block."""

    def __init__(self) -> None:
        self._list: Todos = {}
        self._tasks: Todos = {}
        self._created: dict[str | None, str] = {}  # call -> task, until the result names the task
        self._has_tasks = False

    def newest(self) -> tuple[Todo, ...]:
        """Return the list that was written or changed last."""
        return tuple((self._tasks if self._has_tasks else self._list).values())

    def add(self, block: Block) -> None:
        """Read the next block."""
        if block.kind == "call":
            self._read_call(block)
        elif block.kind == "result" and block.call in self._created:
            self._read_result(block)
        elif block.kind == "text":
            self._read_text(block.text)

    def _read_call(self, block: Block) -> None:
        name = plain_name(block.tool or "")
        is_list = name in WHOLE or name in TASKS or any(tag in block.text for tag in TAGS)
        if len(block.text) > TEXT_CHARACTERS or not is_list:
            return
        arguments = parse_object(block.text)
        if arguments is None:
            self._read_text(block.text)
        elif name == "taskcreate":
            task = _parse_todo(arguments)
            if task is not None and len(self._tasks) < ITEMS_MAX:
                key = str(len(self._tasks) + 1)
                while key in self._tasks:
                    key += "'"
                self._tasks[key] = task
                self._created[block.call] = key
                self._has_tasks = True
        elif name == "taskupdate":
            key = str(field(arguments, "taskId", "task_id", "id") or "")
            if key in self._tasks:
                task = self._tasks[key]
                names = ("subject", "status")
                changes = {n: arguments[n] for n in names if arguments.get(n) is not None}
                new = _parse_todo({"subject": task.text, "status": task.state, **changes})
                self._tasks[key] = new or task
                self._has_tasks = True
        else:
            items = _find_list(arguments) if name in WHOLE else None
            progress = arguments.get("task_progress")
            if items is None and isinstance(progress, str):
                items = parse_markdown(progress)
            self._write(items, merges=arguments.get("merge") is True)

    def _write(self, items: Todos | None, *, merges: bool = False) -> None:
        if items is not None:
            self._list = {**self._list, **items} if merges else items
            self._has_tasks = False

    def _read_result(self, block: Block) -> None:
        """Read the id of a created task, or that its creation failed."""
        key = self._created.pop(block.call)
        match = CREATED.search(block.text[:ITEM_CHARACTERS])
        if match and match[1] != key and key in self._tasks:
            self._tasks.pop(match[1], None)  # of an earlier list with the same ids
            self._tasks = {match[1] if k == key else k: task for k, task in self._tasks.items()}
        elif block.error:
            self._tasks.pop(key, None)

    def _read_text(self, text: str) -> None:
        """Read a list in a tag of the model's text, or in a structured answer."""
        items = _find_tagged(text) if "</" in text else None
        if items is None and '"todos"' in text:
            items = _find_structured(text)
        self._write(items)


def _find_list(arguments: Mapping[str, Any]) -> Todos | None:
    """Return the list in a call's arguments; None where there is none."""
    for name in LISTS:
        value = arguments.get(name)
        if isinstance(value, str):
            try:
                items = loads(value) if value.lstrip().startswith("[") else None
            except (ValueError, RecursionError):
                items = None
            return _parse_items(items) if isinstance(items, list) else parse_markdown(value) or {}
        if isinstance(value, list | tuple):
            return _parse_items(value)
    return None


def _parse_items(values: Iterable[Any]) -> Todos:
    items: Todos = {}
    for number, value in enumerate(values, 1):
        item = _parse_todo({"text": value} if isinstance(value, str) else value)
        if item is not None and len(items) < ITEMS_MAX:
            items[str(field(value, "id") or number)] = item
    return items


def _parse_todo(value: object) -> Todo | None:
    if not is_mapping(value):
        return None
    texts = (value.get(name) for name in TEXTS)
    text = next((t.strip() for t in texts if isinstance(t, str) and t.strip()), None)
    state = value.get("status", value.get("state"))
    if state is None and value.get("completed", value.get("done")) is True:
        state = "done"
    word = re.sub(r"[^a-z]", "", state.lower()) if isinstance(state, str) else ""
    return None if text is None else Todo(text[:ITEM_CHARACTERS], STATES.get(word, "pending"))


def parse_markdown(text: str) -> Todos | None:
    """Parse a list in Markdown; None for a text without an item."""
    items: Todos = {}
    for line in text[:TEXT_CHARACTERS].splitlines():
        match = ITEM.match(line.lstrip()[: 2 * ITEM_CHARACTERS])
        if match is not None and len(items) < ITEMS_MAX:
            item = Todo(match[2].strip()[:ITEM_CHARACTERS], MARKS[match[1].lower()])
            items[str(len(items) + 1)] = item
    return items or None


def _find_tagged(text: str) -> Todos | None:
    """Return the list in the last of the tags in TAGS."""
    for tag in TAGS:
        end = text.rfind(f"</{tag}>")
        start = text.rfind(f"<{tag}>", 0, end) if end >= 0 else -1
        if start >= 0:
            return parse_markdown(re.sub(r"</?todos>", "\n", text[start + len(tag) + 2 : end]))
    return None


def _find_structured(text: str) -> Todos | None:
    """Return the todos of the JSON object that a text is, or has in its last fence."""
    start = text.find("{", max(text.rfind("```json"), 0))
    if start < 0 or len(text) > TEXT_CHARACTERS:
        return None
    try:
        answer, _ = JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return _find_list({"todos": answer.get("todos")}) if isinstance(answer, dict) else None
