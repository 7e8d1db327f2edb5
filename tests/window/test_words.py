"""The words that stand where a text was folded away."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sightline.messages.blocks import Block, Excerpt, Rewrite
from sightline.model.path import quoted
from sightline.window.words import LAST_MAX, NAME_LENGTH, TITLE_MAX, name_of, stub

READ = Block(
    *(7, 0, "result", "    11\tx\n    12\ty", 9, 4, "c1", "Read", "read"),
    excerpts=(Excerpt("src/app.py", 11, "x\ny"),),
)


def test_a_read_says_which_lines_of_which_file_when_and_how_to_see_them_again():
    assert stub(READ) == (
        "[What Read showed of src/app.py lines 11-12, at step 4, was removed to save context."
        f" To see it again: expand {name_of(READ.text)}]"
    )


def test_a_file_that_was_changed_since_is_said():
    told = stub(READ, changed=True)
    assert "was removed to save context. You changed the file since." in told


def test_a_whole_file_has_no_lines():
    whole = structs.replace(READ, excerpts=(Excerpt("src/app.py", 1, "x\ny", 2, whole=True),))
    assert "showed of src/app.py (all of it), at step 4," in stub(whole)


@pytest.mark.parametrize(("text", "last"), [("x", 11), ("x\n", 12), ("\n\n", 13), ("", 11)])
def test_blank_lines_are_lines(text, last):
    shown = structs.replace(READ, excerpts=(Excerpt("a.py", 11, text),))
    assert f"a.py lines 11-{last}, " in stub(shown)


def test_more_than_three_files_are_counted():
    several = tuple(Excerpt(f"{name}.py", 1, "x") for name in "abcde")
    told = stub(structs.replace(READ, excerpts=several))
    assert "a.py lines 1-1, b.py lines 1-1, c.py lines 1-1 and 2 more, at step" in told


def test_what_a_call_was_given_names_each_file_once():
    both = (Rewrite("a.py", "x", "y"), Rewrite("a.py", "y", "z"), Rewrite("b.py", None, "x"))
    call = Block(3, 1, "call", "{}\n", 9, 2, "c1", "MultiEdit", "edit", rewrites=both)
    assert stub(call).startswith("[What you gave MultiEdit for a.py, b.py, 2 lines, at step 2, was")


def test_a_command_and_its_answer():
    call = Block(3, 1, "call", "{}", 9, 2, "c1", "Bash", "run")
    assert stub(call).startswith("[What you gave Bash for a command, 1 line, at step 2, was")
    answer = Block(3, 1, "result", "a\nb", 9, 2, "c1", "Bash", "run")
    assert stub(answer).startswith("[The answer of Bash, 2 lines, at step 2, was")
    found = structs.replace(answer, tool=None, paths=("src",))
    assert stub(found).startswith("[The answer of a tool for src, 2 lines, at step 2, was")


def test_long_lists_of_paths_are_cut():
    many = structs.replace(READ, excerpts=(), paths=tuple(f"folder/{n}.py" for n in range(50)))
    told = stub(many)
    assert "…" in told
    assert len(told) < TITLE_MAX + 150


def test_an_error_keeps_its_end_in_one_line():
    text = "x" * 999 + "\nTraceback:\n  KeyError:   'key'\n"
    error = Block(3, 1, "result", text, 9, 2, "c1", "Bash", "run", error=True)
    assert "xx Traceback: KeyError: 'key' To see it again" in stub(error)
    assert len(stub(error)) < LAST_MAX + 150
    assert "KeyError" not in stub(structs.replace(error, error=False))


def test_the_name_is_of_the_text():
    assert name_of("abc") == sha256(b"abc").hexdigest()[:NAME_LENGTH]
    assert name_of("\ud800") != name_of("?")


WORDS = st.text(st.characters(codec=None), max_size=30)
EXCERPTS = st.builds(
    Excerpt, WORDS, st.integers(1, 10**6), WORDS, st.none() | st.integers(1, 99), st.booleans()
)
REWRITES = st.builds(Rewrite, WORDS, st.none() | WORDS, WORDS)
BLOCKS = st.builds(
    Block,
    *(st.integers(0, 99), st.integers(0, 9), st.sampled_from(["call", "result"]), WORDS),
    *(st.integers(0, 99), st.integers(0, 99), st.none() | WORDS, st.none() | WORDS),
    st.sampled_from([None, "read", "edit", "run"]),
    error=st.booleans(),
    at=st.none() | st.integers(0, 10**15),
    paths=st.lists(WORDS, max_size=5).map(tuple),
    excerpts=st.lists(EXCERPTS, max_size=5).map(tuple),
    rewrites=st.lists(REWRITES, max_size=3).map(tuple),
)


@pytest.mark.wide
@given(BLOCKS, st.booleans(), st.integers(0, 10**6), st.integers(0, 10**15))
def test_a_stub_says_nothing_that_may_be_other_words_later(block, changed, number, at):
    """Not when it is made, nor where in the messages its block stands then, nor what it takes."""
    words = stub(block, changed)
    assert stub(structs.replace(block), changed) == words
    moved = structs.replace(
        block, message=number, part=number, tokens=number, at=at, call=f"c{number}"
    )
    assert stub(moved, changed) == words


@given(BLOCKS, st.booleans())
def test_a_stub_has_the_step_and_the_name_of_its_text(block, changed):
    words = stub(block, changed)
    assert f"at step {block.step}," in words
    assert words.endswith(f"expand {name_of(block.text)}]")
    for excerpt in block.excerpts[:3]:
        assert quoted(excerpt.path) in words


@pytest.mark.wide
def test_another_process_says_the_same_words():
    """Whatever its folder, its time zone and the seed of its hashes."""
    script = (
        "from sightline.messages.blocks import *; from sightline.window.words import stub;"
        "print(stub(Block(1, 0, 'result', 'x', 1, 4, 'c', 'Read', 'read',"
        " excerpts=(Excerpt('a.py', 1, 'x'), Excerpt('b.py', 1, 'x'))), True))"
    )
    said = set()
    for seed in ("1", "2"):
        env = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed, "TZ": f"UTC+{seed}"}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, env=env, check=True
        )
        said.add(done.stdout)
    assert len(said) == 1
