"""A child uses git as it likes: nothing of the user's repository changes, and the result names what the
child's files do not hold."""

from __future__ import annotations

import os
import subprocess
import threading

import pytest
from tests.subtasks.conftest import LINES, git, ran
from tests.subtasks.test_crashes import Died, bench_of, ended_process
from tests.support.examples import widely

from sightline.model.events import SubtaskReturned
from sightline.subtasks import words
from sightline.subtasks.carry_out import Options, Workbench
from sightline.subtasks.runners import command_runner
from sightline.subtasks.task_registry import TaskRegistry

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the children are shell scripts")

ME = "export GIT_AUTHOR_NAME=c GIT_AUTHOR_EMAIL=c@x GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@x\n"


def printed(root, *arguments):
    words = ["git", "-C", str(root), *arguments]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def everything(root):
    """What the user's repository names."""
    asked = [
        ("for-each-ref",),
        ("stash", "list"),
        ("rev-parse", "HEAD"),
        ("rev-parse", "--symbolic-full-name", "HEAD"),
        ("worktree", "list"),
        ("config", "--list", "--local"),
    ]
    return [printed(root, *each) for each in asked]


@pytest.fixture
def busy(repo):
    """A repository with a branch, a tag and an entry of the stash."""
    git(repo.root, "branch", "old")
    git(repo.root, "tag", "v1")
    repo.put("app.py", "stashed\n")
    git(repo.root, "stash")
    repo.put("app.py", LINES)
    return repo


DOES = {
    "deletes a branch": ("git branch -D old", ["branch old was deleted"]),
    "deletes a tag": ("git tag -d v1", ["tag v1 was deleted"]),
    "moves a branch": (
        "git checkout -q main; echo more >> app.py; git commit -qam more",
        ["branch main moved from", "HEAD moved from"],
    ),
    "makes a branch": (
        "git checkout -q -b new; echo more >> app.py; git commit -qam more",
        ["branch new was made at", "HEAD moved from"],
    ),
    "commits": ("echo more >> app.py; git commit -qam more", ["HEAD moved from"]),
    "leaves a stash": (
        "echo more >> app.py; git stash -q; echo more >> app.py",
        ["stash entry", "was added: WIP on"],
    ),
    "makes a worktree": ("git worktree add -q inner old", ["a git worktree was made in"]),
}
USUAL = {"deletes a branch", "leaves a stash"}


@pytest.mark.wide
@pytest.mark.parametrize("what", [*sorted(USUAL), *widely(*sorted(DOES.keys() - USUAL))])
def test_what_a_child_does_in_git_stays_in_its_own_tree_and_is_named(busy, what):
    script, expected = DOES[what]
    before = everything(busy.root)
    task, result = ran(busy.session("p"), f"{ME}{script}")
    assert task.state == "completed", task.reason
    assert everything(busy.root) == before
    for text in expected:
        assert any(text in note for note in result.notes), result.notes
    if "app.py" in script:
        assert busy.text("app.py") == f"{LINES}more\n"
    has_new = any(word in script for word in ("commit", "git stash"))
    assert bool(result.kept) == (has_new or "worktree" in what)
    if has_new:
        assert "c" in printed(result.kept, "log", "--all", "--format=%an").split()
        assert result.kept in " ".join(words.left_over(task, result))


@pytest.mark.parametrize(
    "what",
    ["deletes a branch", *widely(*sorted(DOES.keys() - {"deletes a branch", "makes a worktree"}))],
)
def test_in_the_shared_tree_it_is_named(busy, what):
    script, expected = DOES[what]
    if what in ("commits", "moves a branch"):
        expected = ["branch main moved from"]
    task, result = ran(busy.session("p"), f"{ME}{script}", "shared")
    assert task.state == "completed", task.reason
    for text in expected:
        assert any(text in note for note in result.notes), result.notes
    assert result.kept == ""


@pytest.mark.wide
def test_a_dropped_entry_of_the_stash_is_named_and_a_worktree_too(busy):
    entry = printed(busy.root, "rev-parse", "stash@{0}")[:10]
    script = f"{ME}git stash drop -q; git worktree add -q ../inner old; exit 1"
    task, result = ran(busy.session("p"), script, "shared")
    assert task.state == "failed"
    assert result.notes[0].startswith(f"stash entry {entry} was dropped: WIP on main")
    assert result.notes[1].startswith("a git worktree was made in")


@pytest.mark.wide
def test_siblings_do_not_share_a_stash(repo):
    """Each puts its change aside while the other's is on the stash, and takes it back."""
    session = repo.session("p")
    tasks = [{"id": name, "goal": name} for name in ("a", "b")]
    session.subtasks.propose(tasks)
    session.subtasks.approve()
    context = session._context
    marks = repo.home
    script = (
        ME
        + "echo $SIGHTLINE_SUBTASK > $SIGHTLINE_SUBTASK.txt; git stash -q -u; touch {0}/$SIGHTLINE_SUBTASK;"
        " while [ ! -e {0}/a -o ! -e {0}/b ]; do sleep 0.01; done; git stash pop -q"
    )
    runner = command_runner(["sh", "-e", "-c", script.format(marks)])

    def carry_out(name):
        bench = Workbench(TaskRegistry(context), f"{repo.state}/tasks")
        bench.carry_out(name, 0, runner, Options("worktree"))

    threads = [threading.Thread(target=carry_out, args=(name,)) for name in ("a", "b")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for name in ("a", "b"):
        task, result = session.subtasks.show(name)
        assert task.state == "completed", task.reason
        assert [file.path for file in result.files] == [f"{name}.txt"]
        assert (result.notes, result.kept) == ((), "")
        assert repo.text(f"{name}.txt") == f"{name}\n"


INIT = "mkdir -p {0}; git init -q {0}; echo made > {0}/file.txt; "


@pytest.mark.parametrize(
    ("path", "has_commit"),
    [
        ("sub", True),
        pytest.param("deep/er/sub", True, marks=pytest.mark.wide),
        pytest.param("sub", False, marks=pytest.mark.wide),
    ],
)
def test_a_repository_that_a_child_makes_comes_home_and_its_history_is_kept(repo, path, has_commit):
    script = INIT.format(path) + "echo x > plain.txt; "
    if has_commit:
        script += (
            f"cd {path}; echo ignored > .gitignore; touch ignored; git add -A; git commit -qm made"
        )
    task, result = ran(repo.session("p"), ME + script)
    assert task.state == "completed", task.reason
    assert repo.text(f"{path}/file.txt") == "made\n"
    assert repo.text("plain.txt") == "x\n"
    assert not (repo.root / path / "ignored").exists()
    assert any(note.startswith(f"{path} is a git repository") for note in result.notes)
    assert os.path.isdir(f"{result.kept}/{path}/.git")
    if has_commit:
        assert printed(f"{result.kept}/{path}", "log", "--format=%s") == "made\n"


@pytest.mark.wide
def test_a_clone_and_a_submodule_come_home(repo, tmp_path):
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    (other / "lib.py").write_text("lib\n")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "lib")
    script = (
        f"git clone -q {other} cloned;"
        f"git -c protocol.file.allow=always submodule --quiet add {other} module"
    )
    task, result = ran(repo.session("p"), ME + script)
    assert task.state == "completed", task.reason
    assert repo.text("cloned/lib.py") == repo.text("module/lib.py") == "lib\n"
    assert "module" in repo.text(".gitmodules")
    assert {note.split(" is ")[0] for note in result.notes if " is " in note} == {
        "cloned",
        "module",
    }


@pytest.fixture
def nested(repo, tmp_path):
    """A workspace with a repository within, a submodule, and a repository without a commit."""
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    (other / "mod.py").write_text("mod\n")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "mod")
    add = ("submodule", "--quiet", "add", str(other), "module")
    git(repo.root, "-c", "protocol.file.allow=always", *add)
    git(repo.root, "commit", "-q", "-m", "module")
    repo.put("vendor/lib/lib.py", "lib\n")
    git(repo.root / "vendor" / "lib", "init", "-q")
    git(repo.root / "vendor" / "lib", "add", "-A")
    git(repo.root / "vendor" / "lib", "commit", "-q", "-m", "lib")
    repo.put("vendor/lib/new.py", "not committed\n")
    repo.put("young/young.py", "young\n")
    git(repo.root / "young", "init", "-q")
    return repo


WITHIN = ("vendor/lib/lib.py", "module/mod.py", "young/young.py")


@pytest.mark.wide
def test_repositories_within_are_handed_over_and_come_back(nested):
    edits = "".join(f"echo more >> {name}; " for name in WITHIN)
    script = (
        f"cat vendor/lib/new.py; git -C vendor/lib log --format=%s; {edits}"
        "rm vendor/lib/new.py; echo n > module/n.py"
    )
    task, result = ran(nested.session("p"), script)
    assert task.state == "completed", task.reason
    assert result.output == "not committed\nlib\n"
    assert [nested.text(name) for name in WITHIN] == ["lib\nmore\n", "mod\nmore\n", "young\nmore\n"]
    assert nested.text("module/n.py") == "n\n"
    assert not (nested.root / "vendor" / "lib" / "new.py").exists()
    assert (result.notes, result.kept) == ((), "")
    assert {file.path for file in result.files} == {*WITHIN, "vendor/lib/new.py", "module/n.py"}


@pytest.mark.wide
def test_their_git_is_the_child_s_own(nested):
    before = [everything(nested.root / name) for name in ("vendor/lib", "module")]
    script = (
        "cd vendor/lib; echo more >> lib.py; git commit -qam more; git branch b; cd ../../module;"
    )
    task, result = ran(
        nested.session("p"), f"{ME}{script} git checkout -q -b other; rm -r ../young"
    )
    assert task.state == "completed", task.reason
    assert [everything(nested.root / name) for name in ("vendor/lib", "module")] == before
    assert any(note.startswith("vendor/lib: branch b was made") for note in result.notes)
    assert any(note.startswith("module: HEAD moved") for note in result.notes)
    assert "young: it is a git repository no longer" in result.notes
    assert not (nested.root / "young" / "young.py").exists()
    assert printed(f"{result.kept}/vendor/lib", "log", "-1", "--format=%s", "b") == "more\n"


@pytest.mark.wide
def test_in_the_shared_tree_theirs_is_named_too(nested):
    script = "cd vendor/lib; echo more >> lib.py; git commit -qam more; git branch b"
    task, result = ran(nested.session("p"), f"{ME}{script}", "shared")
    assert task.state == "completed", task.reason
    assert any(note.startswith("vendor/lib: branch b was made") for note in result.notes)


@pytest.mark.wide
def test_a_worktree_within_is_not_handed_over_and_that_is_said(repo):
    git(repo.root, "worktree", "add", "-q", "trees/one")
    task, result = ran(repo.session("p"), "cat; test ! -e trees/one")
    assert task.state == "completed", task.reason
    assert "trees/one is a git repository of its own, and is not in this folder" in result.output
    assert result.notes == (words.not_handed_over(["trees/one"]),)


@pytest.mark.wide
def test_pipes_sockets_and_empty_folders_are_named(repo):
    script = (
        "mkfifo pipe; mkdir -p void/inner; echo built > .gitignore; mkdir built; mkfifo built/pipe;"
        " python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\""
    )
    task, result = ran(repo.session("p"), script)
    assert task.state == "completed", task.reason
    assert sorted(result.notes) == [
        "pipe is a pipe, which is not copied back",
        "sock is a socket, which is not copied back",
        "void/inner is an empty folder, which is not copied back",
    ]


@pytest.mark.wide
def test_what_an_attempt_changed_in_git_is_named_although_its_process_died(busy):
    session = busy.session("p", checkpoints="off")
    session.subtasks.propose([{"id": "a", "goal": "A"}])
    session.subtasks.approve()
    bench, _ = bench_of(session, busy, ended_process())

    def dies(assignment):
        git(busy.root, "branch", "-D", "old")
        git(busy.root, "config", "core.editor", "mine")
        raise Died

    with pytest.raises(Died):
        bench.carry_out("a", 0, dies, Options("shared"))
    bench, _ = bench_of(session, busy)
    bench.carry_out("a", 0, command_runner(["true"]), Options("shared"))
    [reason] = [row.fact.reason for row in returned(session)]
    assert "branch old was deleted" in reason
    assert ".git/config" in reason
    assert os.listdir(f"{busy.state}/tasks") == []


def returned(session):
    return session._context.store.timeline(session="p", kinds=[SubtaskReturned])


@pytest.mark.wide
def test_a_child_that_is_started_in_another_repository_s_environment_works_in_its_own(
    repo, monkeypatch
):
    """As from an alias or a hook of git, which name the user's repository."""
    monkeypatch.setenv("GIT_DIR", f"{repo.root}/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", f"{repo.root}/.git/index")
    before = printed(repo.root, "for-each-ref")
    task, _ = ran(repo.session("p"), f"{ME}echo x > x.txt; git add x.txt; git commit -qm x")
    assert task.state == "completed", task.reason
    assert printed(repo.root, "for-each-ref") == before
    assert repo.text("x.txt") == "x\n"


@pytest.mark.wide
def test_the_kept_tree_goes_with_a_retry_and_stays_for_a_merge(repo):
    session = repo.session("p")
    script = (
        f"{ME}git init -q sub; echo made > sub/a; echo mine > {repo.root}/app.py; echo c > app.py"
    )
    task, result = ran(session, script)
    assert task.state == "failed"
    assert os.path.isdir(f"{result.kept}/sub/.git")
    repo.put("app.py", LINES)
    assert session.subtasks.merge("a").state == "completed"
    task, result = session.subtasks.show("a")
    assert os.path.isdir(f"{result.kept}/sub/.git")
