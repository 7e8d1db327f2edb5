"""Rewinds of a session in which files and folders changed places."""

from __future__ import annotations

from contextlib import suppress

import pytest
from tests.guard.test_changed_places import tree
from tests.support.examples import widely

from sightline.errors import RewindRefused

USERS = "the user's\n"


def file_to_folder(session, place):
    session.delete("a.txt")
    session.create("a.txt/x.py", "x\n")
    session.create("a.txt/sub/y.py", "y\n")


def folder_to_file(session, place):
    session.delete("d/x")
    session.delete("d/sub/y")
    session.create("d", "a file\n")


def by_a_command(session, place):
    with session.ran("rm -r d a.txt; mkdir a.txt; echo z > a.txt/z; echo file > d"):
        for name in ("d/sub/y", "d/x", "a.txt"):
            (place.root / name).unlink()
        (place.root / "d/sub").rmdir()
        (place.root / "d").rmdir()
        place.put("a.txt/z", "z\n")
        place.put("d", "file\n")


def there_and_back(session, place):
    file_to_folder(session, place)
    session.delete("a.txt/x.py")
    session.delete("a.txt/sub/y.py")
    session.create("a.txt", "again\n")


def below_itself(session, place):
    session.move("a.txt", "b.txt")
    session.move("b.txt", "a.txt/b.txt")
    session.edit("a.txt/b.txt", "user", "agent")


def both_at_once(session, place):
    session.apply([
        {"path": "d", "content": "a file\n", "create": True},
        {"path": "a.txt/x/deep.py", "content": "x\n", "create": True},
        {"path": "a.txt", "delete": True},
        {"path": "d/x", "delete": True},
        {"path": "d/sub/y", "delete": True},
    ])  # fmt: skip


def new_folders(session, place):
    session.create("new/deep/one.py", "1\n")
    session.create("new/two.py", "2\n")
    session.create("d/more/three.py", "3\n")


@pytest.fixture
def agent(place):
    for name in ("a.txt", "d/x", "d/sub/y"):
        place.put(name, USERS)
    (place.root / "empty").mkdir()
    session = place.session()
    for name in ("a.txt", "d/x", "d/sub/y"):
        session.read(name)
    return session


@pytest.mark.parametrize(
    "deed",
    [
        both_at_once,
        by_a_command,
        *widely(file_to_folder, folder_to_file, there_and_back, below_itself, new_folders),
    ],
)
def test_a_rewind_and_its_own_rewind_are_whole(place, agent, deed):
    before, then = tree(place), agent.checkpoint()
    deed(agent, place)
    after = tree(place)
    assert after != before
    preview = agent.rewind(then, dry_run=True)
    assert tree(place) == after
    report = agent.rewind(then)
    assert tree(place) == before
    assert report.left_alone == preview.left_alone == ()
    assert (report.restored, report.removed) == (preview.restored, preview.removed)
    agent.rewind(report.safety_checkpoint)
    assert tree(place) == after


@pytest.mark.parametrize(
    "deed",
    [
        there_and_back,
        *widely(
            file_to_folder, folder_to_file, by_a_command, below_itself, both_at_once, new_folders
        ),
    ],
)
def test_undo_goes_back_until_all_is_as_before(place, agent, deed):
    before = tree(place)
    deed(agent, place)
    for _ in range(9):
        with suppress(RewindRefused):
            agent.undo()
    assert tree(place) == before
    with pytest.raises(RewindRefused, match="nothing to undo"):
        agent.undo()


def test_a_folder_that_holds_a_file_of_the_user_stays_and_is_named(place, agent):
    then = agent.checkpoint()
    file_to_folder(agent, place)
    folder_to_file(agent, place)
    place.put("a.txt/user.py", USERS)
    report = agent.rewind(then)
    assert [(each.path, each.reason) for each in report.left_alone] == [
        ("a.txt", "a folder that holds other files stands there now")
    ]
    assert tree(place) == {
        "a.txt/": "", "a.txt/user.py": USERS, "d/": "", "d/sub/": "", "d/sub/y": USERS, "d/x": USERS,
        "empty/": "",
    }  # fmt: skip
    place.put("moved.py", place.text("a.txt/user.py"))
    (place.root / "a.txt/user.py").unlink()
    agent.rewind(then)
    assert place.text("a.txt") == USERS


def test_a_file_of_the_user_in_the_place_of_a_folder_stays_and_is_named(place, agent):
    then = agent.checkpoint()
    agent.delete("d/x")
    agent.delete("d/sub/y")
    (place.root / "d/sub").rmdir()
    (place.root / "d").rmdir()
    place.put("d", USERS)
    report = agent.rewind(then)
    reason = "d, which was its folder then, is a file now"
    assert [(each.path, each.reason) for each in report.left_alone] == [
        ("d/sub/y", reason), ("d/x", reason),
    ]  # fmt: skip
    assert place.text("d") == USERS


def test_an_empty_folder_of_the_user_is_never_removed(place, agent):
    then = agent.checkpoint()
    (place.root / "empty/new").mkdir()
    agent.create("empty/new/deep/x.py", "x\n")
    agent.rewind(then)
    assert (place.root / "empty/new").is_dir()
    assert not (place.root / "empty/new/deep").exists()


def test_a_forced_path_takes_the_place_of_an_emptied_folder(place, agent):
    then = agent.checkpoint()
    file_to_folder(agent, place)
    report = agent.rewind(then, force_paths=["a.txt"])
    assert place.text("a.txt") == USERS
    assert report.left_alone == ()


@pytest.mark.wide
def test_many_files_below_a_folder_go_before_a_file_takes_its_place(place, agent):
    then = agent.checkpoint()
    agent.delete("a.txt")
    agent.apply(
        [{"path": f"a.txt/{n}.py", "content": f"{n}\n", "create": True} for n in range(130)]
    )
    report = agent.rewind(then)
    assert len(report.removed) == 130
    assert place.text("a.txt") == USERS
    agent.rewind(report.safety_checkpoint)
    assert len(tree(place)) == 130 + 6


def in_a_new_folder(session, place):
    session.create("new/deep/one.py", "1\n")
    session.delete("new/deep/one.py")


def in_nested_folders(session, place):
    in_a_new_folder(session, place)
    session.create("new/two.py", "2\n")
    session.delete("new/two.py")
    session.write("d/more/three.py", "3\n")
    session.delete("d/more/three.py")


def moved_out(session, place):
    session.create("new/deep/one.py", "1\n")
    session.move("new/deep/one.py", "one.py")
    session.delete("one.py")


def in_one_answer(session, place):
    session.apply([{"path": "new/deep/one.py", "content": "1\n", "create": True}])
    session.apply([{"path": "new/deep/one.py", "delete": True}])


def beside_other_work(session, place):
    in_a_new_folder(session, place)
    session.create("c.txt", "c\n")


def removed_by_a_command(session, place):
    session.create("new/deep/one.py", "1\n")
    with session.ran("rm new/deep/one.py"):
        (place.root / "new/deep/one.py").unlink()


def in_the_place_of_an_empty_folder(session, place):
    session.delete("d/sub/y")
    session.create("d/sub", "a file\n")
    session.delete("d/sub")
    session.create("d/sub/y", USERS)


LEFT_FOLDERS = [
    in_a_new_folder, in_nested_folders, moved_out, in_one_answer, beside_other_work,
    removed_by_a_command, in_the_place_of_an_empty_folder,
]  # fmt: skip


@pytest.mark.parametrize("deed", LEFT_FOLDERS)
def test_folders_of_files_that_came_and_went_go_and_come_back_with_a_rewind(place, agent, deed):
    before, then = tree(place), agent.checkpoint()
    deed(agent, place)
    after = tree(place)
    report = agent.rewind(then)
    assert tree(place) == before
    if after != before:
        again = agent.rewind(report.safety_checkpoint)
        assert tree(place) == after
        agent.rewind(again.safety_checkpoint)
        assert tree(place) == before
    assert agent.rewind(then).safety_checkpoint is None
    assert tree(place) == before


def test_undo_takes_back_a_turn_that_left_an_empty_folder_alone(place, agent):
    before = tree(place)
    in_a_new_folder(agent, place)
    while "new/" in tree(place):
        agent.undo()
    assert tree(place) == before


def test_a_folder_that_somebody_uses_meanwhile_stays(place, agent):
    then = agent.checkpoint()
    in_a_new_folder(agent, place)
    place.put("new/user.py", USERS)
    agent.rewind(then)
    assert place.text("new/user.py") == USERS
    assert not (place.root / "new/deep").exists()
    (place.root / "new/user.py").unlink()
    (place.root / "new/users").mkdir()
    assert not agent.rewind(then).changed
    assert (place.root / "new/users").is_dir()
