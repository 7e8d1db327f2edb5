"""Hosts whose own tools read, write and run: whose change was it?"""

from __future__ import annotations

import os

import pytest

from sightline.model.events import Changed, CommandEnded, WriteAbandoned
from sightline.model.revision import revision_of
from sightline.testing import make_session

TEN = "".join(f"line {n}\n" for n in range(1, 11))
INSIDE = TEN.replace("line 3", "LINE 3")
MINE = TEN.replace("line 7", "mine")
BOTH = INSIDE.replace("line 7", "mine")


def causes(s):
    return [r.fact.cause.kind for r in s._context.store.timeline(path="a.py", kinds=[Changed])]


def test_what_a_tool_wrote_is_the_agents_own(place, ten):
    place.put("a.py", MINE)
    ten.wrote("a.py", content=MINE, before=TEN)
    assert ten.check("a.py").state == "fresh"
    assert ten.believed("a.py") == MINE
    assert causes(ten) == ["agent"]


def test_a_save_in_between_is_told_apart(place, ten):
    place.put("a.py", INSIDE)
    ten.wrote("a.py", content=MINE, before=TEN)
    assert causes(ten) == ["agent", "external"]
    assert ten.check("a.py").state == "stale"
    assert "+LINE 3" in ten.changes()[0].diff


def test_a_save_before_the_write_is_told_apart(place, ten):
    """The tool edited what the user had changed: the user's line stays news."""
    place.put("a.py", BOTH)
    ten.wrote("a.py", before=INSIDE)
    assert causes(ten) == ["external", "agent"]
    assert ten.believed("a.py") == MINE
    [change] = ten.changes()
    assert "+LINE 3" in change.diff
    assert "mine" not in change.diff.replace(" mine", "")


def test_a_write_without_its_before_starts_from_what_was_last_known(place, ten):
    place.put("a.py", INSIDE)
    assert ten.check("a.py").state == "stale"
    place.put("a.py", BOTH)
    ten.wrote("a.py")
    assert ten.believed("a.py") == MINE
    assert "+LINE 3" in ten.changes()[0].diff


def test_a_write_of_a_file_never_shown_shows_only_what_was_written(place, s):
    place.put("a.py", MINE)
    s.wrote("a.py", before=TEN)
    assert s.check("a.py").seen_lines == ((7, 7),)


def test_the_users_own_words_are_the_users(place, ten):
    place.put("a.py", BOTH)
    ten.wrote("a.py", content=MINE, before=TEN, user_modified=True)
    assert ten.check("a.py").state == "stale"


def test_around_a_write(place, ten):
    with ten.writing("a.py", MINE):
        assert [r.fact.path for r in ten._context.store.pending()] == ["a.py"]
        place.put("a.py", MINE)
    assert ten._context.store.pending() == []
    assert ten.check("a.py").state == "fresh"
    assert causes(ten) == ["agent"]


def test_around_a_write_that_failed(place, ten):
    with pytest.raises(OSError, match="full"), ten.writing("a.py", MINE):
        raise OSError("full")
    assert len(list(ten._context.store.timeline(kinds=[WriteAbandoned]))) == 1
    assert ten.believed("a.py") == TEN


def test_around_a_write_that_the_user_saved_over(place, ten):
    with ten.writing("a.py", MINE):
        place.put("a.py", MINE)
        place.put("a.py", BOTH)
    assert causes(ten) == ["agent", "external"]
    assert "+LINE 3" in ten.changes()[0].diff


def test_another_session_waits_for_a_hosts_write_to_be_told(place, ten):
    """Bytes equal to a pending write are its own: nobody else records them as foreign."""
    other = place.session("other")
    other.read("a.py")
    with ten.writing("a.py", MINE):
        place.put("a.py", MINE)
        assert other.check("a.py").state == "stale"
    assert causes(ten) == ["agent"]
    assert other.changes()[0].changed_by.who == "s"


def test_what_a_command_changed_is_its_own(place, ten):
    place.put("gone.py", "x\n")
    ten.read("gone.py")
    with ten.ran("make") as run:
        place.put("a.py", INSIDE)
        place.put("new.py", "n\n")
        (place.root / "gone.py").unlink()
        run.exit_code = 2
    assert [change.path for change in run.result.changes] == ["a.py", "gone.py", "new.py"]
    assert run.result.exit_code == 2
    assert causes(ten) == ["command"]
    assert ten.check("a.py").state == "stale"
    assert "the command you ran: make" in ten.changes()[0].summary


def test_what_changed_before_a_command_is_not_its_own(place, ten):
    place.put("a.py", INSIDE)
    with ten.ran("make") as run:
        pass
    assert run.result.changes == ()
    assert causes(ten) == ["external"]


def test_a_command_that_failed_is_recorded_with_what_it_changed(place, ten):
    def make():
        with ten.ran("make"):
            place.put("a.py", INSIDE)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        make()
    assert causes(ten) == ["command"]
    assert len(list(ten._context.store.timeline(kinds=[CommandEnded]))) == 1


def test_a_command_may_put_something_else_where_a_file_was(place, ten):
    with ten.ran("make") as run:
        (place.root / "a.py").unlink()
        (place.root / "a.py").mkdir()
        os.symlink("/", place.root / "out")
    states = {change.path: change.state for change in run.result.changes}
    assert states == {"a.py": "kind_changed", "out": "unseen"}
    assert ten.check("a.py").state == "kind_changed"


@pytest.mark.parametrize("asked", ["ran", "files", "changes", "rewind"])
def test_many_files_that_went_are_looked_for_in_one_walk(place, s, monkeypatch, asked):
    """Each may have been renamed, and a tree may be large."""
    names = [f"{number}.py" for number in range(6)]
    for name in names:
        place.put(name, f"{name}\n")
        s.read(name)
    then = s.checkpoint()
    for name in names if asked == "rewind" else ():
        s.edit(name, name, "mine")
    workspace = s._context.workspace
    walk, walks = workspace.walk, []

    def counted(**how):
        walks.append(how)
        return walk(**how)

    monkeypatch.setattr(workspace, "walk", counted)

    def walked(gone):
        walks.clear()
        if asked == "ran":
            with s.ran("make clean") as run:
                for name in gone:
                    (place.root / name).unlink()
            assert {each.what for each in run.result.changes} == {"deleted"}
            return len(walks)
        for name in gone:
            (place.root / name).unlink()
        if asked == "rewind":
            s.rewind(then, dry_run=True)
        else:
            assert len(s.files("deleted") if asked == "files" else s.changes()) >= len(gone)
        return len(walks)

    assert walked(names[:1]) == walked(names[1:]) > 0


def test_another_text_on_disk_than_the_one_a_host_showed_is_on_the_timeline():
    """The times of the file vouch for the bytes that were found then, and no fact held them."""
    session = make_session({"a.py": "ONE\n"})
    session.saw("a.py", text="one\n", via="handover")
    [file] = session.files()
    assert (file.state, file.revision_on_disk) == ("stale", revision_of(b"ONE\n"))
    assert file.changed_by is not None
    assert file.changed_by.kind == "external"
