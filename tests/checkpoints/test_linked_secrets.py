"""A hard link to a file with secrets is as secret as the file."""

from __future__ import annotations

import os

import pytest

from sightline.errors import EditRefused
from sightline.model.revision import revision_of

SECRET = "TOKEN=hunter2\n"


@pytest.fixture
def linked(place):
    """A place where notes.txt is another name of a file with secrets."""

    def make(secret, ignored=""):
        place.put(".gitignore", ignored)
        place.put(secret, SECRET)
        os.link(place.root / secret, place.root / "notes.txt")
        return place.session("s")

    return make


def is_stored(session):
    return session._context.store.blob(revision_of(SECRET.encode())) is not None


@pytest.mark.parametrize(("secret", "ignored"), [(".env", ""), (".env", ".env\n"), ("d/a.pem", "")])
def test_no_checkpoint_stores_a_hard_link_to_a_secret(linked, secret, ignored):
    s = linked(secret, ignored)
    s.checkpoint()
    assert not is_stored(s)


@pytest.mark.parametrize("ignored", ["", ".env\n"])
def test_no_read_and_no_edit_stores_a_hard_link_to_a_secret(linked, ignored):
    s = linked(".env", ignored)
    s.read("notes.txt")
    with pytest.raises(EditRefused) as refused:  # its text may not be kept to mend a cut-off write
        s.edit("notes.txt", "hunter2", "hunter3")
    assert refused.value.reason == "unverifiable"
    assert not is_stored(s)
    assert s._context.store.blob(revision_of(b"TOKEN=hunter3\n")) is None


def test_a_link_made_after_a_first_look_is_seen(place):
    s = place.session("s")
    place.put("shared.txt", "1\n")
    os.link(place.root / "shared.txt", place.root / "again.txt")
    s.read("shared.txt")
    place.put(".env", SECRET)
    os.link(place.root / ".env", place.root / "notes.txt")
    s.read("notes.txt")
    s.checkpoint()
    assert not is_stored(s)


def test_a_file_with_several_names_and_no_secret_among_them_is_stored(place):
    s = place.session("s")
    place.put("a.txt", SECRET)
    os.link(place.root / "a.txt", place.root / "b.txt")
    s.read("b.txt")
    assert is_stored(s)


@pytest.mark.parametrize("secret", [".env", "d/ID_RSA"])
def test_no_door_stores_a_file_with_a_name_of_secrets(place, secret):
    place.put(secret, SECRET)
    place.put("a.py", "1\n")
    s = place.session("s")
    s.read(secret)
    assert not is_stored(s)
    s.edit(secret, "hunter2", "hunter3")
    s.checkpoint()
    place.put(secret, "TOKEN=hunter4\n")
    s.changes()
    s.checkpoint()
    stored = [f"TOKEN=hunter{number}\n".encode() for number in (2, 3, 4)]
    assert [s._context.store.blob(revision_of(each)) for each in stored] == [None] * 3


def test_no_move_stores_a_hard_link_to_a_secret(linked):
    s = linked(".env")
    s.read("notes.txt")
    s.move("notes.txt", "other.txt")
    assert not is_stored(s)


def test_a_file_that_was_just_read_is_not_looked_at_again(place, monkeypatch):
    s = place.session("s")
    asked: list[str] = []
    place.put("a.py", SECRET)
    monkeypatch.setattr(s._context.workspace, "linked", asked.append)
    s.read("a.py")
    s.edit("a.py", "hunter2", "hunter3")
    place.put("a.py", "TOKEN=hunter4\n")
    with pytest.raises(EditRefused):
        s.edit("a.py", "hunter3", "hunter5")
    s.changes()
    assert s.notice() is not None
    with s.ran("make a.py"):
        place.put("a.py", "TOKEN=hunter6\n")
    s.wrote("a.py", content="TOKEN=hunter6\n")
    assert asked == []
