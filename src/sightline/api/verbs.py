"""The verbs of the library: a decorator for their methods, their names, and their parameters.

A verb is written once, as a method of Session or Workspace. The async face, the command line and
the tools of agents take its parameters from the signature and their descriptions from the
docstring.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import Parameter as SignatureParameter
from inspect import cleandoc, signature
from threading import RLock
from typing import Annotated, Any, Concatenate, ParamSpec, Protocol, TypeVar, get_type_hints

from msgspec import Meta, Struct

P = ParamSpec("P")
R = TypeVar("R")
LockedT = TypeVar("LockedT", bound="Locked")

Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]


class Locked(Protocol):
    """An object whose verbs run one at a time."""

    _lock: RLock


def verb(
    method: Callable[Concatenate[LockedT, P], R],
) -> Callable[Concatenate[LockedT, P], R]:
    """Run a method while holding its object's lock."""

    @wraps(method)
    def locked(self: LockedT, /, *args: P.args, **named: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **named)

    return locked


WITHOUT_COMMAND = {
    *("apply", "believed", "dropped", "environment", "find_each", "fork", "mentioned", "renew"),
    *("request_listings", "warn", "writing", "wrote"),
}
"""Methods of Session that the command line lacks, or has as an option of another command."""

OTHER_COMMANDS = {
    "acknowledge": "ack",
    "export": "checkpoint-export",
    "files": "status",
    "list_directory": "list",
    "model_usage": "models",
    "ran": "run",
}
"""Method of Session -> its command, where that is not the method's name with dashes."""

TOOLS = {
    "apply": "apply_changes",
    "briefing": "briefing",
    "changes": "file_changes",
    "checkpoint": "checkpoint",
    "claim": "claim_files",
    "edit": "edit_file",
    "files": "context_status",
    "find": "find_files",
    "list_directory": "list_directory",
    "read": "read_file",
    "related": "related_files",
    "rewind": "rewind",
    "write": "write_file",
}
"""Method of Session -> the tool that an agent calls for it."""


def command_name(method: str) -> str | None:
    """Return the command of a method of Session, None where there is none."""
    if method in WITHOUT_COMMAND:
        return None
    return OTHER_COMMANDS.get(method, method.replace("_", "-"))


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
