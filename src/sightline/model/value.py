"""Value: a frozen record with slots, cheap enough for a hook process to define forty of.

A frozen dataclass compiles its methods when the class is made, and forty of them
cost a hook as much as the interpreter's own start. A Value shares one set of methods
and reads its fields from the annotations. Type checkers see a dataclass.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Self, dataclass_transform
else:  # typing costs 3 ms to import; only the checker needs it

    def dataclass_transform(**_options):
        return lambda decorated: decorated


@dataclass_transform(frozen_default=True)
class ValueType(type):
    """Turns the annotations of a class into slots and fields."""

    _fields: tuple[str, ...]
    _defaults: dict[str, Any]
    _setters: tuple[Callable[[Any, Any], None], ...]

    def __new__(mcls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> ValueType:
        noted = space.get("__annotations__", {})
        own = tuple(f for f, kind in noted.items() if not str(kind).startswith("ClassVar"))
        defaults = {field: space.pop(field) for field in own if field in space}
        space["__slots__"] = own
        made = super().__new__(mcls, name, bases, space)
        parents = [base for base in bases if isinstance(base, ValueType)]
        made._fields = tuple(f for base in parents for f in base._fields) + own
        made._defaults = {k: v for base in parents for k, v in base._defaults.items()} | defaults
        made._setters = tuple([getattr(made, field).__set__ for field in made._fields])
        return made


class Value(metaclass=ValueType):
    """Base of every value: equal by type and fields, hashable, never changed."""

    def __init__(self, *args: Any, **named: Any) -> None:
        setters = type(self)._setters
        if named or len(args) != len(setters):
            args = _all_of(type(self), args, named)
        for put, value in zip(setters, args, strict=True):
            put(self, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: make a changed copy with replace()")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, field) for field in type(self)._fields])

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{f}={getattr(self, f)!r}" for f in type(self)._fields)
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._values()

    def items(self) -> Iterator[tuple[str, Any]]:
        """Fields and their values, in the order they are declared."""
        return ((field, getattr(self, field)) for field in type(self)._fields)

    def replace(self, **changed: Any) -> Self:
        """A copy with some fields changed."""
        kind = type(self)
        values = [changed.pop(f) if f in changed else getattr(self, f) for f in kind._fields]
        return kind(*values, **changed)


def _all_of(kind: type[Value], args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The values of all fields, in order: those given by place, those by name, and defaults."""
    fields, defaults = kind._fields, kind._defaults
    values = [*args]
    for field in fields[len(args) :]:
        if field in named:
            values.append(named.pop(field))
        elif field in defaults:
            values.append(defaults[field])
        else:
            raise TypeError(f"{kind.__name__} needs {field}")
    if named or len(args) > len(fields):
        wrong = ", ".join(named) or "too many values"
        raise TypeError(f"{kind.__name__} does not take {wrong}")
    return tuple(values)
