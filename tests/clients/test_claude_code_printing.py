"""Every way to print a file in the shell, and then a whole-file write: Claude Code itself."""

import subprocess

import pytest
from tests.clients.acting import bash, done, write
from tests.clients.stub import Step
from tests.hooks.handlers.test_printed_files import ONE, TWO, WAYS
from tests.support.examples import fully

pytestmark = [pytest.mark.client, pytest.mark.wide]

PARTS = 4
"""Conversations: one with all ways would take longer than a run may."""


def commands():
    """The ways, in a folder of a repository: a path after a commit is relative there. Without cp: the
    client's stdout is a file, which the second cp to it empties."""
    for way in (each for each in WAYS if not each.startswith("cp ")):
        lines = way.replace("; EOF", "\nEOF").replace("<<'EOF'; ", "<<'EOF'\n")
        yield lines.replace("HEAD:d/", "HEAD:./d/")


@pytest.mark.parametrize("part", [0, *fully(*range(1, PARTS))])
def test_a_file_that_the_shell_printed_may_be_written_over(guarded, model, part):
    steps, files, earlier = [], [], ()
    for number, command in enumerate([*commands()][part::PARTS]):
        folder = f"way{number}"
        file = guarded.put(f"{folder}/d/one.txt", ONE.replace("first", f"first of {number},"))
        guarded.put(f"{folder}/d/two.txt", TWO.replace("two", f"two{number}"))
        files.append(f"{folder}/d/one.txt")
        shown = bash(f"cd {guarded.root}/{folder}\n{command}").tools
        steps.append(Step(tools=(*earlier, *shown)))  # in one step: half as many answers
        earlier = write(file, f"mine {number}\n").tools
    who = ["-c", "user.name=A", "-c", "user.email=a@b"]
    for line in (["add", "."], [*who, "commit", "--quiet", "-m", "one"]):
        subprocess.run(["git", *line], cwd=guarded.root, check=True)
    model.script("Print and write", *steps, Step(tools=earlier), done())
    guarded.run("Print and write")
    assert [row["path"] for row in guarded.log("refused")] == []
    assert [guarded.text(file) for file in files] == [f"mine {n}\n" for n in range(len(files))]
