"""What a user saves while an agent's command runs is the user's: a rewind leaves it alone."""

from __future__ import annotations

import asyncio

import pytest
from tests.hooks.handlers.shell import run
from tests.support.commands import begin, command

from sightline.errors import RewindRefused
from sightline.model.events import Cause, Changed

MAYBE = "may be the user's"


def mode_of(place, path):
    return (place.root / path).stat().st_mode & 0o7777


def alone(report):
    return {each.path: each.command for each in report.left_alone}


@pytest.fixture
def then(place, s):
    """A checkpoint of three files; the agent has read two of them."""
    place.put("a.py", "one\ntwo\nthree\n")
    place.put("b.py", "b\n")
    place.put("unread.py", "unread\n")
    s.read("a.py")
    s.read("b.py")
    return s.checkpoint()


def test_what_the_user_saves_while_a_command_runs_is_left_alone_and_listed(place, s, then):
    s.edit("a.py", "one", "ONE")
    with s.ran("pytest -q"):
        place.put("a.py", "ONE\ntwo\nthree, the user's\n")
        place.put("unread.py", "the user's\n")
        place.put("new.py", "the user's\n")
        (place.root / "b.py").unlink()
    report = s.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthree, the user's\n"
    assert place.text("unread.py") == place.text("new.py") == "the user's\n"
    assert not (place.root / "b.py").exists()
    assert alone(report) == dict.fromkeys(["a.py", "b.py", "new.py", "unread.py"], "pytest -q")
    assert all(MAYBE in each.reason for each in report.left_alone)
    assert (report.merged, report.restored, report.removed) == (("a.py",), (), ())


def test_so_is_it_behind_hooks(place, s, then):
    def saves():
        place.put("a.py", "one\ntwo\nthe user's\n")
        place.put("new.py", "the user's\n")
        (place.root / "unread.py").unlink()

    run(place, s, "make test || true", during=saves)
    report = s.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthe user's\n"
    assert place.text("new.py") == "the user's\n"
    assert not (place.root / "unread.py").exists()
    assert set(alone(report)) == {"a.py", "new.py", "unread.py"}


@pytest.mark.parametrize("how", ["commands", "force"])
def test_it_is_taken_back_file_by_file_or_with_the_commands(place, s, then, how):
    with s.ran("make"):
        place.put("a.py", "made\n")
        place.put("new.py", "made\n")
        (place.root / "unread.py").unlink()
    paths = ["a.py", "new.py", "unread.py"]
    asked = {"commands": True} if how == "commands" else {"force_paths": paths}
    plan = s.rewind(then, dry_run=True, **asked)
    report = s.rewind(then, **asked)
    assert (plan.left_alone, report.left_alone) == ((), ())
    assert place.text("a.py") == "one\ntwo\nthree\n"
    assert place.text("unread.py") == "unread\n"
    assert not (place.root / "new.py").exists()
    s.rewind(report.safety_checkpoint)
    assert place.text("a.py") == place.text("new.py") == "made\n"
    assert not (place.root / "unread.py").exists()


def test_async_hosts_take_it_back_alike(place, s, then):
    async def host():
        async with s.aio.ran("make"):
            place.put("a.py", "made\n")
        assert alone(await s.aio.rewind(then)) == {"a.py": "make"}
        return await s.aio.rewind(then, commands=True)

    assert asyncio.run(host()).restored == ("a.py",)


def test_one_forced_path_leaves_the_others(place, s, then):
    with s.ran("make"):
        place.put("a.py", "made\n")
        place.put("b.py", "the user's\n")
    report = s.rewind(then, force_paths=["a.py"])
    assert (place.text("a.py"), place.text("b.py")) == ("one\ntwo\nthree\n", "the user's\n")
    assert alone(report) == {"b.py": "make"}


def test_the_commands_are_of_files_alone(s, then):
    with pytest.raises(RewindRefused):
        s.rewind(then, files=False, conversation=True, commands=True)


def test_what_the_command_names_is_its_own_and_what_it_does_not_is_not(place, s, then):
    with s.ran("sed -i s/one/ONE/ a.py; rm unread.py; echo made > new.py"):
        place.put("a.py", "ONE\ntwo\nthree\n")
        place.put("new.py", "made\n")
        (place.root / "unread.py").unlink()
        place.put("b.py", "the user's\n")
        place.put("users.py", "the user's\n")
    report = s.rewind(then)
    assert (report.restored, report.removed) == (("a.py", "unread.py"), ("new.py",))
    assert place.text("b.py") == place.text("users.py") == "the user's\n"


def test_a_file_that_the_command_names_and_the_user_saved_over_is_the_users(place, s, then):
    """The command tells the text that it writes, and another one is there."""
    with s.ran("echo made > new.py; echo more >> a.py"):
        place.put("new.py", "made\nand the user's\n")
        place.put("a.py", "one, the user's\ntwo\nthree\nmore\n")
    report = s.rewind(then)
    assert place.text("new.py") == "made\nand the user's\n"
    assert place.text("a.py") == "one, the user's\ntwo\nthree\nmore\n"
    assert set(alone(report)) == {"a.py", "new.py"}


@pytest.mark.parametrize(
    ("command", "is_sure"),
    [
        ("printf '\\0x' > new.py", True),
        ("cat > new.py <<END\n$HOME\nEND", True),
        ("cat > new.py <<END\n$HOME\nEND\npytest", False),
    ],
)
def test_a_text_that_the_shell_makes_is_not_held_against_the_command(
    place, s, then, command, is_sure
):
    with s.ran(command):
        place.put("new.py", "what the shell made of it\n")
    assert (s.rewind(then).removed == ("new.py",)) is is_sure


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/one/ONE/ a.py && pytest",
        "npm run dev & sed -i s/one/ONE/ a.py",
        "grep -q x b.py || sed -i s/one/ONE/ a.py",
        "sleep 60; sed -i s/one/ONE/ a.py",
        "python fix.py a.py",
        "pytest a.py",
    ],
)
def test_where_there_was_time_for_a_save_a_named_file_may_be_the_users(place, s, then, command):
    with s.ran(command):
        place.put("a.py", "ONE\ntwo\nthree, the user's\n")
    report = s.rewind(then)
    assert place.text("a.py") == "ONE\ntwo\nthree, the user's\n"
    assert alone(report) == {"a.py": command}


def test_what_its_text_tells_is_the_commands_whatever_else_ran(place, s, then):
    command = "cat > new.py <<'END'\nmade\nEND\nmv b.py c.py && rm unread.py && pytest -q"
    with s.ran(command):
        place.put("new.py", "made\n")
        (place.root / "b.py").rename(place.root / "c.py")
        (place.root / "unread.py").unlink()
        place.put("a.py", "the user's\n")
    report = s.rewind(then)
    assert (place.text("b.py"), place.text("unread.py")) == ("b\n", "unread\n")
    assert not (place.root / "new.py").exists()
    assert not (place.root / "c.py").exists()
    assert set(alone(report)) == {"a.py"}


def test_of_a_failed_command_only_what_its_text_tells_is_certain(place, s, then):
    with s.ran("grep -q x b.py && sed -i s/one/ONE/ a.py") as command:
        place.put("a.py", "the user's\n")
        command.exit_code = 1
    assert alone(s.rewind(then)) == {"a.py": "grep -q x b.py && sed -i s/one/ONE/ a.py"}
    assert place.text("a.py") == "the user's\n"


def test_where_the_user_was_asked_before_the_command_a_named_file_may_be_theirs(place):
    """A host tells of the command, asks the user, who saves the file, and then runs it."""
    now = [1_700_000_000_000_000]
    place.put("a.py", "one\ntwo\n")
    with place.session(clock=lambda: now[0]) as s:
        s.read("a.py")
        then = s.checkpoint()

        def answers():
            place.put("a.py", "ONE\ntwo, the user's\n")
            now[0] += 60_000_000

        command = "sed -i s/one/ONE/ a.py; echo made > new.py"
        run(place, s, command, during=answers)
        report = s.rewind(then)
    assert place.text("a.py") == "ONE\ntwo, the user's\n"
    assert (report.removed, alone(report)) == (("new.py",), {"a.py": command})


def test_the_folder_of_the_command_tells_which_file_it_names(place, s, then):
    place.put("sub/a.py", "sub\n")
    s.read("sub/a.py")
    with s.ran("sed -i s/sub/SUB/ a.py", cwd="sub"):
        place.put("sub/a.py", "SUB\n")
        place.put("a.py", "the user's\n")
    report = s.rewind(then)
    assert (place.text("a.py"), place.text("sub/a.py")) == ("the user's\n", "sub\n")
    assert list(alone(report)) == ["a.py"]


def test_a_background_command_takes_no_save_of_its_turn_along(place, s, then):
    run(place, s, "echo serving", background=True, call="c1")
    begin(s._context, "npm run dev", "c2&")
    place.put("a.py", "the user's\n")
    s.check("a.py")
    place.put("b.py", "the user's, too\n")
    with s.ran("sed -i s/x/y/ c.py"):
        pass
    report = s.rewind(then, commands=True)
    assert (place.text("a.py"), place.text("b.py")) == ("the user's\n", "the user's, too\n")
    assert not report.left_alone
    causes = {each.fact.cause.kind for each in s._context.store.timeline(kinds=[Changed])}
    assert causes == {"external"}


def test_of_two_agents_commands_at_once_each_takes_back_what_it_names(place, s, then):
    other = place.session("other")
    other.read("b.py")
    with s.ran("sed -i s/one/ONE/ a.py"), other.ran("make"):
        place.put("a.py", "ONE\ntwo\nthree\n")
        place.put("b.py", "somebody's\n")
    s.rewind(then)
    assert place.text("b.py") == "somebody's\n"


def test_a_sub_agents_command_is_not_its_parents(place, s, then):
    child = place.session("s/child")
    child.read("a.py")
    with child.ran("sed -i s/one/ONE/ a.py"):
        place.put("a.py", "ONE\ntwo\nthree\n")
    s.rewind(then, commands=True)
    assert place.text("a.py") == "ONE\ntwo\nthree\n"


def test_a_change_of_an_older_store_is_left_alone(place, s, then):
    """Its facts call a command certain that had only run meanwhile."""
    place.put("a.py", "the user's\n")
    found = s._context.look("a.py")
    before = s._context.store.disk("a.py").revision
    old = Cause("command", "s", None, "certain", None, command("make"))
    fact = Changed("a.py", before, found.revision, "content", old)
    s._context.append([fact], blobs=[found.data, b"make"], found=[found])
    assert alone(s.rewind(then)) == {"a.py": "make"}
    assert place.text("a.py") == "the user's\n"


def test_a_command_that_is_worded_like_a_rewind_is_none(place, s, then):
    with s.ran(f"rewind to {then.id}"):
        place.put("a.py", "the user's\n")
    assert alone(s.rewind(then)) == {"a.py": f"rewind to {then.id}"}
    assert place.text("a.py") == "the user's\n"


# modes


@pytest.mark.parametrize("path", ["a.py", "unread.py"])
def test_the_mode_that_a_command_gave_goes_back_with_the_text(place, s, path):
    for name in ("a.py", "unread.py"):
        place.put(name, "one\n").chmod(0o644)
    s.read("a.py")
    then = s.checkpoint()
    with s.ran(f"sed -i s/one/ONE/ {path} && chmod 755 {path}"):
        place.put(path, "ONE\n").chmod(0o755)
    plan = s.rewind(then, dry_run=True)
    report = s.rewind(then)
    assert (place.text(path), mode_of(place, path)) == ("one\n", 0o644)
    assert report.restored == plan.restored == (path,)
    [mode] = plan.modes
    assert (mode.path, mode.before, mode.after, mode.alone) == (path, "755", "644", False)
    s.rewind(report.safety_checkpoint)
    assert (place.text(path), mode_of(place, path)) == ("ONE\n", 0o755)


def test_a_chmod_alone_is_taken_back_and_stands_in_the_plan(place, s):
    place.put("unread.sh", "one\n").chmod(0o644)
    then = s.checkpoint()
    with s.ran("chmod +x unread.sh"):
        (place.root / "unread.sh").chmod(0o755)
    [mode] = s.rewind(then, dry_run=True).modes
    assert (mode.path, mode.before, mode.after, mode.alone) == ("unread.sh", "755", "644", True)
    assert s.rewind(then).restored == ("unread.sh",)
    assert mode_of(place, "unread.sh") == 0o644


def test_the_mode_that_the_user_gave_before_the_command_is_the_one_that_comes_back(place, s):
    for name in ("a.sh", "unread.sh"):
        place.put(name, "one\n").chmod(0o644)
    then = s.checkpoint()
    for name in ("a.sh", "unread.sh"):
        (place.root / name).chmod(0o700)
    s.read("a.sh")
    with s.ran("chmod 755 a.sh unread.sh"):
        for name in ("a.sh", "unread.sh"):
            (place.root / name).chmod(0o755)
    s.rewind(then)
    assert (mode_of(place, "a.sh"), mode_of(place, "unread.sh")) == (0o700, 0o700)


def test_a_mode_that_changed_while_a_command_ran_may_be_the_users(place, s, then):
    (place.root / "a.py").chmod(0o644)
    s.check("a.py")
    with s.ran("make"):
        (place.root / "a.py").chmod(0o600)
    report = s.rewind(then)
    assert (mode_of(place, "a.py"), alone(report)) == (0o600, {"a.py": "make"})
    s.rewind(then, force_paths=["a.py"])
    assert mode_of(place, "a.py") == 0o644


def test_a_file_that_is_forced_back_has_its_mode_again(place, s):
    place.put("run.sh", "run\n").chmod(0o755)
    then = s.checkpoint()
    with s.ran("make clean"):
        (place.root / "run.sh").unlink()
    s.rewind(then, force_paths=["run.sh"])
    assert (place.text("run.sh"), mode_of(place, "run.sh")) == ("run\n", 0o755)
