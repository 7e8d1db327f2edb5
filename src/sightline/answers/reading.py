"""Read a model's structured answer, in the spellings that models use, and name every wrong place.

The one reader of answers, and of the requests for files and listings in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from posixpath import normpath
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct, ValidationError, convert, structs

from sightline.answers.answer import (
    Answer,
    NextStep,
    Plan,
    ProposedChange,
    ProposedCommand,
    ProposedEdit,
    ProposedSubtask,
    ProposedTodo,
)
from sightline.errors import AnswerInvalid
from sightline.messages.todos import STATES
from sightline.model.embedded_json import Embedded, NoJson, Object, find_json
from sightline.model.patches import FilePatch, PatchSyntax, parse_patch
from sightline.search.chains import Request, validate
from sightline.search.listing_requests import ListingRequest

SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which no file or name has."""

PLACES_MAX = 20
"""Wrong places that an error names. Further ones are counted."""

HINT = "'sightline schema' prints the JSON Schema of an answer."

REQUESTS = {
    "files_to_load": "file_requests", "requests": "file_requests", "actions": "file_requests",
    "listings": "directory_requests",
}  # fmt: skip

SPELLINGS: dict[type[Struct], dict[str, str]] = {
    Answer: {**REQUESTS, "new_files": "file_changes", "subtasks": "sub_tasks"},
    Plan: REQUESTS,
    ProposedTodo: {"detail": "ai_text", "details": "ai_text", "content": "text", "state": "status"},
    ProposedChange: {
        "file_path": "path", "diff": "patch", "new_path": "move_to", "revision": "based_on",
        "base_revision": "based_on", "todo": "todo_index",
    },
    ProposedEdit: {
        "old_text": "old", "new_text": "new", "old_string": "old", "new_string": "new",
        "search": "old", "replace": "new",
    },
    ProposedSubtask: {"depends_on": "dependencies"},
    NextStep: {"text": "html", "input": "input_text"},
    ProposedCommand: {"description": "reason"},
    Request: {"pattern": "patterns", "fallback_action": "fallback", "is_required": "required"},
    ListingRequest: {},
}  # fmt: skip
"""Kind of a value -> other names of its fields, in snake case. Camel case is read everywhere."""

SHORT: dict[type[Struct], str] = {
    ProposedTodo: "text", NextStep: "html", ProposedCommand: "command", Request: "patterns",
    ListingRequest: "path",
}  # fmt: skip
"""Kind of a value -> its field that a text alone stands for."""


DEEDS = ("file_changes", "todos", "sub_tasks", "commands")
"""Fields of an answer that do more than ask."""

PLACING = {
    "action", "after", "anchor", "append", "at", "before", "diff", "end", "from", "insert", "kind", "line",
    "lines", "mode", "offset", "operation", "partial", "position", "prepend", "range", "region", "snippet",
    "start", "to", "type", "where",
}  # fmt: skip
"""Words in the name of an unknown field of a change that may say what it does, or where in the file. Without
the field, the change would be another one."""

ACTIONS = {
    **dict.fromkeys(("create", "add", "new"), "create"),
    **dict.fromkeys(("delete", "remove"), "delete"),
    **dict.fromkeys(("edit", "modify", "update", "change", "replace", "write"), ""),
}
"""What the `action`, `operation` or `type` of a change says -> the field that says the same; "" for none."""


class ReadAnswer(Struct, frozen=True):
    """An answer as it was read. is_cut: its text ends early, and the answer has only the whole items.
    slips: what its JSON has that no JSON may have, read as if it were not there, with the places.
    set_aside: the places of fields that no answer has; they were left out."""

    answer: Answer
    is_cut: bool = False
    slips: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()


def read_answer(raw: object) -> ReadAnswer:
    """Return a model's answer. raw: the text, with or without words around the JSON; the object; or an
    Answer. AnswerInvalid names every wrong place."""
    found = _parsed(raw)
    if isinstance(found.value, Answer):
        return ReadAnswer(found.value)
    reader = _Reader()
    answer = reader.struct(Answer, found.value, "")
    if isinstance(answer, Answer):
        _check_whole(reader, answer, is_cut=found.is_cut)
    reader.finish()
    assert isinstance(answer, Answer)
    return ReadAnswer(answer, found.is_cut, found.slips, tuple(reader.set_aside))


def read_plan(raw: object) -> Answer:
    """Return the answer of a planning pass as an answer that only asks for files and folders. raw: as for
    read_answer. AnswerInvalid names every wrong place; changes of files, to-dos, commands and sub-tasks are
    such places. Other fields are left out: a plan only asks."""
    reader = _Reader()
    plan = reader.struct(Plan, _parsed(raw).value, "")
    reader.finish()
    assert isinstance(plan, Plan)
    return Answer(file_requests=plan.file_requests, directory_requests=plan.directory_requests)


def read_file_requests(raw: object) -> tuple[Request, ...]:
    """Return the requests for files in an answer, or in one of the shorter forms: a pattern, a list of
    patterns (one chain), a request, a list of requests. AnswerInvalid."""
    if isinstance(raw, Mapping) and "file_requests" in {_field_name(Answer, name) for name in raw}:
        return read_answer(raw).answer.file_requests
    if isinstance(raw, str | Mapping | Request):
        raw = [raw]
    elif isinstance(raw, list | tuple) and raw and all(isinstance(each, str) for each in raw):
        raw = [list(raw)]
    reader = _Reader(may_set_aside=False)
    requests = reader.items(Answer, "file_requests", [("", raw)]) if raw else ()
    if not raw:
        reader.wrong("", "Give a pattern, a list of 1 to 5 patterns, or a list of requests.")
    reader.finish()
    return requests


def read_listing_requests(raw: object) -> tuple[ListingRequest, ...]:
    """Return the requests for listings in an answer, or in a list of requests, each once.
    AnswerInvalid."""
    value = _parsed(raw).value
    if isinstance(value, Mapping | Answer):
        requests = read_answer(value).answer.directory_requests
    else:
        reader = _Reader(may_set_aside=False)
        requests = reader.items(Answer, "directory_requests", [("", value)])
        reader.finish()
    return tuple(dict.fromkeys(requests))


def patch_of(change: ProposedChange) -> FilePatch:
    """Return the patch of a change. A patch may lack the lines with the names of its file.
    PatchSyntax, ValueError."""
    text = change.patch or ""
    if text.lstrip().startswith("@@"):
        text = f"--- a/{change.path}\n+++ b/{change.path}\n{text.lstrip()}"
    file, *others = parse_patch(text)
    names = {name for name in (file.old, file.new) if name is not None}
    if others or len(names) > 1 or {*map(normpath, names)} != {normpath(change.path)}:
        raise ValueError("the patch is to change this file, and no other")
    if file.beyond:
        raise ValueError(f"the patch asks for {file.beyond}, which no edit of a text can make")
    return file


def _parsed(raw: object) -> Embedded:
    """Return the value in a text or object."""
    if not isinstance(raw, str | bytes):
        return Embedded(raw)
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        text.encode("utf-8")
    except UnicodeError:
        raise AnswerInvalid((("", "The answer is not UTF-8."),), HINT) from None
    try:
        return find_json(text, NAMES)
    except NoJson as error:
        raise AnswerInvalid((("", str(error)),), HINT) from None


class _Reader:
    """Reads values of given kinds, and collects what is wrong. may_set_aside: whether fields that no value
    has are left out, and named in set_aside; else they are wrong."""

    def __init__(self, *, may_set_aside: bool = True) -> None:
        self._may_set_aside = may_set_aside
        self.set_aside: list[str] = []
        self._wrong: list[tuple[str, str]] = []
        self._more = 0

    def wrong(self, place: str, what: str) -> None:
        if len(self._wrong) < PLACES_MAX:
            self._wrong.append((place.removeprefix("."), what))
        else:
            self._more += 1

    def finish(self) -> None:
        """Raise AnswerInvalid if anything was wrong."""
        if self._wrong:
            more = (("", f"And {self._more:,} more."),) if self._more else ()
            raise AnswerInvalid((*self._wrong, *more), HINT)

    def struct(self, kind: type[Struct], raw: object, place: str) -> Struct | None:
        """Return a value of a kind; None when it is wrong."""
        if isinstance(raw, kind):
            return self._checked(raw, place)
        if isinstance(raw, str | list | tuple) and kind in SHORT:
            raw = {SHORT[kind]: raw}
        if not isinstance(raw, Mapping):
            self.wrong(place, f"expected an object, got {_kind_of(raw)}")
            return None
        before = len(self._wrong) + self._more
        given: dict[str, list[tuple[str, Any]]] = {}
        for name in raw.repeated if isinstance(raw, Object) else ():
            self.wrong(f"{place}.{name[:80]}", "is there more than once")
        for name, value in MEANINGS.get(kind, dict)(raw).items():
            if value is None:
                continue
            field = _field_name(kind, name)
            if field is None:
                self._unknown(kind, str(name)[:80], place)
            else:
                given.setdefault(field, []).append((str(name), value))
        fields: dict[str, Any] = {}
        for each in structs.fields(kind):
            if each.name in given:
                fields[each.name] = self._field(kind, each.name, given[each.name], place)
            elif each.default is NODEFAULT and each.default_factory is NODEFAULT:
                self.wrong(f"{place}.{each.encode_name}", "is missing")
        if before != len(self._wrong) + self._more:
            return None
        return self._checked(kind(**fields), place)

    def _unknown(self, kind: type[Struct], name: str, place: str) -> None:
        """Set a field aside that no value of this kind has; it is wrong where it may be a misspelt one, or
        may say what the change does."""
        known, snake = kind.__struct_fields__, _snake_case(name)
        if near := get_close_matches(snake, known, 1, 0.8):
            encoded = kind.__struct_encode_fields__[known.index(near[0])]
            self.wrong(f"{place}.{name}", f"unknown field. Is it {encoded}?")
        elif kind in (ProposedChange, ProposedEdit) and PLACING.intersection(snake.split("_")):
            what = "is not known. Say where a text goes by edits, with old and new, or by a patch"
            self.wrong(f"{place}.{name}", what)
        elif kind is Plan and _field_name(Answer, name) in DEEDS:
            self.wrong(
                f"{place}.{name}", "is no part of a plan, which only asks for files and folders"
            )
        elif kind is Request and snake == "type":
            self.wrong(f"{place}.{name}", 'only actions of the type "file" are known')
        elif not self._may_set_aside:
            known_names = ", ".join(kind.__struct_encode_fields__)
            self.wrong(f"{place}.{name}", f"unknown field. Known: {known_names}")
        else:
            self.set_aside.append(f"{place}.{name}".removeprefix("."))

    def _field(
        self, kind: type[Struct], field: str, given: Sequence[tuple[str, Any]], place: str
    ) -> Any:
        named = [(f"{place}.{name}", value) for name, value in given]
        if _list_of(kind, field) is not None:
            return self.items(kind, field, named)
        (name, value), *others = named
        for other, _ in others:
            self.wrong(other, f"is there as {name.rpartition('.')[2]}, too")
        if field == "patterns" and isinstance(value, str):
            value = [value]
        if field == "status" and isinstance(value, str):
            word = re.sub(r"[^a-z]", "", value.lower())
            value = STATES.get(word, value)
        return self._leaf(_hints(kind)[field], value, name)

    def items(
        self, kind: type[Struct], field: str, named: Sequence[tuple[str, Any]]
    ) -> tuple[Any, ...]:
        """Return the members of a field that holds a list of values. named: (place, list)."""
        member = _list_of(kind, field)
        assert member is not None
        item, most = member
        read: list[Any] = []
        for name, value in named:
            if not isinstance(value, list | tuple):
                self.wrong(name, f"expected a list, got {_kind_of(value)}")
                continue
            if most is not None and len(value) > most:
                self.wrong(name, f"{len(value):,} are too many; {most:,} is the most")
                continue
            for number, each in enumerate(value):
                one = self.struct(item, each, f"{name}[{number}]")
                if isinstance(one, ProposedChange) and name.endswith(("newFiles", "new_files")):
                    one = self._checked(structs.replace(one, create=True), f"{name}[{number}]")
                read.append(one)
        return tuple(read)

    def _leaf(self, annotation: Any, value: Any, place: str) -> Any:
        texts = value if isinstance(value, list | tuple) else [value]
        for text in texts:
            if isinstance(text, str) and SURROGATE.search(text):
                self.wrong(place, "is not valid Unicode")
                return None
        try:
            return convert(value, annotation)
        except ValidationError as error:
            what, _, inside = str(error).partition(" - at `$")
            self.wrong(place + inside.rstrip("`"), what)
        except RecursionError:
            self.wrong(place, "is nested too deep")
        return None

    def _checked(self, value: Struct, place: str) -> Struct | None:
        """Return a value whose fields go together; None when they do not."""
        check = CHECKS.get(type(value))
        if check is None:
            return value
        try:
            return check(value)
        except _WrongField as error:
            self.wrong(f"{place}.{error.field}", str(error))
        except ValueError as error:
            self.wrong(place, str(error))
        return None


class _WrongField(ValueError):
    def __init__(self, field: str, what: str) -> None:
        super().__init__(what)
        self.field = field


def _checked_change(change: ProposedChange) -> ProposedChange:
    contents = {
        "content": change.content is not None,
        "edits": bool(change.edits),
        "patch": change.patch is not None,
        "delete": change.delete,
    }
    given = [name for name, is_given in contents.items() if is_given]
    if len(given) > 1:
        raise ValueError(f"has {' and '.join(given)}. Give one of them")
    if change.move_to is not None and (change.delete or change.create):
        raise _WrongField("moveTo", "goes with neither delete nor create")
    if change.create and change.content is None:
        raise _WrongField("content", "is missing: a new file needs its text")
    if change.patch is not None:
        try:
            patch_of(change)
        except PatchSyntax as error:
            raise _WrongField("patch", f"cannot be read: {error}") from None
        except ValueError as error:
            raise _WrongField("patch", str(error)) from None
    return change


def _checked_request(request: Request) -> Request:
    try:
        return validate(request)
    except ValueError as error:
        raise _WrongField("patterns", str(error)) from None


CHECKS: dict[type[Struct], Callable[[Any], Struct]] = {
    ProposedChange: _checked_change,
    Request: _checked_request,
}


def _check_whole(reader: _Reader, answer: Answer, *, is_cut: bool) -> None:
    """Check what several items of an answer say together."""
    for number, todo in enumerate(answer.todos):
        if todo.index not in (None, number):
            reader.wrong(f"todos[{number}].index", f"is its place in todos, {number}")
    for number, change in enumerate(answer.file_changes):
        index = change.todo_index
        if index is not None and answer.todos and index >= len(answer.todos) and not is_cut:
            what = f"there is no to-do {index}; the last is {len(answer.todos) - 1}"
            reader.wrong(f"fileChanges[{number}].todoIndex", what)


def _meant_change(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a change: what `isDiff` says is a diff is its patch, and a word for what is done
    stands for `create` or `delete`."""
    fields = dict(raw)
    for name in ("action", "operation", "type"):
        word = fields.get(name)
        if isinstance(word, str) and word.lower() in ACTIONS:
            del fields[name]
            fields.update({ACTIONS[word.lower()]: True} if ACTIONS[word.lower()] else {})
    for name in ("isDiff", "is_diff"):
        if isinstance(fields.get(name), bool) and fields.pop(name):
            fields["patch"] = fields.pop("content", None)
    return fields


def _meant_todo(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a to-do: one that is `completed` is done."""
    fields = dict(raw)
    if fields.get("completed") is True and fields.get("status") is None:
        fields["status"] = "done"
    if isinstance(fields.get("completed"), bool):
        del fields["completed"]
    return fields


def _meant_request(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request: an action of the type "file" is one."""
    fields = dict(raw)
    if fields.get("type") == "file":
        del fields["type"]
    return fields


MEANINGS: dict[type[Struct], Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    ProposedChange: _meant_change,
    ProposedTodo: _meant_todo,
    Request: _meant_request,
}
"""Kind of a value -> what reads the fields that are outside the schema and have a plain meaning."""


def _snake_case(name: object) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", str(name)[:80]).lower()


def _field_name(kind: type[Struct], name: object) -> str | None:
    """Return the field that a name in JSON means; None for no field."""
    snake = _snake_case(name)
    field = SPELLINGS[kind].get(snake, snake)
    return field if field in kind.__struct_fields__ else None


@cache
def _hints(kind: type[Struct]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


@cache
def _list_of(kind: type[Struct], field: str) -> tuple[type[Struct], int | None] | None:
    """Return the kind of the members of a list of values, and how many there may be; None for another
    field."""
    annotation, most = _hints(kind)[field], None
    if get_origin(annotation) is Annotated:
        annotation, meta, *_ = get_args(annotation)
        most = meta.max_length
    item = get_args(annotation)[0] if get_origin(annotation) is tuple else None
    return (item, most) if isinstance(item, type) and issubclass(item, Struct) else None


def _kind_of(raw: object) -> str:
    names = {
        dict: "an object",
        list: "a list",
        tuple: "a list",
        str: "a text",
        bool: "true or false",
    }
    names |= {int: "a number", float: "a number", Object: "an object"}
    return names.get(type(raw), type(raw).__name__)


NAMES = frozenset(
    {*Answer.__struct_fields__, *Answer.__struct_encode_fields__, *SPELLINGS[Answer]}
    | {"filesToLoad", "newFiles"}
)
"""Names by which an object is known to be an answer."""
