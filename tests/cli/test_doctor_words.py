"""The words of `doctor`: there are some for everything that it can find."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

import sightline
from sightline.cli.doctor import COUNTERS, STATES, table, words_of

SOURCE = Path(sightline.__file__).parent


def findings():
    """(name, case) of each Finding that the source makes, where both are written out."""
    texts = (file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py"))
    for text in texts:
        for node in ast.walk(ast.parse(text if "Finding(" in text else "")):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Finding":
                name, _, case = node.args[:3]
                if isinstance(name, ast.Constant) and isinstance(case, ast.Constant):
                    yield str(name.value), str(case.value)


@pytest.mark.parametrize("found", sorted(set(findings())))
def test_every_finding_has_words(found):
    assert found in table() or found[0] in COUNTERS


@pytest.mark.parametrize(
    ("name", "facts", "words"),
    [
        ("facts", {"seen": 1200, "turn": 3}, "1,203 on the timeline: 1,200 seen, 3 turn."),
        ("facts", {f"k{n}": 2 for n in range(8)}, "16 on the timeline: 2 k0, "),
        (
            "sessions",
            {"present": 1, "gone": 2, "ended": 3, "archived": 0},
            "2 whose program is gone",
        ),
        ("sight", {"gaps": 2, "when": "today", "reason": "r"}, "Lost 2 times, the last time today"),
    ],
)
def test_counters_are_said_in_words(name, facts, words):
    assert words in words_of(name, "counted", facts)[0]


def test_every_outcome_has_words():
    for (name, case), both in table().items():
        fields = {
            field for part in both for _, field, _, _ in string.Formatter().parse(part) if field
        }
        message, hint = words_of(name, case, dict.fromkeys(fields, "x"))
        assert message
        assert "{" not in message + hint


def test_each_state_has_a_word():
    assert set(STATES) == {"ok", "warning", "problem", "unknown"}
