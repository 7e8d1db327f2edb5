"""A file becomes a folder in one batch, or a folder a file: done, refused, or killed half way."""

from __future__ import annotations

import errno

import pytest
from tests.filesystem.doubles import dying, failing
from tests.guard.test_unfinished import dies
from tests.properties.test_machine import WIDE
from tests.support.examples import widely

import sightline

USERS = "the user's\n"
TO_FOLDER = [
    {"path": "to/in/deep.txt", "content": "deep\n", "create": True},
    {"path": "to", "delete": True},
    {"path": "other.txt", "edits": [("old", "new", 1)]},
]
TO_FILE = [
    {"path": "d", "content": "a file\n", "create": True},
    {"path": "d/x", "delete": True},
    {"path": "d/sub/y", "delete": True},
    {"path": "other.txt", "edits": [("old", "new", 1)]},
]
RENAMED = (
    "diff --git a/to b/away.txt\nrename from to\nrename to away.txt\n"
    "diff --git a/to/in.txt b/to/in.txt\nnew file mode 100644\n"
    "--- /dev/null\n+++ b/to/in.txt\n@@ -0,0 +1 @@\n+new\n"
    "diff --git a/other.txt b/other.txt\n--- a/other.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-old\n+new\n"
)
VERBS = {
    "to a folder": lambda session: session.apply(TO_FOLDER),
    "to a file": lambda session: session.apply(TO_FILE),
    "renamed away": lambda session: session.patch(RENAMED),
    "new folders": lambda session: session.create("new/deep/file.txt", "new\n"),
}
BEFORE = {
    "d/": "", "d/sub/": "", "d/sub/y": USERS, "d/x": USERS, "empty/": "", "other.txt": "old\n", "to": USERS,
}  # fmt: skip
AFTER = {
    "to a folder": {"to/": "", "to/in/": "", "to/in/deep.txt": "deep\n", "other.txt": "new\n"},
    "to a file": {"d": "a file\n", "other.txt": "new\n"},
    "renamed away": {"to/": "", "to/in.txt": "new\n", "away.txt": USERS, "other.txt": "new\n"},
    "new folders": {"new/": "", "new/deep/": "", "new/deep/file.txt": "new\n"},
}
GONE = {
    "to a folder": ["to"],
    "to a file": ["d/", "d/sub/", "d/sub/y", "d/x"],
    "renamed away": ["to"],
    "new folders": [],
}


STEPS = {
    "to a folder": (50, 110, 122), "to a file": (65, 100, 160), "renamed away": (80, 112), "new folders": (20,),
}  # fmt: skip
"""Steps in the middle of each verb, at which the process dies."""


def tree(place):
    """Every file with its text, and every folder."""
    return {
        f"{path.relative_to(place.root)}{'/' if path.is_dir() else ''}": ""
        if path.is_dir()
        else path.read_text()
        for path in sorted(place.root.rglob("*"))
    }


def after(verb):
    return {path: text for path, text in BEFORE.items() if path not in GONE[verb]} | AFTER[verb]


def lay_out(place):
    for path, text in BEFORE.items():
        if path.endswith("/"):
            (place.root / path).mkdir(exist_ok=True, parents=True)
        else:
            place.put(path, text)


def opened(place):
    session = place.session()
    for path in BEFORE:
        if not path.endswith("/"):
            session.read(path)
    return session


@pytest.fixture
def agent(place):
    lay_out(place)
    return opened(place)


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_and_a_folder_change_places_in_one_batch(place, agent, verb):
    VERBS[verb](agent)
    assert tree(place) == after(verb)
    assert agent.changes() == []


@pytest.mark.parametrize(
    "verb", ["to a file", *widely("to a folder", "renamed away", "new folders")]
)
def test_a_batch_that_the_disk_refuses_at_any_call_leaves_files_and_folders_as_before(
    place, agent, verb
):
    workspace, refused = agent._context.workspace, 0
    calls = workspace._calls
    for number in range(1, 400, 1 if WIDE else 7 if verb == "new folders" else 29):
        workspace._calls, made = failing(number, errno.EIO)
        try:
            VERBS[verb](agent)
        except sightline.SightlineError:
            refused += 1
            assert tree(place) == BEFORE
            continue
        finally:
            workspace._calls = calls
        assert tree(place) == after(verb)
        if len(made) < number:
            break
        agent.undo()
        assert tree(place) == BEFORE
    assert refused > 1


def killed(place, verb, number):
    def dying_act():
        session = opened(place)
        session._context.workspace._calls = dying(number)
        VERBS[verb](session)

    return dies(dying_act)


@pytest.mark.parametrize(
    "verb", ["to a folder", *widely("to a file", "renamed away", "new folders")]
)
def test_a_batch_that_was_killed_leaves_files_and_folders_as_before(place, verb):
    half = 0
    for step in range(3, 400, 1) if WIDE else STEPS[verb]:
        for path in sorted(tree(place), reverse=True):
            (place.root / path).rmdir() if path.endswith("/") else (place.root / path).unlink()
        lay_out(place)
        if not killed(place, verb, step):
            break
        was = tree(place)
        half += was not in (BEFORE, after(verb))
        session = place.session()
        assert tree(place) in (BEFORE, after(verb))
        assert session._context.store.pending() == []
        for warned in session.warnings():
            assert "somebody saved" not in warned.text
            session.acknowledge(warned.id)
        session.close()
    assert half


def test_a_folder_in_which_the_user_saved_meanwhile_stays_and_the_reason_is_told(place):
    lay_out(place)
    assert killed(place, "to a folder", 112)
    assert (place.root / "to").is_dir()
    place.put("to/users.txt", USERS)
    session = place.session()
    [warned] = session.warnings()
    assert "to could not be restored: a folder with other files stands in its place." in warned.text
    assert "somebody saved" not in warned.text
    (place.root / "to/users.txt").rename(place.root / "users.txt")
    session.undo()
    assert place.text("to") == USERS
