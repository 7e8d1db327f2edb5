"""Which files a prompt names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.agents.claude_code.dialect import mentions


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("look at @a.py", (("a.py", None),)),
        ("@a.py first", (("a.py", None),)),
        ("lines @src/a.py#L3-9.", (("src/a.py", (3, 9)),)),
        ("one line @a.py#L3", (("a.py", (3, 3)),)),
        ('@"my notes.txt", please', (("my notes.txt", None),)),
        ('@"my notes.txt#L1-2"', (("my notes.txt", (1, 2)),)),
        ("a heading @doc.md#usage", (("doc.md", None),)),
        ("(see\n@/abs/a.py), @~/b, @../c!", (("/abs/a.py", None), ("~/b", None), ("../c", None))),
        ("twice @a @a @a#L1", (("a", None), ("a", (1, 1)))),
        ("of @ä/ö.md", (("ä/ö.md", None),)),
    ],
)
def test_files_after_an_at_are_found(prompt, found):
    assert mentions(prompt) == found


@pytest.mark.parametrize(
    "prompt",
    [
        "mail me@example.org",
        "the decorator `@cache` and ` @lru`",
        "```\n@a.py\n```",
        "```python\n@a.py",
        "@",
        "@ a",
        "@,",
        '@""',
        "@#L3",
        "@a.py#L9-3",
        "@a.py#L0",
        "@a.py#L3-x",
        "the old `call @a here`, and `another @b`",
    ],
)
def test_what_is_quoted_or_no_file_is_not(prompt):
    assert mentions(prompt) == ()


@given(st.text(alphabet='@a/. #L12-`"\n'))
def test_any_prompt_has_an_answer(prompt):
    for path, lines in mentions(prompt):
        assert path in prompt
        assert lines is None or 1 <= lines[0] <= lines[1]
