"""The verbs of the library: a decorator for their methods, and their parameters.

A verb is written once, as a method of Session, Workspace, Subtasks or Conversation. The async face,
the command line and the table of tools take its parameters from the signature, their descriptions
from the docstring, and what it may do from the marks that the decorator keeps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce, wraps
from inspect import Parameter as SignatureParameter
from inspect import cleandoc, signature, unwrap
from operator import or_
from os import PathLike, fspath
from types import UnionType
from typing import (
    Annotated,
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from msgspec import Meta, Struct

from sightline.filesystem.open_files import enough_files
from sightline.model.spans import Span
from sightline.model.validation import NUMBER_MAX

P = ParamSpec("P")
R = TypeVar("R")
LockedT = TypeVar("LockedT", bound="Locked")

Natural = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
Positive = Annotated[int, Meta(ge=1, le=NUMBER_MAX)]

HOST_ONLY = "host only"
"""In Annotated: a parameter, or a member of a union, that only a program in this process can give, such
as a function, or a path outside the workspace. No tool has it."""

FilePath = str | Annotated[PathLike[str], HOST_ONLY]
"""The path of a file or folder, as a verb takes it. Answers have it as text."""


def paths_of(paths: FilePath | Iterable[FilePath]) -> list[str]:
    """Return one path, or several, as texts."""
    return [fspath(each) for each in ([paths] if isinstance(paths, str | PathLike) else paths)]


def checked_lines(lines: Span | None) -> Span | None:
    """Return a range of lines. ValueError for what is none."""
    if lines is not None and not 1 <= lines[0] <= lines[1]:
        raise ValueError(f"lines are (first, last), counted from 1, not {lines}")
    return lines


class Locked(Protocol):
    """An object whose verbs run one at a time."""

    @property
    def _lock(self) -> AbstractContextManager[object]: ...

    def _running(self) -> AbstractContextManager[object]: ...


class Marks(Struct, frozen=True):
    """The effects and names of a verb, for callers that have not read its page. read_only: it changes
    nothing but the record of what its caller was shown; destructive: it may overwrite or delete what somebody wrote; idempotent: a second
    call with the same arguments changes nothing more; long: it may take longer than a person waits.

    tool: the name by which agents call it, "" for a verb that only programs and people call; answer: the
    name of its answer in JSON, "" for one whose fields stand there themselves.
    """

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    long: bool = False
    tool: str = ""
    answer: str = ""


@overload
def verb(
    method: Callable[Concatenate[LockedT, P], R], /
) -> Callable[Concatenate[LockedT, P], R]: ...
@overload
def verb(
    *,
    read_only: bool = ...,
    destructive: bool = ...,
    idempotent: bool = ...,
    long: bool = ...,
    tool: str = ...,
    answer: str = ...,
    waits: bool = ...,
) -> Callable[[Callable[Concatenate[LockedT, P], R]], Callable[Concatenate[LockedT, P], R]]: ...
def verb(method: Callable[..., Any] | None = None, /, *, waits: bool = False, **marks: Any) -> Any:
    """Make a verb of a method: it runs while its object's lock is held, and has marks (see Marks).

    waits: it takes the lock by itself where it needs it, and waits without."""

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def locked(self: Any, /, *args: Any, **named: Any) -> Any:
            with nullcontext() if waits else self._lock, enough_files(), self._running():
                return method(self, *args, **named)

        locked.__dict__["marks"] = Marks(**marks)
        return locked

    return decorate if method is None else decorate(method)


def marks_of(method: Callable[..., Any]) -> Marks | None:
    """Return the marks of a verb; None for a method that is none."""
    marks: Marks | None = method.__dict__.get("marks")
    return marks


class Parameter(Struct, frozen=True):
    """A parameter of a verb. annotation: its type in JSON (see json_type), None where only a program in
    this process can give it; default: REQUIRED when there is none."""

    name: str
    annotation: Any
    default: Any
    is_keyword: bool
    description: str

    @property
    def is_host_only(self) -> bool:
        """Return whether no tool and no command has the parameter."""
        return self.annotation is None

    @property
    def is_required(self) -> bool:
        """Return whether the parameter has no default."""
        return self.default is REQUIRED


REQUIRED = SignatureParameter.empty


def parameters(method: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a verb in order, without `self`.

    The section "Args:" of the docstring has their descriptions.
    """
    section = re.search(r"^Args:\n((?:    .*\n?|\n)*)", _doc(method), re.MULTILINE)
    entries = re.findall(
        r"^    (\w+): (.*(?:\n     .*)*)", section[1] if section else "", re.MULTILINE
    )
    descriptions = {name: " ".join(text.split()) for name, text in entries}
    own = unwrap(method)
    asked = {name: each for name, each in own.__annotations__.items() if name != "return"}
    hints = get_type_hints(
        type("Asked", (), {"__annotations__": asked}), own.__globals__, include_extras=True
    )
    return [
        Parameter(
            name,
            json_type(hints[name]),
            each.default,
            each.kind is SignatureParameter.KEYWORD_ONLY,
            descriptions.get(name, ""),
        )
        for name, each in list(signature(method).parameters.items())[1:]
    ]


def json_type(annotation: Any) -> Any:
    """Return the type that a value of a parameter has in JSON, as msgspec reads types: without what is
    HOST_ONLY, and lists for what can be walked through. None where nothing is left."""
    origin, members = get_origin(annotation), get_args(annotation)
    if annotation is object:
        return Any
    if origin is Annotated:
        if HOST_ONLY in members:
            return None
        return Annotated[(json_type(members[0]), *members[1:])]
    if origin in (Union, UnionType):
        kept = [each for each in map(json_type, members) if each is not None]
        return reduce(or_, kept) if set(kept) - {type(None)} else None
    if origin in (Iterable, Sequence):
        return list[json_type(members[0])]  # type: ignore[misc]
    if origin is Mapping:
        return dict[str, json_type(members[1])]  # type: ignore[misc]
    return annotation


def prose(method: Callable[..., Any]) -> str:
    """Return a verb's docstring up to its first section."""
    return re.split(r"^(?:Args|Returns|Raises|Note):\n", _doc(method), flags=re.MULTILINE)[
        0
    ].strip()


def _doc(method: Callable[..., Any]) -> str:
    return cleandoc(method.__doc__ or "")
