"""Answers as JSON, for every face that speaks JSON: the fields of the answer's type, by their names.

A value that has more than everybody is to be shown, or is a list with remarks, has a view of its own
(`as_view`), whose type is that of its JSON (see view_type). Times are text, spans and tuples are lists.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from msgspec import to_builtins

from sightline.errors import PathError
from sightline.model.results import Refused

Shape = dict[str, Any]

SCHEMA = 1
"""The version of all shapes. It rises when a key goes away or means something else."""


def shape(value: Any) -> Any:
    """Return an answer as JSON has it. Bytes in a text that are no UTF-8 are lone surrogates."""
    return to_builtins(_view(value))


def _view(value: Any) -> Any:
    if isinstance(value, PathError):
        return Refused.answer_to(value)
    make = getattr(value, "as_view", None)
    if make is not None:
        return make()
    return [_view(each) for each in value] if isinstance(value, tuple | list) else value


def view_type(annotation: Any) -> Any:
    """Return the type that the JSON of an answer is made from, for the type of the answer."""
    make = getattr(annotation, "as_view", None)
    if make is not None and get_origin(annotation) is None:
        return get_type_hints(make)["return"]
    origin, members = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return reduce(or_, map(view_type, members))
    if origin in (list, tuple):
        return list[view_type(members[0])]  # type: ignore[misc]
    return annotation


def fields(value: object, *names: str) -> Shape:
    """Return the named fields of an answer, in the order of the names."""
    return {name: shape(getattr(value, name)) for name in names}
