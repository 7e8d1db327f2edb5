"""The table of tools: each verb that can be called with JSON, with its words, schemas and marks.

Every face that speaks JSON is made from it. Only `tools` and what it calls derive types and schemas, so
that a program that never asks for the table does not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from inspect import getmembers, isfunction
from typing import Annotated, Any, get_type_hints

from msgspec import Meta, Struct, convert, defstruct, json

from sightline.answers.json_schema import FILE, PLAN_FILE, schema_text, strict_text
from sightline.api.conversation import Conversation
from sightline.api.json_shapes import Shape, shape, view_type
from sightline.api.session import Session
from sightline.api.subtask_verbs import Subtasks
from sightline.api.verbs import Marks, Parameter, marks_of, parameters, prose
from sightline.api.workspace import Workspace
from sightline.checkpoints.compare import Story
from sightline.history.as_of import AsOf
from sightline.search.stats import Stats

OWNERS: dict[str, type] = {
    "session": Session,
    "workspace": Workspace,
    "subtasks": Subtasks,
    "conversation": Conversation,
}
"""The object that a tool is called on -> its class."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Tool(Struct, frozen=True, dict=True):
    """A verb as others call it. name: unique in the table; owner: one of OWNERS; verb: the name of the
    method; description: for the caller; marks: what the verb may do; parameters: those that JSON can give."""

    name: str
    owner: str
    verb: str
    description: str
    marks: Marks
    parameters: tuple[Parameter, ...]
    method: Callable[..., Any]

    @cached_property
    def input(self) -> type[Struct]:
        """The arguments as a struct."""
        rows = [_row(each) for each in self.parameters]
        return defstruct(
            f"{_title(self.name)}Input", rows, forbid_unknown_fields=True, kw_only=True
        )

    @cached_property
    def output(self) -> type[Struct]:
        """The answer as a struct: its own view, or one field with the answer's name."""
        answer = view_type(answer_type(self.method))
        if answer is type(None):
            return defstruct(f"{_title(self.name)}Output", [])
        if not self.marks.answer and isinstance(answer, type) and issubclass(answer, Struct):
            return answer
        return defstruct(f"{_title(self.name)}Output", [(self.marks.answer or ANSWER, answer)])

    @property
    def is_for_agents(self) -> bool:
        """Return whether an agent should call it, beside programs and people."""
        return bool(self.marks.tool)

    @property
    def input_schema(self) -> Shape:
        """The JSON Schema of the arguments."""
        return _schema(self.input)

    @property
    def output_schema(self) -> Shape:
        """The JSON Schema of the answer."""
        return _schema(self.output)

    def described(self) -> Shape:
        """Return the tool as the Model Context Protocol describes one."""
        marks = self.marks
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": {
                "readOnlyHint": marks.read_only,
                "destructiveHint": marks.destructive,
                "idempotentHint": marks.idempotent,
                "openWorldHint": False,
            },
            "_meta": {
                "sightline/verb": f"{self.owner}.{self.verb}",
                "sightline/agents": self.is_for_agents,
                "sightline/long": marks.long,
            },
        }

    def call(self, on: Session | Workspace, arguments: Mapping[str, Any]) -> Shape:
        """Call the verb with arguments from JSON, and return its answer as JSON.

        Errors of Sightline, and ValueError for arguments that are wrong."""
        for name in arguments:
            if name not in self.input.__struct_fields__:
                raise ValueError(f"{self.name} has no argument {name!r}")
        given = convert(dict(arguments), self.input)
        target = on if self.owner in ("session", "workspace") else getattr(on, self.owner)
        ordered = [each for each in self.parameters if not each.is_keyword]
        named = {
            each.name: getattr(given, each.name) for each in self.parameters if each.is_keyword
        }
        values = [getattr(given, each.name) for each in ordered]
        return self.answer(self.method(target, *values, **named))

    def answer(self, value: Any) -> Shape:
        """Return a verb's answer as JSON."""
        if value is None and not self.output.__struct_fields__:
            return {}
        fields = self.output.__struct_fields__
        wrapped = fields == (self.marks.answer or ANSWER,)
        done: Shape = {fields[0]: shape(value)} if wrapped else shape(value)
        return done


ANSWER = "result"
"""The name of an answer that is neither a struct nor named by its verb."""


LATE = {each.__name__: each for each in (Session, Stats, Story, AsOf)}
"""Types that verbs of a workspace return, whose modules it loads when such a verb is called."""


def answer_type(method: Callable[..., Any]) -> Any:
    """Return the type that a verb returns."""
    return get_type_hints(method, localns=LATE)["return"]


def answer_schema(*, plan: bool = False, strict: bool = False) -> str:
    """Return the JSON Schema of a structured answer. plan: of a planning pass, which only asks for files and
    folders. strict: as providers take it for strict structured output."""
    file = PLAN_FILE if plan else FILE
    return strict_text(file) if strict else schema_text(file)


def tools() -> dict[str, Tool]:
    """Return the table: name -> tool, verbs of a session first."""
    return {tool.name: tool for owner in OWNERS for tool in _tools_of(owner)}


def _tools_of(owner: str) -> list[Tool]:
    found = []
    for verb, method in getmembers(OWNERS[owner], isfunction):
        marks = marks_of(method)
        if marks is None:
            continue
        name = marks.tool or (verb if owner == "session" else f"{owner}_{verb}")
        every = parameters(method)
        if any(each.is_host_only and each.is_required for each in every):
            continue  # only a program in this process can call it
        of_tools = tuple(each for each in every if not each.is_host_only)
        found.append(Tool(name, owner, verb, prose(method), marks, of_tools, method))
    return found


def _row(parameter: Parameter) -> tuple[str, Any] | tuple[str, Any, Any]:
    annotation = parameter.annotation
    if parameter.description:
        annotation = Annotated[annotation, Meta(description=parameter.description)]
    if parameter.is_required:
        return parameter.name, annotation
    return parameter.name, annotation, parameter.default


def _title(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _schema(kind: type[Struct]) -> Shape:
    """Return a schema with the object itself at the top, as protocols ask, and no reference."""
    _, named = json.schema_components([kind])
    schema: Shape = {"$schema": DIALECT, **named.pop(kind.__name__)}
    return {**schema, "$defs": named} if named else schema
