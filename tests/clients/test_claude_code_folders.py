"""Files outside the project: a second repository, a folder without git, and forks that know them."""

import json
import subprocess

import pytest
from tests.clients.acting import TEXT, bash, changed, done, edit, read, write
from tests.clients.terminal import terminal
from tests.support.examples import fully

pytestmark = pytest.mark.client

FORK = "--fork-session"


@pytest.fixture
def beside(guarded, tmp_path):
    """Another folder, whose files are put as those of the project."""
    folder = tmp_path / "beside"
    folder.mkdir()
    return folder


def put(folder, text=TEXT, name="notes.txt"):
    file = folder / name
    file.write_text(text, newline="")
    return str(file)


def repository(folder):
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)


@pytest.fixture(params=["repository", *fully("folder")])
def file(request, beside):
    """A file of a second repository, or of a folder without git, with another beside it."""
    if request.param == "repository":
        repository(beside)
    put(beside, "other\n", "other.txt")
    return put(beside)


def refusals(run):
    return [hook for hook in run.hooks if '"deny"' in hook["stdout"]]


def test_a_fork_edits_what_only_the_shell_showed_its_parent(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    guarded.put("other.txt", "other\n")
    model.script("Look", bash("cat notes.txt other.txt"), done())
    model.script("Fork", write(file, changed(l3="three")), done())
    parent = guarded.run("Look")
    fork = guarded.run("Fork", args=("--resume", parent.session, FORK))
    assert fork.session != parent.session
    assert refusals(fork) == []
    assert guarded.text("notes.txt") == changed(l3="three")


@pytest.mark.full
def test_a_fork_knows_what_the_shell_showed_of_an_added_folder(guarded, model, beside, file):
    model.script("Look", bash(f"cat {file} {beside}/other.txt"), done())
    model.script("Fork", write(file, changed(l3="three")), done())
    added = ("--add-dir", str(beside))
    parent = guarded.run("Look", args=added)
    fork = guarded.run("Fork", args=("--resume", parent.session, FORK, *added))
    assert refusals(fork) == []
    assert (beside / "notes.txt").read_text() == changed(l3="three")


def test_a_save_in_an_added_folder_is_kept(guarded, model, beside, file):
    theirs = changed(l3="line 3, says the user")
    mine = changed(l28="line 28, says the agent")
    model.script(
        "Fix it",
        bash(f"cat {file} {beside}/other.txt"),
        write(file, mine, lambda: put(beside, theirs)),
        done(),
    )
    guarded.run("Fix it", args=("--add-dir", str(beside)))
    both = mine.replace("line 3\n", "line 3, says the user\n")
    assert (beside / "notes.txt").read_text() == both


@pytest.mark.full
def test_an_edit_of_changed_lines_in_an_added_folder_is_refused(guarded, model, beside, file):
    theirs = changed(l3="line 3, says the user")
    model.script(
        "Fix it",
        bash(f"cat {file} {beside}/other.txt"),
        write(file, changed(l3="mine"), lambda: put(beside, theirs)),
        write(file, changed(l3="line 3, says the user, and mine")),
        done(),
    )
    run = guarded.run("Fix it", args=("--add-dir", str(beside)))
    assert len(refusals(run)) == 1
    assert "+line 3, says the user" in model.sent(2)
    assert (beside / "notes.txt").read_text() == changed(l3="line 3, says the user, and mine")


THEIRS = changed(l3="line 3, says the user")
MINE = changed(l28="line 28, says the agent")


def keep_a_save(model, file, beside):
    """A script of "Fix it" that writes the whole file over a user's save."""
    model.script(
        "Fix it",
        bash(f"cat {file} {beside}/other.txt"),
        write(file, MINE, lambda: put(beside, THEIRS)),
        done(),
    )


@pytest.mark.wide
@pytest.mark.parametrize("scope", ["user", *fully("local")])
def test_a_save_in_a_folder_that_settings_add_is_kept(guarded, model, beside, file, scope):
    """The folder is named as seen from the project."""
    root = guarded.home if scope == "user" else guarded.root
    settings = root / ".claude" / ("settings.json" if scope == "user" else "settings.local.json")
    settings.parent.mkdir(exist_ok=True)
    others = json.loads(settings.read_text()) if settings.exists() else {}
    more = {"permissions": {"additionalDirectories": ["../beside"]}}
    settings.write_text(json.dumps(others | more))
    keep_a_save(model, file, beside)
    guarded.run("Fix it")
    both = MINE.replace("line 3\n", "line 3, says the user\n")
    assert (beside / "notes.txt").read_text() == both


@pytest.mark.wide
def test_a_save_in_a_folder_added_in_mid_conversation_is_kept(guarded, model, beside, file):
    """Only the interactive client takes `/add-dir`."""
    own = guarded.put("own.txt", "own\n")
    model.script("Look", read(own), done())
    keep_a_save(model, file, beside)
    with terminal(guarded, trusts=str(beside)) as screen:
        screen.say("Look")
        screen.say(f"/add-dir {beside}", "1. Yes, for this session")
        screen.press("1")
        screen.see("as a working directory")
        screen.say("Fix it")
    both = MINE.replace("line 3\n", "line 3, says the user\n")
    assert (beside / "notes.txt").read_text() == both


@pytest.mark.full
def test_a_scratch_file_is_written_without_a_word(connected, model, tmp_path):
    """In a folder that nobody added."""
    guarded = connected
    guarded.settings["IS_SANDBOX"] = "1"
    file = tmp_path / "scratch.txt"
    model.script(
        "Note it", write(str(file), "one\n"), read(str(file)), edit(str(file), "one", "two"), done()
    )
    run = guarded.run("Note it", args=("--permission-mode", "bypassPermissions"))
    assert refusals(run) == []
    assert file.read_text() == "two\n"
    assert len(list(guarded.state.glob("workspaces/*/store.db"))) == 1
