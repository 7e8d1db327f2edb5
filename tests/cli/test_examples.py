"""Every command's help has one example that works, and its JSON keeps the rules of all JSON."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.test_replay import record
from tests.support.command_line import Answer

from sightline.cli.group import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

LAST = ["delete", "move", "claim release", "session delete"]
"""Commands whose examples take away what other examples use."""

WITH_MODEL = ["agent", "chat"]
"""Commands that ask a model; tests/reference_agent runs them."""

WITH_ENGINE = ["task run", "task merge", "worker"]
"""Commands that need the extra `tasks`; tests/cli/test_tasks.py runs them."""

NOT_HERE = {"hook", "watch", *WITH_MODEL, *WITH_ENGINE, *LAST}
ORDER = [*(name for name in COMMANDS if name not in NOT_HERE), *LAST]

LABEL = "before the refactoring"
APP = "a = 1\n"
PATCH = "--- a/src/patched.py\n+++ b/src/patched.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
TALK = [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "done"}]


def example(sl, name):
    """The words of the example in a command's help."""
    out = sl(*name.split(), "--help").out
    (line,) = re.findall(r"^  Example: sightline (.*)$", out, re.MULTILINE)
    assert out.count("Example") == 1
    assert line.startswith(name)
    return shlex.split(line)


@pytest.fixture
def ready(at, tmp_path, monkeypatch):
    """A workspace in which the examples of all commands work, in the order ORDER."""
    monkeypatch.setenv("PATH", os.defpath)
    subprocess.run(["git", "init", "--quiet"], cwd=at.root, check=True)
    for name in ("src/app.py", "src/patched.py", "src/news.py", "src/old.py", "config.py"):
        at.put(name, APP)
        at("read", name)
    at.put("new.py", "a = 3\n")
    at.put("change.diff", PATCH)
    at.put("answer.json", json.dumps({"summary": "Nothing to change."}))
    at.put("build.sh", "echo built > built.txt\n")
    at.put("history.json", json.dumps(TALK))
    record(tmp_path / "home" / ".claude" / "projects")
    at("edit", "config.py", "--old", "a = 1", "--new", "a = 2")
    at("read", "src/app.py", "--session", "main")
    at("session", "fork", "main", "--as", "helper")
    at.put("src/news.py", "a = 9\n")
    at("changes", "--for-agent")
    at("checkpoint", LABEL)
    for name in ("api", "docs", "deploy"):
        at("task", "propose", name, "A part of the work")
    return at


def answers(ready, *options) -> Iterator[tuple[str, Any]]:
    """Run the example of each command with further options, and yield what it answers."""
    for name in ORDER:
        words = [os.path.expanduser(word) for word in example(ready, name)]
        stdin = b""
        if "<" in words:
            stdin = (ready.root / words.pop()).read_bytes()
            words.pop()
        if name == "run":  # its command needs real streams
            done = ready.process(*options, *words)
            yield name, Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
        else:
            yield name, ready(*options, *words, stdin=stdin)


def test_the_example_of_every_command_works(ready):
    for name, done in answers(ready):
        assert (done.code, "Error:" in done.err) == (0, False), (name, done)


def values(answer: Any) -> Iterator[Any]:
    """Every value in an answer."""
    yield answer
    if isinstance(answer, dict | list):
        for each in answer.values() if isinstance(answer, dict) else answer:
            yield from values(each)


def check_json(line: str) -> None:
    """Each line is an object with the version, and every time in it is UTC."""
    answer = json.loads(line)
    assert next(iter(answer.items())) == ("schema", 1)
    for value in values(answer):
        if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*", value):
            assert value.endswith("Z"), value


@pytest.mark.wide
def test_every_line_of_json_has_the_version_and_times_in_utc(ready):
    for name, done in answers(ready, "--json"):
        assert done.code == 0, (name, done)
        for line in done.out.splitlines():
            check_json(line)
        assert done.out.strip(), name


@pytest.mark.wide
def test_the_example_of_watch_prints_changes_until_it_is_interrupted(ready):
    with ready.spawn(*example(ready, "watch"), "--json", own_group=True) as child:
        assert b"Watching" in child.stderr.readline()
        ready.put("src/app.py", "a = 5\n")
        line = child.stdout.readline().decode()
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait() == 130
    check_json(line)


def is_error(done, kind=None):
    """Return whether an answer is an error in the one shape, and nothing else."""
    told = json.loads(done.out)
    assert list(told) == ["schema", "error"]
    assert list(told["error"]) == ["kind", "message", "hint"]
    assert all(isinstance(each, str) for each in told["error"].values())
    assert told["error"]["message"]
    return told["schema"] == 1 and kind in (None, told["error"]["kind"])


NAMES = [name for name in COMMANDS if name != "hook"]


@pytest.mark.parametrize("name", NAMES)
def test_wrong_usage_is_an_error_in_the_one_shape_wherever_json_stands(sl, name):
    for words in (["--json", *name.split(), "--nonsense"], [*name.split(), "--nonsense", "--json"]):
        done = sl(*words)
        assert done.code == 2, words
        assert is_error(done, "usage"), words


WITHOUT_STORE = {
    *(
        "tour",
        "init",
        "doctor",
        "up",
        "forget",
        "help",
        "completion",
        "replay",
        "window",
        "session",
        "schema",
        "chat",
    ),
}
"""Commands that need no store to answer; `doctor` and `up` say themselves that it cannot be read.
`forget` forgets a store that is damaged, too, and a workspace that is gone."""


OF_SETTINGS = {"settings", "settings get", "settings set"}
"""Commands that look at the workspace's files of settings, and not at its store."""


@pytest.mark.parametrize("name", [n for n in NAMES if n not in WITHOUT_STORE | OF_SETTINGS])
def test_a_store_that_cannot_be_read_is_an_error_in_the_one_shape(sl, name):
    store = sl.put("store.db", "this is no store\n" * 200)
    words = [word for word in example(sl, name) if word != "<"]
    extra = ["--yes"] if name in ("rewind", "undo", "agent") else []
    if name in ("write", "patch", "create", "apply"):
        words.pop()
    words = ["--store", f"sqlite://{store}", *words[:1], *extra, *words[1:]]
    done = sl("--json", *words, stdin=b"{}")
    assert done.code == 3, done
    assert is_error(done, "StoreError"), done


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_STORE])
def test_a_workspace_that_is_not_there_is_an_error_in_the_one_shape(sl, name):
    words = [word for word in example(sl, name) if word != "<"]
    extra = ["--yes"] if name in ("rewind", "undo", "agent") else []
    if name in ("write", "patch", "create", "apply"):
        words.pop()
    words = ["--workspace", "nowhere", *words[:1], *extra, *words[1:]]
    done = sl("--json", *words, stdin=b"{}")
    assert (done.code, is_error(done)) == (2, True), done


def stale(ready):
    ready.put("src/app.py", "a = 7\n")


def gone(ready):
    (ready.root / "src/app.py").unlink()


def moved(ready):
    (ready.root / "src/app.py").rename(ready.root / "src/else.py")


def binary(ready):
    ready.put("src/app.py", b"\0\1")


def other_line_ends(ready):
    ready.put("src/app.py", "a = 1\r\n")


CHANGES = [lambda _: None, stale, gone, moved, binary, other_line_ends]


@pytest.mark.wide
@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__)
def test_check_and_why_agree_about_a_file(ready, change):
    ready("read", "src/app.py", "--session", "other")  # the one that was shown it last
    change(ready)
    sessions = [[], ["--session", "main"], ["--session", "nobody"]]
    for path, session in product(("src/app.py", "src/else.py", "nowhere.py"), sessions):
        done = ready("check", path, "--json", *session)
        reasons = ready("why", path, "--json", *session)
        if "error" in done.json:
            assert done.json == reasons.json
        elif path == "src/app.py" or session:
            [verdict] = done.json["files"]
            assert {**verdict, "session": None} == {**reasons.json["verdict"], "session": None}


@pytest.mark.wide
def test_check_without_a_path_is_about_all_files_that_the_session_knows(ready):
    done = ready("check", "--json")
    states = {each["path"]: each["state"] for each in done.json["files"]}
    assert states["src/news.py"] == "stale"
    assert list(states.values()).count("fresh") == len(states) - 1 == 4
    assert done.code == 1
    assert ready("check", "--session", "main").code == 0
    nobody = ready("check", "--session", "nobody")
    assert (nobody.code, nobody.out) == (2, "")
    assert "There is no session 'nobody'." in nobody.err
