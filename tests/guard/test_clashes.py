"""Changes of one batch that cannot all be done: refused at once, with the two that clash."""

import os

import pytest

import sightline


@pytest.fixture
def files(place, s):
    for name in ("a.py", "b.py", "c.py"):
        place.put(name, f"{name} = 1\n")
        s.read(name)
    return s


def edit(path):
    return {"path": path, "edits": [{"old": " = 1", "new": " = 2"}]}


def create(path):
    return {"path": path, "content": "new = 1\n", "create": True}


def move(path, to):
    return {"path": path, "moveTo": to}


CLASHES = [
    ([move("a.py", "d.py"), move("b.py", "d.py")], "b.py cannot be moved to d.py: the same batch moves a.py there."),
    ([create("d.py"), move("a.py", "d.py")], "a.py cannot be moved to d.py: the same batch writes d.py."),
    ([move("a.py", "d"), create("d/x.py")], "d cannot be both a file and the folder of d/x.py."),
    ([create("d"), create("d/x.py")], "d cannot be both a file and the folder of d/x.py."),
    ([move("a.py", "a.py")], "a.py cannot be moved to itself: it has this name already."),
    ([move("a.py", "a.py/x.py")], "a.py cannot be both a file and the folder of a.py/x.py."),
    ([move("a.py", "b.py"), move("b.py", "a.py")], "a.py and b.py would take each other's names."),
    ([move("a.py", "b.py"), move("b.py", "c.py"), move("c.py", "a.py")], "a.py, b.py and c.py would take each other's names."),
    ([create("a.py"), move("a.py", "d.py")], "one answer can change a file only once"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "what"), CLASHES)
def test_two_changes_that_clash_are_named(place, files, changes, what):
    before = {name: place.text(name) for name in place.names()}
    try:
        text = files.answer({"fileChanges": changes}).text
    except sightline.AnswerInvalid as error:
        text = str(error)
    assert what in text
    assert "by others" not in text
    assert {name: place.text(name) for name in place.names()} == before


def test_two_names_of_one_file_are_named(place, files):
    os.link(place.root / "a.py", place.root / "link.py")
    files.read("link.py")
    text = files.answer({"fileChanges": [edit("a.py"), edit("link.py")]}).text
    assert (
        "link.py is another name (a hard link) of a.py, which the same batch changes, too." in text
    )
    assert place.text("a.py") == "a.py = 1\n"


def test_moves_that_free_each_other_s_names_work_in_any_order(place, files):
    result = files.answer(
        {"fileChanges": [move("a.py", "b.py"), move("b.py", "c.py"), move("c.py", "d.py")]}
    )
    assert not result.refused, result.text
    assert {name: place.text(name) for name in place.names()} == {
        "b.py": "a.py = 1\n", "c.py": "b.py = 1\n", "d.py": "c.py = 1\n",
    }  # fmt: skip
    assert [change.path for change in result.changes] == ["b.py", "c.py", "d.py"]


def test_a_batch_and_a_patch_name_their_clashes_too(place, files):
    with pytest.raises(sightline.EditRefused) as caught:
        files.apply([{"path": "d", "content": "x\n", "create": True}, {"path": "d/x.py", "content": "x\n", "create": True}])  # fmt: skip
    assert "both a file and the folder of d/x.py" in str(caught.value)
    moved = "*** Update File: {}\n*** Move to: d.py\n"
    with pytest.raises(sightline.EditRefused) as caught:
        files.patch(f"*** Begin Patch\n{moved.format('a.py')}{moved.format('b.py')}*** End Patch\n")
    assert "the same batch moves a.py there" in str(caught.value)
