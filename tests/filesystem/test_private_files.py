"""The state folder is the user's alone: nothing that another user put there is followed."""

from __future__ import annotations

import os
import sys

import pytest

import sightline
from sightline.config.settings import Settings
from sightline.errors import StoreError
from sightline.filesystem.private_files import Locked, check_private, open_own
from sightline.history.doctor import state_folder
from sightline.hooks import fault_log
from sightline.store.identity import store_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of POSIX")
NOBODY = 65534
as_root = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away"
)


@pytest.fixture
def state(tmp_path):
    made = tmp_path / "state"
    made.mkdir(0o700)
    return made


def is_refused(state, root, words):
    """Return whether every start refuses the folder, and doctor says so."""
    settings = Settings(state_home=str(state))
    with pytest.raises(StoreError, match=words):
        sightline.open_session(root, settings=settings)
    with pytest.raises(StoreError, match=words):
        store_file(str(state), str(root))
    found = state_folder(settings)
    assert (found.state, found.case) == ("problem", "refused")
    return True


def test_a_state_folder_that_others_may_write_is_refused_in_words(state, tmp_path):
    state.chmod(0o777)
    assert is_refused(state, tmp_path, "may be written by other users")
    state.chmod(0o700)
    (state / "workspaces").mkdir()
    (state / "workspaces").chmod(0o770)
    assert is_refused(state, tmp_path, "may be written by other users")


@as_root
def test_a_state_folder_of_another_user_is_refused_in_words(state, tmp_path):
    os.chown(state, NOBODY, NOBODY)
    assert is_refused(state, tmp_path, "belongs to another user")
    os.chown(state, 0, 0)
    link = tmp_path / "link"
    link.symlink_to(state)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert is_refused(link, tmp_path, "belongs to another user")


def test_a_folder_that_every_user_may_rename_is_refused(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "state").mkdir(0o700)
    with pytest.raises(StoreError, match="every user may rename it"):
        check_private(str(shared / "state"))
    shared.chmod(0o1777)
    check_private(str(shared / "state"))


def test_a_planted_symlink_to_a_store_is_not_followed(state, tmp_path):
    (tmp_path / "victim").mkdir()
    (state / "workspaces").symlink_to(tmp_path / "victim")
    assert is_refused(state, tmp_path, "a symlink")
    assert list((tmp_path / "victim").iterdir()) == []


def test_a_planted_symlink_to_a_workspaces_store_is_not_followed(state, tmp_path):
    folder = os.path.dirname(store_file(str(state), str(tmp_path)))
    (tmp_path / "victim").mkdir()
    os.symlink(tmp_path / "victim", folder)
    with pytest.raises(StoreError, match="a symlink"):
        sightline.open_session(tmp_path, settings=Settings(state_home=str(state)))


@pytest.mark.parametrize("name", ["hooks.log", "hooks.log.lock"])
def test_the_log_is_not_written_through_a_planted_symlink(state, tmp_path, name):
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    (state / name).symlink_to(victim)
    (state / "hooks.log.1").write_text("")
    if name == "hooks.log":
        with pytest.raises(OSError, match="symbolic links"):
            fault_log.note(str(state), "a", "e", "s", "message")
        found = state_folder(Settings(state_home=str(state)))
        assert (found.state, found.case) == ("problem", "refused")
    else:
        with pytest.raises(OSError, match="symbolic links"), Locked(str(state / name)):
            pass
    assert victim.read_text() == "mine\n"


def test_a_log_that_is_a_pipe_does_not_hang(state):
    os.mkfifo(state / "hooks.log")
    with pytest.raises(OSError, match=r"hooks\.log"):
        fault_log.note(str(state), "a", "e", "s", "message")
    with pytest.raises(OSError, match="not a file of this user"):
        open_own(str(state / "hooks.log"), os.O_RDONLY)


def test_a_state_folder_behind_the_users_own_symlink_is_fine(state, tmp_path):
    (tmp_path / "link").symlink_to(state)
    settings = Settings(state_home=str(tmp_path / "link"))
    with sightline.open_session(tmp_path, settings=settings) as session:
        assert session.id
    assert state_folder(settings).state == "ok"
