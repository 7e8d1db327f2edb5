"""The parts of a language: references of a source, the resolver of references, and helpers of resolvers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import wraps
from itertools import takewhile
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from msgspec import Struct

Kind = Literal[
    "import", "from", "dynamic", "require", "export", "type", "include", "package", "mod"
]
"""package: all files of it are meant, in the order in which they seem to be. mod: the module's
own declaration, which it has once."""

SettingsReader = Callable[[str], bytes | None]
"""The bytes of a settings file by canonical path; None where there is none to read."""


class Reference(Struct, frozen=True, array_like=True, gc=False):
    """A module that a source names. line: counted from one. level: leading dots of a relative
    import, in languages that count them. names: what is taken from the module ("*": all)."""

    module: str
    line: int
    level: int = 0
    names: tuple[str, ...] = ()
    kind: Kind = "import"


class Resolver(Protocol):
    """Finds the files that references mean among a list of paths, by one language's rules."""

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that `reference`, written in the file `path`, leads to.

        The most specific comes first; nothing for a reference that leads out of the tree.
        """


Value = TypeVar("Value")
Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")

LONGEST = 1024
"""Characters of a name that a resolver looks up."""


def below(folder: str, name: str) -> str:
    """Return the path of a name in a folder; "" is the root."""
    return f"{folder}/{name}" if folder else name


def joined(folder: str, name: str) -> str | None:
    """Return the canonical path that a relative name means from a folder; None above the root."""
    parts = folder.split("/") if folder else []
    for part in name.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def upwards(folder: str) -> Iterator[str]:
    """Yield a folder and all above it."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def distance(path: str, other: str) -> tuple[int, int, str]:
    """Return a sort key by distance from a path: more shared folders first, then less deep."""
    return -shared(path, other), other.count("/"), other


def shared(path: str, other: str) -> int:
    """Count the leading folders that two paths have in common."""
    return common(path.split("/")[:-1], other.split("/")[:-1])


def common(names: Sequence[str], others: Sequence[str]) -> int:
    """Count the leading names that two lists have in common."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(names, others, strict=False))))


def once(
    method: Callable[Concatenate[Owner, Arguments], Value],
) -> Callable[Concatenate[Owner, Arguments], Value]:
    """Make a method compute its result once for the same arguments and keep it in its object."""
    name = f"{method.__name__}_results"

    @wraps(method)
    def compute(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
        results = self.__dict__.setdefault(name, {})
        if args not in results:
            results[args] = method(self, *args, **kwargs)
        return results[args]  # type: ignore[no-any-return]

    return compute


def first(values: Iterable[Value | None]) -> Value | None:
    """Return the first value that is not None."""
    return next((value for value in values if value is not None), None)


def first_in(files: Collection[str], paths: Iterable[str]) -> str | None:
    """Return the first path that is among the files."""
    return next((path for path in paths if path in files), None)


def entry(table: Any, name: str, kind: type[Value]) -> Value:
    """Return a value of a settings table, empty where the table or the value has another type."""
    value = table.get(name) if isinstance(table, dict) else None
    return value if isinstance(value, kind) else kind()


class Affected(Struct, frozen=True):
    """The imports that may lead elsewhere since files came or went.

    every: all; else those that name one of the words, and those in these folders.
    """

    every: bool = False
    words: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()


class Language(Struct, frozen=True):
    """The reader and the resolver of a language.

    references: (bytes, path) -> the references of a source; resolver: (paths, reader of settings
    files) -> a Resolver; affected: files that came or went -> the imports that may lead elsewhere,
    None for none.
    """

    name: str
    references: Callable[[bytes, str], Iterable[Reference]]
    resolver: Callable[[Iterable[str], SettingsReader], Resolver]
    affected: Callable[[Iterable[str]], Affected | None]
