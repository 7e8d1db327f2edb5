"""Calls that stand as tags in a model's text, as Cline and Roo have it write them."""

from __future__ import annotations

import re

from sightline.core.calls.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = (
    *("write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace"),
    *("search_replace", "edit_file", "apply_patch", "delete_file", "new_rule", "execute_command"),
    *("read_file", "list_files", "search_files", "list_code_definition_names"),
)

BEGIN = re.compile(rf"<({'|'.join(TOOLS)})>(?=\s*<\w+>)")
"""A tag with a parameter in it: prose that only names a tool is no call."""

PARAMETER = re.compile(r"\s*<(\w+)>")


def calls(text: str) -> Iterator[Call]:
    """The calls in a text, in order. A text that breaks off in one ends it: its parameters are
    those that were closed."""
    at = 0
    while begun := BEGIN.search(text, at):
        given, at = _parameters(text, begun.end())
        yield Call("", begun[1], given)


def _parameters(text: str, at: int) -> tuple[dict[str, str], int]:
    """The parameters from here on, and where they end. What stands in one is taken as it is, tags
    and all; of two with one name the first counts."""
    given: dict[str, str] = {}
    while begun := PARAMETER.match(text, at):
        name = begun[1]
        end = text.find(f"</{name}>", begun.end())
        if end < 0:
            return given, len(text)
        given.setdefault(name, text[begun.end() : end])
        at = end + len(name) + 3
    return given, at
