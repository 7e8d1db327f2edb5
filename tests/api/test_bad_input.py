"""What no user should have to debug: each wrong path, file or disk gets an answer that says what
happened and what to do, and loses nothing."""

import errno
import os
import socket
import subprocess

import pytest
from msgspec import structs
from tests.filesystem.doubles import as_nobody, before, failing, open_way_to
from tests.support.told import fill_up, linux_only, mounts, refused, root_only, speaks

import sightline
from sightline import EditRefused, FileMissing, SightlineError, Unverifiable
from sightline.api.opening import start
from sightline.filesystem.disk import DiskWorkspace
from sightline.model.revision import revision_of
from sightline.store.opening import open_store

VERBS = {
    "read": lambda s, path: s.read(path),
    "saw": lambda s, path: s.saw(path),
    "check": lambda s, path: s.check(path),
    "edit": lambda s, path: s.edit(path, "a", "b"),
    "write": lambda s, path: s.write(path, "b\n"),
    "create": lambda s, path: s.create(path, "b\n"),
    "delete": lambda s, path: s.delete(path),
    "move": lambda s, path: s.move(path, "free.txt"),
    "move to": lambda s, path: s.move("here.txt", path),
}
each_verb = pytest.mark.parametrize("verb", VERBS)


@pytest.fixture
def outside(place):
    """A file beside the workspace that nobody in it may touch, whatever is tried."""
    file = place.home / "outside.txt"
    file.write_text("a\n")
    place.put("here.txt", "here\n")
    yield file
    assert file.read_text() == "a\n"


# --- paths that are not to be touched


@each_verb
@pytest.mark.parametrize("name", ["../outside.txt", "x/../../outside.txt", "absolute"])
def test_a_path_out_of_the_workspace_is_refused(place, s, outside, verb, name):
    asked = str(outside) if name == "absolute" else name
    refused(lambda: VERBS[verb](s, asked), reason="outside")


@each_verb
def test_a_symlink_to_a_file_outside_is_refused(place, s, outside, verb):
    (place.root / "link").symlink_to(outside)
    refused(lambda: VERBS[verb](s, "link"), reason="outside")


@each_verb
def test_a_path_through_a_symlink_to_a_folder_outside_is_refused(place, s, outside, verb):
    (place.root / "out").symlink_to(place.home)
    refused(lambda: VERBS[verb](s, "out/outside.txt"), reason="outside")


@each_verb
def test_a_file_that_sightlineignore_names_is_refused(place, verb):
    place.put(".sightlineignore", "secret/\n")
    secret = place.put("secret/key.txt", "a\n")
    place.put("here.txt", "here\n")
    s = place.session()
    error = refused(lambda: VERBS[verb](s, "secret/key.txt"), reason="ignored")
    assert ".sightlineignore" in error.message
    assert secret.read_text() == "a\n"


@each_verb
@pytest.mark.parametrize(("name", "reason"), [("", "empty"), ("a\0b", "invalid")])
def test_a_name_that_no_file_can_have_is_refused(place, s, outside, verb, name, reason):
    refused(lambda: VERBS[verb](s, name), reason=reason)


# --- what stands there is no text file


@pytest.fixture(params=["folder", "fifo", "socket", "device"])
def odd(request, place):
    """Something that has a name and no text."""
    path = place.root / "odd"
    if request.param == "folder":
        path.mkdir()
    elif request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            os.chdir(place.root)  # a socket's path may have a hundred bytes only
            made.bind("odd")
    else:
        if os.geteuid() != 0:
            pytest.skip("mknod is root's")
        os.mknod(path, 0o020666, os.makedev(1, 5))  # /dev/zero: whoever reads it never ends
    return path


@pytest.mark.parametrize("verb", ["read", "saw"])
def test_looking_at_what_is_no_file_is_refused_and_never_waits(s, odd, verb):
    refused(lambda: VERBS[verb](s, "odd"))
    assert odd.exists()


@pytest.mark.parametrize("verb", ["edit", "write", "create", "delete"])
def test_writing_over_what_is_no_file_is_refused(s, odd, verb):
    error = refused(lambda: VERBS[verb](s, "odd"), EditRefused)
    assert error.reason in ("kind_changed", "exists")
    assert odd.exists()


def test_nul_bytes_are_no_text(place, s):
    place.put("a.bin", b"a\0b\n")
    refused(lambda: s.read("a.bin"), reason="binary")
    refused(lambda: s.edit("a.bin", "a", "b"), EditRefused, "binary")
    assert place.bytes("a.bin") == b"a\0b\n"


def test_text_with_nul_is_not_written(place, s):
    refused(lambda: s.create("a.txt", "a\0b"), EditRefused, "binary")
    assert not (place.root / "a.txt").exists()


def test_nothing_at_a_path_is_said_to_be_nothing(s):
    refused(lambda: s.read("gone.txt"), FileMissing)


# --- files too large, too quick, too private


@pytest.mark.wide
def test_a_gigabyte_without_content_is_refused_by_its_size(place, s):
    """Its bytes are hashed in pieces: the memory for them is never asked for."""
    with (place.root / "huge.txt").open("wb") as file:
        file.truncate(1 << 30)
    patient = place.session("t", deadline_s=60.0)
    refused(lambda: patient.read("huge.txt"), reason="too_large")
    refused(lambda: patient.edit("huge.txt", "a", "b"), EditRefused, "too_large")
    assert (place.root / "huge.txt").stat().st_size == 1 << 30


def over(place, calls, id="s"):
    """A session whose disk is asked through `calls`."""
    settings = place.settings()
    root = str(place.root)
    store = open_store(None, workspace_root=root, state_home=settings.state_home)
    tree = DiskWorkspace(root, str(place.home / "locks"), calls=calls)
    made = start(store, tree, settings, id=id)
    place.opened.append(made)
    return made


def test_a_file_that_grows_while_it_is_hashed_is_read_again(place):
    file = place.put("log.txt", "one\n")

    def grow():
        with file.open("a") as log:
            log.write("more\n")

    s = over(place, before("read", grow, times=2))
    view = s.read("log.txt")
    assert view.text == file.read_text()
    assert view.revision == revision_of(file.read_bytes())


def test_a_file_that_never_holds_still_is_unverifiable(place):
    file = place.put("log.txt", "one\n")

    def grow():
        with file.open("a") as log:
            log.write("more\n")

    s = over(place, before("read", grow, times=1000))
    refused(lambda: s.read("log.txt"), Unverifiable)


@linux_only
def test_a_file_that_may_not_be_read_is_unverifiable(place):
    file = place.put("a.txt", "one\n")
    open_way_to(place.home)
    place.root.chmod(0o777)
    (place.home / "theirs").mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(place.home / "theirs", 65534, 65534)
    file.chmod(0o000)

    def act():
        settings = structs.replace(place.settings(), state_home=str(place.home / "theirs"))
        with sightline.open_session(place.root, id="n", settings=settings) as s:
            refused(lambda: s.read("a.txt"), Unverifiable)
            refused(lambda: s.write("a.txt", "b\n"), EditRefused, "unverifiable")
            assert s.check("a.txt").state == "unverifiable"

    as_nobody(act)
    file.chmod(0o644)
    assert file.read_text() == "one\n"


@pytest.mark.wide
@pytest.mark.parametrize(
    "code",
    [
        errno.ENOSPC,
        *(pytest.param(code, marks=pytest.mark.wide) for code in (errno.EROFS, errno.EIO)),
        pytest.param(errno.EACCES, marks=pytest.mark.wide),
    ],
)
def test_a_disk_that_fails_at_any_step_of_a_write_loses_nothing(place, code):
    for number in range(1, 100):
        place.put("a.txt", "one\ntwo\n")
        calls, made = failing(number, code)
        s = over(place, calls, id=f"s{number}")
        try:
            s.read("a.txt")
            s.edit("a.txt", "one", "1")
        except SightlineError as error:
            speaks(error)
        assert place.text("a.txt") in ("one\ntwo\n", "1\ntwo\n")
        again = place.session(f"again{number}")
        assert again.read("a.txt").text == place.text("a.txt")
        assert place.names() == ["a.txt"]
        if len(made) < number:
            assert number > 20  # every step has failed once
            return
    pytest.fail("a write takes more than a hundred steps")


@pytest.fixture
def small(place):
    yield from mounts(place)


@root_only
@linux_only
def test_a_full_disk_refuses_the_write_and_keeps_the_file(place, small):
    small(place.root, "size=64k")
    text = "line\n" * 2000
    place.put("a.txt", text)
    s = place.session()
    s.read("a.txt")
    fill_up(place.root / "filler")
    error = refused(lambda: s.write("a.txt", text + "more\n"), EditRefused, "unverifiable")
    assert "space" in error.hint
    assert place.text("a.txt") == text
    assert place.names() == ["a.txt", "filler"]
    (place.root / "filler").unlink()
    assert s.write("a.txt", text + "more\n").revision == revision_of((text + "more\n").encode())


@root_only
@linux_only
def test_a_read_only_disk_refuses_the_write(place, small):
    small(place.root, "size=1m")
    place.put("a.txt", "one\n")
    s = place.session()
    s.read("a.txt")
    subprocess.run(["mount", "-o", "remount,ro", str(place.root)], check=True)
    error = refused(lambda: s.edit("a.txt", "one", "1"), EditRefused, "unverifiable")
    assert "read-only" in error.hint
    assert s.read("a.txt").text == "one\n"
