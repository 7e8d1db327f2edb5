"""The public names: the fields of each result are described, and a page says which names matter."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct
from msgspec.json import schema

import sightline

LIBRARY = Path(__file__).parents[2] / "docs" / "how-to" / "library.md"

ELSEWHERE = {"Settings", "Answer"}
"""Names whose fields have a page of their own: docs/reference/settings.md, and docs/how-to/answers.md with the
schema, whose words models are sent."""


def documented(kind):
    """The words of a class's docstrings, and the fields that describe themselves in a JSON schema."""
    words = " ".join(each.__doc__ or "" for each in kind.__mro__ if each not in Struct.__mro__)
    own = {*re.findall(r"\w+", words)}
    return own | {field for field in kind.__struct_fields__ if field in described(kind)}


def described(kind):
    if not any("Meta(" in str(each) for each in kind.__annotations__.values()):
        return set()
    shape = schema(kind)
    fields = shape["$defs"][kind.__name__]["properties"]
    names = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    return {names[name] for name, each in fields.items() if "description" in each}


def test_every_field_of_a_public_value_is_described():
    public = {name: getattr(sightline, name) for name in sightline.__all__}
    missing = [
        f"{name}.{field}"
        for name, kind in public.items()
        if isinstance(kind, type) and issubclass(kind, Struct) and name not in ELSEWHERE
        for field in set(kind.__struct_fields__) - documented(kind)
    ]
    assert not missing, missing


def test_the_names_that_the_page_sorts_by_job_are_public():
    text = LIBRARY.read_text("utf-8")
    section = text[text.index("## The names that matter, by job") :]
    rows = re.findall(r"^\| [^`]+ \| (.*`.*) \|$", section, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)[`.]", row)]
    known = {*sightline.__all__, *dir(sightline.Session), *dir(sightline.Workspace)}
    assert len(rows) >= 8
    assert not [name for name in named if name not in known]
