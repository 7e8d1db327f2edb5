"""An editor holds text that is not on disk while a rewind changes the file below it.

Threads: cline/cline#2161, #3309 and #4851, Kilo-Org/kilocode#2382, RooCodeInc/Roo-Code#3097 (a
restore under an unsaved buffer did nothing, or lost it), anthropics/claude-code#87056 (autosave).
What an editor writes is the user's: not a byte of it is lost, and the agent is told of it.
"""

from __future__ import annotations

import pytest
from tests.disasters.editors import ByRename, InPlace
from tests.filesystem.doubles import before

THEN = "one\ntwo\nthree\nfour\nfive\n"
TYPED = "typed by the user\n"


@pytest.fixture
def agent(tree):
    tree.put("a.py", THEN)
    made = tree.session()
    made.read("a.py")
    return made


@pytest.fixture
def then(tree, agent):
    """A checkpoint before an edit of the agent's."""
    made = tree.checkpoint()
    agent.edit("a.py", "two", "2")
    return made


@pytest.fixture(params=[InPlace, ByRename])
def dirty(request, tree):
    """Has an editor hold what stands there now, and a line that was not saved yet."""
    opened = []

    def hold():
        editor = request.param(tree.root / "a.py")
        editor.type(TYPED)
        opened.append(editor)
        return editor

    yield hold
    for editor in opened:
        editor.close()


def test_saved_after_the_rewind_it_stands_and_the_agent_is_told(tree, agent, then, dirty):
    editor = dirty()
    assert tree.rewind(then)["restored"] == ["a.py"]
    editor.save()
    assert tree.text("a.py") == editor.text
    [told] = agent.changes()
    assert f"+{TYPED}" in told.diff
    [session] = tree.user("status", "--json").json["sessions"]
    assert [file["state"] for file in session["files"]] == ["stale"]


def test_saved_after_the_rewind_a_second_one_leaves_what_was_typed(tree, agent, then, dirty):
    editor = dirty()
    tree.rewind(then)
    editor.save()
    tree.user("rewind", then, "--yes")
    assert tree.text("a.py").endswith(TYPED)


def test_saved_just_before_the_rewind_only_the_agents_line_goes(tree, agent, then, dirty):
    editor = dirty()
    assert tree.user("rewind", then, "--dry-run", "--json").json["restored"] == ["a.py"]
    editor.save()
    assert tree.rewind(then)["merged"] == ["a.py"]
    assert tree.text("a.py") == THEN + TYPED


@pytest.mark.parametrize("call", ["open", "write", "fsync", "exchange"])
def test_saved_in_the_middle_of_the_rewind_nothing_typed_is_lost(tree, agent, then, dirty, call):
    editor = dirty()
    agent._context.workspace._calls = before(call, editor.save)
    agent.rewind(then)
    editor.close()  # a save that a lease held up comes in the middle as well, or after it
    came_after = [editor.text] if editor.waiting else []
    assert tree.text("a.py") in [THEN + TYPED, *came_after]


def test_saved_while_the_rewind_takes_the_file_away_it_stands(tree, agent, dirty):
    (tree.root / "a.py").unlink()
    agent.changes()
    then = tree.checkpoint()
    agent.create("a.py", THEN)
    editor = dirty()
    agent._context.workspace._calls = before("replace", editor.save)
    agent.rewind(then)
    editor.close()
    assert tree.text("a.py") == THEN + TYPED


def test_saved_over_a_file_that_the_rewind_took_away_it_stands(tree, agent, dirty):
    (tree.root / "a.py").unlink()
    agent.changes()
    then = tree.checkpoint()
    agent.create("a.py", THEN)
    editor = dirty()
    assert tree.rewind(then)["removed"] == ["a.py"]
    editor.save()
    tree.user("rewind", then, "--yes", "--json")
    assert tree.text("a.py") == THEN + TYPED
