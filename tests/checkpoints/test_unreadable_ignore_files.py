"""A .gitignore that cannot be read is named, and stops nothing: what it hides is shown."""

import errno
import os

import pytest

from sightline.errors import PathRefused, Unverifiable

GITIGNORES = [".gitignore", "sub/.gitignore"]


def fails(monkeypatch, call, name, number):
    """Let a call of the system fail for paths that end so, until the answer is called."""
    real, broken = getattr(os, call), [True]

    def faulty(path, *args, **options):
        if broken and os.fspath(path).endswith(name):
            raise OSError(number, os.strerror(number), path)
        return real(path, *args, **options)

    monkeypatch.setattr(os, call, faulty)
    return broken.clear


def no_permission(place, monkeypatch, name):
    place.put(name, "*.log\n")
    fails(monkeypatch, "open", f"/{name}", errno.EACCES)


def broken_disk(place, monkeypatch, name):
    place.put(name, "*.log\n")
    fails(monkeypatch, "open", f"/{name}", errno.EIO)


def no_stat(place, monkeypatch, name):
    place.put(name, "*.log\n")
    fails(monkeypatch, "lstat", f"/{name}", errno.EIO)


def folder(place, monkeypatch, name):
    (place.root / name).mkdir()


def pipe(place, monkeypatch, name):
    os.mkfifo(place.root / name)


def loop(place, monkeypatch, name):
    (place.root / name).symlink_to(".gitignore")


def link(place, monkeypatch, name):
    place.put("patterns.txt", "*.log\n")
    (place.root / name).symlink_to(place.root / "patterns.txt")


@pytest.mark.parametrize("name", GITIGNORES)
@pytest.mark.parametrize(
    "make",
    [no_permission, broken_disk, no_stat, folder, pipe, loop, link],
    ids=lambda f: f.__name__,
)
def test_a_gitignore_that_cannot_be_read_stops_no_checkpoint_and_is_named(
    place, s, monkeypatch, make, name
):
    place.put("sub/.env", "KEY=1\n")
    place.put("sub/a.log", "a\n")
    place.put(".git/info/exclude", "*.tmp\n")
    place.put("b.tmp", "b\n")
    make(place, monkeypatch, name)
    made = s.checkpoint("before")
    covered = s._context.store.texts()
    assert {"sub/.env", "b.tmp"} <= {each.path for each in made.not_covered}
    assert "sub/a.log" not in {each.path for each in made.not_covered}
    assert b"KEY=1\n" not in {s._context.store.blob(each.revision) for each in covered}
    [warning] = s.warnings()
    assert f"{name}" in warning.text
    assert "is not read" in warning.text
    assert s.find("sub/a.log").matches == ("sub/a.log",)
    place.put("sub/a.log", "changed\n")
    s.checkpoint("again")
    assert len(s.warnings()) == 1


def test_patterns_hold_again_when_the_disk_answers_again(place, monkeypatch):
    place.put(".gitignore", "*.log\n")
    place.put("a.log", "a\n")
    mend = fails(monkeypatch, "open", "/.gitignore", errno.EIO)
    with place.session("one") as session:
        assert session.checkpoint("shown").files == 2
        mend()
        assert session.checkpoint("hidden").files == 1
        assert session._context.workspace.left_out() == ()


def test_patterns_hold_again_for_a_later_process(place, monkeypatch):
    place.put(".gitignore", "*.log\n")
    place.put("a.log", "a\n")
    mend = fails(monkeypatch, "open", "/.gitignore", errno.EIO)
    with place.session("one") as session:
        assert session.checkpoint("shown").files == 2
    mend()
    with place.session("two") as session:
        assert session.checkpoint("hidden").files == 1


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_an_exclude_file_that_cannot_be_read_is_named(place, s, monkeypatch, number):
    place.put(".git/info/exclude", "*.tmp\n")
    place.put("b.tmp", "b\n")
    fails(monkeypatch, "open", "/info/exclude", number)
    assert s.checkpoint("before").files == 1
    assert "info/exclude" in s.warnings()[0].text


def test_an_ignore_file_of_ours_that_cannot_be_read_refuses_as_before(place, s, monkeypatch):
    place.put(".sightlineignore", "key.txt\n")
    place.put("key.txt", "secret\n")
    fails(monkeypatch, "open", "/.sightlineignore", errno.EIO)
    with pytest.raises((Unverifiable, PathRefused)):
        s.read("key.txt")
