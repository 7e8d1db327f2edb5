"""Policies hold for the file that a name leads to, whatever the name."""

from __future__ import annotations

import os
import sys

import pytest
from tests.hooks.handlers.host import Host

import sightline

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="symlinks")

TEN = "".join(f"line {n}\n" for n in range(1, 11))


def link(place, name, target):
    at = place.root / name
    at.parent.mkdir(parents=True, exist_ok=True)
    at.symlink_to(target)


@pytest.mark.parametrize(
    ("links", "named"),
    [
        ({"notes.txt": ".vscode/tasks.json"}, "notes.txt"),
        ({"notes": ".vscode"}, "notes/tasks.json"),
        ({"a.txt": "b.txt", "b.txt": ".vscode/tasks.json"}, "a.txt"),
    ],
)
def test_a_protected_file_is_asked_about_under_every_name(place, links, named):
    place.put(".vscode/tasks.json", TEN)
    for name, target in links.items():
        link(place, name, target)
    s = place.session()
    s.read(named)
    with pytest.raises(sightline.EditRefused) as refused:
        s.edit(named, "line 3", "mine")
    assert refused.value.reason == "scope"
    with pytest.raises(sightline.EditRefused) as refused:
        s.apply([{"path": named, "edits": [{"old": "line 3", "new": "mine"}]}])
    assert refused.value.reason == "scope"
    assert place.text(".vscode/tasks.json") == TEN


def test_a_link_with_a_protected_name_is_asked_about_when_its_file_is_named(place):
    place.put("settings/tasks.json", TEN)
    link(place, ".vscode/tasks.json", "../settings/tasks.json")
    link(place, "notes.txt", ".vscode/tasks.json")
    s = place.session()
    s.read("notes.txt")
    with pytest.raises(sightline.EditRefused) as refused:
        s.edit("notes.txt", "line 3", "mine")
    assert refused.value.reason == "scope"


def test_a_new_file_below_a_link_to_a_protected_folder_is_asked_about(place):
    place.put(".vscode/tasks.json", TEN)
    link(place, "notes", ".vscode")
    place.put("a.json", "{}\n")
    s = place.session()
    s.read("a.json")
    for attempt in (
        lambda: s.create("notes/new.json", "{}\n"),
        lambda: s.move("a.json", "notes/moved.json"),
    ):
        with pytest.raises(sightline.EditRefused) as refused:
            attempt()
        assert refused.value.reason == "scope"


@pytest.mark.parametrize("named", ["blocked/a.py", "alias/a.py"])
def test_a_stricter_policy_holds_under_every_name(place, named):
    place.put("blocked/a.py", TEN)
    link(place, "alias", "blocked")
    s = place.session(source={"policies": (("blocked/**", "block"),)})
    s.read(named)
    place.put("blocked/a.py", TEN.replace("line 9", "LINE 9"))
    with pytest.raises(sightline.EditRefused) as refused:
        s.write(named, TEN.replace("line 3", "mine"))
    assert refused.value.reason == "stale"


def test_a_path_that_an_ignore_file_refuses_is_refused_at_every_link_on_the_way(place):
    place.put(".sightlineignore", "/kept/\n")
    place.put("plain/a.py", TEN)
    link(place, "kept/a.py", "../plain/a.py")
    link(place, "b.py", "kept/a.py")
    s = place.session()
    with pytest.raises(sightline.PathRefused, match=r"\.sightlineignore"):
        s.read("b.py")


def test_a_host_asks_its_user_before_it_writes_through_a_link_to_a_protected_file(place):
    place.put(".vscode/tasks.json", TEN)
    place.put("a.ipynb", '{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}')
    link(place, "notes.txt", ".vscode/tasks.json")
    host = Host(place)
    host.read("notes.txt")
    asked, _ = host.edit("notes.txt", "line 3", "mine")
    assert "needs your approval" in asked.ask


def test_a_host_asks_its_user_about_a_protected_name_that_leads_outside(place, tmp_path):
    outside = tmp_path / "outside.json"
    outside.write_text(TEN)
    link(place, ".vscode/tasks.json", outside)
    host = Host(place)
    asked, _ = host.edit(os.path.join(str(place.root), ".vscode/tasks.json"), "line 3", "mine")
    assert "needs your approval" in asked.ask
