"""The state folder is the user's alone: nothing that another user put there is followed."""

from __future__ import annotations

import os
import sys

import pytest
from tests.hooks.hooking import Host
from tests.support.hook_server import serving

import sightline
from sightline.config.settings import Settings
from sightline.errors import StoreError
from sightline.filesystem import tree_index
from sightline.filesystem.deadline import within
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.private_files import Locked, check_private, open_own
from sightline.filesystem.tree_index import NO_TREE
from sightline.history.doctor import close_to_others, state_folder
from sightline.hooks import fault_log
from sightline.hooks.http_endpoint import http_settings
from sightline.store.identity import store_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of POSIX")
NOBODY = 65534
DEADLINE_S = 10.0
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


@as_root
@pytest.mark.parametrize("below", ["", "workspaces"])
def test_another_users_folder_is_refused_behind_a_link_and_below_the_state_folder(
    state, tmp_path, below
):
    (tmp_path / "link").symlink_to(state)
    (state / below).mkdir(mode=0o700, exist_ok=True)
    os.chown(state / below, NOBODY, NOBODY)
    assert is_refused(tmp_path / "link", tmp_path, "belongs to another user")


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
        within(DEADLINE_S, lambda: fault_log.note(str(state), "a", "e", "s", "message"))
    with pytest.raises(OSError, match="not a file of this user"):
        within(DEADLINE_S, lambda: open_own(str(state / "hooks.log"), os.O_RDONLY))


def test_a_state_folder_behind_the_users_own_symlink_is_fine(state, tmp_path):
    (tmp_path / "link").symlink_to(state)
    settings = Settings(state_home=str(tmp_path / "link"))
    with sightline.open_session(tmp_path, settings=settings) as session:
        assert session.id
    assert state_folder(settings).state == "ok"


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def readable_by_others(folder):
    paths = (folder, *folder.rglob("*"))
    return [str(path) for path in paths if path.lstat().st_mode & 0o077]


@pytest.mark.usefixtures("no_umask")
@pytest.mark.parametrize("store", [None, "memory:", "sqlite://{}/own/store.db"])
def test_no_file_of_a_session_is_for_others(state, tmp_path, store):
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("import b\n")
    (root / "b.py").write_text("1\n")
    settings = Settings(str(state / "new"), store=store and store.format(tmp_path))
    with sightline.open_session(root, id="s", settings=settings) as session:
        session.read("a.py")
        session.related("a.py")
        made = session.checkpoint("here")
        session.edit("a.py", "import b", "import c")
        session.rewind(made.id)
        assert list(state.rglob("locks/*"))
        assert list(state.rglob("imports"))
        assert readable_by_others(state) == []
    if (tmp_path / "own").exists():
        assert readable_by_others(tmp_path / "own") == []


@pytest.mark.usefixtures("no_umask")
@pytest.mark.parametrize("first", ["locks", "tree"])
def test_whatever_is_stored_first_makes_folders_for_the_user_alone(tmp_path, first):
    folder = tmp_path / "state" / "workspaces" / "1"
    if first == "locks":
        with DiskWorkspace(str(tmp_path), str(folder)).lock("a.py"):
            pass
    else:
        tree_index.save(str(folder), str(tmp_path), NO_TREE)
    assert folder.exists()
    assert readable_by_others(tmp_path / "state") == []


@pytest.mark.usefixtures("no_umask")
def test_no_file_of_hooks_is_for_others():
    host = Host()
    try:
        path = host.put("a.py", "x = 1\n")
        host.ask(host.shown(path, "x = 1\n"))
        host.ask(b"{")
        (host.state / "hooks.log").write_text("x" * fault_log.BYTES_MAX)
        host.ask(b"{")
        http_settings(str(host.state), str(host.root), "claude-code")
        with serving(str(host.root), environ=host.environ, home=str(host.home)):
            host.run(host.edit(path, "x = 1", "x = 2"))
            names = {found.name for found in host.state.rglob("*")}
            assert names > {"hooks.log", "hooks.log.1", "hooks.log.lock", "run", "http", "store.db"}
            assert readable_by_others(host.state) == []
    finally:
        host.close()


def test_doctor_tells_of_every_path_that_others_may_read_and_closes_it(tmp_path):
    home = tmp_path / "sightline"
    settings = Settings(str(home))
    (tmp_path / "a.py").write_text("1\n")
    with sightline.open_session(tmp_path, id="s", settings=settings) as session:
        session.read("a.py")
        session.edit("a.py", "1", "2")
    (home / "run").mkdir(0o700)
    for name in ("hooks.log", "hooks.log.1", "hooks.log.lock", "run/one.lock"):
        (home / name).touch(0o600)
    paths = [home, *home.rglob("*")]
    assert len(paths) > 12
    assert state_folder(settings).case == "private"
    for path in paths:
        before = path.stat().st_mode
        path.chmod(before | (0o050 if path.is_dir() else 0o004))
        found = state_folder(settings)
        assert (found.state, found.case, found.facts["first"]) == ("warning", "open", str(path))
        close_to_others(settings)
        assert path.stat().st_mode == before


def test_doctor_tells_of_a_store_elsewhere_that_others_may_read_and_closes_it(state, tmp_path):
    file = tmp_path / "own" / "store.db"
    settings = Settings(str(state), store=f"sqlite://{file}")
    with sightline.open_session(tmp_path, id="s", settings=settings):
        made = sorted(file.parent.iterdir())
        assert len(made) >= 3
        assert state_folder(settings).case == "private"
        for path in made:
            path.chmod(0o644)
            found = state_folder(settings)
            assert (found.case, found.facts["first"]) == ("open", str(path))
            close_to_others(settings)
            assert path.stat().st_mode & 0o777 == 0o600


def test_a_state_folder_that_others_may_write_is_closed_on_request(state):
    settings = Settings(str(state))
    state.chmod(0o777)
    found = state_folder(settings)
    assert (found.case, found.fix) == ("refused", "permissions")
    close_to_others(settings)
    assert state_folder(settings).state == "ok"
