"""Who made a change: real git, real commands, real saves; the fact has to say so."""

from __future__ import annotations

import os
import shutil
import subprocess
from threading import Barrier, Thread

import pytest
from tests.hooks.handlers.shell import run
from tests.support.commands import begin, command
from tests.support.places import Place

import sightline
from sightline.changes.commands import changes
from sightline.filesystem.git.repository import SLACK_NS
from sightline.history.session_history import survey
from sightline.hooks.dispatch import attend
from sightline.model.events import (
    Cause,
    Changed,
    EnvironmentSeen,
    GitMoved,
    SessionEnded,
    StashDropped,
    TurnBegan,
    WriteIntended,
)
from sightline.model.hook_events import CommandBegan, CommandEnded
from sightline.text.causes import PUT_BACK, UNDER_WAY

TEN = "".join(f"line {n}\n" for n in range(1, 11))
FILES = ("a.py", "b.py", "c.py")
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}

LONG_AGO = {"GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Three files on two branches, made long ago: `other` has two of them otherwise."""
    made = Place(tmp_path_factory.mktemp("repository"))
    for path in FILES:
        made.put(path, TEN)
    git(made, "-c", "init.defaultBranch=main", "init", "--quiet", "--template=")
    commit(made, **LONG_AGO)
    git(made, "checkout", "--quiet", "-b", "other", **LONG_AGO)
    made.put("a.py", TEN.replace("line 3", "OTHER"))
    made.put("b.py", TEN.replace("line 4", "OTHER"))
    commit(made, **LONG_AGO)
    git(made, "checkout", "--quiet", "main", **LONG_AGO)
    os.utime(made.root / ".git/logs/HEAD", (0, 0))  # a look in its clock tick is none behind it
    return made.root


@pytest.fixture
def tree(place, repository):
    """A copy of the repository."""
    shutil.copytree(repository, place.root, dirs_exist_ok=True)
    return place


@pytest.fixture
def s(tree):
    return opened(tree, "s")


def opened(place, name):
    session = place.session(name)
    for path in FILES:
        session.read(path)
    return session


def git(place, *words, **more):
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", *who, *words],
        cwd=place.root,
        env={**os.environ, **QUIET, **more},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(place, **more):
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--allow-empty", "-m", "work", **more)
    return git(place, "rev-parse", "HEAD")


def told(session, after=0):
    kinds = [Changed, GitMoved]
    return [r.fact for r in session._context.store.timeline(kinds=kinds, after=after)]


def causes(session, path="a.py"):
    return [fact.cause for fact in told(session) if isinstance(fact, Changed) and fact.path == path]


# git


def test_a_branch_switch_is_one_fact_with_both_commits_and_the_files_of_ours(tree, s):
    before = git(tree, "rev-parse", "HEAD")
    git(tree, "checkout", "--quiet", "other")
    s.check("a.py")
    [fact] = told(s)
    assert isinstance(fact, GitMoved)
    assert (fact.before, fact.after) == (before, git(tree, "rev-parse", "HEAD"))
    assert (fact.operation, fact.detail) == ("checkout", "main..other")
    assert fact.paths == ("a.py", "b.py")
    assert [change.path for change in fact.changes] == ["a.py", "b.py"]
    assert {change.changed_by.kind for change in s.changes()} == {"git"}
    assert len(told(s)) == 1


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_switch_just_before_a_hosts_write_is_probably_gits(tree, s, is_recorded):
    """While the host asked the user. is_recorded: another file told of the switch first."""
    git(tree, "checkout", "--quiet", "other")
    theirs = tree.text("a.py")
    tree.put("a.py", theirs + "mine\n")
    if is_recorded:
        s.check("b.py")
    s.wrote("a.py", content=theirs + "mine\n", before=theirs)
    first, second = causes(s)
    assert (first.kind, first.who, first.confidence) == ("git", "checkout", "likely")
    assert second.kind == "agent"


def test_a_switch_there_and_back_is_nothing(tree, s):
    git(tree, "checkout", "--quiet", "other")
    git(tree, "checkout", "--quiet", "main")
    assert s.changes() == []
    assert told(s) == []


def test_a_file_that_a_branch_does_not_have_went_with_it(tree, s):
    tree.put("new.py", TEN)
    commit(tree)
    s.read("new.py")
    git(tree, "checkout", "--quiet", "other")
    s.check("new.py")
    [fact] = told(s)
    assert "new.py" in fact.paths
    assert s.check("new.py").changed_by.kind == "git"


def test_a_rebase_of_many_commits_is_one(tree, s):
    for n in (6, 7, 8):
        tree.put("c.py", TEN.replace(f"line {n}", f"MINE {n}"))
        commit(tree)
    s.read("c.py")
    before = git(tree, "rev-parse", "HEAD")
    git(tree, "rebase", "--quiet", "other")
    s.changes()
    [*_, fact] = told(s)
    assert (fact.operation, fact.before) == ("rebase", before)
    assert fact.after == git(tree, "rev-parse", "HEAD")
    assert fact.paths == ("a.py", "b.py")


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        (["merge", "--no-edit", "other"], "merge"),
        (["reset", "--hard", "other"], "reset"),
        (["cherry-pick", "other"], "cherry-pick"),
        (["pull", "--quiet", ".", "other"], "pull"),
    ],
)
def test_other_operations(tree, s, words, operation):
    git(tree, *words)
    s.changes()
    [fact] = told(s)
    assert (fact.operation, fact.paths) == (operation, ("a.py", "b.py"))


def test_a_reset_that_throws_a_save_away(tree, s):
    tree.put("a.py", TEN.replace("line 9", "dirty"))
    s.changes()
    git(tree, "reset", "--quiet", "--hard")
    s.changes()
    [saved, fact] = told(s)
    assert saved.cause.kind == "external"
    assert (fact.operation, fact.paths) == ("reset", ("a.py",))


def test_a_stash_and_its_pop(tree, s):
    tree.put("a.py", TEN.replace("line 9", "dirty"))
    s.changes()
    git(tree, "stash")
    stash = git(tree, "rev-parse", "stash")
    head = git(tree, "rev-parse", "HEAD")
    s.changes()
    git(tree, "stash", "pop")
    s.changes()
    [_, put, popped] = told(s)
    assert (put.operation, put.before, put.after) == ("stash", head, stash)
    assert (popped.operation, popped.before, popped.after) == ("stash pop", stash, head)
    assert put.paths == popped.paths == ("a.py",)


def test_a_stash_of_untracked_files(tree, s):
    tree.put("new.py", TEN)
    s.read("new.py")
    git(tree, "stash", "--include-untracked")
    s.check("new.py")
    git(tree, "stash", "apply")
    s.check("new.py")
    assert [fact.operation for fact in told(s)] == ["stash", "stash apply"]


def test_a_pop_after_any_number_of_other_operations(tree, s):
    tree.put("a.py", TEN.replace("line 9", "dirty"))
    s.changes()
    git(tree, "stash")
    s.changes()
    for branch in ("other", "main") * 5:
        git(tree, "checkout", "--quiet", branch)
        s.changes()
    git(tree, "stash", "pop")
    s.changes()
    assert [fact.operation for fact in told(s)[-2:]] == ["checkout", "stash pop"]


def test_an_entry_that_was_dropped_is_compared_once(tree, s):
    stashed = TEN.replace("line 9", "dirty")
    tree.put("a.py", stashed)
    s.changes()
    git(tree, "stash")
    s.changes()
    entry = git(tree, "rev-parse", "stash")
    git(tree, "stash", "drop")
    tree.put("c.py", TEN.replace("line 1", "by hand"))
    s.changes()
    store = s._context.store
    assert [r.fact for r in store.timeline(kinds=[StashDropped])] == [StashDropped(entry)]
    assert store.stashes() == {}
    tree.put("a.py", stashed)
    s.changes()
    assert causes(s)[-1].confidence == "likely", "the stash moved since a.py was looked at"


def test_a_pop_is_told_whole_although_another_file_is_looked_at_first(tree, s):
    tree.put("a.py", TEN.replace("line 9", "dirty"))
    s.changes()
    git(tree, "stash")
    s.changes()
    git(tree, "stash", "pop")
    tree.put("c.py", TEN.replace("line 1", "by hand"))
    s.check("c.py")
    s.changes()
    operations = [fact.operation for fact in told(s) if isinstance(fact, GitMoved)]
    assert operations == ["stash", "stash pop"]


def test_a_pop_of_a_stash_that_nobody_saw_put_away_is_likely(tree):
    tree.put("a.py", TEN.replace("line 9", "dirty"))
    git(tree, "stash")
    s = opened(tree, "s")
    git(tree, "stash", "pop")
    s.changes()
    assert causes(s) == [Cause("git", "stash pop", None, "likely")]


def test_a_save_after_a_switch_is_not_gits(tree, s):
    git(tree, "checkout", "--quiet", "other")
    tree.put("c.py", TEN.replace("line 9", "by hand"))
    s.changes()
    [fact, saved] = told(s)
    assert fact.paths == ("a.py", "b.py")
    assert (saved.path, saved.cause.kind) == ("c.py", "external")


def test_a_commit_changes_no_file(tree, s):
    tree.put("a.py", TEN.replace("line 9", "by hand"))
    commit(tree)
    s.changes()
    assert [cause.kind for cause in causes(s)] == ["external"]


def test_a_save_that_was_committed_before_the_tree_was_reset_is_the_users(tree, s):
    tree.put("a.py", TEN.replace("line 9", "by hand"))
    commit(tree)
    git(tree, "reset", "--quiet", "--hard")
    s.changes()
    assert [cause.kind for cause in causes(s)] == ["external"]


def test_line_ends_that_git_converts_do_not_hide_it(tree, s):
    git(tree, "config", "core.autocrlf", "true")
    git(tree, "checkout", "--quiet", "other")
    assert b"\r\n" in tree.bytes("a.py")
    s.changes()
    [fact] = told(s)
    assert (fact.operation, fact.paths) == ("checkout", ("a.py", "b.py"))


def test_while_git_is_at_work_it_is_the_likely_cause_and_the_whole_is_told_at_the_end(tree, s):
    lock = tree.root / ".git/index.lock"
    stood = tree.bytes("a.py")
    other = git(tree, "show", "other:a.py") + "\n"
    lock.touch()
    tree.put("a.py", other)
    s.check("a.py")
    assert causes(s) == [Cause("git", None, UNDER_WAY, "likely")]
    lock.unlink()
    tree.put("a.py", stood)
    git(tree, "checkout", "--quiet", "other")
    s.changes()
    fact = told(s)[-1]
    assert (fact.operation, fact.paths) == ("checkout", ("a.py", "b.py"))
    assert s._context.store.disk("a.py").cause.who == "checkout"


def test_a_merge_that_stopped_is_gits_too(tree, s):
    tree.put("a.py", TEN.replace("line 3", "MINE"))
    commit(tree)
    s.read("a.py")
    with pytest.raises(subprocess.CalledProcessError):
        git(tree, "merge", "--no-edit", "other")
    s.check("a.py")
    assert causes(s)[-1] == Cause("git", None, UNDER_WAY, "likely")


def test_where_git_gives_no_answer_it_is_likely(tree, s, monkeypatch, tmp_path):
    git(tree, "checkout", "--quiet", "other")
    monkeypatch.setenv("PATH", str(tmp_path))
    s.changes()
    [a, b] = told(s)
    assert a.cause == b.cause == Cause("git", "checkout", "main..other", "likely")


@pytest.mark.parametrize("way", ["save", "replace", "delete"])
def test_where_git_gives_no_answer_a_later_save_is_not_gits(tree, s, monkeypatch, tmp_path, way):
    git(tree, "checkout", "--quiet", "other")
    read_ns = s._context.store.stamps(["a.py"])["a.py"].read_at_ns
    logged = read_ns - SLACK_NS + 100_000  # as late as a look in the same clock tick lets it be
    os.utime(tree.root / ".git/logs/HEAD", ns=(logged, logged))
    monkeypatch.setenv("PATH", str(tmp_path))
    if way == "delete":
        (tree.root / "a.py").unlink()
    elif way == "save":
        tree.put("a.py", "the user's own\n")
    else:  # an older file is moved there
        (tmp_path / "old").write_text("the user's own\n")
        os.utime(tmp_path / "old", (1, 1))
        os.replace(tmp_path / "old", tree.root / "a.py")
    s.check("a.py")
    assert causes(s)[-1].kind == "external"


def test_two_who_find_a_move_at_once_leave_one_fact(tree, s):
    others = [opened(tree, f"s{n}") for n in range(4)]
    git(tree, "checkout", "--quiet", "other")
    ready = Barrier(len(others))

    def look(session):
        ready.wait()
        session.changes()

    threads = [Thread(target=look, args=(each,)) for each in others]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    moved = [fact for fact in told(s) if isinstance(fact, GitMoved)]
    assert sorted(path for fact in moved for path in fact.paths) == ["a.py", "b.py"]
    assert [fact for fact in told(s) if isinstance(fact, Changed)] == []


def test_an_ordinary_save_starts_no_program(tree, s, monkeypatch):
    """The log moved before the files were looked at."""
    log = tree.root / ".git/logs/HEAD"
    for at in (log, tree.root / ".git/index", tree.root / ".git/logs/refs"):
        os.utime(at, ns=(5_000_000_000, 5_000_000_000))
    tree.put("a.py", TEN.replace("line 9", "by hand"))
    monkeypatch.setattr(subprocess, "run", None)
    s.changes()
    assert [cause.kind for cause in causes(s)] == ["external"]


# commands


def test_while_a_command_of_any_session_runs_it_is_the_likely_cause(tree, s):
    other = opened(tree, "other")
    with s.ran("make"):
        tree.put("a.py", TEN.replace("line 3", "made"))
        other.check("a.py")
    assert causes(s) == [Cause("command", "s", None, "likely", "guess", command("make"))]


def test_somebody_without_a_session_says_the_same(tree, s):
    own = s._context
    with s.ran("make"):
        tree.put("a.py", TEN.replace("line 3", "made"))
        ground = survey(own.store, own.workspace, own.settings, own.clock)
        changes(ground).record(ground)
    assert causes(s) == [Cause("command", "s", None, "likely", "guess", command("make"))]


def test_a_command_is_certain_of_the_files_that_it_names(tree, s):
    with s.ran("sed -i s/3/three/ a.py"):
        tree.put("a.py", TEN.replace("line 3", "line three"))
    assert causes(s) == [
        Cause("command", "s", None, "certain", "named", command("sed -i s/3/three/ a.py"))
    ]


def test_a_command_that_ended_alone_is_only_probable(tree, s):
    """The user may have saved the file meanwhile: no system tells who wrote."""
    with s.ran("make"):
        tree.put("a.py", TEN.replace("line 3", "made"))
    assert causes(s) == [Cause("command", "s", None, "likely", "guess", command("make"))]


def test_a_command_is_only_likely_when_somebody_else_was_at_work(tree, s):
    other = opened(tree, "other")
    with s.ran("make"):
        tree.put("a.py", TEN.replace("line 3", "made"))
        other.edit("b.py", "line 4", "edited")
    assert causes(s) == [Cause("command", "s", None, "likely", "guess", command("make"))]
    assert [cause.kind for cause in causes(s, "b.py")] == ["agent"]


def test_a_command_that_names_its_files_did_not_change_others(tree, s):
    with s.ran("sed -i s/3/three/ a.py"):
        tree.put("a.py", TEN.replace("line 3", "line three"))
        tree.put("b.py", TEN.replace("line 9", "by hand"))
        tree.put("new.py", "by hand\n")
    assert [cause.kind for cause in causes(s)] == ["command"]
    assert [cause.kind for cause in causes(s, "b.py")] == ["external"]
    assert [cause.kind for cause in causes(s, "new.py")] == ["external"]


@pytest.mark.parametrize(
    "over",
    [TurnBegan(2), SessionEnded(), EnvironmentSeen("Linux", "3", owner="elsewhere:1:1")],
)
def test_a_command_of_which_no_end_was_told_does_not_run_for_ever(tree, s, over):
    begin(s._context, "make", "1", over)
    other = opened(tree, "other")
    tree.put("a.py", TEN.replace("line 3", "by hand"))
    other.check("a.py")
    assert [cause.kind for cause in causes(s)] == ["external"]


def test_a_command_whose_text_was_forgotten_may_have_changed_any_file(tree, s):
    begin(s._context, "sed -i s/3/three/ b.py")
    text = command("sed -i s/3/three/ b.py")
    s._context.store.purge(lambda: [text], "command", session="s", at=1, secret=True)
    tree.put("a.py", TEN.replace("line 3", "made"))
    opened(tree, "other").check("a.py")
    assert causes(s) == [Cause("command", "s", None, "likely", "guess", text)]


def test_a_background_command_is_not_the_author_of_every_save_in_its_turn(tree, s):
    cwd = str(tree.root)
    attend(s, CommandBegan("make watch", "c1", cwd))
    attend(s, CommandEnded("make watch", "c1", cwd, background=True))
    tree.put("a.py", TEN.replace("line 3", "by hand"))
    s.check("a.py")
    assert causes(s) == [Cause("external")]


def test_a_switch_by_an_agents_command_is_gits(tree, s):
    with s.ran("git checkout other") as run:
        git(tree, "checkout", "--quiet", "other")
    [fact] = told(s)
    assert isinstance(fact, GitMoved)
    assert [change.path for change in run.result.changes] == ["a.py", "b.py"]


# formatters and undos

UGLY = TEN.replace("line 3", "f( 1,2 )")
NEAT = TEN.replace("line 3", "f(1, 2)")


def test_a_formatter_behind_an_edit(tree, s):
    s.write("a.py", UGLY)
    tree.put("a.py", NEAT)
    s.check("a.py")
    assert causes(s)[-1] == Cause("formatter", None, "s", "likely", "guess")


def test_a_chain_of_formatters(tree, s):
    s.write("a.py", UGLY)
    for text in (NEAT, NEAT.replace("\n", "\r\n"), NEAT):
        tree.put("a.py", text)
        s.check("a.py")
    assert [cause.kind for cause in causes(s)] == ["agent", "formatter", "formatter", "formatter"]


def test_a_letter_of_the_users_is_no_formatters(tree, s):
    s.write("a.py", UGLY)
    tree.put("a.py", NEAT.replace("line 7", "lime 7"))
    s.check("a.py")
    assert causes(s)[-1] == Cause("external")


def test_layout_of_a_file_that_no_agent_edited_is_somebodys(tree, s):
    tree.put("a.py", TEN.replace("\n", "\r\n"))
    s.check("a.py")
    assert causes(s) == [Cause("external")]


def test_a_formatter_that_was_faster_than_the_report_of_the_write(tree, s):
    other = opened(tree, "other")
    with s.writing("a.py", UGLY):
        tree.put("a.py", NEAT)
        other.check("a.py")
        assert causes(s) == []
    assert [cause.kind for cause in causes(s)] == ["agent", "formatter"]
    assert [r.fact.path for r in s._context.store.timeline(kinds=[WriteIntended])] == ["a.py"]


def test_a_formatter_behind_a_hosts_own_tool(tree, s):
    tree.put("a.py", NEAT)
    s.wrote("a.py", content=UGLY, before=TEN)
    assert [cause.kind for cause in causes(s)] == ["agent", "formatter"]


def test_an_edit_that_is_put_back(tree, s):
    s.edit("a.py", "line 3", "edited")
    tree.put("a.py", TEN)
    s.check("a.py")
    assert causes(s)[-1] == Cause("external", detail=PUT_BACK)


def test_an_edit_that_is_put_back_behind_a_formatter(tree, s):
    s.write("a.py", UGLY)
    tree.put("a.py", NEAT)
    s.check("a.py")
    tree.put("a.py", TEN)
    s.check("a.py")
    assert causes(s)[-1] == Cause("external", detail=PUT_BACK)


def test_a_file_replaced_by_something_else_says_what_stands_there(tree, s):
    (tree.root / "a.py").unlink()
    (tree.root / "a.py").mkdir()
    s.check("a.py")
    assert causes(s) == [Cause("external", detail="directory")]


def test_two_things_that_git_did_unseen_are_two_facts(tree, s):
    """Each file is told with what changed it."""
    tree.put("c.py", TEN.replace("line 9", "dirty"))
    s.changes()
    git(tree, "stash")
    git(tree, "merge", "--no-edit", "other")
    s.changes()
    found = {fact.operation: fact.paths for fact in told(s) if isinstance(fact, GitMoved)}
    assert found == {"stash": ("c.py",), "merge": ("a.py", "b.py")}


def test_a_workspace_below_the_top_of_its_repository(tree):
    tree.put("sub/d.py", TEN)
    commit(tree)
    git(tree, "checkout", "--quiet", "other")
    git(tree, "merge", "--no-edit", "--quiet", "main")
    tree.put("sub/d.py", TEN.replace("line 3", "OTHER"))
    commit(tree)
    git(tree, "checkout", "--quiet", "main")
    below = sightline.open_session(tree.root / "sub", id="s", settings=tree.settings())
    with below:
        below.read("d.py")
        git(tree, "checkout", "--quiet", "other")
        below.changes()
        [fact] = told(below)
        assert (fact.operation, fact.paths) == ("checkout", ("d.py",))


def test_trees_beside_each_other_that_go_the_same_way_are_told_apart(tree):
    git(tree, "worktree", "add", "--quiet", "--detach", "one", "main", **LONG_AGO)
    git(tree, "worktree", "add", "--quiet", "--detach", "two", "main", **LONG_AGO)
    session = tree.session("s")
    for folder in ("one", "two"):
        session.read(f"{folder}/a.py")
        os.utime(tree.root / f".git/worktrees/{folder}/logs/HEAD", (0, 0))
    for folder in ("one", "two"):
        git(tree, "-C", folder, "checkout", "--quiet", "--detach", "other")
        session.changes()
    assert [(fact.operation, fact.paths) for fact in told(session)] == [
        ("checkout", ("one/a.py",)),
        ("checkout", ("two/a.py",)),
    ]


# Files that no session has read


def unread(place):
    """Add a file that nobody reads, and that the other branch has with other lines."""
    git(place, "checkout", "--quiet", "other")
    place.put("unread.py", TEN.replace("line 2", "OTHER"))
    commit(place)
    git(place, "checkout", "--quiet", "main")
    place.put("unread.py", TEN)
    commit(place)


@pytest.mark.parametrize("seen_first", [False, True])
def test_a_switch_that_changed_unread_files_is_gits(tree, s, seen_first):
    unread(tree)
    s.checkpoint("before")
    after = s._context.store.position()
    git(tree, "checkout", "--quiet", "other")
    if seen_first:
        s.check("a.py")
    run(tree, s, "echo x >> b.py")
    of_unread = {
        fact.cause.kind
        for fact in told(s, after)
        if isinstance(fact, Changed) and fact.path == "unread.py"
    }
    moved = [fact for fact in told(s, after) if isinstance(fact, GitMoved)]
    assert moved[0].operation == "checkout"
    assert of_unread == ({"git"} if seen_first else set())
    assert any("unread.py" in fact.paths for fact in moved) is not seen_first


@pytest.mark.wide
def test_a_save_of_an_unread_file_since_a_switch_is_not_gits(tree, s):
    unread(tree)
    s.checkpoint("before")
    git(tree, "checkout", "--quiet", "other")
    tree.put("unread.py", TEN.replace("line 9", "SAVED"))
    run(tree, s, "echo x >> b.py")
    assert [cause.kind for cause in causes(s, "unread.py")] == ["external"]


def test_without_a_checkpoint_nobody_is_certain_who_changed_an_unread_file(tree, s):
    unread(tree)
    git(tree, "checkout", "--quiet", "other")
    run(tree, s, "echo x >> b.py")
    assert {cause.confidence for cause in causes(s, "unread.py")} <= {"likely"}
