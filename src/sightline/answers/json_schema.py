"""The JSON Schemas of a structured answer and of a plan: files of this package, made from the values in
answer."""

from __future__ import annotations

import json
import os
from typing import Any

from msgspec import Struct
from msgspec.json import schema

from sightline.answers.answer import Answer, Plan

FILE = "answer.schema.json"
PLAN_FILE = "plan.schema.json"

SOURCES: dict[str, type[Struct]] = {FILE: Answer, PLAN_FILE: Plan}
"""Published file -> the value that it describes."""


CHECKED_LATER = frozenset(
    ("default", "maxItems", "minItems", "maxLength", "minLength", "minimum", "title")
)
"""Keywords that providers refuse in strict output, or pass over. The reader of answers checks what they say."""


def schema_text(file: str = FILE) -> str:
    """Return the published JSON Schema of an answer, or of a plan, for a model and for hosts that ask for
    structured output."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as published:
        return published.read()


def generated_schema(file: str = FILE) -> str:
    """Return the text that a published file is to have."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **schema(SOURCES[file])}, indent=2) + "\n"


def strict_schema(file: str = FILE) -> dict[str, Any]:
    """Return the published schema as providers take it for strict structured output: an object at the top,
    every field required, null for a field that is left out, and no keyword that one of them refuses.

    Source: "Supported schemas" in OpenAI's guide to structured outputs, and "JSON Schema limitations" in
    Anthropic's. A model's text by this schema is an answer as it is."""
    published = json.loads(schema_text(file))
    named = {name: _strict(each) for name, each in published["$defs"].items()}
    top = published["$ref"].rpartition("/")[2]
    return {**named.pop(top), "$defs": named}


def strict_text(file: str = FILE) -> str:
    """Return the strict schema as text."""
    return json.dumps(strict_schema(file), indent=2) + "\n"


def _strict(shape: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a schema in the strict form."""
    strict = {name: value for name, value in shape.items() if name not in CHECKED_LATER}
    if "enum" in strict:
        strict["type"] = "string"
    if "items" in strict:
        strict["items"] = _strict(strict["items"])
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(each) for each in strict["anyOf"]]
    if "properties" in strict:
        strict["properties"] = {
            name: _or_null(each) if type(each.get("default")) is int else _strict(each)
            for name, each in shape["properties"].items()
        }
        strict["required"] = [*strict["properties"]]
    return strict


def _or_null(shape: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a number that may be left out."""
    strict = _strict(shape)
    described = {"description": strict.pop("description")} if "description" in strict else {}
    return {**described, "anyOf": [*strict.pop("anyOf", [strict]), {"type": "null"}]}
