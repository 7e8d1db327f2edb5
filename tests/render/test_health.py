"""The words of `doctor`: there are some for everything that it can find."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

import sightline
from sightline.render.health import _WORDS, STATES, amount, said

SOURCE = Path(sightline.__file__).parent


def findings():
    """(name, case) of each Finding that the source makes, where both are written out."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Finding":
                name, _, case = node.args[:3]
                if isinstance(name, ast.Constant) and isinstance(case, ast.Constant):
                    yield str(name.value), str(case.value)


@pytest.mark.parametrize("found", sorted(set(findings())))
def test_every_finding_has_words(found):
    assert found in _WORDS


def test_all_words_can_be_said():
    for (name, case), both in _WORDS.items():
        fields = {
            field for part in both for _, field, _, _ in string.Formatter().parse(part) if field
        }
        message, hint = said(name, case, dict.fromkeys(fields, "x"))
        assert message
        assert "{" not in message + hint


def test_each_state_has_a_word():
    assert set(STATES) == {"ok", "warning", "problem", "unknown"}


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 bytes"), (2048, "2 KiB"), (5 << 20, "5 MiB"), (3 << 30, "3.0 GiB")]
)
def test_sizes_are_said_in_one_unit(size, words):
    assert amount(size) == words
