"""The whole text an edit left, from the little the client says of it."""

from __future__ import annotations

import difflib
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from sightline.model.json_fields import read_fields
from sightline.recordings.claude_code.edited_text import EditResult, after

lines = st.sampled_from(["a", "b", "\tc", "\t\td", "  e", "", "“f”"])
texts = st.lists(lines, min_size=1, max_size=12).flatmap(
    lambda some: st.sampled_from(["\n".join(some), "\n".join(some) + "\n"])
)


def text_after(before, report):
    return after(before, read_fields(report, EditResult))


def shown(line: str) -> str:
    """Tabs at the start of a line are shown as blanks."""
    rest = line.lstrip("\t")
    return "  " * (len(line) - len(rest)) + rest


def patch(before: str, now: str) -> list[dict[str, Any]]:
    """As the client writes it: hunks with three lines around them."""
    old, new = before.splitlines(keepends=True), now.splitlines(keepends=True)
    hunks = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        told: list[str] = []
        for mark, i1, i2, j1, j2 in group:
            sides = (
                [(" ", old[i1:i2])] if mark == "equal" else [("-", old[i1:i2]), ("+", new[j1:j2])]
            )
            for sign, part in sides:
                for line in part:
                    text = line.removesuffix("\n")
                    told.append(sign + shown(text))
                    if not line.endswith("\n"):
                        told.append("\\ No newline at end of file")
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        hunks.append(
            {
                "oldStart": i1 + (i2 > i1),
                "oldLines": i2 - i1,
                "newStart": j1 + (j2 > j1),
                "newLines": j2 - j1,
                "lines": told,
            }
        )
    return hunks


@given(texts, lines, lines, st.booleans())
def test_a_replacement_is_what_was_written_where_the_patch_agrees(before, old, new, every):
    assume(old and old in before)
    now = before.replace(old, new) if every else before.replace(old, new, 1)
    assume(now != before)
    told = {"oldString": old, "newString": new, "replaceAll": every}
    assert text_after(before, {**told, "structuredPatch": patch(before, now)}) == now


@given(texts, texts)
def test_what_was_written_is_found_without_the_replacement_or_not_said(before, now):
    """The client may write other characters than the agent gave: the patch has them."""
    assume(before != now)
    told = {"oldString": "nowhere", "newString": now, "replaceAll": False}
    said = text_after(before, {**told, "structuredPatch": patch(before, now)})
    assert said == (None if "\t" in before + now else now)


def test_curly_quotes_of_the_file_are_kept():
    told = {"oldString": "say “hi”", "newString": 'say "ho"', "replaceAll": False}
    made = patch("say “hi”\n", "say “ho”\n")
    assert text_after("say “hi”\n", {**told, "structuredPatch": made}) == "say “ho”\n"


def test_what_does_not_fit_together_is_not_guessed():
    told = {"oldString": "a", "newString": "b", "replaceAll": False}
    assert text_after("a\n", told) is None
    assert text_after("a\n", {**told, "structuredPatch": []}) is None
    assert text_after("a\n", {**told, "structuredPatch": [{"lines": [1]}, "x"]}) is None
    assert text_after("a\n", {**told, "structuredPatch": patch("x\n", "y\n")}) is None
