"""Messages of a conversation from a file: a JSON array of them, or one a line."""

from __future__ import annotations

from json import JSONDecodeError, loads
from typing import Any

import click

from sightline.cli.text_input import text_in

HOLDERS = ("messages", "history")
"""Where an exported conversation has them."""


def messages_in(file: str) -> list[Any]:
    """The messages, or their ids, in a file, or on stdin for "-": an array, one a line, or a
    conversation that holds an array of them."""
    told = _read(file, text_in(file))
    for number, each in enumerate(told, 1):
        if not isinstance(each, dict | str):
            raise _bad(file, f"number {number} of them is neither an object nor an id")
    return told


def _read(file: str, text: str) -> list[Any]:
    try:
        told = loads(text) if text.strip() else []
    except JSONDecodeError:
        lines = enumerate(text.split("\n"), 1)
        return [_line(file, number, line) for number, line in lines if line.strip()]
    except RecursionError:
        raise _bad(file, "it is nested too deep") from None
    if isinstance(told, list):
        return told
    held = [told.get(name) for name in HOLDERS] if isinstance(told, dict) else []
    return next((each for each in held if isinstance(each, list)), [told])


def _line(file: str, number: int, line: str) -> Any:
    try:
        return loads(line)
    except JSONDecodeError as error:
        raise _bad(file, f"line {number} is no JSON: {error.msg}") from error
    except RecursionError:
        raise _bad(file, f"line {number} is nested too deep") from None


def _bad(file: str, why: str) -> click.BadParameter:
    said = f"{file} holds no messages: {why}. Give a JSON array of them, or one a line."
    return click.BadParameter(said, param_hint="--messages")
