"""One flipped bit in a store: an error names it, or every answer is the same as before."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import sightline
from sightline.errors import SightlineError
from sightline.model.events import Changed
from sightline.model.revision import revision_of

MESSAGES = [
    {"role": ("user", "assistant")[number % 2], "content": f"message {number} " * (number % 7 + 1)}
    for number in range(40)
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A workspace and its store, written by a session that talked, read and edited."""
    home = tmp_path_factory.mktemp("flipped")
    (home / "project").mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (home / "project" / name).write_text("".join(f"{name} {line}\n" for line in range(60)))
    with opened(home) as session:
        for number, message in enumerate(MESSAGES):
            session.conversation.append(message)
            name = "abc"[number % 3] + ".txt"
            session.read(name)
            session.edit(name, f"{name} {number}\n", f"{name} {number} new\n")
    return home


def opened(home: Path) -> sightline.Session:
    store = f"sqlite:///{home}/store.db"
    return sightline.open_session(home / "project", id="talk", store=store, clock=lambda: 10**15)


def answers(home: Path) -> dict[str, Any]:
    """Return what the store tells; "damaged" for what it refuses with an error of ours."""
    told: dict[str, Any] = {}
    try:
        session = opened(home)
    except SightlineError:
        return dict.fromkeys(PROBES, "damaged")
    with session:
        for name, probe in PROBES.items():
            try:
                told[name] = probe(session)
            except SightlineError:
                told[name] = "damaged"
        for verb in OTHERS:
            with suppress(SightlineError):
                verb(session)
    return told


PROBES = {
    "messages": lambda session: session.conversation.messages(),
    "newest": lambda session: session.conversation.messages(3),
    "view": lambda session: session.conversation.view(200),
    "facts": lambda session: list(session._context.store.timeline()),
}
"""What has to be the same, or an error."""

OTHERS = (
    lambda session: [
        revision_of(session._context.store.blob(entry.fact.after) or b"") == entry.fact.after
        for entry in session._context.store.timeline()
        if isinstance(entry.fact, Changed)
    ],
    lambda session: session.files(),
    lambda session: session.changes(),
    lambda session: session.checkpoints(),
    lambda session: session.edit("a.txt", "a.txt 50\n", "a.txt fifty\n"),
)
"""What may know less than before, as after `gc`, and raises no error but ours."""


def flips(home: Path, copy: Path, number: int) -> list[str]:
    """Flip one bit after the other, each in a new copy, and return what differed in silence."""
    truth, wrong = None, []
    size = os.path.getsize(home / "store.db")
    drawn = random.Random(11)
    for bit in [None, *drawn.sample(range(8 * size), number)]:
        shutil.copyfile(home / "store.db", copy / "store.db")
        if bit is not None:
            with open(copy / "store.db", "rb+") as file:
                file.seek(bit // 8)
                old = file.read(1)[0]
                file.seek(bit // 8)
                file.write(bytes([old ^ 1 << bit % 8]))
        told = answers(copy)
        truth = truth or told
        wrong += [
            f"bit {bit}: {name}" for name in truth if told[name] not in (truth[name], "damaged")
        ]
    return wrong


def copied(home: Path, to: Path) -> Path:
    shutil.copytree(home / "project", to / "project")
    return to


@pytest.mark.wide
def test_a_flipped_bit_loses_nothing_in_silence(written, tmp_path):
    number = 2_000 if os.environ.get("SIGHTLINE_TEST_WIDE") else 100
    assert flips(written, copied(written, tmp_path), number) == []
