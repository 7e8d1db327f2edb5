"""To-do lists out of what agents said: the newest one is what there is to do, whoever's tool wrote it.

Read are lists that a call gives whole (TodoWrite, update_plan, write_todos, todowrite,
update_todo_list, manage_todo_list and their kind), lists that grow by calls (TaskCreate,
TaskUpdate), Markdown in an argument of any call (task_progress) or in a tag of the text, and the
`todos` of a structured answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from json import JSONDecoder, loads
from typing import Any, Literal

from msgspec import Struct

from sightline.conversation.tool_calls import field, is_mapping
from sightline.conversation.window.blocks import Block
from sightline.conversation.written_files import plain

State = Literal["pending", "doing", "done", "cancelled"]


class Todo(Struct, frozen=True):
    """One thing to do."""

    text: str
    state: State


WHOLE = frozenset(
    [
        *("todowrite", "writetodos", "updatetodolist", "updateplan", "managetodolist"),
        *("updatetodo", "updatetodos", "settodolist", "tasktracker", "todolist", "todo"),
        *("managetodos", "updatetasks", "writetodolist"),
    ]
)
"""Tools that are given all of a list, by their plain names."""

LISTS = ("todos", "plan", "todoList", "todo_list", "task_list", "tasks", "items")
TEXTS = ("content", "step", "title", "subject", "text", "task", "name", "description")
STATES: dict[str, State] = {
    **dict.fromkeys(("inprogress", "active", "doing", "started", "current", "running"), "doing"),
    **dict.fromkeys(("completed", "complete", "done", "finished", "closed"), "done"),
    **dict.fromkeys(("cancelled", "canceled", "deleted", "skipped", "removed"), "cancelled"),
}
"""All other words mean that it is still to be done."""

MARKS: dict[str, State] = {"x": "done", "-": "doing", "~": "doing", "/": "doing", " ": "pending"}
ITEM = re.compile(r"(?:[-*+]|\d{1,4}[.)])?[ \t]*\[([ xX~/-])\][ \t]+(\S.*)")
"""A line of a list in Markdown. Products leave out the dash."""

TAGS = ("task_progress", "update_todo_list")
MADE = re.compile(r"Task #(\w+) created")
ITEMS_MAX = 1_000
ITEM_CHARACTERS = 1_000
TEXT_CHARACTERS = 1 << 20
"""What is longer is looked at no further: nobody works through it."""


def todos(blocks: Iterable[Block]) -> tuple[Todo, ...]:
    """The newest list of a conversation, in its order; () where there is none, or it was
    emptied."""
    lists = Lists()
    for block in blocks:
        lists.take(block)
    return lists.newest()


class Lists:
    """The lists of one conversation, as its blocks come."""

    def __init__(self) -> None:
        self._list: dict[str, Todo] = {}
        self._tasks: dict[str, Todo] = {}
        self._asked: dict[str | None, str] = {}
        self._by_tasks = False

    def newest(self) -> tuple[Todo, ...]:
        """The one that was last written, or changed."""
        return tuple((self._tasks if self._by_tasks else self._list).values())

    def take(self, block: Block) -> None:
        """The next block."""
        if block.kind == "call":
            self._called(block)
        elif block.kind == "result" and block.call in self._asked:
            self._named(block)
        elif block.kind == "text":
            self._said(block.text)

    def _called(self, block: Block) -> None:
        name = plain(block.tool or "")
        if len(block.text) > TEXT_CHARACTERS:
            return
        if name not in WHOLE and name not in _STEPS and not any(t in block.text for t in TAGS):
            return
        given = _object(block.text)
        if given is None:
            self._said(block.text)
        elif name == "taskcreate":
            self._create(block.call, given)
        elif name == "taskupdate":
            self._update(given)
        else:
            found = _listed(given) if name in WHOLE else None
            self._write(found if found is not None else _progress(given), given)

    def _write(self, found: dict[str, Todo] | None, given: Mapping[str, Any]) -> None:
        if found is None:
            return
        merges = given.get("merge") is True
        self._list = {**self._list, **found} if merges else found
        self._by_tasks = False

    def _create(self, call: str | None, given: Mapping[str, Any]) -> None:
        made = _todo(given)
        if made is None or len(self._tasks) >= ITEMS_MAX:
            return
        key = str(len(self._tasks) + 1)
        while key in self._tasks:
            key += "'"
        self._tasks[key] = made
        self._asked[call] = key
        self._by_tasks = True

    def _named(self, block: Block) -> None:
        """The result of a call that made a task says by which name it is known, or that it was
        not made."""
        key = self._asked.pop(block.call)
        told = MADE.search(block.text[:ITEM_CHARACTERS])
        if told and told[1] != key and key in self._tasks:
            self._tasks.pop(told[1], None)  # of an earlier list, whose names begin anew
            self._tasks = {told[1] if k == key else k: each for k, each in self._tasks.items()}
        elif block.error:
            self._tasks.pop(key, None)

    def _update(self, given: Mapping[str, Any]) -> None:
        key = str(field(given, "taskId", "task_id", "id") or "")
        known = self._tasks.get(key)
        if known is None:
            return
        changed = _todo({"subject": known.text, "status": known.state, **_told(given)})
        self._tasks[key] = changed or known
        self._by_tasks = True

    def _said(self, text: str) -> None:
        """A text of the model's, with a list in a tag, or a structured answer."""
        found = _tagged(text) if "</" in text else None
        if found is None and '"todos"' in text:
            found = _structured(text)
        if found is not None:
            self._write(found, {})


_STEPS = ("taskcreate", "taskupdate")


def _listed(given: Mapping[str, Any]) -> dict[str, Todo] | None:
    """The list in the arguments of a call; None where there is none."""
    for name in LISTS:
        found = given.get(name)
        if isinstance(found, str):
            return _parsed(found)
        if isinstance(found, list | tuple):
            return _items(found)
    return None


def _parsed(text: str) -> dict[str, Todo]:
    """A list that is given as a text: JSON, or Markdown."""
    if text.lstrip().startswith("["):
        try:
            found = loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list):
            return _items(found)
    return markdown(text) or {}


def _items(found: Iterable[Any]) -> dict[str, Todo]:
    items: dict[str, Todo] = {}
    for number, each in enumerate(found, 1):
        made = _todo({"text": each} if isinstance(each, str) else each)
        if made is not None and len(items) < ITEMS_MAX:
            items[str(field(each, "id") or number)] = made
    return items


def _todo(given: object) -> Todo | None:
    if not is_mapping(given):
        return None
    texts = (given.get(name) for name in TEXTS)
    text = next((each.strip() for each in texts if isinstance(each, str) and each.strip()), None)
    state = given.get("status", given.get("state"))
    if state is None and given.get("completed", given.get("done")) is True:
        state = "done"
    return None if text is None else Todo(text[:ITEM_CHARACTERS], _state(state))


def _state(word: object) -> State:
    plainly = re.sub(r"[^a-z]", "", word.lower()) if isinstance(word, str) else ""
    return STATES.get(plainly, "pending")


def _told(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("subject", "status") if given.get(name) is not None}


def _progress(given: Mapping[str, Any]) -> dict[str, Todo] | None:
    text = given.get(TAGS[0])
    return markdown(text) if isinstance(text, str) else None


def markdown(text: str) -> dict[str, Todo] | None:
    """The items of a list in Markdown, by their numbers; None where no line is one."""
    found: dict[str, Todo] = {}
    for line in _lines(text[:TEXT_CHARACTERS]):
        item = ITEM.match(line)
        if item is not None and len(found) < ITEMS_MAX:
            said = Todo(item[2].strip()[:ITEM_CHARACTERS], MARKS[item[1].lower()])
            found[str(len(found) + 1)] = said
    return found or None


def _lines(text: str) -> Iterator[str]:
    return (line.lstrip()[: 2 * ITEM_CHARACTERS] for line in text.splitlines())


def _tagged(text: str) -> dict[str, Todo] | None:
    """The list in the last of these tags that has one."""
    for tag in TAGS:
        end = text.rfind(f"</{tag}>")
        begin = text.rfind(f"<{tag}>", 0, end) if end >= 0 else -1
        if begin >= 0:
            return markdown(re.sub(r"</?todos>", "\n", text[begin + len(tag) + 2 : end]))
    return None


def _structured(text: str) -> dict[str, Todo] | None:
    """The todos of the JSON object that a text is, or has in its last fence."""
    begin = text.find("{", max(text.rfind("```json"), 0))
    if begin < 0 or len(text) > TEXT_CHARACTERS:
        return None
    try:
        found, _ = JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return None
    return _listed({"todos": found.get("todos")}) if isinstance(found, dict) else None


def _object(text: str) -> Mapping[str, Any] | None:
    """What a call was given; None where it is no object that can be read."""
    try:
        found = loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
