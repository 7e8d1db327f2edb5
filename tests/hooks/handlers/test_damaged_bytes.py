"""A host's own tool that destroys bytes, where its hook did not run before: named as its own, and undone."""

from __future__ import annotations

import os
import subprocess

import pytest
from tests.hooks.handlers.host import Host

from sightline.hooks.dispatch import attend
from sightline.model.events import Changed
from sightline.model.hook_events import Wrote

FILES = {
    "latin-1": b"caf\xe9\nx = 1\nend\n",
    "euc-kr": "# 한국어 주석입니다.\nx = 1\n".encode("euc_kr"),
    "damaged UTF-8": "é à è ü\r\nx = 1\r\n".encode() + b"\xff\r\n",
    "no known one": b"x = 1\n\x81\x8d\x8f\x90\x9d\n",
}


@pytest.fixture
def host(place):
    return Host(place)


def damage(host, data, path="a.conf", new="x = 2"):
    """Edit as such a tool does: decode with replacement, write all of it back."""
    before = data.decode("utf-8", "replace")
    after = before.replace("x = 1", new)
    host.place.put(path, after)
    shown = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    return attend(host.session, Wrote(path, "c1", shown[0], content=shown[1]))


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
@pytest.mark.parametrize("known", ["read", "checkpoint"])
def test_the_damage_is_the_tools_own_and_undo_brings_the_bytes_back(host, data, known):
    host.place.put("a.conf", data)
    host.read("a.conf") if known == "read" else host.session.checkpoint("before")
    answer = damage(host, data)
    assert "your tool wrote U+FFFD in place of bytes" in answer.context
    assert "Your agent's tool wrote U+FFFD" in answer.tell
    assert host.facts(Changed)[-1].cause.kind == "agent"
    assert "user or another program" not in answer.context
    report = host.session.undo()
    assert report.restored == ("a.conf",)
    assert host.place.bytes("a.conf") == data


def git(place, *words):
    env = {"HOME": str(place.home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    named = ["-c", "user.name=n", "-c", "user.email=e@e.e"]
    subprocess.run(["git", "-C", place.root, *named, *words], env=env, check=True)


def tracked(place, data, *more):
    """A repository whose HEAD has one text of a file, and whose index has the last of them."""
    git(place, "init", "-q")
    place.put("a.conf", data)
    git(place, "add", "a.conf")
    git(place, "commit", "-q", "-m", "first")
    for each in more:
        place.put("a.conf", each)
        git(place, "add", "a.conf")


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_the_bytes_of_a_file_that_nobody_read_come_from_git(host, data):
    tracked(host.place, data)
    answer = damage(host, data)
    assert "your tool wrote U+FFFD in place of bytes" in answer.context
    assert "Your agent's tool wrote U+FFFD" in answer.tell
    assert "user or another program" not in answer.context
    report = host.session.undo()
    assert report.restored == ("a.conf",)
    assert host.place.bytes("a.conf") == data


OTHERS = {
    "the index, where HEAD has an older text": (b"caf\xe9\nx = 0\n", [FILES["latin-1"]], True),
    "HEAD, where the index has another text": (FILES["latin-1"], [b"caf\xe9\nx = 0\n"], True),
    "either, with other bytes behind the marks": (FILES["latin-1"], [b"caf\xe8\nx = 1\nend\n"], False),
    "neither": (b"caf\xe9\nx = 0\n", [], False),
    "another form of line ends": (FILES["latin-1"].replace(b"\n", b"\r\n"), [], False),
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("case", OTHERS)
def test_git_holds_the_bytes_only_where_they_are_certain(host, case):
    head, index, is_certain = OTHERS[case]
    tracked(host.place, head, *index)
    answer = damage(host, FILES["latin-1"])
    assert ("brings the bytes back" in answer.tell) == is_certain
    assert is_certain or "they are not on record" in answer.tell
    host.session.undo()
    assert (host.place.bytes("a.conf") == FILES["latin-1"]) == is_certain


def test_without_git_it_is_said_that_an_undo_does_not_bring_the_bytes_back(host):
    host.place.put("a.conf", FILES["latin-1"])
    answer = damage(host, FILES["latin-1"])
    assert "they are not on record" in answer.context
    assert "an undo writes U+FFFD" in answer.tell
    host.place.put("a.conf", "caf�\nx = 2\nend\nmore\n")
    assert "not on record" not in host.edit("a.conf", "more", "x")[1].context


def test_a_mark_that_was_in_the_file_before_is_no_damage(host):
    host.place.put("a.conf", "a � b\nx = 1\n")
    host.read("a.conf")
    answer = damage(host, "a � b\nx = 1\n".encode())
    assert (answer.context, answer.tell) == ("", "")


def test_a_save_by_the_user_beside_the_damage_stays_the_users(host):
    host.place.put("a.conf", FILES["latin-1"])
    host.read("a.conf")
    saved = FILES["latin-1"].replace(b"end", b"the end")
    damage(host, saved)
    assert "external" in [fact.cause.kind for fact in host.facts(Changed)]


def test_an_edit_of_a_file_that_nobody_had_read_went_over_nothing(host):
    host.place.put("a.conf", "a\nx = 1\n")
    assert damage(host, b"a\nx = 1\n").context == ""
    assert damage(host, b"a\nx = 1\n", "b.conf").tell == ""
