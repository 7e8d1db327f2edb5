"""An agent that works in one checkout and writes in another of the same repository is told so, once."""

from __future__ import annotations

import json
import subprocess

import pytest


@pytest.fixture
def trees(host):
    """The main checkout, with a worktree in it and one beside it."""

    def git(*words):
        subprocess.run(["git", "-C", host.root, *words], check=True, capture_output=True)

    (host.root / ".git").rmdir()
    git("init", "-q")
    (host.root / "src").mkdir()
    host.put("src/a.py", "a = 1\n")
    git("add", ".")
    git("commit", "-qm", "one")
    inner, beside = host.root / ".trees/w", host.home / "beside"
    git("worktree", "add", "-q", "-b", "w", str(inner))
    git("worktree", "add", "-q", "-b", "b", str(beside))
    return {"main": host.root, "inner": inner, "beside": beside}


def edited(host, path, cwd, **more):
    fields = {"file_path": str(path), "old_string": "1", "new_string": "2"}
    payload = host.payload(
        "PreToolUse", tool_name="Edit", tool_input=fields, tool_use_id="t1", **more
    )
    answer = host.ask(json.dumps(json.loads(payload) | {"cwd": str(cwd)}).encode())
    return answer if isinstance(answer, dict) else json.loads(answer or "{}")


@pytest.mark.parametrize(
    ("works_in", "writes_in", "named"),
    [
        ("inner", "main", "the main checkout"),
        ("beside", "main", "the main checkout"),
        ("main", "inner", "the checkout "),
        ("beside", "inner", "the checkout "),
    ],
)
def test_a_write_in_another_checkout_is_told_once(host, trees, works_in, writes_in, named):
    path, own = (trees[each] / "src/a.py" for each in (writes_in, works_in))
    answer = edited(host, path, trees[works_in])
    said = answer["hookSpecificOutput"]["additionalContext"]
    assert f"this is src/a.py of {named}" in said
    assert f"yours is {own}." in said
    assert "src/a.py" in answer["systemMessage"]
    assert "another checkout" not in json.dumps(edited(host, path, trees[works_in]))


def test_a_write_in_its_own_checkout_is_not_told(host, trees):
    for tree in trees.values():
        assert "checkout" not in json.dumps(edited(host, tree / "src/a.py", tree))
    (trees["beside"] / "src/new.py").write_text("a = 1\n")
    said = json.dumps(edited(host, trees["beside"] / "src/new.py", trees["main"]))
    assert "which is not there" in said


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/1/2/ {main}/src/a.py",
        "sed -i s/1/2/ ../project/src/a.py",
        "cd ../project && sed -i s/1/2/ src/a.py",
        "(cd ../project/src; echo x >> a.py)",
        "git -C ../project checkout src/a.py",
    ],
)
def test_a_command_that_names_a_file_of_the_other_checkout_is_told(host, trees, command):
    answer = begun(host, command.format_map(trees), trees["beside"])
    assert "the main checkout" in str(answer)


def test_a_command_that_names_files_of_its_own_checkout_is_not_told(host, trees):
    for command in (
        "sed -i s/1/2/ src/a.py",
        "cd src && sed -i s/1/2/ ../src/a.py",
        "git -C . add .",
    ):
        assert "checkout" not in str(begun(host, command, trees["beside"]))
    assert "checkout" not in str(begun(host, "cat ../project/src/a.py", trees["beside"]))


def begun(host, command, cwd):
    payload = host.payload(
        "PreToolUse", tool_name="Bash", tool_input={"command": command}, tool_use_id="t1"
    )
    return host.ask(json.dumps(json.loads(payload) | {"cwd": str(cwd)}).encode())
