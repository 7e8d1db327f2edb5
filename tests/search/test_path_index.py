"""The index answers as looking at every path would."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from sightline.search.path_index import Index, OutOfTime
from sightline.search.patterns import pattern

NAMES = [
    "a",
    "b",
    "a.py",
    "b.py",
    ".py",
    "c.test.ts",
    "x.ts",
    "[a].py",
    "ab.",
    "a\nb",
    "é.ts",
    "e\u0301.ts",
    "a*",
]
PATHS = st.lists(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join), max_size=60
)
PARTS = st.sampled_from(
    [*NAMES, "**", "*", "?", "*.py", "*.test.ts", "*.", "a*", "*b*", "[!a]*", "{a,b}", "*.{py,ts}", ".", "\\*"]
)  # fmt: skip
PATTERNS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)


def one_by_one(paths: list[str], text: str) -> list[str]:
    asked = pattern(text)
    found = sorted({path for path in paths if asked.matches(path)})
    exactly = [path for path in dict.fromkeys((text, asked.literal)) if path in found]
    return [*exactly, *(path for path in found if path not in exactly)]


@pytest.mark.wide
@settings(max_examples=examples(400), deadline=None)
@given(PATHS, PATTERNS)
def test_any_pattern_is_answered_as_by_looking_at_each_path(paths, text):
    assert Index(paths).matching(pattern(text)) == one_by_one(paths, text)
    assert Index(paths).matching(pattern(text), stop=lambda: False) == one_by_one(paths, text)


@pytest.mark.parametrize(
    "text",
    [
        "**/n7.py",
        "f1/**/n8.py",
        "f*/**/n7.py",
        "*",
        "**/*7*",
        "f*/**/*.py",
        "**/g2/*.t?",
        "**/f*/**/n*",
        "n7.py",
    ],
)
def test_many_paths_are_looked_up_in_every_way(text):
    """Enough folders and names that each way of the index is taken."""
    paths = [
        f"f{n}/g{m}/n{(n + m) % 9}.{'py' if m % 2 else 'ts'}" for n in range(40) for m in range(40)
    ]
    found = Index(paths).matching(pattern(text))
    assert found
    assert found == one_by_one(paths, text)


def test_what_it_holds():
    index = Index(["b/c/d.py", "a.py", "b/e/f/d.py", "a.py"])
    assert index.paths == ("a.py", "b/c/d.py", "b/e/f/d.py")
    assert index.folders == ("b", "b/c", "b/e", "b/e/f")
    assert list(index.named("d.py")) == ["b/c/d.py", "b/e/f/d.py"]
    assert list(index.named("D.py")) == []
    assert "a.py" in index
    assert "b" not in index


def test_the_path_written_as_the_pattern_comes_first():
    paths = ["a/[b].py", "a/b.py", "[b].py", "b.py"]
    assert Index(paths).matching(pattern("[b].py")) == ["[b].py", "a/[b].py", "a/b.py", "b.py"]
    assert Index(paths).matching(pattern("b.py")) == ["b.py", "a/b.py"]


def test_a_question_can_be_stopped_after_a_few_texts():
    """Even where each text takes long: a tree and a pattern can be made for that."""
    index = Index([f"{n}{'a' * 200}" for n in range(1000)])
    asked: list[bool] = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) == 3

    with pytest.raises(OutOfTime):
        index.matching(pattern("**/*" + "a?" * 50 + "b*"), stop=stop)
    assert len(asked) == 3
    assert index.matching(pattern("*a"), stop=lambda: False) == list(index.paths)


def test_an_empty_list_matches_nothing():
    assert Index([]).matching(pattern("**")) == []
    assert Index([]).folders == ()
    assert "a" not in Index([])


def test_a_literal_question_looks_at_few_paths():
    """So that it takes as long in a large tree as in a small one: paths are compared, counted."""

    compared: list[str] = []

    class Counted(str):
        __slots__ = ()

        def __lt__(self, other):
            compared.append(self)
            return str.__lt__(self, other)

    index = Index([Counted(f"f/n{n}.py") for n in range(2000)])
    index.named("warm")
    compared.clear()
    assert index.matching(pattern("f/n77.py")) == ["f/n77.py"]
    assert index.matching(pattern("n77.py")) == ["f/n77.py"]
    assert len(compared) <= 4 * 12
