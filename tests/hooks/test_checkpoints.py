"""Checkpoints that hooks take by themselves, and what a rewind makes of a shell's work then."""

from __future__ import annotations

import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.hooks.hooking import Host

from sightline.errors import StoreError
from sightline.filesystem import tree_index
from sightline.hooks.handlers import shell_commands
from sightline.model.events import CheckpointMissed, CheckpointTaken, CommandEnded
from sightline.store.sqlite import SqliteStore


@pytest.fixture
def host():
    made = Host()
    made.put("a.py", "one\ntwo\n")
    made.put("unread.txt", "of the user\nsecond\n")
    made.ask(made.payload("SessionStart", source="startup"))
    yield made
    made.close()


def prompt(host):
    host.ask(host.payload("UserPromptSubmit", prompt="go on"))


def edit(host, path, old, new):
    """The host's own edit between its two hooks."""
    full = str(host.root / path)
    assert host.ask(host.edit(full, old, new)) == {}
    before = (host.root / path).read_text()
    host.put(path, before.replace(old, new, 1))
    response = {"filePath": full, "oldString": old, "newString": new, "originalFile": before}
    response |= {"structuredPatch": [], "userModified": False, "replaceAll": False}
    given = {"file_path": full, "old_string": old, "new_string": new}
    tool = {"tool_name": "Edit", "tool_use_id": "t1", "tool_input": given}
    host.ask(host.payload("PostToolUse", tool_response=response, **tool))


def bash(host, command, call="c1"):
    """A command that really runs, between its two hooks."""
    tool = {"tool_name": "Bash", "tool_use_id": call, "tool_input": {"command": command}}
    host.ask(host.payload("PreToolUse", **tool))
    done = subprocess.run(
        ["bash", "-c", command], cwd=host.root, capture_output=True, text=True, check=False
    )
    told = {"stdout": done.stdout, "stderr": done.stderr, "interrupted": False}
    host.ask(host.payload("PostToolUse", tool_response=told, **tool))


def taken(host):
    facts = [each.fact for each in host.facts()]
    return [(x.why, x.label) for x in facts if isinstance(x, CheckpointTaken)]


def rewound(host):
    """Return what a rewind to the first checkpoint says."""
    with host.session() as session:
        return session.rewind(session.checkpoints()[0])


@pytest.mark.wide
def test_one_before_the_first_edit_of_each_turn(host):
    host.ask(host.shown(str(host.root / "a.py"), "one\ntwo\n"))
    for old, new in (("one", "ONE"), ("two", "TWO")):
        prompt(host)
        edit(host, "a.py", old, new)
        edit(host, "a.py", new, f"{new}!")
    assert taken(host) == [("turn", "before a.py"), ("turn", "before a.py")]
    assert rewound(host).restored == ("a.py",)
    assert (host.root / "a.py").read_text() == "one\ntwo\n"
    assert host.faults() == []


def test_a_turn_that_changes_nothing_takes_none(host):
    prompt(host)
    host.ask(host.shown(str(host.root / "a.py"), "one\ntwo\n"))
    bash(host, "cat unread.txt; ls -la | head -3; git status 2>&1")
    assert taken(host) == []


def test_a_command_that_may_change_files_takes_one(host):
    prompt(host)
    bash(host, "make all || true")
    bash(host, "touch x", "c2")
    assert taken(host) == [("turn", "before a command")]


@pytest.mark.wide
def test_first_edits_that_are_made_at_once_take_one(host):
    names = [f"f{n}.py" for n in range(4)]
    for name in names:
        host.put(name, f"{name}\n")
        host.ask(host.shown(str(host.root / name), f"{name}\n"))
    prompt(host)
    with ThreadPoolExecutor(4) as pool:
        asked = [host.edit(str(host.root / name), name, "new") for name in names]
        assert list(pool.map(host.run, asked)) == [{}] * 4
    assert [why for why, _ in taken(host)] == ["turn"]
    assert host.faults() == []


# what a shell did to files that nobody had read


def test_a_file_that_a_command_removed_unread_comes_back(host):
    prompt(host)
    bash(host, "rm unread.txt")
    assert not (host.root / "unread.txt").exists()
    assert rewound(host).restored == ("unread.txt",)
    assert (host.root / "unread.txt").read_text() == "of the user\nsecond\n"


@pytest.mark.wide
def test_in_a_later_turn_and_behind_other_commands_too(host):
    prompt(host)
    bash(host, "echo made > made.txt")
    prompt(host)
    bash(host, "sed -i s/second/SECOND/ unread.txt", "c2")
    bash(host, "rm unread.txt", "c3")
    report = rewound(host)
    assert (report.restored, report.removed) == (("unread.txt",), ("made.txt",))
    assert (host.root / "unread.txt").read_text() == "of the user\nsecond\n"


def test_what_a_command_made_goes_and_what_it_changed_is_undone(host):
    prompt(host)
    bash(host, "echo new > new.txt; echo more >> unread.txt")
    report = rewound(host)
    assert (report.restored, report.removed) == (("unread.txt",), ("new.txt",))
    assert (host.root / "unread.txt").read_text() == "of the user\nsecond\n"


def test_what_the_user_changed_before_a_command_stays(host):
    prompt(host)
    bash(host, "touch x")
    host.put("unread.txt", "of the user\nsecond\nand third\n")
    bash(host, "sed -i s/second/SECOND/ unread.txt", "c2")
    rewound(host)
    assert (host.root / "unread.txt").read_text() == "of the user\nsecond\nand third\n"


def test_what_the_user_removed_before_a_command_stays_away(host):
    host.put("other.txt", "x\n")
    prompt(host)
    bash(host, "touch x")
    os.unlink(host.root / "unread.txt")
    bash(host, "rm other.txt", "c2")
    ended = [each.fact.paths for each in host.facts() if isinstance(each.fact, CommandEnded)]
    assert ended == [("x",), ("other.txt",)]
    assert rewound(host).restored == ("other.txt",)
    assert not (host.root / "unread.txt").exists()


def test_rights_that_a_command_gave_an_unread_file_are_taken_back(host):
    (host.root / "unread.txt").chmod(0o644)
    prompt(host)
    bash(host, "chmod 755 unread.txt")
    assert rewound(host).restored == ("unread.txt",)
    assert stat.S_IMODE((host.root / "unread.txt").stat().st_mode) == 0o644


def test_where_others_changed_too_much_to_look_at_a_command_is_not_sure(host, monkeypatch):
    monkeypatch.setattr(shell_commands, "UNREAD_MAX", 2)
    prompt(host)
    bash(host, "touch x")
    for n in range(9):
        host.put(f"new{n}.txt", "of the user\n")
    bash(host, "rm new1.txt; sed -i s/second/SECOND/ unread.txt", "c2")
    rewound(host)
    assert (host.root / "unread.txt").read_text() == "of the user\nSECOND\n"
    assert (host.root / "new2.txt").exists()


def test_without_a_checkpoint_it_is_listed_and_left_as_ever(host):
    host.environ["SIGHTLINE_CHECKPOINTS"] = "off"
    prompt(host)
    bash(host, "rm unread.txt")
    assert taken(host) == []
    ended = [each.fact for each in host.facts() if isinstance(each.fact, CommandEnded)]
    assert len(ended) == 1
    assert "unread.txt" not in ended[0].paths


# one that fails


def test_one_that_takes_too_long_is_said_and_the_edit_goes_on(host, monkeypatch):
    host.ask(host.shown(str(host.root / "a.py"), "one\ntwo\n"))
    prompt(host)
    monkeypatch.setattr(tree_index, "monotonic", lambda: 1e18)
    edit(host, "a.py", "one", "ONE")
    edit(host, "a.py", "two", "TWO")
    assert taken(host) == []
    (said,) = host.faults()
    assert "No checkpoint was taken: there was no time to look at the whole tree." in said
    assert "The change is made all the same" in said
    assert [x.fact.why for x in host.facts() if isinstance(x.fact, CheckpointMissed)] == ["turn"]


def test_a_full_store_is_said_and_the_edit_goes_on(host, monkeypatch):
    host.ask(host.shown(str(host.root / "a.py"), "one\ntwo\n"))
    prompt(host)
    real = SqliteStore.append

    def full(self, append):
        if any(isinstance(fact, CheckpointTaken) for fact in append.facts):
            raise StoreError("The disk is full.", "Make room.")
        return real(self, append)

    monkeypatch.setattr(SqliteStore, "append", full)
    edit(host, "a.py", "one", "ONE")
    assert (host.root / "a.py").read_text() == "ONE\ntwo\n"
    (said,) = host.faults()
    assert "The disk is full." in said
    assert taken(host) == []
