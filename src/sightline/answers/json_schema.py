"""The JSON Schema of a structured answer: a file of this package, made from the values in answer."""

from __future__ import annotations

import json
from importlib.resources import files

from msgspec.json import schema

from sightline.answers.answer import Answer

FILE = "answer.schema.json"


def schema_text() -> str:
    """Return the JSON Schema of an answer, for a model and for hosts that ask for structured output."""
    return files(__package__).joinpath(FILE).read_text(encoding="utf-8")


def generated_schema() -> str:
    """Return the text that FILE is to have."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **schema(Answer)}, indent=2) + "\n"
