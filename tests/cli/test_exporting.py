"""checkpoint export at a shell: what it prints, where a patch goes, its JSON and exit codes."""

import os
import subprocess

import pytest
from tests.cli.test_terminal import at_terminal


@pytest.fixture
def two(sl):
    """A repository with a commit, and two checkpoints: "start", and "then" after an edit."""
    (sl.root / ".git").rmdir()
    who = ("-c", "user.name=user", "-c", "user.email=user@users.example")
    sl.put("a.py", "one\n")
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=sl.root, check=True)
    sl("checkpoint", "start")
    sl.put("a.py", "one\ntwo\n")
    sl.put(".env", "KEY=1\n")
    return sl("checkpoint", "then", "--json").json["checkpoint"]["id"]


def shown(sl, what):
    done = subprocess.run(["git", "show", what], cwd=sl.root, capture_output=True, check=True)
    return done.stdout.decode()


def test_a_branch_is_made_and_what_it_lacks_is_listed(sl, two):
    done = sl("checkpoint", "export", "then", "--branch", "kept")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("Branch kept is made: commit ")
    assert lines[1:] == [
        f"It holds the 1 file of checkpoint {two}. Your files stay as they are.",
        "Not from the checkpoint:",
        "  .env (its text is never stored)",
        "To look at it: git show --stat kept",
    ]
    assert shown(sl, "kept:a.py") == "one\ntwo\n"


def test_a_branch_that_is_there_is_a_no(sl, two):
    sl("checkpoint", "export", two, "--branch", "kept")
    again = sl("checkpoint", "export", two, "--branch", "kept")
    assert again.code == 1
    assert again.err == (
        "Error: No branch was made: there is one named kept, and it stays as it is.\n"
        "Hint: Give another name.\n"
    )


@pytest.mark.wide
def test_a_patch_is_printed_as_its_very_bytes_and_its_story_beside_it(sl, two):
    done = sl.process("checkpoint", "export", "then", "--patch", "--since", "start")
    assert done.returncode == 0
    assert done.stdout.endswith(b"@@ -1 +1,2 @@\n one\n+two\n")
    assert done.stderr.decode().startswith("Patch from cp-")
    assert f"to {two}: 1 file.\n" in done.stderr.decode()


def test_before_the_first_checkpoint_there_is_nothing(sl, two):
    done = sl("checkpoint", "export", "start", "--patch")
    assert done.err.startswith("Patch from nothing (no checkpoint is older) to cp-")
    assert "new file mode 100644\n" in done.out


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file away")
def test_a_repository_of_another_user_is_told_with_the_way_out(sl, two):
    os.chown(sl.root / ".git", 65534, 65534)
    done = sl("checkpoint", "export", "then", "--branch", "kept")
    assert done.code == 1
    assert "the repository belongs to another user of this machine" in done.err
    assert "export as that user, or export a patch: --patch\n" in done.err


def test_a_patch_goes_to_a_new_file_and_never_over_another(sl, two):
    done = sl("checkpoint", "export", "then", "--patch", "--output", "out.patch")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("Patch in out.patch from cp-")
    assert (sl.root / "out.patch").read_bytes().endswith(b"+two\n")
    again = sl("checkpoint", "export", "start", "--patch", "--output", "out.patch")
    assert again.code == 2
    assert "out.patch cannot be written: File exists." in again.err
    assert (sl.root / "out.patch").read_bytes().endswith(b"+two\n")


def test_a_patch_to_what_stands_now(sl, two):
    sl.put("a.py", "one\ntwo\nthree\n")
    assert sl("checkpoint", "export", "then", "--patch", "--now").out.endswith("+three\n")
    nothing = sl("checkpoint", "export", "then", "--patch", "--since", "then")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err.endswith(": nothing changed.\n")


def test_the_shape_of_its_json(sl, two):
    made = sl("checkpoint", "export", "then", "--branch", "kept", "--json").json["export"]
    assert (made["until"], made["branch"], made["files"], made["patch"]) == (two, "kept", 1, None)
    assert made["not_contained"] == [{"path": ".env", "reason": "its text is never stored"}]
    assert len(made["commit"]) == len(made["parent"]) == 40
    made = sl("checkpoint", "export", "then", "--patch", "--json").json["export"]
    assert made["patch"].endswith("+two\n")
    assert (made["commit"], made["output"]) == (None, None)
    assert sl("checkpoint", "export", "then", "--patch", "--quiet").err == ""


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--branch", "x", "--patch"),
        ("--branch", "x", "--since", "start"),
        ("--branch", "x", "--output", "y"),
        ("--patch", "--since", "start", "--now"),
        ("--patch", "--author", "Ada <ada@users.example>"),
        ("--branch", "x", "--author", "Ada"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(sl, two, words):
    refused = sl("checkpoint", "export", "then", *words)
    assert refused.code == 2
    assert refused.err.startswith("Error: ")
    assert "Hint: See 'sightline checkpoint export --help'. For example: " in refused.err


@pytest.mark.wide
def test_a_terminal_gets_colours(sl, two):
    code, seen = at_terminal(sl, "checkpoint", "export", "then", "--patch")
    assert code == 0
    assert "\x1b[32m+two\x1b[0m" in seen
