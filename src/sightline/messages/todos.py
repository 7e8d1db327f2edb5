"""The to-dos of a session: the list written last counts, whichever tool or answer wrote it.

Readable are lists that a call gives whole (TodoWrite, update_plan, write_todos, todowrite,
update_todo_list, manage_todo_list and their kind), lists that grow by calls (TaskCreate,
TaskUpdate), Markdown in an argument of any call (task_progress) or in a tag of the text, and the
`todos` of a structured answer. A to-do of a new list is the one of the old list with the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from json import loads
from typing import Any

from msgspec import Struct

from sightline.messages.blocks import Block
from sightline.messages.tool_calls import field, is_mapping, parse_object
from sightline.messages.tool_names import TASKS, plain_name
from sightline.model.agent_work import State, Todo
from sightline.model.embedded_json import NoJson, find_json


class Item(Struct, frozen=True):
    """A to-do as a list names it. state: None where the list does not say."""

    text: str
    state: State | None = None
    detail: str = ""


Todos = dict[str, Todo]
"""The to-dos of a list, by id or number."""

Items = dict[str, Item]
"""The items of a list as it is written, by id or number."""

WHOLE = frozenset(
    [
        *("todowrite", "writetodos", "updatetodolist", "updateplan", "managetodolist"),
        *("updatetodo", "updatetodos", "settodolist", "tasktracker", "todolist", "todo"),
        *("managetodos", "updatetasks", "writetodolist", "todos", "createtodolist", "addtodos"),
    ]
)
"""Plain names of the tools whose arguments hold a whole list."""

LISTS = ("todos", "plan", "todoList", "todo_list", "task_list", "tasks", "items")
TEXTS = ("content", "step", "title", "subject", "text", "task", "name", "description")
DETAILS = ("aiText", "ai_text", "detail", "details")
STATES: dict[str, State] = {
    **dict.fromkeys(("proposed", "pending", "todo", "open", "notstarted"), "proposed"),
    **dict.fromkeys(
        ("inprogress", "active", "doing", "started", "current", "running"), "in_progress"
    ),
    **dict.fromkeys(("completed", "complete", "done", "finished", "closed"), "done"),
    **dict.fromkeys(
        ("dropped", "cancelled", "canceled", "deleted", "skipped", "removed"), "dropped"
    ),
}
"""Word, without what is no letter -> state. A tool's other words mean proposed."""

MARKS: dict[str, State] = {
    "x": "done", "-": "in_progress", "~": "in_progress", "/": "in_progress", " ": "proposed",
}  # fmt: skip
ITEM = re.compile(r"(?:[-*+]|\d{1,4}[.)])?[ \t]*\[([ xX~/-])\][ \t]+(\S.*)")
"""A line of a list in Markdown. Some products leave out the dash."""

TAGS = ("task_progress", "update_todo_list")
CREATED = re.compile(r"Task #(\w+) created")
ITEMS_MAX = 1_000
ITEM_CHARACTERS = 1_000
TEXT_CHARACTERS = 1 << 20
"""Limits beyond which a list is not read further: nobody works through a longer one."""


def is_todo_tool(tool: str) -> bool:
    """Return whether a tool writes to-dos."""
    return plain_name(tool) in WHOLE or plain_name(tool) in TASKS


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
        self._turn = 0

    def newest(self) -> tuple[Todo, ...]:
        """Return the list that was written or changed last."""
        return tuple((self._tasks if self._has_tasks else self._list).values())

    def replace(self, listed: Sequence[Todo]) -> None:
        """Replace the list by one with known to-dos."""
        self._list = {str(number): todo for number, todo in enumerate(listed, 1)}
        self._has_tasks = False

    def add(self, block: Block, turn: int = 0) -> None:
        """Read the next block. turn: in which it was written."""
        self._turn = turn
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
            item = _parse_item(arguments)
            if item is not None and len(self._tasks) < ITEMS_MAX:
                key = str(len(self._tasks) + 1)
                while key in self._tasks:
                    key += "'"
                self._tasks[key] = renewed(None, item, self._turn)
                self._created[block.call] = key
                self._has_tasks = True
        elif name == "taskupdate":
            key = str(field(arguments, "taskId", "task_id", "id") or "")
            if key in self._tasks:
                task = self._tasks[key]
                names = ("subject", "status")
                changes = {n: arguments[n] for n in names if arguments.get(n) is not None}
                item = _parse_item({"subject": task.text, **changes})
                self._tasks[key] = renewed(task, item, self._turn) if item else task
                self._has_tasks = True
        else:
            items = _find_list(arguments) if name in WHOLE else None
            progress = arguments.get("task_progress")
            if items is None and isinstance(progress, str):
                items = parse_markdown(progress)
            self._write(items, merges=arguments.get("merge") is True)

    def _write(self, items: Items | None, *, merges: bool = False) -> None:
        if items is not None:
            old = {todo.text: todo for todo in self.newest()}
            new = {
                key: renewed(old.get(item.text), item, self._turn) for key, item in items.items()
            }
            self._list = {**self._list, **new} if merges else new
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
        self._write(items)
        if items is None and '"todos"' in text:
            structured = _find_structured(text) or {}
            self.replace(proposed(self.newest(), list(structured.values()), self._turn))


def renewed(old: Todo | None, item: Item, turn: int) -> Todo:
    """Return a to-do that a list names again. old: the one with the same text, or of the same id."""
    if old is None:
        return Todo(item.text, item.state or "proposed", item.detail, (), turn)
    state, detail = item.state or old.state, item.detail or old.detail
    is_same = (item.text, state, detail) == (old.text, old.state, old.detail)
    return old if is_same else Todo(item.text, state, detail, old.files, turn)


def proposed(old: Sequence[Todo], items: Sequence[Item], turn: int) -> tuple[Todo, ...]:
    """Return the list after a structured answer: the answer's to-dos in their order, and behind them
    the old ones that the answer does not name, of which the open ones are dropped. An answer without
    to-dos leaves the list as it is."""
    if not items:
        return tuple(old)
    known = {todo.text: todo for todo in old}
    listed = [renewed(known.pop(item.text, None), item, turn) for item in items]
    rest = [
        todo
        if todo.state in ("done", "dropped")
        else renewed(todo, Item(todo.text, "dropped"), turn)
        for todo in known.values()
    ]
    return (*listed, *rest)[:ITEMS_MAX]


def _find_list(arguments: Mapping[str, Any]) -> Items | None:
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


def _parse_items(values: Iterable[Any]) -> Items:
    items: Items = {}
    for number, value in enumerate(values, 1):
        item = _parse_item({"text": value} if isinstance(value, str) else value)
        if item is not None and len(items) < ITEMS_MAX:
            items[str(field(value, "id") or number)] = item
    return items


def _parse_item(value: object) -> Item | None:
    if not is_mapping(value):
        return None
    text, detail = _first_text(value, TEXTS), _first_text(value, DETAILS)
    state = value.get("status", value.get("state"))
    if state is None and value.get("completed", value.get("done")) is True:
        state = "done"
    word = re.sub(r"[^a-z]", "", state.lower()) if isinstance(state, str) else ""
    stated = None if state is None else STATES.get(word, "proposed")
    return None if not text else Item(text, stated, detail)


def _first_text(value: Mapping[str, Any], names: Iterable[str]) -> str:
    texts = (value.get(name) for name in names)
    text = next((t.strip() for t in texts if isinstance(t, str) and t.strip()), "")
    return text[:ITEM_CHARACTERS]


def parse_markdown(text: str) -> Items | None:
    """Parse a list in Markdown; None for a text without an item."""
    items: Items = {}
    for line in text[:TEXT_CHARACTERS].splitlines():
        match = ITEM.match(line.lstrip()[: 2 * ITEM_CHARACTERS])
        if match is not None and len(items) < ITEMS_MAX:
            item = Item(match[2].strip()[:ITEM_CHARACTERS], MARKS[match[1].lower()])
            items[str(len(items) + 1)] = item
    return items or None


def _find_tagged(text: str) -> Items | None:
    """Return the list in the last of the tags in TAGS."""
    for tag in TAGS:
        end = text.rfind(f"</{tag}>")
        start = text.rfind(f"<{tag}>", 0, end) if end >= 0 else -1
        if start >= 0:
            return parse_markdown(re.sub(r"</?todos>", "\n", text[start + len(tag) + 2 : end]))
    return None


def _find_structured(text: str) -> Items | None:
    """Return the todos of a structured answer."""
    if len(text) > TEXT_CHARACTERS:
        return None
    try:
        answer = find_json(text, ("todos",)).value
    except NoJson:
        return None
    return _find_list({"todos": answer.get("todos")}) if is_mapping(answer) else None
