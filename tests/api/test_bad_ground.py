"""What no user should have to debug below the verbs: stores that are broken, full or another's,
ids that are taken, clocks that step back, settings that came with a folder."""

import os
import sqlite3

import pytest
from msgspec import structs
from tests.support.told import fill_up, linux_only, mounts, refused, root_only, speaks

import sightline
from sightline import SessionError, StoreError
from sightline.store.sqlite_file import refuse_network


@pytest.fixture
def small(place):
    yield from mounts(place)


# --- stores


def store_of(place):
    """A store with something in it, closed; its file."""
    file = place.home / "own.db"
    with sightline.open_session(
        place.root, id="s", store=f"sqlite://{file}", settings=place.settings()
    ) as s:
        place.put("a.txt", "one\n")
        s.read("a.txt")
        for n in range(200):
            s.saw("a.txt", text=f"{n}\n")
    return file


def reopened(place, file):
    return sightline.open_session(
        place.root, id="s", store=f"sqlite://{file}", settings=place.settings()
    )


def left_alone(place, file):
    """Opening says what is wrong, and leaves every byte as it is."""
    stood = file.read_bytes()
    error = refused(lambda: reopened(place, file), StoreError)
    assert str(file) in error.message
    assert file.read_bytes() == stood
    return error


@pytest.mark.wide
@pytest.mark.parametrize("part", [0.5, 0.01, 0.0])
def test_a_store_that_was_cut_is_not_read_as_a_shorter_one(place, part):
    file = store_of(place)
    with file.open("r+b") as cut:
        cut.truncate(int(file.stat().st_size * part))
    stood = file.read_bytes()

    def use():
        with reopened(place, file) as s:
            s.changes()
            list(s._context.store.timeline())

    assert str(file) in refused(use, StoreError).message
    assert file.read_bytes() == stood


@pytest.mark.parametrize("bytes_", [b"garbage" * 1000, b"\0" * 8192, b"x"])
def test_garbage_is_no_store(place, bytes_):
    file = place.home / "own.db"
    file.write_bytes(bytes_)
    left_alone(place, file)


def test_another_programs_database_is_no_store(place):
    file = place.home / "own.db"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    left_alone(place, file)


@pytest.mark.wide
def test_a_store_of_a_newer_sightline_is_left_to_it(place):
    file = store_of(place)
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    error = left_alone(place, file)
    assert "Use the Sightline that wrote it" in error.hint


@root_only
@linux_only
def test_a_store_on_a_full_disk_refuses_before_the_file_is_touched(place, small):
    """What cannot be journalled is not done."""
    small(place.home / "state", "size=600k,mode=700")
    place.put("a.txt", "one\n")
    s = place.session()
    s.read("a.txt")
    filler = place.home / "state" / "filler"
    fill_up(filler)
    error = None
    for n in range(2000):  # the log has some room of its own left
        try:
            s.edit("a.txt", place.text("a.txt").strip(), f"{n}" * 50 + os.urandom(400).hex())
        except StoreError as caught:
            error = caught
            break
    assert error is not None
    speaks(error)
    assert "full" in error.message or "space" in error.hint
    stood = place.text("a.txt")
    filler.unlink()
    s.close()
    again = place.session()
    assert again.read("a.txt").text == stood
    assert again._context.store.pending() == []
    assert again._context.store.verify() == []


def test_a_store_on_a_network_folder_is_refused(tmp_path):
    table = f"server:/home {tmp_path} nfs4 rw 0 0\n"
    error = refused(lambda: refuse_network(str(tmp_path / "store.db"), table), StoreError)
    assert "nfs4" in error.message
    refuse_network(str(tmp_path / "store.db"), f"/dev/x {tmp_path} ext4 rw 0 0\n")


# --- sessions and clocks


def test_two_at_once_under_one_id_share_what_they_know(place):
    place.put("a.txt", "one\ntwo\n")
    one, two = place.session("same"), place.session("same")
    one.read("a.txt")
    two.edit("a.txt", "one", "1")
    one.edit("a.txt", "two", "2")
    assert place.text("a.txt") == "1\n2\n"


def test_another_agent_may_not_take_a_sessions_id(place):
    settings = place.settings()
    with sightline.open_session(place.root, id="x", agent="claude-code", settings=settings):
        error = refused(
            lambda: sightline.open_session(place.root, id="x", agent="codex", settings=settings),
            SessionError,
        )
    assert "claude-code" in error.message


@pytest.mark.parametrize("id_", ["", " ", "a\nb", "x" * 201, "a\0"])
def test_an_id_that_is_none_is_refused(place, id_):
    refused(lambda: place.session(id_), SessionError)


def test_a_clock_that_steps_back_changes_no_verdict(place):
    times = iter(range(10**15, 0, -(10**12)))
    s = place.session(clock=lambda: next(times))
    place.put("a.txt", "one\ntwo\n")
    s.read("a.txt")
    assert s.check("a.txt").state == "fresh"
    place.put("a.txt", "one\nzwei\n")
    assert s.check("a.txt").state == "stale"
    s.edit("a.txt", "one", "1")
    assert place.text("a.txt") == "1\nzwei\n"
    positions = [recorded.position for recorded in s._context.store.timeline()]
    assert positions == sorted(positions)


# --- settings that came with the folder


@pytest.mark.wide
@pytest.mark.parametrize(
    "toml",
    [
        b'policy = "warn"\n',
        b'[policies]\n"**" = "warn"\n',
        b'store = "sqlite:////theirs.db"\n',
        b'state_home = "/theirs"\n',
        b'fail = "open"\n',
        b"max_file_bytes = 1\n",
        b'polcy = "block"\n',
        b"policy = [\n",
        b"\xff\xfe\x00binary\x00",
        b"# " + b"x" * (2 << 20),
        b"never_store = [" + b'"a",' * 100_000 + b"]\n",
    ],
    ids=lambda toml: toml[:24].decode("latin-1").strip(),
)
def test_a_hostile_settings_file_opens_nothing(place, monkeypatch, toml):
    monkeypatch.setenv("SIGHTLINE_HOME", str(place.home / "state"))
    alone = opened(place.root)
    place.put("sightline.toml", toml)
    with pytest.warns(UserWarning, match=r"sightline\.toml.* It is left out\. ") as told:
        assert structs.replace(opened(place.root), left_out=()) == alone
    assert [each.filename for each in told] == [__file__]


def opened(root):
    """The settings that hold in a session."""
    with sightline.open_session(root) as session:
        return session._context.settings


def test_a_settings_file_may_not_lead_out_of_the_workspace(place, monkeypatch):
    monkeypatch.setenv("SIGHTLINE_HOME", str(place.home / "state"))
    (place.home / "theirs.toml").write_text('policy = "block"\n')
    (place.root / "sightline.toml").symlink_to(place.home / "theirs.toml")
    with pytest.warns(UserWarning, match="leads out of the workspace"):
        assert opened(place.root).policy_for("a") == "merge"
