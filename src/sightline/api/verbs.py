"""The verbs of the library: a decorator for their methods, and their parameters.

A verb is written once, as a method of Session or Workspace. The async face, the command line and
the tools of agents take its parameters from the signature and their descriptions from the
docstring.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import wraps
from inspect import Parameter as SignatureParameter
from inspect import cleandoc, signature
from os import PathLike, fspath
from threading import RLock
from typing import Annotated, Any, Concatenate, ParamSpec, Protocol, TypeVar, get_type_hints

from msgspec import Meta, Struct

from sightline.filesystem.open_files import enough_files
from sightline.model.spans import Span

P = ParamSpec("P")
R = TypeVar("R")
LockedT = TypeVar("LockedT", bound="Locked")

Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]

FilePath = str | PathLike[str]
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

    _lock: RLock

    def _running(self) -> AbstractContextManager[object]: ...


def verb(
    method: Callable[Concatenate[LockedT, P], R],
) -> Callable[Concatenate[LockedT, P], R]:
    """Run a method while holding its object's lock."""

    @wraps(method)
    def locked(self: LockedT, /, *args: P.args, **named: P.kwargs) -> R:
        with self._lock, enough_files(), self._running():
            return method(self, *args, **named)

    return locked


class Parameter(Struct, frozen=True):
    """A parameter of a verb. default: `required` when there is none."""

    name: str
    annotation: Any
    default: Any
    is_keyword: bool
    description: str


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
    hints = get_type_hints(method, include_extras=True)
    return [
        Parameter(
            name,
            hints[name],
            each.default,
            each.kind is SignatureParameter.KEYWORD_ONLY,
            descriptions.get(name, ""),
        )
        for name, each in list(signature(method).parameters.items())[1:]
    ]


def prose(method: Callable[..., Any]) -> str:
    """Return a verb's docstring up to its first section."""
    return re.split(r"^(?:Args|Returns|Raises|Note):\n", _doc(method), flags=re.MULTILINE)[
        0
    ].strip()


def _doc(method: Callable[..., Any]) -> str:
    return cleandoc(method.__doc__ or "")
