"""What no text shows comes back from a worktree, too: binary files, symlinks and permissions."""

from __future__ import annotations

import os

import pytest
from tests.subtasks.conftest import LINES, git, ran

from sightline.errors import Unverifiable
from sightline.filesystem.disk import DiskWorkspace

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a shell, symlinks and permissions")

RAW = bytes(range(256))


@pytest.fixture
def kinds(repo):
    """A repository with files of all kinds, one of them not committed."""
    repo.put("raw.bin", RAW)
    repo.put("gone.bin", RAW)
    repo.put("tool.sh", "#!/bin/sh\n").chmod(0o755)
    os.symlink("app.py", repo.root / "link")
    os.symlink("app.py", repo.root / "gone")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", "kinds")
    repo.put("plain.sh", "#!/bin/sh\n").chmod(0o664)
    return repo


def mode(place, name):
    return (place.root / name).stat().st_mode & 0o777


def test_every_kind_of_change_is_applied_and_a_rewind_takes_it_back(kinds):
    session = kinds.session("p")
    task, result = ran(
        session,
        "printf 'a\\0b' > raw.bin; rm gone.bin gone; printf 'n\\0w' > new.bin; ln -sf log.txt link;"
        "mkdir deep; ln -s ../tool.sh deep/new; chmod -x tool.sh; chmod +x plain.sh;"
        "echo '#!/bin/sh' > made.sh; chmod +x made.sh; echo more >> app.py",
    )
    assert task.state == "completed", task.reason
    assert (kinds.bytes("raw.bin"), kinds.bytes("new.bin")) == (b"a\0b", b"n\0w")
    assert os.readlink(kinds.root / "link") == "log.txt"
    assert os.readlink(kinds.root / "deep" / "new") == "../tool.sh"
    assert not os.path.lexists(kinds.root / "gone")
    assert not os.path.lexists(kinds.root / "gone.bin")
    assert mode(kinds, "tool.sh") & 0o111 == 0
    assert mode(kinds, "plain.sh") == 0o775  # who may read it may execute it
    assert mode(kinds, "made.sh") & 0o100
    assert kinds.text("app.py") == f"{LINES}more\n"
    changed = {file.path: (file.kind, file.applied) for file in result.files}
    assert changed["link"] == changed["raw.bin"] == changed["tool.sh"] == ("changed", True)
    assert changed["gone"] == changed["gone.bin"] == ("deleted", True)
    kinds.session(task.session).rewind(0)
    assert (kinds.bytes("raw.bin"), kinds.bytes("gone.bin")) == (RAW, RAW)
    assert os.readlink(kinds.root / "link") == os.readlink(kinds.root / "gone") == "app.py"
    assert (mode(kinds, "tool.sh"), mode(kinds, "plain.sh")) == (0o755, 0o664)
    assert kinds.text("app.py") == LINES
    assert not {"new.bin", "made.sh"}.intersection(kinds.names())
    assert not os.path.lexists(kinds.root / "deep" / "new")


def test_what_changed_at_home_meanwhile_is_a_conflict_and_nothing_is_applied(kinds):
    session = kinds.session("p")
    root = kinds.root
    task, result = ran(
        session,
        f"printf 'mine' > {root}/raw.bin; printf 'a\\0b' > raw.bin; ln -sf app.py {root}/new;"
        f"ln -s log.txt new; echo more >> app.py; chmod -x tool.sh",
    )
    assert task.state == "failed"
    assert [(each.path, each.reason) for each in result.conflicts] == [
        ("new", "modified"),
        ("raw.bin", "modified"),
    ]
    assert kinds.bytes("raw.bin") == b"mine"
    assert os.readlink(kinds.root / "new") == "app.py"
    assert kinds.text("app.py") == LINES
    assert mode(kinds, "tool.sh") == 0o755
    kinds.put("raw.bin", RAW)  # resolved by the user
    os.unlink(kinds.root / "new")
    session.subtasks.merge("a")
    assert kinds.bytes("raw.bin") == b"a\0b"
    assert kinds.text("app.py") == f"{LINES}more\n"
    assert mode(kinds, "tool.sh") & 0o111 == 0


@pytest.mark.wide
def test_nothing_stays_where_the_disk_refuses_a_part(kinds):
    """The user makes a file where the attempt has a folder: its texts are taken back, too."""
    session = kinds.session("p")
    script = (
        f"echo more >> app.py; mkdir new; printf 'n\\0w' > new/raw.bin; echo > {kinds.root}/new"
    )
    task, result = ran(session, script)
    assert task.state == "failed"
    assert [(each.path, each.reason) for each in result.conflicts] == [
        ("new/raw.bin", "unverifiable")
    ]
    assert kinds.text("app.py") == LINES
    (kinds.root / "new").unlink()
    assert session.subtasks.merge("a").state == "completed"
    assert kinds.text("app.py") == f"{LINES}more\n"
    assert kinds.bytes("new/raw.bin") == b"n\0w"


@pytest.mark.wide
def test_nothing_stays_where_the_disk_refuses_permissions(kinds, monkeypatch):
    def refuses(self, path, *modes):
        raise Unverifiable(path, f"{path} belongs to another user.", "")

    monkeypatch.setattr(DiskWorkspace, "set_mode", refuses)
    task, result = ran(kinds.session("p"), "echo more >> app.py; chmod -x tool.sh")
    assert task.state == "failed"
    assert [(each.path, each.reason) for each in result.conflicts] == [("tool.sh", "unverifiable")]
    assert kinds.text("app.py") == LINES


@pytest.mark.wide
@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "deep/../../outside"])
def test_a_symlink_that_leads_out_of_the_workspace_is_not_applied(kinds, target):
    session = kinds.session("p")
    task, result = ran(session, f"ln -s {target} out")
    assert task.state == "failed"
    assert [(each.path, each.reason) for each in result.conflicts] == [("out", "outside")]
    assert not os.path.lexists(kinds.root / "out")


@pytest.mark.wide
def test_scope_claims_and_protection_hold_for_them_too(kinds):
    session = kinds.session("p", source={"protect": ("plain.sh",)}, claims="enforce")
    kinds.session("q").claim(["gone.bin"], ttl=600)
    task, result = ran(
        session,
        "printf 'a\\0b' > raw.bin; chmod +x plain.sh; rm gone.bin",
        scope=["plain.sh", "gone.bin"],
    )
    assert task.state == "failed"
    assert {(each.path, each.reason) for each in result.conflicts} == {
        ("gone.bin", "claimed"),
        ("plain.sh", "scope"),
        ("raw.bin", "scope"),
    }
    assert (kinds.bytes("raw.bin"), mode(kinds, "plain.sh")) == (RAW, 0o664)
    assert kinds.bytes("gone.bin") == RAW


@pytest.mark.wide
def test_permissions_do_not_stand_in_the_way_of_a_user_s_edit(kinds):
    session = kinds.session("p")
    root = kinds.root
    task, _ = ran(session, f"echo 'echo mine' >> {root}/tool.sh; chmod -x tool.sh")
    assert task.state == "completed", task.reason
    assert kinds.text("tool.sh") == "#!/bin/sh\necho mine\n"
    assert mode(kinds, "tool.sh") & 0o111 == 0


@pytest.mark.wide
def test_a_repository_that_ignores_permissions_keeps_its_own(kinds):
    git(kinds.root, "config", "core.fileMode", "false")
    session = kinds.session("p")
    task, result = ran(session, "chmod -x tool.sh; echo more >> app.py")
    assert task.state == "completed", task.reason
    assert [file.path for file in result.files] == ["app.py"]
    assert mode(kinds, "tool.sh") == 0o755


@pytest.mark.wide
def test_line_ends_and_encodings_come_back_as_the_child_left_them(kinds):
    session = kinds.session("p")
    script = (
        r"printf 'one\r\ntwo\n' > mixed.txt; printf '\357\273\277bom\n' > bom.txt;"
        r"sed -i 's/$/\r/' app.py; printf 'caf\351\n' > latin.txt"
    )
    task, _ = ran(session, script)
    assert task.state == "completed", task.reason
    assert kinds.bytes("mixed.txt") == b"one\r\ntwo\n"
    assert kinds.bytes("bom.txt") == b"\xef\xbb\xbfbom\n"
    assert kinds.bytes("latin.txt") == b"caf\xe9\n"
    assert kinds.bytes("app.py") == LINES.replace("\n", "\r\n").encode()


@pytest.mark.wide
def test_nothing_is_read_through_a_symlink_that_took_the_place_of_a_folder(kinds, tmp_path):
    kinds.put("d/key.txt", "of the workspace\n")
    git(kinds.root, "add", "-A")
    git(kinds.root, "commit", "-q", "-m", "folder")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key.txt").write_text("of somebody else\n")
    session = kinds.session("p")
    task, result = ran(session, f"rm -r d; ln -s {tmp_path}/secrets d")
    assert task.state == "failed"
    assert [(each.path, each.reason) for each in result.conflicts] == [("d", "outside")]
    assert {file.path: file.kind for file in result.files} == {
        "d": "created",
        "d/key.txt": "deleted",
    }
    assert kinds.text("d/key.txt") == "of the workspace\n"


@pytest.mark.wide
def test_a_symlink_at_home_leads_no_write_elsewhere(kinds, tmp_path):
    """The child saw a folder that became a symlink meanwhile, or made one of a symlink."""
    kinds.put("d/a.txt", "a\n")
    git(kinds.root, "add", "-A")
    git(kinds.root, "commit", "-q", "-m", "folder")
    (tmp_path / "other").mkdir()
    (kinds.root / "inside").mkdir()
    session = kinds.session("p")
    root = kinds.root
    task, result = ran(session, f"echo new > d/new.txt; rm -r {root}/d; ln -s inside {root}/d")
    assert task.state == "failed"
    assert [(each.path, each.reason) for each in result.conflicts] == [
        ("d/new.txt", "kind_changed")
    ]
    assert list((kinds.root / "inside").iterdir()) == []


@pytest.mark.wide
def test_a_changed_repository_within_does_not_stop_an_attempt(kinds, tmp_path):
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "one")
    git(
        kinds.root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(other),
        "sub",
    )
    git(kinds.root, "commit", "-q", "-m", "sub")
    git(kinds.root / "sub", "commit", "-q", "--allow-empty", "-m", "two")
    kinds.put("sub/new.txt", "x\n")
    session = kinds.session("p")
    task, result = ran(session, "echo more >> app.py")
    assert task.state == "completed", task.reason
    assert [file.path for file in result.files] == ["app.py"]


@pytest.mark.wide
def test_a_large_binary_file_is_applied(kinds):
    session = kinds.session("p", max_file_bytes=1_000)
    task, _ = ran(session, "head -c 5000 /dev/zero > raw.bin; head -c 5000 /dev/zero > new.bin")
    assert task.state == "completed", task.reason
    assert kinds.bytes("raw.bin") == kinds.bytes("new.bin") == bytes(5_000)
