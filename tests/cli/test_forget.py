"""`sightline forget`: what is kept of a workspace is listed and deleted, and nothing else."""

from __future__ import annotations

import os

import pytest
from tests.cli.test_terminal import at_terminal
from tests.support.hook_server import serving

import sightline


@pytest.fixture
def kept(at):
    """A workspace of which a session, a text and a checkpoint are kept."""
    at.put("app.py", "a = 1\n")
    at("read", "app.py")
    at("checkpoint", "first")
    return at


def files_below(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_all_that_is_kept_is_listed_and_deleted(kept):
    listed = kept("forget", "--dry-run")
    assert listed.code == 0
    assert f" of {kept.root}\n" in listed.out
    assert "1 session, 4 facts, 2 texts, 1 checkpoint" in listed.out
    assert kept("session", "list", "--json").json["sessions"]
    done = kept("forget", "--yes")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(listed.out)
    assert "Deleted 2 files (" in done.out
    assert files_below(kept.home) == ["lock"]
    assert (kept.root / "app.py").read_text() == "a = 1\n"
    assert kept("session", "list", "--json").json["sessions"] == []


def test_json_names_each_file_with_its_size(kept):
    told = kept("forget", "--yes", "--json").json
    assert (told["workspace"], told["dry_run"]) == (str(kept.root), False)
    assert told["contents"] == {"sessions": 1, "facts": 4, "texts": 2, "checkpoints": 1}
    assert {each["path"] for each in told["files"]} >= {"store.db"}
    assert told["size"] == sum(each["size"] for each in told["files"])
    assert (told["stays"], told["hooks"]) == ([], [])


def test_nothing_to_forget_is_a_no_and_leaves_nothing_behind(at):
    done = at("forget", "--yes")
    assert (done.code, done.out) == (1, "")
    assert f"Sightline keeps nothing of {at.root}." in done.err
    assert "sightline forget --workspace DIR" in done.err
    assert files_below(at.home) == []


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_without_a_terminal_the_user_must_say_yes(kept, options):
    done = kept("forget", *options)
    assert done.code == 2
    assert "Pass --dry-run to preview or --yes to proceed." in done.err
    assert "store.db" in files_below(kept.home)


@pytest.mark.wide
@pytest.mark.parametrize(("answer", "code", "deleted"), [(b"y\n", 0, True), (b"n\n", 1, False)])
def test_on_a_terminal_the_user_is_asked(kept, answer, code, deleted):
    ended, seen = at_terminal(kept, "forget", answer=answer)
    assert "Delete these files? This cannot be undone." in seen
    assert ended == code
    assert ("store.db" not in files_below(kept.home)) is deleted
    assert ("Nothing was deleted." in seen) is not deleted


def test_a_workspace_whose_folder_is_gone_is_forgotten_by_its_path(kept, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    os.rename(kept.root, tmp_path / "elsewhere")
    for name in ("app.py", ".git"):
        path = tmp_path / "elsewhere" / name
        path.rmdir() if path.is_dir() else path.unlink()
    (tmp_path / "elsewhere").rmdir()
    assert kept("forget", "--yes", "--workspace", str(kept.root)).code == 0
    assert files_below(kept.home) == ["lock"]
    assert kept("forget", "--yes", "--workspace", str(kept.root)).code == 1


def test_a_workspace_that_moved_is_forgotten_at_its_new_path_only(kept, monkeypatch, tmp_path):
    moved = tmp_path / "moved"
    monkeypatch.chdir(tmp_path)
    os.rename(kept.root, moved)
    kept("status", "--workspace", str(moved))
    refused = kept("forget", "--yes", "--workspace", str(kept.root))
    assert refused.code == 2
    assert f"The workspace {kept.root} stands at {moved} now." in refused.err
    assert "store.db" in files_below(kept.home)
    assert kept("forget", "--yes", "--workspace", str(moved)).code == 0
    assert files_below(kept.home) == ["lock"]


def test_another_workspace_keeps_its_store(kept, monkeypatch, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    kept("checkpoint", "theirs", "--workspace", str(other))
    assert kept("forget", "--yes").code == 0
    listed = kept("checkpoint", "list", "--json", "--workspace", str(other)).json
    assert [each["label"] for each in listed["checkpoints"]] == ["theirs"]


def test_nothing_goes_while_an_agent_is_at_work(kept):
    with sightline.open_session(kept.root, id="s1", agent="claude-code"):
        done = kept("forget", "--yes")
        assert done.code == 1
        assert "An agent is at work here (session s1). Nothing was deleted." in done.err
        assert "store.db" in files_below(kept.home)
    with sightline.open_workspace(kept.root) as workspace:
        workspace.sessions()


@pytest.mark.wide
def test_nothing_goes_while_another_program_has_the_store_open(kept):
    with kept.spawn("watch", own_group=True) as watching:
        assert b"Watching" in watching.stderr.readline()
        done = kept("forget", "--yes", "--json")
        watching.kill()
    assert done.code == 1
    assert done.json["error"]["kind"] == "in_use"
    assert "has the store" in done.err
    assert "store.db" in files_below(kept.home)


def test_nothing_goes_while_up_runs(kept, tmp_path):
    with serving(str(kept.root), environ=os.environ, home=str(tmp_path / "home")):
        done = kept("forget", "--yes")
    assert done.code == 1
    assert "'sightline up' runs for this workspace" in done.err
    assert "store.db" in files_below(kept.home)


def test_a_damaged_store_can_be_forgotten(kept):
    (store,) = kept.home.glob("workspaces/*/store.db")
    store.write_bytes(b"no database at all " * 300)
    assert "a store that cannot be read" in kept("forget", "--dry-run").out
    assert kept("forget", "--yes").code == 0
    assert files_below(kept.home) == ["lock"]


def test_a_store_that_the_user_placed_and_the_common_log_stay(kept, tmp_path):
    (kept.home / "hooks.log").write_text("")
    place = tmp_path / "mine.db"
    url = f"sqlite://{place}"
    kept("read", "app.py", "--store", url)
    done = kept("forget", "--yes", "--store", url)
    assert done.code == 0
    assert f"Not deleted: {place}\n" in done.err
    assert f"Not deleted: {kept.home / 'hooks.log'}\n" in done.err
    assert place.exists()


def test_connected_hooks_are_named_with_the_way_to_remove_them(kept):
    kept("init", "claude-code")
    done = kept("forget", "--yes")
    assert done.code == 0
    assert "sightline init claude-code --remove" in done.err


def test_an_interrupted_deletion_can_be_finished(kept, monkeypatch):
    with monkeypatch.context() as patched:

        def interrupted(folder):
            os.unlink(os.path.join(folder, "store.db"))
            raise KeyboardInterrupt

        patched.setattr("sightline.store.workspace_files.shutil.rmtree", interrupted)
        assert kept("forget", "--yes").code == 130
    assert kept("forget", "--yes").code == 0
    assert files_below(kept.home) == ["lock"]
