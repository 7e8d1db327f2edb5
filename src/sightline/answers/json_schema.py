"""The JSON Schemas of a structured answer and of a plan: files of this package, made from the values in
answer."""

from __future__ import annotations

import json
import os

from msgspec import Struct
from msgspec.json import schema

from sightline.answers.answer import Answer, Plan

FILE = "answer.schema.json"
PLAN_FILE = "plan.schema.json"

SOURCES: dict[str, type[Struct]] = {FILE: Answer, PLAN_FILE: Plan}
"""Published file -> the value that it describes."""


def schema_text(file: str = FILE) -> str:
    """Return the published JSON Schema of an answer, or of a plan, for a model and for hosts that ask for
    structured output."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as published:
        return published.read()


def generated_schema(file: str = FILE) -> str:
    """Return the text that a published file is to have."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **schema(SOURCES[file])}, indent=2) + "\n"
