"""Words name files from the workspace on, however the agent's tool names them."""

from __future__ import annotations

import pytest
from tests.hooks.handlers.host import Host
from tests.support.places import TEN

from sightline.errors import SightlineError
from sightline.hooks.dispatch import attend
from sightline.hooks.handlers.transcript import name_in
from sightline.model.attempts import Create, Replace, WriteWhole
from sightline.model.hook_events import Attempted, CommandBegan, Reading

FILES = (
    "a.txt",
    "secret/a.txt",
    ".git/config",
    ".env",
    "out.txt",
    "folder",
    "missing.txt",
    "d/e.txt",
)


@pytest.fixture
def host(place):
    made = Host(place)
    place.put(".sightlineignore", "secret/\n")
    for name in ("a.txt", "secret/a.txt", ".git/config", ".env", "folder/b.txt", "d/e.txt"):
        place.put(name, TEN)
    (place.root / "out.txt").symlink_to("/etc/hostname")
    for name in ("a.txt", "d/e.txt"):
        made.read(name)
        place.put(name, TEN.replace("line 5", "five, says the user"))
    return made


def words(answer):
    return " ".join(filter(None, (answer.refuse, answer.ask, answer.context, answer.tell)))


@pytest.mark.parametrize("path", FILES)
def test_answers_to_a_tool_that_names_a_file_from_the_root_of_the_disk_on(host, path):
    root = str(host.place.root)
    full = f"{root}/{path}"
    asked = [
        Attempted.single(full, Replace("line 5\n", "fünf\n"), "c1"),
        Attempted.single(full, WriteWhole("other\n"), "c2"),
        Attempted.single(full, Create("new\n"), "c3"),
        Reading(full, "c4"),
    ]
    said = [words(attend(host.session, event)) for event in asked]
    said.append(words(attend(host.session, CommandBegan(f"cat {full}", "c5", root))))
    assert [text for text in said if root in text] == []


@pytest.mark.parametrize("path", FILES)
def test_errors_of_the_library(host, path):
    full, session = f"{host.place.root}/{path}", host.session
    verbs = [
        lambda: session.read(full),
        lambda: session.edit(full, "line 5\n", "fünf\n"),
        lambda: session.write(full, "other\n"),
        lambda: session.create(full, "new\n"),
        lambda: session.delete(full),
        lambda: session.move(full, f"{host.place.root}/a.txt"),
    ]
    said = []
    for verb in verbs:
        try:
            verb()
        except SightlineError as error:
            said.append(f"{error.message} {error.hint}")
    assert [text for text in said if str(host.place.root) in text] == []


def test_a_path_outside_stays_whole(host):
    assert name_in(host.session._context, f"{host.place.root}/d/e.txt") == "d/e.txt"
    assert name_in(host.session._context, "/etc/hostname") == "/etc/hostname"
